//! A calendar of events: buckets of time in a ring for the near future, a heap for what lies beyond.
//!
//! Events of a bucket are put in order when it is opened. The order is total: by time, then by key, so that it never
//! depends on when an event was scheduled. Inserting and taking cost a few nanoseconds while buckets hold a few events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something to look at: when, and what.
pub type Event = (u64, u32);

/// Events by time.
pub struct Calendar {
    /// The bucket that is open, last event first.
    open: Vec<Event>,
    /// Number of the open bucket: time >> shift.
    at: u64,
    ring: Vec<Vec<Event>>,
    shift: u32,
    /// Events in the ring.
    near: usize,
    far: BinaryHeap<Reverse<Event>>,
}

impl Calendar {
    const RING: usize = 1 << 11;

    /// An empty calendar for about `pending` events in any microsecond.
    pub fn new(pending: usize) -> Self {
        // A handful of events a bucket; 2^20 ps are a microsecond.
        let buckets = (pending / 4).clamp(1 << 6, 1 << 13).ilog2();
        Calendar {
            open: Vec::new(),
            at: 0,
            ring: vec![Vec::new(); Self::RING],
            shift: 20 - buckets,
            near: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Adds an event, not before the one taken last.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let bucket = event.0 >> self.shift;
        if bucket <= self.at {
            let after = self.open.partition_point(|&other| other > event);
            self.open.insert(after, event);
        } else if bucket - self.at < Self::RING as u64 {
            self.ring[bucket as usize % Self::RING].push(event);
            self.near += 1;
        } else {
            self.far.push(Reverse(event));
        }
    }

    /// Takes the first event if it is not later than `end`.
    #[inline]
    pub fn pop(&mut self, end: u64) -> Option<Event> {
        if self.open.is_empty() {
            self.advance();
        }
        if self.open.last()?.0 > end {
            return None;
        }
        self.open.pop()
    }

    /// Whether no event is left.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.near == 0 && self.far.is_empty()
    }

    /// Opens the next bucket that has an event.
    fn advance(&mut self) {
        let far = self.far.peek().map(|Reverse(event)| event.0 >> self.shift);
        if self.near == 0 {
            match far {
                None => return,
                Some(bucket) => self.at = bucket,
            }
        } else {
            loop {
                self.at += 1;
                if far == Some(self.at) || !self.ring[self.at as usize % Self::RING].is_empty() {
                    break;
                }
            }
        }
        let bucket = &mut self.ring[self.at as usize % Self::RING];
        self.near -= bucket.len();
        std::mem::swap(&mut self.open, bucket);
        while self.far.peek().is_some_and(|Reverse(event)| event.0 >> self.shift <= self.at) {
            self.open.extend(self.far.pop().map(|Reverse(event)| event));
        }
        self.open.sort_unstable_by(|a, b| b.cmp(a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_by_time_and_key(
            steps in prop::collection::vec((0u64..1 << 34, 0u32..100, 0usize..4), 1..300),
            pending in 1usize..100_000,
        ) {
            let mut calendar = Calendar::new(pending);
            let mut naive = std::collections::BTreeSet::new();
            let mut now = 0;
            for (ahead, key, takes) in steps {
                let event = (now + ahead % (1 << (10 + key % 24)), key);
                if naive.insert(event) {
                    calendar.push(event);
                }
                for _ in 0..takes {
                    let found = calendar.pop(u64::MAX);
                    prop_assert_eq!(found, naive.pop_first());
                    now = found.map_or(now, |event| event.0);
                }
            }
        }
    }
}
