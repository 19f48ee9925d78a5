//! The dependencies of one lane: which are in use, and which would close a credit loop.
//!
//! A dependency stands for "after channel `before`, channel `after`", by slots. Once in use it stays so for the destinations
//! to come, and once it would close a loop it always would, so each is asked about once. What a search that is given up has
//! changed can be taken back.

use crate::machine::SwitchGraph;
use crate::recovery::routing::Acyclic;

/// Dependencies of a lane.
pub struct Layer<'g> {
    graph: &'g SwitchGraph<'g>,
    /// First dependency of each slot; one a slot of the switch it leads to follows.
    base: Vec<u32>,
    state: Vec<State>,
    used: Acyclic,
    /// What has changed since the last [`Layer::keep`].
    changed: Vec<(u32, u32)>,
}

/// What is known of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody has asked.
    Unknown,
    /// Routes have it.
    Used,
    /// It would close a credit loop.
    Blocked,
}

impl<'g> Layer<'g> {
    /// A lane in which nothing depends on anything.
    #[must_use]
    pub fn new(graph: &'g SwitchGraph<'g>) -> Self {
        let mut base = Vec::with_capacity(graph.slot_count());
        let mut count = 0;
        for slot in 0..graph.slot_count() {
            base.push(count);
            count += graph.slots(graph.slot_head(slot)).len() as u32;
        }
        Layer {
            graph,
            base,
            state: vec![State::Unknown; count as usize],
            used: Acyclic::new(graph.slot_count()),
            changed: Vec::new(),
        }
    }

    #[inline]
    fn index(&self, before: u32, after: u32) -> usize {
        let head = self.graph.slot_head(before as usize);
        self.base[before as usize] as usize + (after as usize - self.graph.slots(head).start)
    }

    /// What is known of the dependency.
    #[inline]
    #[must_use]
    pub fn state(&self, before: u32, after: u32) -> State {
        self.state[self.index(before, after)]
    }

    /// Puts the dependency in use unless it would close a loop; says whether it is in use.
    #[inline]
    pub fn allow(&mut self, before: u32, after: u32) -> bool {
        let index = self.index(before, after);
        match self.state[index] {
            State::Used => true,
            State::Blocked => false,
            State::Unknown => {
                let open = self.used.try_add(before, after);
                self.state[index] = if open { State::Used } else { State::Blocked };
                self.changed.push((before, after));
                open
            }
        }
    }

    /// Keeps what has changed.
    pub fn keep(&mut self) {
        self.changed.clear();
    }

    /// Takes back what has changed since the last [`Layer::keep`].
    pub fn take_back(&mut self) {
        for (before, after) in std::mem::take(&mut self.changed) {
            let index = self.index(before, after);
            if self.state[index] == State::Used {
                self.used.remove(before, after);
            }
            self.state[index] = State::Unknown;
        }
    }
}
