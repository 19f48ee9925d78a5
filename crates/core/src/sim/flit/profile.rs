//! When the flits of a packet pass a point, without a number for each of them.
//!
//! A packet that has started is never held up again, since its credits and its place in the next output buffer were
//! granted as a whole. So flit `i` passes at `max_k (a_k + b_k i)`: the first term is the pace of the point itself, further
//! ones are slower points that the packet came through. A stage that lets a flit pass every `d` turns such a maximum into
//! another: terms slower than `d` stay (shifted by the stage's latency), all others become the stage's own pace, starting
//! with its first flit. Exact in whole picoseconds.

/// Terms beside the first: at most this many different paces slower than that of the point itself.
pub const SLOWER: usize = 5;

/// The times at which the flits of one packet pass a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// When the first flit passes.
    pub head: u64,
    /// Time between flits of the point itself.
    pace: u32,
    /// Further terms in use.
    slower: u32,
    /// Their time between flits, and how long before `head` they start.
    terms: [(u32, u32); SLOWER],
}

impl Profile {
    /// Flits that pass every `pace` from `head` on.
    #[must_use]
    pub fn steady(head: u64, pace: u32) -> Self {
        Profile { head, pace, ..Profile::default() }
    }

    /// What a stage makes of it: each flit not before `latency` after it came, the first not before `start`, and `pace`
    /// between two. `last` is the number of the packet's last flit.
    ///
    /// The stage must not have more than [`SLOWER`] slower paces before it.
    #[inline]
    #[must_use]
    pub fn through(&self, latency: u64, start: u64, pace: u32, last: u32) -> Self {
        let came = self.head + latency;
        let head = start.max(came);
        let waited = head - came;
        let mut out = Profile::steady(head, pace);
        let own = (self.pace, 0);
        for &(term, before) in std::iter::once(&own).chain(&self.terms[..self.slower as usize]) {
            let before = waited + u64::from(before);
            // A term that the last flit does not feel is felt by none.
            if term > pace && before < u64::from(term - pace) * u64::from(last) {
                out.terms[out.slower as usize] = (term, before as u32);
                out.slower += 1;
            }
        }
        out
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
    pub fn time(&self, index: u32) -> u64 {
        let mut time = self.head + u64::from(self.pace) * u64::from(index);
        for &(pace, before) in &self.terms[..self.slower as usize] {
            let other = self.head + u64::from(pace) * u64::from(index);
            time = time.max(other - u64::from(before).min(other));
        }
        time
    }

    /// How many of `flits` flits have passed by `now`, `now` included.
    #[inline]
    #[must_use]
    pub fn passed(&self, now: u64, flits: u32) -> u32 {
        if now < self.head {
            return 0;
        }
        let since = now - self.head;
        let by = |pace: u32, since: u64| {
            if since >= u64::from(pace) * u64::from(flits) {
                flits
            } else {
                // Both fit: the product of 32-bit numbers above is larger.
                ((since / u64::from(pace)) as u32 + 1).min(flits)
            }
        };
        let mut passed = by(self.pace, since);
        for &(pace, before) in &self.terms[..self.slower as usize] {
            passed = passed.min(by(pace, since + u64::from(before)));
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stages_do_to_profiles_what_they_do_to_flits(
            flits in 1u32..40,
            first in (0u64..1000, 1u32..40),
            stages in prop::collection::vec((0u64..60, 0u64..3000, 1u32..40), 1..5),
        ) {
            let mut times: Vec<u64> = (0..flits).map(|i| first.0 + u64::from(first.1 * i)).collect();
            let mut profile = Profile::steady(first.0, first.1);
            for (latency, start, pace) in stages {
                let mut free = start;
                for time in &mut times {
                    *time = free.max(*time + latency);
                    free = *time + u64::from(pace);
                }
                profile = profile.through(latency, start, pace, flits - 1);
                let found: Vec<u64> = (0..flits).map(|i| profile.time(i)).collect();
                prop_assert_eq!(&found, &times);
                for now in [0, times[0], times[0] + 1, *times.last().unwrap(), u64::MAX / 2] {
                    let passed = times.iter().filter(|&&time| time <= now).count();
                    prop_assert_eq!(profile.passed(now, flits) as usize, passed);
                }
                for now in times[0]..times[0] + 50 {
                    let passed = times.iter().filter(|&&time| time <= now).count();
                    prop_assert_eq!(profile.passed(now, flits) as usize, passed);
                }
            }
        }
    }
}
