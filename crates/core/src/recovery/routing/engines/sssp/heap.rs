//! A heap of four children a node whose ties come out as those of OpenSM's heap do.
//!
//! Equal keys come out in an order that depends on every swap before, so each rule counts: a key rises while it is strictly
//! less than its parent's; it sinks, to the place of its least child (the last of equal ones), while it is strictly
//! greater; the root is taken out by putting the last entry in its place and letting it sink.
//!
//! Source: found by experiment on the running program; `tests/opensm/reference/heap.py` says it in Python.

/// Items `0..n` by key; every item is in at most once.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    entries: Vec<(u64, u32)>,
    place: Vec<u32>,
}

const CHILDREN: usize = 4;

impl Heap {
    /// Fills the heap with items `0..count`, all of key `key`, in this order.
    pub fn fill(&mut self, count: u32, key: u64) {
        self.entries.clear();
        self.entries.extend((0..count).map(|item| (key, item)));
        self.place.clear();
        self.place.extend(0..count);
    }

    /// Gives an item a lower key.
    pub fn lower(&mut self, item: u32, key: u64) {
        let place = self.place[item as usize] as usize;
        self.entries[place].0 = key;
        self.rise(place);
    }

    /// Takes out the item of the least key.
    pub fn pop(&mut self) -> Option<(u64, u32)> {
        let last = self.entries.len().checked_sub(1)?;
        self.entries.swap(0, last);
        let out = self.entries.pop();
        if let Some(&(_, item)) = self.entries.first() {
            self.place[item as usize] = 0;
            self.sink(0);
        }
        out
    }

    fn rise(&mut self, mut place: usize) {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if entry.0 >= self.entries[parent].0 {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let first = CHILDREN * place + 1;
            let children = first..(first + CHILDREN).min(self.entries.len());
            let Some(least) = children.rev().min_by_key(|&child| self.entries[child].0) else {
                break;
            };
            if entry.0 <= self.entries[least].0 {
                break;
            }
            self.put(place, self.entries[least]);
            place = least;
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: (u64, u32)) {
        self.entries[place] = entry;
        self.place[entry.1 as usize] = place as u32;
    }
}
