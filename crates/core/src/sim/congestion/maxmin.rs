//! Max-min fair rates by progressive filling.
//!
//! All messages speed up together until a channel is full; its messages keep that rate, the others go on. The result is
//! the one allocation in which every message has a bottleneck: a full channel on which none is faster (Bertsekas and
//! Gallager, "Data Networks", 1992, section 6.5.2).
//!
//! A channel's fair share only grows while others are frozen, so a heap of possibly outdated shares suffices: the lowest
//! entry is either current, and that channel fills up next, or it is put back with its present share.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::load::Paths;

/// A channel and the share each of its messages still gets; the heap pops the lowest share, then the lowest channel.
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
    active: Vec<u32>,
    base: Vec<u32>,
    messages: Vec<u32>,
    heap: BinaryHeap<Share>,
}

impl MaxMin {
    /// Writes the rate of each message into `rates`; one without a path gets 0.
    ///
    /// `capacity` is by channel, in the unit of the result; `takes_part` leaves messages out (their rate is 0).
    ///
    /// # Complexity
    /// Path steps x log(channels).
    pub fn rates(
        &mut self,
        capacity: &[f64],
        paths: &Paths,
        takes_part: impl Fn(usize) -> bool,
        rates: &mut Vec<f64>,
    ) {
        rates.clear();
        rates.resize(paths.len(), 0.0);
        let mut open = vec![false; paths.len()];
        for (message, open) in open.iter_mut().enumerate() {
            *open = takes_part(message) && !paths.path(message).is_empty();
        }
        self.index(capacity, paths, &open);
        while let Some(Share { rate, channel }) = self.heap.pop() {
            let at = channel as usize;
            if self.active[at] == 0 {
                continue;
            }
            let now = self.remaining[at] / f64::from(self.active[at]);
            if now > rate {
                self.heap.push(Share { rate: now, channel });
                continue;
            }
            for slot in self.base[at]..self.base[at + 1] {
                let message = self.messages[slot as usize] as usize;
                if std::mem::take(&mut open[message]) {
                    rates[message] = rate;
                    for step in paths.path(message) {
                        self.active[step.index()] -= 1;
                        // Rounding may take a channel a hair below what it has left.
                        let left = self.remaining[step.index()] - rate;
                        self.remaining[step.index()] = left.max(0.0);
                    }
                }
            }
        }
    }

    /// Lists the open messages of each channel and fills the heap.
    fn index(&mut self, capacity: &[f64], paths: &Paths, open: &[bool]) {
        self.remaining.clear();
        self.remaining.extend_from_slice(capacity);
        self.active.clear();
        self.active.resize(capacity.len(), 0);
        let taking_part = || (0..paths.len()).filter(|&message| open[message]);
        for message in taking_part() {
            paths.path(message).iter().for_each(|step| self.active[step.index()] += 1);
        }
        self.base.clear();
        self.base.push(0);
        let mut steps = 0;
        for &active in &self.active {
            steps += active;
            self.base.push(steps);
        }
        self.messages.clear();
        self.messages.resize(steps as usize, 0);
        let mut next = self.base.clone();
        for message in taking_part() {
            for step in paths.path(message) {
                self.messages[next[step.index()] as usize] = message as u32;
                next[step.index()] += 1;
            }
        }
        self.heap.clear();
        let used = (0..capacity.len()).filter(|&channel| self.active[channel] > 0);
        self.heap.extend(used.map(|channel| Share {
            rate: capacity[channel] / f64::from(self.active[channel]),
            channel: channel as u32,
        }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::ChannelId;

    fn rates(capacity: &[f64], paths: &[Vec<u32>]) -> Vec<f64> {
        let mut all = Paths::default();
        for path in paths {
            let path: Vec<ChannelId> = path.iter().map(|&channel| ChannelId(channel)).collect();
            all.push(&path).unwrap();
        }
        let mut rates = Vec::new();
        MaxMin::default().rates(capacity, &all, |_| true, &mut rates);
        rates
    }

    #[test]
    fn shares_the_example_of_bertsekas_and_gallager() {
        // One long message over two channels of 1, one message on the first, two on the second.
        let rates = rates(&[1.0, 1.0], &[vec![0, 1], vec![0], vec![1], vec![1]]);
        let third = 1.0 / 3.0;
        for (rate, expected) in rates.iter().zip([third, 2.0 * third, third, third]) {
            assert!((rate - expected).abs() < 1e-12, "{rates:?}");
        }
    }

    #[test]
    fn messages_without_a_path_get_nothing() {
        assert_eq!(rates(&[2.0], &[vec![], vec![0]]), [0.0, 2.0]);
    }

    proptest! {
        #[test]
        fn every_message_has_a_bottleneck_and_no_channel_is_overfull(
            capacity in prop::collection::vec(1u32..50, 1..12),
            paths in prop::collection::vec(prop::collection::btree_set(0u32..12, 1..5), 0..40),
        ) {
            let channels = capacity.len() as u32;
            let capacity: Vec<f64> = capacity.iter().map(|&c| f64::from(c)).collect();
            let paths: Vec<Vec<u32>> = paths
                .iter()
                .map(|path| {
                    let mut path: Vec<u32> = path.iter().map(|channel| channel % channels).collect();
                    path.sort_unstable();
                    path.dedup();
                    path
                })
                .collect();
            let rates = rates(&capacity, &paths);
            let on = |channel: u32| {
                let users = paths.iter().zip(&rates).filter(move |(path, _)| path.contains(&channel));
                users.map(|(_, rate)| *rate).collect::<Vec<f64>>()
            };
            for (channel, capacity) in (0..channels).zip(&capacity) {
                prop_assert!(on(channel).iter().sum::<f64>() <= capacity * (1.0 + 1e-9));
            }
            for (path, rate) in paths.iter().zip(&rates) {
                let bottleneck = path.iter().any(|&channel| {
                    let users = on(channel);
                    let full = users.iter().sum::<f64>() >= capacity[channel as usize] * (1.0 - 1e-9);
                    full && users.iter().all(|user| *user <= rate * (1.0 + 1e-9))
                });
                prop_assert!(bottleneck, "{rate} of {path:?} in {rates:?}");
            }
        }
    }
}
