//! Up*/Down* ways as OpenSM 3.3.23 counts them, entry for entry.
//!
//! From each destination a queue spreads hop counts over cables; a switch heads up or down as the step did that put it in
//! the queue, while its distance may come from another step. So routes need not be legal on irregular fabrics.
//!
//! Source: found by experiment on the running program; `tests/opensm/reference/hops.py` states the rules in full.

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::parallel;
use crate::recovery::routing::hops::HopMatrix;

/// Which channels lead towards which switch, a bit each.
pub struct Ways {
    words: usize,
    bits: Vec<u64>,
}

impl Ways {
    /// Ways under the ranks of the switches.
    ///
    /// # Complexity
    /// Switches x channels / 8 bytes.
    pub fn new(graph: &SwitchGraph<'_>, rank: &[u32]) -> Self {
        let words = graph.slot_count().div_ceil(64);
        let mut bits = vec![0; words * graph.switch_count()];
        let spread = || Spread::new(graph, rank);
        let steps = graph.switch_count() * graph.slot_count();
        parallel::rows(&mut bits, words, steps, spread, |spread, target, row| {
            spread.ways_to(SwitchId::from_index(target), row)
        });
        Ways { words, bits }
    }

    /// Whether the channel of `slot` is on a way to `target`.
    #[inline]
    pub fn may_use(&self, slot: usize, target: SwitchId) -> bool {
        self.bits[target.index() * self.words + slot / 64] >> (slot % 64) & 1 == 1
    }
}

/// State of the search from one destination; reused for the next.
struct Spread<'a> {
    graph: &'a SwitchGraph<'a>,
    rank: &'a [u32],
    /// By slot: the slot of the reverse channel.
    back: Vec<u32>,
    hops: Vec<u16>,
    least: Vec<u16>,
    heading_up: Vec<bool>,
    queued: Vec<bool>,
    queue: std::collections::VecDeque<SwitchId>,
}

impl<'a> Spread<'a> {
    fn new(graph: &'a SwitchGraph<'a>, rank: &'a [u32]) -> Self {
        let back = (0..graph.slot_count())
            .map(|slot| graph.slot(graph.slot_channel(slot).reverse()) as u32);
        Spread {
            graph,
            rank,
            back: back.collect(),
            hops: vec![HopMatrix::FAR; graph.slot_count()],
            least: vec![HopMatrix::FAR; graph.switch_count()],
            heading_up: vec![false; graph.switch_count()],
            queued: vec![false; graph.switch_count()],
            queue: std::collections::VecDeque::new(),
        }
    }

    /// Towards the roots; within a rank towards the lesser GUID, between roots always.
    fn is_up(&self, from: SwitchId, to: SwitchId) -> bool {
        let guid = |switch| self.graph.machine().switch(switch).guid;
        match self.rank[to.index()].cmp(&self.rank[from.index()]) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => self.rank[to.index()] == 0 || guid(from) > guid(to),
        }
    }

    fn ways_to(&mut self, target: SwitchId, row: &mut [u64]) {
        self.hops.fill(HopMatrix::FAR);
        self.least.fill(HopMatrix::FAR);
        self.least[target.index()] = 0;
        self.heading_up[target.index()] = true;
        self.queue.push_back(target);
        self.queued[target.index()] = true;
        while let Some(here) = self.queue.pop_front() {
            self.queued[here.index()] = false;
            let count = self.least[here.index()] + 1;
            if count > HopMatrix::LONGEST {
                continue;
            }
            for slot in self.graph.slots(here) {
                let far = self.graph.slot_head(slot);
                let rises = self.is_up(here, far);
                let back = self.back[slot] as usize;
                if rises && !self.heading_up[here.index()] || count >= self.hops[back] {
                    continue;
                }
                self.hops[back] = count;
                self.least[far.index()] = self.least[far.index()].min(count);
                if !self.queued[far.index()] {
                    self.queued[far.index()] = true;
                    self.heading_up[far.index()] = rises;
                    self.queue.push_back(far);
                }
            }
        }
        for switch in (0..self.graph.switch_count() as u32).map(SwitchId) {
            if switch == target || self.least[switch.index()] == HopMatrix::FAR {
                continue;
            }
            let best = self.least[switch.index()];
            for slot in self.graph.slots(switch).filter(|&slot| self.hops[slot] == best) {
                row[slot / 64] |= 1 << (slot % 64);
            }
        }
    }
}
