//! Routes of all switches to one destination, found from there outwards inside the dependency graph of a lane.
//!
//! Switches settle by hops. One that touches settled switches takes the channel whose way there is shortest, then least
//! loaded, among those whose dependency on the next channel does not close a credit loop. A switch all of whose channels
//! are blocked waits for neighbours to settle farther out. If some never settle, the search begins anew and takes what is
//! in use already wherever it can; if some still do not, they and all that lie on their way on the escape tree take that,
//! and the search begins anew around them.
//!
//! Source: Domke and Hoefler 2016, whose search this is. Departs from it: hops come before loads, so no heap is needed and
//! ways are as short as the lane allows; a new dependency costs as much as some load; where the search gets stuck the paper
//! turns neighbours to other channels and at last sends all routes over the escape tree, here only the stuck ones and
//! those on their way go there. That left fewer long ways and less load at the root (an 8x8x8 torus: 2 instead of 2.7 %).

use super::escape::{EscapeTree, cables};
use super::layer::{Layer, State};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;

/// No channel: the destination itself, or a switch without a route.
pub const NONE: u32 = u32::MAX;

const FAR: u32 = u32::MAX;

/// A penalty above any load of a way.
const ANY_LOAD: u64 = u64::MAX / 2;

/// Routes to one destination; reused from one to the next.
pub struct Search<'g> {
    graph: &'g SwitchGraph<'g>,
    /// Slot by which each switch forwards.
    next: Vec<u32>,
    hops: Vec<u32>,
    /// Load of the channels on the way.
    cost: Vec<u64>,
    /// Settled switches by hops.
    levels: Vec<Vec<SwitchId>>,
    settled: usize,
    touched: Vec<SwitchId>,
    is_touched: Vec<bool>,
    settling: Vec<Settling>,
    weight: Vec<u64>,
    /// Switches that took the escape tree, all destinations together.
    #[cfg(test)]
    pub escaped: usize,
}

/// A switch with its hops, cost and channel.
type Settling = (SwitchId, u32, u64, u32);

/// What a search goes by.
#[derive(Clone, Copy)]
pub struct Goal<'a> {
    /// The destination.
    pub target: SwitchId,
    /// The switches that cables join with it.
    pub members: &'a [SwitchId],
    /// Nodes that send over each slot so far.
    pub load: &'a [u64],
    /// Load that a channel must have more than another to be worth a new dependency.
    pub penalty: u64,
}

impl<'g> Search<'g> {
    /// A search over the usable part of a fabric.
    #[must_use]
    pub fn new(graph: &'g SwitchGraph<'g>) -> Self {
        let switches = graph.switch_count();
        Search {
            graph,
            next: vec![NONE; switches],
            hops: vec![FAR; switches],
            cost: vec![0; switches],
            levels: Vec::new(),
            settled: 0,
            touched: Vec::new(),
            is_touched: vec![false; switches],
            settling: Vec::new(),
            weight: vec![0; switches],
            #[cfg(test)]
            escaped: 0,
        }
    }

    /// Slot by which `switch` forwards; [`NONE`] at the destination.
    #[inline]
    #[must_use]
    pub fn next(&self, switch: SwitchId) -> u32 {
        self.next[switch.index()]
    }

    /// Finds routes from all switches of `goal` and puts their dependencies in use in `layer`.
    ///
    /// # Complexity
    /// Channels, if nothing gets stuck, and what it takes to keep `layer` without a cycle.
    pub fn run(&mut self, layer: &mut Layer<'_>, tree: &EscapeTree, mut goal: Goal<'_>) {
        let mut escaping: Vec<SwitchId> = Vec::new();
        layer.keep();
        loop {
            self.begin(tree, goal, &escaping);
            self.spread(layer, goal);
            if self.settled == goal.members.len() {
                #[cfg(test)]
                (self.escaped += escaping.len());
                return;
            }
            layer.take_back();
            if goal.penalty < ANY_LOAD {
                goal.penalty = ANY_LOAD;
            } else {
                self.escape(tree, goal.target, &mut escaping);
            }
        }
    }

    fn begin(&mut self, tree: &EscapeTree, goal: Goal<'_>, escaping: &[SwitchId]) {
        self.next.fill(NONE);
        self.hops.fill(FAR);
        self.levels.iter_mut().for_each(Vec::clear);
        self.settled = 0;
        self.put((goal.target, 0, 0, NONE));
        // Each after the one it forwards to.
        for &switch in escaping {
            let head = tree.next(switch, goal.target);
            let cables = cables(self.graph, switch, head);
            let Some(slot) = cables.min_by_key(|&slot| goal.load[slot as usize]) else { continue };
            let cost = self.cost[head.index()] + goal.load[slot as usize];
            self.put((switch, self.hops[head.index()] + 1, cost, slot));
        }
    }

    fn put(&mut self, (switch, hops, cost, slot): Settling) {
        let level = hops as usize;
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Vec::new());
        }
        self.levels[level].push(switch);
        self.settled += 1;
        self.next[switch.index()] = slot;
        self.hops[switch.index()] = hops;
        self.cost[switch.index()] = cost;
    }

    /// Settles switches level after level.
    fn spread(&mut self, layer: &mut Layer<'_>, goal: Goal<'_>) {
        let mut level = 0;
        while level < self.levels.len() {
            for switch in &self.levels[level] {
                for &head in self.graph.heads(*switch) {
                    if self.hops[head.index()] == FAR && !self.is_touched[head.index()] {
                        self.is_touched[head.index()] = true;
                        self.touched.push(head);
                    }
                }
            }
            // They settle together, so that none goes through one of its own level.
            let mut settling = std::mem::take(&mut self.settling);
            for at in 0..self.touched.len() {
                let switch = self.touched[at];
                self.is_touched[switch.index()] = false;
                settling.extend(self.best(layer, goal, switch, level as u32));
            }
            self.touched.clear();
            settling.drain(..).for_each(|settling| self.put(settling));
            self.settling = settling;
            level += 1;
        }
    }

    /// The best channel of `switch` that is not blocked and leads to a switch of at most `level` hops.
    fn best(
        &self,
        layer: &mut Layer<'_>,
        goal: Goal<'_>,
        switch: SwitchId,
        level: u32,
    ) -> Option<Settling> {
        loop {
            let mut best = (FAR, u64::MAX, NONE, 0);
            for (slot, &head) in self.graph.slots(switch).zip(self.graph.heads(switch)) {
                let hops = self.hops[head.index()];
                if hops > level {
                    continue;
                }
                let cost = self.cost[head.index()] + goal.load[slot];
                let after = self.next[head.index()];
                if after == NONE {
                    best = best.min((hops, cost, slot as u32, cost));
                } else if (hops, cost) < (best.0, best.1) {
                    match layer.state(slot as u32, after) {
                        State::Used => best = best.min((hops, cost, slot as u32, cost)),
                        State::Unknown => {
                            best = best.min((hops, cost + goal.penalty, slot as u32, cost))
                        }
                        State::Blocked => {}
                    }
                }
            }
            let (hops, _, slot, cost) = best;
            if slot == NONE {
                return None;
            }
            let after = self.next[self.head(slot).index()];
            if after == NONE || layer.allow(slot, after) {
                return Some((switch, hops + 1, cost, slot));
            }
        }
    }

    #[inline]
    fn head(&self, slot: u32) -> SwitchId {
        self.graph.slot_head(slot as usize)
    }

    /// The switches without a route beside those that have one.
    fn stuck(&self) -> Vec<SwitchId> {
        let settled = self.levels.iter().flatten();
        let mut stuck: Vec<SwitchId> = settled
            .flat_map(|&switch| self.graph.heads(switch))
            .copied()
            .filter(|switch| self.hops[switch.index()] == FAR)
            .collect();
        stuck.sort_unstable();
        stuck.dedup();
        stuck
    }

    /// Adds to `escaping` the stuck switches and what lies between them and the rest on the escape tree.
    fn escape(&self, tree: &EscapeTree, target: SwitchId, escaping: &mut Vec<SwitchId>) {
        let mut is_escaping = vec![false; self.next.len()];
        escaping.iter().chain([&target]).for_each(|switch| is_escaping[switch.index()] = true);
        for mut at in self.stuck() {
            let mut path = Vec::new();
            while !std::mem::replace(&mut is_escaping[at.index()], true) {
                path.push(at);
                at = tree.next(at, target);
            }
            escaping.extend(path.into_iter().rev());
        }
    }

    /// Adds to the load of every channel the nodes that send over it; returns all that was added.
    pub fn add_load(&mut self, load: &mut [u64]) -> u64 {
        let settled = || self.levels.iter().flatten();
        for &switch in settled() {
            self.weight[switch.index()] = u64::from(self.graph.sources(switch));
        }
        let mut added = 0;
        for &switch in settled().rev() {
            let slot = self.next[switch.index()];
            if slot != NONE {
                let weight = self.weight[switch.index()];
                load[slot as usize] += weight;
                added += weight;
                let head = self.graph.slot_head(slot as usize);
                self.weight[head.index()] += weight;
            }
        }
        added
    }
}
