//! What is counted and checked of the packets that arrive.

use prefetch_index::prefetch_index;

use super::source::{Consumed, Observer};

/// Counts payload, and checks that packets of a pair arrive in the order they were sent; of large machines those of some
/// sources.
pub(super) struct Watch {
    /// Payload by rank since it was last looked at.
    pub received: Vec<u64>,
    /// Every so many-th source is watched.
    stride: u32,
    sources: usize,
    /// By target and watched source: one more than the number of the last packet.
    next: Vec<u32>,
    /// Pairs and numbers that are still to be checked: by then the line of the pair is in the cache.
    later: [(u32, u32); LATER],
    /// Checks put off so far.
    count: usize,
}

const LATER: usize = 8;

impl Watch {
    const MOST_PAIRS: usize = 1 << 22;

    pub fn new(ranks: usize) -> Self {
        let (stride, sources) = Watch::watched(ranks);
        let (received, next) = (vec![0; ranks], vec![0; ranks * sources]);
        Watch { received, stride, sources, next, later: [(0, 0); LATER], count: 0 }
    }

    /// Bytes of one.
    pub fn memory(ranks: usize) -> usize {
        let (_, sources) = Watch::watched(ranks);
        ranks * (sources * size_of::<u32>() + size_of::<u64>())
    }

    /// Every how many-th source is watched, and how many that are.
    fn watched(ranks: usize) -> (u32, usize) {
        let stride = (ranks * ranks).div_ceil(Self::MOST_PAIRS).max(1);
        (stride as u32, ranks.div_ceil(stride))
    }

    /// Checks what was put off.
    pub fn finish(&mut self) {
        for at in self.count.saturating_sub(LATER)..self.count {
            self.check(self.later[at % LATER]);
        }
        self.count = 0;
    }

    #[inline]
    fn check(&mut self, (pair, number): (u32, u32)) {
        let next = &mut self.next[pair as usize];
        assert!(number >= *next, "packets of a pair overtook each other");
        *next = number.wrapping_add(1);
    }
}

impl Observer for Watch {
    #[inline]
    fn consumed(&mut self, consumed: Consumed) {
        let Consumed { target, packet, bytes, .. } = consumed;
        self.received[target as usize] += bytes;
        if packet.source.is_multiple_of(self.stride) {
            let source = (packet.source / self.stride) as usize;
            let pair = target as usize * self.sources + source;
            prefetch_index(&self.next, pair);
            let later = (pair as u32, packet.number);
            let due = std::mem::replace(&mut self.later[self.count % LATER], later);
            if self.count >= LATER {
                self.check(due);
            }
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::flit::source::PacketName;
    use crate::units::Picos;

    fn consume(watch: &mut Watch, source: u32, number: u32) {
        let packet = PacketName { source, number };
        watch.consumed(Consumed { now: Picos(0), target: 1, packet, flits: 1, bytes: 64 });
    }

    #[test]
    fn packets_in_order_pass() {
        let mut watch = Watch::new(4);
        (0..50).for_each(|number| consume(&mut watch, number % 3, number / 3));
        watch.finish();
        assert_eq!(watch.received, [0, 50 * 64, 0, 0]);
    }

    #[test]
    #[should_panic(expected = "overtook")]
    fn the_last_check_is_not_forgotten() {
        let mut watch = Watch::new(4);
        consume(&mut watch, 0, 1);
        consume(&mut watch, 0, 0);
        watch.finish();
    }

    #[test]
    #[should_panic(expected = "overtook")]
    fn packets_out_of_order_are_found_while_others_come() {
        let mut watch = Watch::new(4);
        consume(&mut watch, 0, 7);
        consume(&mut watch, 0, 7);
        (0..20).for_each(|number| consume(&mut watch, 2, number));
    }
}
