//! Max-min fair rates by progressive filling.
//!
//! All demands speed up together until a channel is full; those that use it keep that rate, the others go on. The result
//! is the one allocation in which every demand has a bottleneck: a full channel on which none is faster (Bertsekas and
//! Gallager, "Data Networks", 1992, section 6.5.2). A demand may use several channels, each to its own extent.
//!
//! A channel's fair share only grows while others are frozen, so a heap of possibly outdated shares suffices: the lowest
//! entry is either current, and that channel fills up next, or it is put back with its present share.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::ids::ChannelId;

/// What each demand takes of each channel when its rate is 1; a demand that uses no channel has no way.
#[derive(Clone, Debug)]
pub struct Demands {
    base: Vec<usize>,
    uses: Vec<(ChannelId, f64)>,
}

impl Default for Demands {
    fn default() -> Self {
        Demands { base: vec![0], uses: Vec::new() }
    }
}

impl Demands {
    /// Adds a demand; every extent is above 0 and no channel comes twice.
    pub fn push(&mut self, uses: impl IntoIterator<Item = (ChannelId, f64)>) {
        self.uses.extend(uses);
        self.base.push(self.uses.len());
    }

    /// Number of demands.
    #[must_use]
    pub fn len(&self) -> usize {
        self.base.len() - 1
    }

    /// Whether there is no demand.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Uses of all demands together.
    #[must_use]
    pub fn use_count(&self) -> usize {
        self.uses.len()
    }

    /// Channels that demand number `demand` uses, and to what extent.
    #[must_use]
    pub fn of(&self, demand: usize) -> &[(ChannelId, f64)] {
        &self.uses[self.base[demand]..self.base[demand + 1]]
    }
}

/// A channel and the rate its demands still reach; the heap pops the lowest share, then the lowest channel.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    rate: f64,
    channel: u32,
}

impl Eq for Share {}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> Ordering {
        other.rate.total_cmp(&self.rate).then_with(|| other.channel.cmp(&self.channel))
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Shares rates out; its buffers are kept from call to call.
#[derive(Clone, Debug, Default)]
pub struct MaxMin {
    remaining: Vec<f64>,
    /// Extents of the open demands on each channel, added up, and their number.
    active: Vec<(f64, u32)>,
    base: Vec<usize>,
    users: Vec<u32>,
    open: Vec<bool>,
    heap: BinaryHeap<Share>,
}

impl MaxMin {
    /// Writes the rate of each demand into `rates`; one without a way gets 0.
    ///
    /// `capacity` is by channel, in the unit of the result; `takes_part` leaves demands out (their rate is 0).
    ///
    /// # Complexity
    /// Uses x log(channels).
    pub fn rates(
        &mut self,
        capacity: &[f64],
        demands: &Demands,
        takes_part: impl Fn(usize) -> bool,
        rates: &mut Vec<f64>,
    ) {
        rates.clear();
        rates.resize(demands.len(), 0.0);
        self.open.clear();
        self.open.extend(
            (0..demands.len()).map(|demand| takes_part(demand) && !demands.of(demand).is_empty()),
        );
        self.index(capacity, demands);
        while let Some(Share { rate, channel }) = self.heap.pop() {
            let at = channel as usize;
            let (extent, count) = self.active[at];
            if count == 0 {
                continue;
            }
            let now = self.remaining[at] / extent;
            if now > rate {
                self.heap.push(Share { rate: now, channel });
                continue;
            }
            for slot in self.base[at]..self.base[at + 1] {
                let demand = self.users[slot] as usize;
                if !std::mem::take(&mut self.open[demand]) {
                    continue;
                }
                rates[demand] = rate;
                for &(step, extent) in demands.of(demand) {
                    let (left, count) = &mut self.active[step.index()];
                    *left -= extent;
                    *count -= 1;
                    // Rounding may take a channel a hair below what it has left.
                    let remaining = &mut self.remaining[step.index()];
                    *remaining = (*remaining - rate * extent).max(0.0);
                }
            }
        }
    }

    /// Lists the open demands of each channel and fills the heap.
    fn index(&mut self, capacity: &[f64], demands: &Demands) {
        self.remaining.clear();
        self.remaining.extend_from_slice(capacity);
        self.active.clear();
        self.active.resize(capacity.len(), (0.0, 0));
        for demand in (0..demands.len()).filter(|&demand| self.open[demand]) {
            for &(step, extent) in demands.of(demand) {
                let (sum, count) = &mut self.active[step.index()];
                *sum += extent;
                *count += 1;
            }
        }
        self.base.clear();
        self.base.push(0);
        let mut uses = 0;
        for &(_, count) in &self.active {
            uses += count as usize;
            self.base.push(uses);
        }
        self.users.clear();
        self.users.resize(uses, 0);
        let mut next = self.base.clone();
        for demand in (0..demands.len()).filter(|&demand| self.open[demand]) {
            for (step, _) in demands.of(demand) {
                self.users[next[step.index()]] = demand as u32;
                next[step.index()] += 1;
            }
        }
        self.heap.clear();
        let used = (0..capacity.len()).filter(|&channel| self.active[channel].1 > 0);
        self.heap.extend(used.map(|channel| Share {
            rate: capacity[channel] / self.active[channel].0,
            channel: channel as u32,
        }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rates(capacity: &[f64], demands: &[Vec<(u32, f64)>]) -> Vec<f64> {
        let mut all = Demands::default();
        for demand in demands {
            all.push(demand.iter().map(|&(channel, extent)| (ChannelId(channel), extent)));
        }
        let mut rates = Vec::new();
        MaxMin::default().rates(capacity, &all, |_| true, &mut rates);
        rates
    }

    fn whole(channels: &[u32]) -> Vec<(u32, f64)> {
        channels.iter().map(|&channel| (channel, 1.0)).collect()
    }

    #[test]
    fn shares_the_example_of_bertsekas_and_gallager() {
        // One long message over two channels of 1, one message on the first, two on the second.
        let rates = rates(&[1.0, 1.0], &[whole(&[0, 1]), whole(&[0]), whole(&[1]), whole(&[1])]);
        let third = 1.0 / 3.0;
        for (rate, expected) in rates.iter().zip([third, 2.0 * third, third, third]) {
            assert!((rate - expected).abs() < 1e-12, "{rates:?}");
        }
    }

    #[test]
    fn demands_without_a_way_get_nothing() {
        assert_eq!(rates(&[2.0], &[vec![], whole(&[0])]), [0.0, 2.0]);
    }

    #[test]
    fn extents_weigh_what_a_demand_takes() {
        // Half of the first demand and all of the second on a channel of 3: both reach 2.
        assert_eq!(rates(&[3.0], &[vec![(0, 0.5)], vec![(0, 1.0)]]), [2.0, 2.0]);
    }

    proptest! {
        #[test]
        fn every_demand_has_a_bottleneck_and_no_channel_is_overfull(
            capacity in prop::collection::vec(1u32..50, 1..12),
            demands in prop::collection::vec(
                prop::collection::btree_map(0u32..12, 1u32..9, 1..5), 0..40
            ),
        ) {
            let channels = capacity.len() as u32;
            let capacity: Vec<f64> = capacity.iter().map(|&c| f64::from(c)).collect();
            let demands: Vec<Vec<(u32, f64)>> = demands
                .iter()
                .map(|uses| {
                    let there = uses.iter().filter(|(channel, _)| **channel < channels);
                    there.map(|(&channel, &eighths)| (channel, f64::from(eighths) / 8.0)).collect()
                })
                .collect();
            let rates = rates(&capacity, &demands);
            let extent = |demand: &[(u32, f64)], channel: u32| {
                demand.iter().find(|(c, _)| *c == channel).map(|(_, extent)| *extent)
            };
            let users = |channel: u32| {
                let all = demands.iter().zip(&rates);
                all.filter_map(move |(d, rate)| extent(d, channel).map(|e| (e, *rate)))
            };
            let filled = |channel| users(channel).map(|(extent, rate)| extent * rate).sum::<f64>();
            for (channel, capacity) in (0..channels).zip(&capacity) {
                prop_assert!(filled(channel) <= capacity * (1.0 + 1e-9));
            }
            for (demand, rate) in demands.iter().zip(&rates).filter(|(demand, _)| !demand.is_empty()) {
                let bottleneck = demand.iter().any(|&(channel, _)| {
                    filled(channel) >= capacity[channel as usize] * (1.0 - 1e-9)
                        && users(channel).all(|(_, other)| other <= rate * (1.0 + 1e-9))
                });
                prop_assert!(bottleneck, "{rate} of {demand:?} in {rates:?}");
            }
        }
    }
}
