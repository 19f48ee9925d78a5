//! A calendar of events: buckets of time in a ring for the near future, a heap for what lies beyond.
//!
//! Buckets are chains of small chunks from one pool: at a tick of flow control thousands of events come at once, and a bucket
//! that kept room for as many would keep it for ever. Events of a bucket are put in order when it is opened. The order is
//! total: by time, then by key, so that it never depends on when an event was scheduled. Inserting and taking cost a few
//! nanoseconds while buckets hold a few events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prefetch_index::prefetch_index;

/// Something to look at: when, and what.
pub type Event = (u64, u32);

/// Events by time.
pub struct Calendar {
    /// The events of the buckets that are open, the last first.
    open: Vec<u64>,
    /// Those of the bucket that is being opened.
    opening: Vec<u64>,
    /// Number of the last open bucket: time >> shift.
    at: u64,
    /// Where the first open bucket begins: times of open events count from there.
    since: u64,
    /// By bucket, as many as a power of two: its first chunk and how full that is, so that adding reads no chunk.
    ring: Vec<u32>,
    chunks: Vec<Chunk>,
    /// By chunk: the one behind it.
    behind: Vec<u32>,
    /// The first chunk that is in no bucket; the others follow.
    unused: u32,
    shift: u32,
    /// Events in the ring.
    near: usize,
    far: BinaryHeap<Reverse<Event>>,
}

/// A cache line of events of one bucket: time since it begins, then key, in one number.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Chunk([u64; CHUNK as usize]);

const CHUNK: u32 = 8;

/// The first chunk of a bucket and, in the last bits, how many events are in it; the chunks behind are full.
const COUNT_BITS: u32 = 4;
const COUNT: u32 = (1 << COUNT_BITS) - 1;

/// No chunk; as a count it is more than fit.
const NONE: u32 = u32::MAX;

impl Calendar {
    /// What the ring reaches ahead: 2^24 ps, about 17 us, as long as a full buffer takes to be consumed.
    const AHEAD: u32 = 24;

    /// Bytes that it takes with so many events, twice that while it grows.
    pub fn memory(pending: usize, events: usize) -> u64 {
        // Each bucket may have a chunk that is not full.
        let buckets = 1 << (Self::AHEAD - Self::shift(pending));
        let chunks = events.div_ceil(CHUNK as usize) + buckets;
        let far = events * size_of::<Event>();
        (2 * (chunks * (size_of::<Chunk>() + size_of::<u32>()) + far) + buckets * size_of::<u32>())
            as u64
    }

    /// Time of a bucket, as a power of two: a handful of events each; 2^20 ps are a microsecond.
    fn shift(pending: usize) -> u32 {
        20 - (pending / 16).clamp(1 << 6, 1 << 13).ilog2()
    }

    /// An empty calendar for about `pending` events in any microsecond.
    pub fn new(pending: usize) -> Self {
        let shift = Self::shift(pending);
        Calendar {
            open: Vec::new(),
            opening: Vec::new(),
            at: 0,
            since: 0,
            ring: vec![NONE; 1 << (Self::AHEAD - shift)],
            chunks: Vec::new(),
            behind: Vec::new(),
            unused: NONE,
            shift,
            near: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Adds an event, not before the one taken last.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let bucket = event.0 >> self.shift;
        if bucket <= self.at {
            assert!(event.0 >= self.since, "events of buckets that are over are lost");
            let event = (event.0 - self.since) << 32 | u64::from(event.1);
            let after = self.open.partition_point(|&other| other > event);
            self.open.insert(after, event);
        } else if bucket - self.at < self.ring.len() as u64 {
            let event = self.packed(event);
            let slot = self.slot(bucket);
            let mut first = self.ring[slot];
            if first & COUNT >= CHUNK {
                first = self.prepend_chunk(first);
            }
            self.chunks[(first >> COUNT_BITS) as usize].0[(first & COUNT) as usize] = event;
            self.ring[slot] = first + 1;
            self.near += 1;
        } else {
            self.far.push(Reverse(event));
        }
    }

    /// Puts an empty chunk before the others of a bucket; returns how the bucket begins then.
    fn prepend_chunk(&mut self, first: u32) -> u32 {
        let behind = if first == NONE { NONE } else { first >> COUNT_BITS };
        let at = self.unused;
        if at == NONE {
            self.chunks.push(Chunk::default());
            self.behind.push(behind);
            return (self.chunks.len() as u32 - 1) << COUNT_BITS;
        }
        self.unused = std::mem::replace(&mut self.behind[at as usize], behind);
        at << COUNT_BITS
    }

    /// Where a bucket of the near future is.
    #[inline]
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.ring.len() - 1)
    }

    /// An event of a bucket in one number.
    #[inline]
    fn packed(&self, (time, key): Event) -> u64 {
        (time & ((1 << self.shift) - 1)) << 32 | u64::from(key)
    }

    /// The key of the event that comes after `before` others, if its bucket is open.
    #[inline]
    pub fn ahead(&self, before: usize) -> Option<u32> {
        let at = self.open.len().checked_sub(before + 1)?;
        Some(self.open[at] as u32)
    }

    /// Opens the next buckets with events until `least` events are in open ones, as far as such buckets are near.
    #[inline]
    pub fn turn(&mut self, least: usize) {
        while self.open.len() < least && self.advance() {}
    }

    /// Takes the first event if it is not later than `end`.
    #[inline]
    pub fn pop(&mut self, end: u64) -> Option<Event> {
        let event = *self.open.last()?;
        let time = self.since + (event >> 32);
        if time > end {
            return None;
        }
        self.open.pop();
        Some((time, event as u32))
    }

    /// Whether no event is left.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.near == 0 && self.far.is_empty()
    }

    /// Has the chunks of a bucket fetched.
    #[inline]
    fn fetch_bucket(&self, bucket: u64) {
        let first = self.ring[self.slot(bucket)];
        let mut at = if first == NONE { NONE } else { first >> COUNT_BITS };
        while at != NONE {
            prefetch_index(&self.chunks, at as usize);
            at = self.behind[at as usize];
        }
    }

    /// Opens the next bucket that has an event; returns whether there is one, beside open events one that is near.
    fn advance(&mut self) -> bool {
        let far = self.far.peek().map(|Reverse(event)| event.0 >> self.shift);
        let none_open = self.open.is_empty();
        if self.near == 0 {
            match far {
                Some(bucket) if none_open => self.at = bucket,
                _ => return false,
            }
        } else {
            let (mut at, most) = (self.at, self.at + self.ring.len() as u64);
            loop {
                at += 1;
                if far == Some(at) || self.ring[self.slot(at)] != NONE {
                    break;
                }
                debug_assert!(at < most);
            }
            self.at = at;
        }
        let begin = self.at << self.shift;
        if none_open {
            self.since = begin;
        } else if let Some(&first) = self.open.last() {
            // Times count from the first open event on, so that they stay small.
            let passed = first >> 32;
            self.since += passed;
            self.open.iter_mut().for_each(|event| *event -= passed << 32);
        }
        let later = (begin - self.since) << 32;
        let slot = self.slot(self.at);
        let first = std::mem::replace(&mut self.ring[slot], NONE);
        if first != NONE {
            let (mut at, mut count) = (first >> COUNT_BITS, first & COUNT);
            while at != NONE {
                let events = &self.chunks[at as usize].0[..count as usize];
                self.opening.extend(events.iter().map(|event| event + later));
                self.near -= count as usize;
                let behind = std::mem::replace(&mut self.behind[at as usize], self.unused);
                self.unused = std::mem::replace(&mut at, behind);
                count = CHUNK;
            }
        }
        self.fetch_bucket(self.at + 1);
        while let Some(&Reverse(event)) = self.far.peek()
            && event.0 >> self.shift <= self.at
        {
            self.far.pop();
            self.opening.push((event.0 - self.since) << 32 | u64::from(event.1));
        }
        self.opening.sort_unstable_by(|a, b| b.cmp(a));
        // The few that were open come first, so they stand last.
        self.opening.append(&mut self.open);
        std::mem::swap(&mut self.open, &mut self.opening);
        true
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
                    calendar.turn(1 + ahead as usize % 20);
                    let found = calendar.pop(u64::MAX);
                    prop_assert_eq!(found, naive.pop_first());
                    now = found.map_or(now, |event| event.0);
                }
            }
        }
    }
}
