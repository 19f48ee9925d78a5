//! Masks of the nodes of a line, the first in the lowest bit.

/// How far other places of a line that are in a mask lie from one of them, in one direction, nearest first.
#[derive(Clone, Debug)]
pub struct Steps<'m> {
    mask: &'m [u64],
    /// Where the last one was; at first where it starts.
    at: u32,
    far: u32,
    line: Line,
    /// Whether it may still go around the end.
    wraps: bool,
}

/// Going along a line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Places on it.
    pub length: u32,
    /// Whether it closes around.
    pub wraps: bool,
    /// To higher coordinates.
    pub up: bool,
}

impl Line {
    /// The others of a mask, from `at`.
    #[inline]
    pub fn steps(self, mask: &[u64], at: u32) -> Steps<'_> {
        Steps { mask, at, far: 0, line: self, wraps: self.wraps }
    }

    /// Steps to the nearest of the others.
    #[inline]
    pub fn nearest(self, mask: &[u64], at: u32) -> Option<u32> {
        let straight = match self.up {
            true => next(mask, at + 1).map(|to| to - at),
            false => last(mask, at).map(|to| at - to),
        };
        if straight.is_some() || !self.wraps {
            return straight;
        }
        match self.up {
            true => next(mask, 0).map(|to| to + self.length - at),
            false => last(mask, self.length).map(|to| at + self.length - to),
        }
    }

    /// The coordinate so many steps (at most a length) further, around the end.
    #[inline]
    pub fn coordinate(self, at: u32, steps: u32) -> u32 {
        let to = at + if self.up { steps } else { self.length - steps };
        if to >= self.length { to - self.length } else { to }
    }

    /// The coordinate one step back.
    #[inline]
    pub fn back(self, at: u32) -> u32 {
        self.coordinate(at, self.length - 1)
    }
}

impl Iterator for Steps<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let Line { length, up, .. } = self.line;
        let straight = if up { next(self.mask, self.at + 1) } else { last(self.mask, self.at) };
        let to = match straight {
            Some(to) => {
                self.far += self.at.abs_diff(to);
                to
            }
            None if std::mem::take(&mut self.wraps) => {
                let to = if up { next(self.mask, 0)? } else { last(self.mask, length)? };
                self.far += if up { length - self.at + to } else { self.at + length - to };
                to
            }
            None => return None,
        };
        self.at = to;
        // Around a closed line, it comes back to where it started.
        (self.far < length).then_some(self.far)
    }
}

/// The other places of a mask from one of them, nearest first, whichever way; of two as near the upper one first.
#[derive(Clone, Debug)]
pub enum Outward<'m> {
    /// On a line of at most 64 places.
    Short {
        /// Places above and below, and the bits from and to which they are so many steps away.
        above: u64,
        below: u64,
        from: u32,
        to: u32,
        at: u32,
        length: u32,
    },
    /// On a longer one.
    Long { above: Steps<'m>, below: Steps<'m>, next: [Option<u32>; 2] },
}

impl<'m> Outward<'m> {
    /// The others of a mask of a line, from `at`.
    #[inline]
    pub fn new(mask: &'m [u64], at: u32, length: u32, wraps: bool) -> Self {
        let &[word] = mask else {
            let [mut above, mut below] =
                [true, false].map(|up| Line { length, wraps, up }.steps(mask, at));
            let next = [above.next(), below.next()];
            return Outward::Long { above, below, next };
        };
        if !wraps {
            let lower = (1 << at) - 1;
            let (above, below) = (word & !lower & !(1 << at), word & lower);
            return Outward::Short { above, below, from: at, to: at, at, length };
        }
        // Turned, so that the line begins with `at`; what is as far both ways is above.
        let turned = if at == 0 { word } else { word >> at | word << (length - at) };
        let turned = turned & (u64::MAX >> (64 - length)) & !1;
        let half = u64::MAX >> (63 - length / 2);
        let (above, below) = (turned & half, turned & !half);
        Outward::Short { above, below, from: 0, to: length, at, length }
    }
}

impl Iterator for Outward<'_> {
    /// Steps, and the coordinate.
    type Item = (u32, u32);

    #[inline]
    fn next(&mut self) -> Option<(u32, u32)> {
        match self {
            Outward::Short { above, below, from, to, at, length } => {
                let up = if *above == 0 { u32::MAX } else { above.trailing_zeros() - *from };
                let top = 63 - (*below | 1).leading_zeros();
                let down = if *below == 0 { u32::MAX } else { *to - top };
                if up <= down {
                    if up == u32::MAX {
                        return None;
                    }
                    *above &= *above - 1;
                    let to = *at + up;
                    Some((up, if to >= *length { to - *length } else { to }))
                } else {
                    *below ^= 1 << top;
                    Some((down, if down > *at { *at + *length - down } else { *at - down }))
                }
            }
            Outward::Long { above, below, next } => loop {
                let [up, down] = *next;
                let goes_up = up.is_some_and(|up| down.is_none_or(|down| up <= down));
                let (ahead, next) =
                    if goes_up { (&mut *above, &mut next[0]) } else { (&mut *below, &mut next[1]) };
                let steps = (*next)?;
                let (line, to) = (ahead.line, ahead.at);
                *next = ahead.next();
                // Around a closed line everything is found twice: the nearer way counts, upwards if both are as near.
                if !line.wraps || 2 * steps < line.length + u32::from(goes_up) {
                    return Some((steps, to));
                }
            },
        }
    }
}

/// The places in a mask, lowest first.
#[inline]
pub fn places(mask: &[u64]) -> impl Iterator<Item = u32> + '_ {
    (0..).zip(mask).flat_map(|(word, &bits)| {
        let rest = std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)));
        rest.take_while(|&bits| bits != 0).map(move |bits| word * 64 + bits.trailing_zeros())
    })
}

/// Whether the node at `at` is in the mask.
#[inline]
pub fn holds(mask: &[u64], at: u32) -> bool {
    mask[(at / 64) as usize] >> (at % 64) & 1 == 1
}

/// The lowest bit set from `from` on.
#[inline]
fn next(mask: &[u64], from: u32) -> Option<u32> {
    let mut word = (from / 64) as usize;
    let mut bits = mask.get(word)? & (u64::MAX << (from % 64));
    while bits == 0 {
        word += 1;
        bits = *mask.get(word)?;
    }
    Some(word as u32 * 64 + bits.trailing_zeros())
}

/// The highest bit set below `below`.
#[inline]
fn last(mask: &[u64], below: u32) -> Option<u32> {
    let mut word = (below / 64) as usize;
    let mut bits = mask.get(word).map_or(0, |bits| bits & ((1 << (below % 64)) - 1));
    while bits == 0 {
        word = word.checked_sub(1)?;
        bits = mask[word];
    }
    Some(word as u32 * 64 + 63 - bits.leading_zeros())
}
