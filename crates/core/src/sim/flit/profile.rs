//! When the flits of a packet pass a point, without a number for each of them.
//!
//! A packet that has started is never held up again, since its credits and its place in the next output buffer were
//! granted as a whole. So flit `i` passes at `max_k (a_k + b_k i)`: the first term is the pace of the point itself, further
//! ones are slower points that the packet came through. A stage that lets a flit pass every `d` turns such a maximum into
//! another: terms slower than `d` stay (shifted by the stage's latency), all others become the stage's own pace, starting
//! with its first flit. Exact in whole picoseconds.

use std::collections::BTreeSet;

/// Terms beside the first: at most this many different paces slower than that of the point itself.
pub const SLOWER: usize = 6;

/// Different paces that one fabric may have.
pub const PACES_MAX: usize = SLOWER + 1;

/// Times between flits that occur in a fabric, from the fastest to the slowest.
///
/// Profiles name a pace by its number here, which makes them small: they are most of what the simulation keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paces {
    // One more than can be in use: a power of two.
    ps: [u32; SLOWER + 2],
}

/// The number of a pace; a larger one is slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pace(u8);

impl Paces {
    /// The paces in `ps`, none of them 0; `Err`: how many different ones there are, if that is more than [`PACES_MAX`].
    pub fn new(ps: impl IntoIterator<Item = u32>) -> Result<Self, usize> {
        let all: BTreeSet<u32> = ps.into_iter().collect();
        if all.len() > PACES_MAX {
            return Err(all.len());
        }
        let mut paces = Paces::default();
        paces.ps.iter_mut().zip(all).for_each(|(slot, pace)| *slot = pace);
        Ok(paces)
    }

    /// The number of a pace.
    ///
    /// # Panics
    /// If it is not one of them.
    #[must_use]
    pub fn of(&self, ps: u32) -> Pace {
        let at = self.ps.iter().position(|&pace| pace == ps);
        assert!(at.is_some(), "a flit every {ps} ps was not foreseen when the network was made");
        Pace(at.unwrap_or(0) as u8)
    }

    /// Other times that go with each pace.
    #[must_use]
    pub fn map(&self, other: impl Fn(u32) -> u32) -> Self {
        Paces { ps: self.ps.map(other) }
    }

    /// The time between two flits in ps.
    #[inline]
    #[must_use]
    pub fn ps(&self, pace: Pace) -> u64 {
        u64::from(self.ps[usize::from(pace.0) % (SLOWER + 2)])
    }
}

/// The times at which the flits of one packet pass a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// When the first flit passes.
    pub head: u64,
    /// Time between flits of the point itself.
    pace: Pace,
    /// Further terms in use.
    slower: u8,
    /// Their times between flits.
    terms: [Pace; SLOWER],
    /// How long before `head` they start.
    before: [u32; SLOWER],
}

impl Profile {
    /// Flits that pass every `pace` from `head` on.
    #[must_use]
    pub fn steady(head: u64, pace: Pace) -> Self {
        Profile { head, pace, ..Profile::default() }
    }

    /// Whether its flits pass at the pace of the point itself throughout.
    #[inline]
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.slower == 0
    }

    /// What a stage makes of it: each flit not before `latency` after it came, the first not before `start`, and `pace`
    /// between two. `last` is the number of the packet's last flit.
    #[inline]
    #[must_use]
    pub fn through(&self, latency: u64, start: u64, pace: Pace, last: u32, paces: &Paces) -> Self {
        let came = self.head + latency;
        let head = start.max(came);
        let waited = head - came;
        let mut out = Profile::steady(head, pace);
        out.came_by(self.pace, waited, last, paces);
        for (term, before) in self.slower() {
            out.came_by(term, waited + u64::from(before), last, paces);
        }
        out
    }

    /// Adds a point that it came through, which let the first flit pass so long before it passes here.
    #[inline(always)]
    fn came_by(&mut self, term: Pace, before: u64, last: u32, paces: &Paces) {
        // A term that the last flit does not feel is felt by none.
        if term > self.pace && before < (paces.ps(term) - paces.ps(self.pace)) * u64::from(last) {
            let at = usize::from(self.slower);
            (self.terms[at], self.before[at]) = (term, before as u32);
            self.slower += 1;
        }
    }

    /// The same, later by `delay`.
    #[inline]
    #[must_use]
    pub fn delayed(mut self, delay: u64) -> Self {
        self.head += delay;
        self
    }

    /// When flit `index` passes.
    #[inline]
    #[must_use]
    pub fn time(&self, index: u32, paces: &Paces) -> u64 {
        let at = |pace| self.head + paces.ps(pace) * u64::from(index);
        let slower = self.slower().map(|(pace, before)| at(pace).saturating_sub(before.into()));
        slower.fold(at(self.pace), u64::max)
    }

    /// How many of `flits` flits have passed by `now`, `now` included.
    #[inline]
    #[must_use]
    pub fn passed(&self, now: u64, flits: u32, paces: &Paces) -> u32 {
        if now < self.head {
            return 0;
        }
        let by = |pace: Pace, since: u64| {
            let ps = paces.ps(pace);
            if since >= ps * u64::from(flits) {
                flits
            } else {
                // The quotient is below `flits`.
                (since / ps) as u32 + 1
            }
        };
        let since = now - self.head;
        let slower = self.slower().map(|(pace, before)| by(pace, since + u64::from(before)));
        slower.fold(by(self.pace, since), u32::min)
    }

    /// Further terms: pace, and time before `head` at which it starts.
    #[inline]
    fn slower(&self) -> impl Iterator<Item = (Pace, u32)> {
        let terms = self.terms.iter().copied().zip(self.before);
        terms.take(usize::from(self.slower))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn more_paces_than_fit_are_counted() {
        assert!(Paces::new([3; 20]).is_ok());
        assert!(Paces::new(1..=PACES_MAX as u32).is_ok());
        assert_eq!(Paces::new(1..=9), Err(9));
    }

    proptest! {
        #[test]
        fn stages_do_to_profiles_what_they_do_to_flits(
            flits in 1u32..40,
            first in (0u64..1000, 1u32..40),
            stages in prop::collection::vec((0u64..60, 0u64..3000, 1u32..40), 1..7),
        ) {
            let all = stages.iter().map(|stage| stage.2).chain([first.1]);
            let paces = Paces::new(all).unwrap();
            let mut times: Vec<u64> = (0..flits).map(|i| first.0 + u64::from(first.1 * i)).collect();
            let mut profile = Profile::steady(first.0, paces.of(first.1));
            for (latency, start, pace) in stages {
                let mut free = start;
                for time in &mut times {
                    *time = free.max(*time + latency);
                    free = *time + u64::from(pace);
                }
                profile = profile.through(latency, start, paces.of(pace), flits - 1, &paces);
                let found: Vec<u64> = (0..flits).map(|i| profile.time(i, &paces)).collect();
                prop_assert_eq!(&found, &times);
                for now in [0, times[0], times[0] + 1, *times.last().unwrap(), u64::MAX / 2] {
                    let passed = times.iter().filter(|&&time| time <= now).count();
                    prop_assert_eq!(profile.passed(now, flits, &paces) as usize, passed);
                }
                for now in times[0]..times[0] + 50 {
                    let passed = times.iter().filter(|&&time| time <= now).count();
                    prop_assert_eq!(profile.passed(now, flits, &paces) as usize, passed);
                }
            }
        }
    }
}
