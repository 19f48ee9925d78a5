//! The fabric as a torus or mesh with gaps: who is beside whom, how far each ring reaches, and whether DOR can cope.
//!
//! A line of a mesh counts as a ring with one gap. A ring with one gap (one run of failed cables or missing switches) is
//! passed the long way round; a ring in two pieces is refused, and so are missing switches that are not side by side in
//! one line along z, since the early turns around them could close a credit loop. Parts of the fabric that no cable joins
//! are looked at one by one, the other parts being missing in each; a switch all alone needs no place.

use super::conf::NAMES;
use super::shape::{Direction, Place, Shape};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::Refusal;

/// Switches that cables join, and what is missing among them.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its switches, ascending.
    pub members: Vec<SwitchId>,
    /// Whether places of the grid are empty.
    pub incomplete: bool,
}

/// The usable fabric as a grid.
#[derive(Clone, Debug)]
pub struct Torus {
    /// The grid.
    pub shape: Shape,
    /// Parts with more than one switch, in the order of their lowest switch.
    pub parts: Vec<Part>,
    /// Number of each switch's part: the same for two switches exactly if cables join them.
    pub part_of: Vec<u32>,
    place: Vec<Option<Place>>,
    ports: Vec<[Vec<u8>; 6]>,
    beside: Vec<[Option<SwitchId>; 6]>,
    /// Hops that each direction goes on before a gap.
    run: Vec<[u32; 6]>,
}

impl Torus {
    /// Checks that the fabric fits `shape` with the switches at `place`, and that its gaps can be passed.
    ///
    /// `parts` lists the switches that cables join; all have a place but those that are all alone.
    ///
    /// # Errors
    /// The first cable or switch that does not fit, or the gap that cannot be passed.
    pub fn new(
        graph: &SwitchGraph<'_>,
        shape: Shape,
        parts: Vec<Vec<SwitchId>>,
        place: Vec<Option<Place>>,
    ) -> Result<Self, Refusal> {
        let switches = graph.switch_count();
        let mut torus = Torus {
            shape,
            parts: Vec::new(),
            part_of: vec![0; switches],
            place,
            ports: vec![Default::default(); switches],
            beside: vec![[None; 6]; switches],
            run: vec![[0; 6]; switches],
        };
        for (members, number) in parts.into_iter().zip(0..) {
            members.iter().for_each(|switch| torus.part_of[switch.index()] = number);
            if members.len() == 1 {
                continue;
            }
            for &switch in &members {
                torus.read_cables(graph, switch)?;
            }
            torus.one_switch_a_place(&members)?;
            for dimension in 0..NAMES.len() {
                torus.read_rings(&members, dimension)?;
            }
            let incomplete = torus.missing_side_by_side(&members)?;
            torus.parts.push(Part { members, incomplete });
        }
        Ok(torus)
    }

    /// The place of a switch that has one.
    #[inline]
    #[must_use]
    pub fn place(&self, switch: SwitchId) -> Option<Place> {
        self.place[switch.index()]
    }

    /// Usable ports of `switch` in a direction, ascending: the cables to one neighbour.
    #[inline]
    #[must_use]
    pub fn ports(&self, switch: SwitchId, direction: Direction) -> &[u8] {
        &self.ports[switch.index()][direction.index()]
    }

    /// The switch that the cables in a direction lead to.
    #[inline]
    #[must_use]
    pub fn beside(&self, switch: SwitchId, direction: Direction) -> Option<SwitchId> {
        self.beside[switch.index()][direction.index()]
    }

    /// Hops that cables go on from `switch` in a direction before the first gap; the radix if there is none.
    #[inline]
    #[must_use]
    pub fn run(&self, switch: SwitchId, direction: Direction) -> u32 {
        self.run[switch.index()][direction.index()]
    }

    /// Most cables in one direction from `switch`.
    #[must_use]
    pub fn most_parallel(&self, switch: SwitchId) -> usize {
        self.ports[switch.index()].iter().map(Vec::len).max().unwrap_or(0)
    }

    fn read_cables(&mut self, graph: &SwitchGraph<'_>, switch: SwitchId) -> Result<(), Refusal> {
        for (channel, head) in graph.neighbours(switch) {
            let places = (self.place(switch), self.place(head));
            let direction = match places {
                (Some(from), Some(to)) => self.shape.direction(from, to),
                _ => None,
            };
            let Some(direction) = direction else {
                return Err(at(
                    switch,
                    "a cable leads from this switch to one that is not beside it in the grid",
                ));
            };
            let port = graph.machine().tail(channel).port;
            self.ports[switch.index()][direction.index()].push(port);
            self.beside[switch.index()][direction.index()] = Some(head);
        }
        Ok(())
    }

    fn one_switch_a_place(&self, members: &[SwitchId]) -> Result<(), Refusal> {
        let mut places: Vec<_> = members.iter().map(|&s| (self.place[s.index()], s)).collect();
        places.sort_unstable();
        match places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(at(pair[1].1, "this switch has the same place as another one")),
            None => Ok(()),
        }
    }

    /// Measures how far the cables of every ring in `dimension` go on.
    fn read_rings(&mut self, members: &[SwitchId], dimension: usize) -> Result<(), Refusal> {
        let radix = self.shape.radix[dimension];
        let up = Direction::new(dimension, true);
        let mut lines: Vec<(Place, u32, SwitchId)> = Vec::with_capacity(members.len());
        for &switch in members {
            let Some(mut line) = self.place(switch) else { continue };
            let at = std::mem::take(&mut line[dimension]);
            lines.push((line, at, switch));
        }
        lines.sort_unstable();
        for line in lines.chunk_by(|one, other| one.0 == other.0) {
            let ends = || line.iter().filter(|(.., switch)| self.beside(*switch, up).is_none());
            match (ends().next(), ends().nth(1)) {
                (None, _) => {
                    for &(.., switch) in line {
                        self.run[switch.index()][up.index()] = radix;
                        self.run[switch.index()][up.opposite().index()] = radix;
                    }
                }
                (Some(&(.., end)), None) => self.measure(end, up, line.len() as u32),
                (Some(_), Some(&(.., second))) => {
                    let what = if self.shape.wraps[dimension] { "ring" } else { "line" };
                    let name = NAMES[dimension];
                    let reason = format!("failures cut the {name} {what} of this switch in pieces");
                    return Err(at(second, &reason));
                }
            }
        }
        Ok(())
    }

    /// Measures a chain of `length` switches backwards from its `end`.
    fn measure(&mut self, end: SwitchId, up: Direction, length: u32) {
        let mut switch = Some(end);
        for after in 0..length {
            // INVARIANT: a line of which one switch alone has none above it is one chain.
            let Some(at) = switch else { break };
            self.run[at.index()][up.index()] = after;
            self.run[at.index()][up.opposite().index()] = length - 1 - after;
            switch = self.beside(at, up.opposite());
        }
    }

    /// Whether places are empty; refuses unless these stand in one line along z.
    fn missing_side_by_side(&self, members: &[SwitchId]) -> Result<bool, Refusal> {
        let mut columns: Vec<_> = members
            .iter()
            .filter_map(|&switch| self.place(switch).map(|[x, y, _]| ([x, y], switch)))
            .collect();
        columns.sort_unstable();
        let [wide, deep, high] = self.shape.radix;
        let (mut full, mut broken) = (0, None);
        for column in columns.chunk_by(|one, other| one.0 == other.0) {
            if column.len() as u32 == high {
                full += 1;
            } else {
                broken = Some(column[0].1);
            }
        }
        match (u64::from(wide) * u64::from(deep)).saturating_sub(full) {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(at(
                broken.unwrap_or(members[0]),
                "switches are missing that do not stand side by side in one line along z",
            )),
        }
    }
}

fn at(switch: SwitchId, reason: &str) -> Refusal {
    Refusal { reason: reason.to_owned(), switch: Some(switch) }
}
