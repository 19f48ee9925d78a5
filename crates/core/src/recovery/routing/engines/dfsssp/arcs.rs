//! Dependencies between channels, numbered in one row.
//!
//! A dependency is (channel, the channel taken right after it). Those of one channel stand together, in port order of the
//! second one, so that a number is a first entry plus a position.

use crate::machine::SwitchGraph;

/// How dependencies are numbered.
pub struct Arcs {
    first: Vec<u32>,
}

impl Arcs {
    /// Numbers the dependencies of a fabric.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>) -> Self {
        let mut first = Vec::with_capacity(graph.slot_count() + 1);
        let mut next = 0;
        for slot in 0..graph.slot_count() {
            first.push(next);
            next += graph.heads(graph.slot_head(slot)).len() as u32;
        }
        first.push(next);
        Arcs { first }
    }

    /// Number of dependencies there can be.
    #[must_use]
    pub fn count(&self) -> usize {
        self.first.last().map_or(0, |&last| last as usize)
    }

    /// The dependency of `slot` on the channel at `position` of the switch it leads to.
    #[inline]
    #[must_use]
    pub fn number(&self, slot: usize, position: u8) -> usize {
        self.first[slot] as usize + usize::from(position)
    }

    /// All dependencies of `slot`.
    #[inline]
    #[must_use]
    pub fn of(&self, slot: usize) -> std::ops::Range<usize> {
        self.first[slot] as usize..self.first[slot + 1] as usize
    }
}
