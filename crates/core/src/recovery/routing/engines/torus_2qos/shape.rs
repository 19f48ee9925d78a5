//! Geometry of the grid: places, directions, and which way round a ring is shorter.

/// Place of a switch: its coordinates x, y and z.
pub type Place = [u32; 3];

/// Lengths of the dimensions x, y and z, routed in this order, and which of them close to rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Switches in each dimension.
    pub radix: [u32; 3],
    /// Whether the last place of a dimension is beside the first; never in a dimension shorter than 3.
    pub wraps: [bool; 3],
}

/// One of the six directions: dimension x, y or z, towards lower or higher coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Direction(u8);

impl Direction {
    /// All six: x down, x up, y down, y up, z down, z up.
    pub const ALL: [Direction; 6] =
        [Direction(0), Direction(1), Direction(2), Direction(3), Direction(4), Direction(5)];

    /// Up or down a dimension.
    #[inline]
    #[must_use]
    pub const fn new(dimension: usize, up: bool) -> Self {
        Direction(2 * dimension as u8 + up as u8)
    }

    /// 0 to 5.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// 0 for x, 1 for y, 2 for z.
    #[inline]
    #[must_use]
    pub const fn dimension(self) -> usize {
        self.index() / 2
    }

    /// Whether it leads to higher coordinates.
    #[inline]
    #[must_use]
    pub const fn is_up(self) -> bool {
        self.0 % 2 == 1
    }

    /// The other way.
    #[inline]
    #[must_use]
    pub const fn opposite(self) -> Self {
        Direction(self.0 ^ 1)
    }
}

/// The ways between two places of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Where the shorter way begins.
    pub shorter: Direction,
    /// Its length.
    pub hops: u32,
    /// Length of the other way, round the ring.
    pub hops_round: u32,
    /// Whether the shorter way passes between the last place and the first.
    pub crosses_dateline: bool,
}

impl Shape {
    /// The shape with the given lengths; lines of two have nothing to wrap.
    #[must_use]
    pub fn new(radix: [u32; 3], wraps: [bool; 3]) -> Self {
        Shape { radix, wraps: std::array::from_fn(|d| wraps[d] && radix[d] > 2) }
    }

    /// Whether discovery has to be told both neighbours in `dimension`: four cables in a ring look like a face.
    #[must_use]
    pub fn needs_both(self, dimension: usize) -> bool {
        self.wraps[dimension] && self.radix[dimension] == 4
    }

    /// The place next to `place`, unless that is the border.
    #[must_use]
    pub fn beside(self, place: Place, direction: Direction) -> Option<Place> {
        let dimension = direction.dimension();
        let (at, radix) = (place[dimension], self.radix[dimension]);
        let next = match (direction.is_up(), self.wraps[dimension]) {
            (true, _) if at + 1 < radix => at + 1,
            (false, _) if at > 0 => at - 1,
            (true, true) => 0,
            (false, true) => radix - 1,
            (_, false) => return None,
        };
        let mut beside = place;
        beside[dimension] = next;
        Some(beside)
    }

    /// The direction that leads from `from` to `to`, if they are beside each other.
    #[must_use]
    pub fn direction(self, from: Place, to: Place) -> Option<Direction> {
        Direction::ALL.into_iter().find(|&direction| self.beside(from, direction) == Some(to))
    }

    /// The ways in `dimension` from coordinate `from` to another, `to`.
    ///
    /// Of two ways of one length the one that does not cross the dateline counts as shorter. In a dimension without a
    /// ring the way round is as long as it would be, and never open.
    #[inline]
    #[must_use]
    pub fn ways(self, dimension: usize, from: u32, to: u32) -> Ways {
        let radix = self.radix[dimension];
        let direct = from.abs_diff(to);
        let crosses_dateline = self.wraps[dimension] && direct > radix - direct;
        let up = (to > from) != crosses_dateline;
        let hops = if crosses_dateline { radix - direct } else { direct };
        let shorter = Direction::new(dimension, up);
        Ways { shorter, hops, hops_round: radix - hops, crosses_dateline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direct_way_wins_ties_and_the_shorter_one_wraps() {
        let shape = Shape::new([6, 5, 1], [true, false, false]);
        let way = |from, to| {
            let ways = shape.ways(0, from, to);
            (ways.shorter.is_up(), ways.hops, ways.crosses_dateline)
        };
        assert_eq!(way(0, 3), (true, 3, false));
        assert_eq!(way(3, 0), (false, 3, false));
        assert_eq!(way(0, 4), (false, 2, true));
        assert_eq!(way(5, 1), (true, 2, true));
        let ways = shape.ways(1, 0, 4);
        assert_eq!((ways.hops, ways.crosses_dateline), (4, false));
    }

    #[test]
    fn lengths_may_be_any_number() {
        let shape = Shape::new([u32::MAX, 1, 1], [true, false, false]);
        let ways = shape.ways(0, 0, u32::MAX - 1);
        assert_eq!((ways.hops, ways.crosses_dateline), (1, true));
        assert_eq!(shape.beside([u32::MAX - 1, 0, 0], ways.shorter.opposite()), Some([0; 3]));
    }

    #[test]
    fn a_ring_of_two_is_a_line() {
        let shape = Shape::new([2, 3, 1], [true; 3]);
        assert_eq!(shape.wraps, [false, true, false]);
        assert_eq!(shape.beside([1, 0, 0], Direction::new(0, true)), None);
        assert_eq!(shape.beside([1, 0, 0], Direction::new(1, false)), Some([1, 2, 0]));
        assert_eq!(shape.direction([0, 2, 0], [0, 0, 0]), Some(Direction::new(1, true)));
        assert_eq!(shape.direction([0, 0, 0], [1, 1, 0]), None);
    }
}
