//! How long messages take: a histogram of latencies from which mean and quantiles are read.
//!
//! A value of 2^e ps or more is counted in one of 128 equal parts of [2^e, 2^(e+1)), so a quantile is known within
//! 0.4 %; the mean is exact.

use crate::units::Picos;

/// Parts of each octave, as a power of two.
const BITS: u32 = 7;
/// Slots for all of 64 bits.
const SLOTS: usize = ((64 - BITS + 1) << BITS) as usize;

/// Latencies of messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    counts: Vec<u64>,
    count: u64,
    sum: f64,
    least: u64,
    most: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies { counts: vec![0; SLOTS], count: 0, sum: 0.0, least: u64::MAX, most: 0 }
    }
}

impl Latencies {
    /// Bytes of one.
    pub const MEMORY: u64 = (SLOTS * size_of::<u64>()) as u64;

    /// Counts one.
    #[inline]
    pub fn add(&mut self, latency: Picos) {
        self.counts[slot(latency.0)] += 1;
        self.count += 1;
        self.sum += latency.0 as f64;
        self.least = self.least.min(latency.0);
        self.most = self.most.max(latency.0);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, add)| *own += add);
        self.count += other.count;
        self.sum += other.sum;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// The mean in ps; `None` of no messages.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The smallest latency that a share of `share` of all messages does not exceed, in ps; `None` of no messages.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = ((share * self.count as f64).ceil() as u64).max(1);
        let mut passed = 0;
        let found = self.counts.iter().position(|&count| {
            passed += count;
            passed >= wanted
        });
        let middle = |slot| 0.5 * (lower(slot) + lower(slot + 1) - 1.0);
        found.map(|slot| middle(slot).clamp(self.least as f64, self.most as f64))
    }
}

/// The slot of a value.
#[inline]
fn slot(value: u64) -> usize {
    let octave = (value >> BITS).checked_ilog2().map_or(0, |octave| octave + 1);
    // In octave 0 values stand for themselves; above, the leading bit is in the number of the octave.
    let shift = octave.saturating_sub(1);
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// The smallest value of a slot.
fn lower(slot: usize) -> f64 {
    let slot = slot as u64;
    let shift = (slot >> BITS).saturating_sub(1);
    ((slot - (shift << BITS)) as f64) * 2f64.powi(shift as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_hold_their_values(value: u64, shift in 0u32..64) {
            let value = value >> shift;
            let at = slot(value);
            prop_assert!(at < SLOTS);
            prop_assert!(lower(at) <= value as f64 && value as f64 <= lower(at + 1));
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(1u64..1 << 40, 1..200), share in 0.01f64..1.0,
        ) {
            let mut latencies = Latencies::default();
            values.iter().for_each(|&value| latencies.add(Picos(value)));
            values.sort_unstable();
            let at = ((share * values.len() as f64).ceil() as usize).max(1) - 1;
            let found = latencies.quantile(share).unwrap();
            prop_assert!((found / values[at] as f64 - 1.0).abs() < 0.004, "{found} {}", values[at]);
            let mean = values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64;
            prop_assert!((latencies.mean().unwrap() / mean - 1.0).abs() < 1e-9);
        }
    }
}
