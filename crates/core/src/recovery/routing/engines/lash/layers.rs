//! Which layer each pair of switches goes to, so that no layer has a cycle of dependencies.
//!
//! A pair takes the first layer in which both its ways, there and back, close no cycle. Most ways turn only where earlier
//! ones of the layer turned, so two words a turn answer for all layers at once: the layers that have it, and the layers
//! in which it is known to close a cycle (for good, since layers only grow while they take pairs). Only what is left is
//! asked of the layer's graph.
//!
//! Vertices are hops, (switch, neighbour): a cycle of cables would also be one of hops, so the cables may be chosen freely.

use super::ways::{Hop, Ways};
use crate::ids::SwitchId;
use crate::recovery::routing::Acyclic;
use crate::rng::Seed;

/// Pairs of switches in layers.
#[derive(Clone, Debug)]
pub struct Layers<'w> {
    ways: &'w Ways,
    limit: u8,
    /// First turn of each hop; one to each hop from its head follows.
    base: Vec<u32>,
    /// Layers that have each turn, a bit each.
    has: Vec<u16>,
    /// Layers in which each turn closes a cycle, a bit each.
    bars: Vec<u16>,
    graphs: Vec<Acyclic>,
    missing: Vec<Turn>,
}

/// The layer of every pair among some switches.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Layer of the pair of the switches number `a` and `b` < `a`, at `a (a - 1) / 2 + b`; [`NOWHERE`] if none took it.
    pub layer: Vec<u8>,
    /// Pairs in each layer.
    pub counts: Vec<u64>,
    /// Pairs that no layer took, and the switch at which the first of them begins.
    pub left: Option<(u64, SwitchId)>,
}

/// The layer of a pair that has no way or that no layer took.
pub const NOWHERE: u8 = 255;

#[derive(Clone, Copy, Debug)]
struct Turn {
    number: u32,
    before: Hop,
    after: Hop,
}

impl<'w> Layers<'w> {
    /// No layers yet, `limit` at most (16 or less).
    #[must_use]
    pub fn new(ways: &'w Ways, limit: u8) -> Self {
        let mut turns = 0;
        let mut base = Vec::with_capacity(ways.hop_count());
        for hop in 0..ways.hop_count() as Hop {
            base.push(turns);
            turns += ways.neighbours(ways.head(hop)).len() as u32;
        }
        let [has, bars] = [0, 1].map(|_| vec![0; turns as usize]);
        Layers { ways, limit, base, has, bars, graphs: Vec::new(), missing: Vec::new() }
    }

    /// Puts every pair of `switches` into the first layer that takes it.
    ///
    /// # Complexity
    /// Pairs x distance for the look at the turns, and a search in a layer's graph for each turn that is new or barred
    /// there, or fits alone but not beside others of its pair.
    pub fn assign(&mut self, switches: &[SwitchId]) -> Assignment {
        let pairs = switches.len() * switches.len().saturating_sub(1) / 2;
        let mut all = Assignment { layer: vec![NOWHERE; pairs], counts: Vec::new(), left: None };
        for (b, &from) in switches.iter().enumerate() {
            for (a, &to) in switches.iter().enumerate().skip(b + 1) {
                if self.ways.next(from, to).is_none() {
                    continue;
                }
                match self.place([from, to]) {
                    Some(layer) => {
                        all.layer[pair(a, b)] = layer;
                        all.counts.resize(self.graphs.len(), 0);
                        all.counts[usize::from(layer)] += 1;
                    }
                    None => all.left.get_or_insert((0, from)).0 += 1,
                }
            }
        }
        all
    }

    /// Moves pairs from the fullest to the emptiest layer as long as both stay without a cycle.
    ///
    /// OpenSM's rule: pairs are drawn at random until the two differ by less than [`EVEN`] or no pair of the fullest layer
    /// fits the emptiest. No layer both gives and takes: one that has given stays within a pair of the fullest, one that
    /// has taken within a pair of the emptiest. So what a layer lost need not be taken out of its graph, and a pair that
    /// did not fit a layer once never will.
    pub fn balance(&mut self, switches: &[SwitchId], all: &mut Assignment) {
        let count = all.counts.len();
        if count < 2 {
            return;
        }
        let mut candidates: Vec<Vec<[u32; 2]>> = vec![Vec::new(); count];
        for a in 0..switches.len() {
            for b in 0..a {
                if let Some(list) = candidates.get_mut(usize::from(all.layer[pair(a, b)])) {
                    list.push([a as u32, b as u32]);
                }
            }
        }
        for (layer, list) in candidates.iter_mut().enumerate() {
            Seed(1).stream("routing.lash", layer as u64).shuffle(list);
        }
        // How many candidates of a layer were tried for another one.
        let mut tried = vec![0; count * count];
        loop {
            let fullest = (0..count).max_by_key(|&layer| (all.counts[layer], count - layer));
            let emptiest = (0..count).min_by_key(|&layer| all.counts[layer]);
            let (Some(fullest), Some(emptiest)) = (fullest, emptiest) else { return };
            if all.counts[fullest] - all.counts[emptiest] < EVEN {
                return;
            }
            let tried = &mut tried[fullest * count + emptiest];
            let fitting = candidates[fullest][*tried..].iter().position(|&[a, b]| {
                let here = usize::from(all.layer[pair(a as usize, b as usize)]) == fullest;
                here && self.takes(emptiest, [a, b].map(|number| switches[number as usize]))
            });
            let Some(skipped) = fitting else { return };
            let [a, b] = candidates[fullest][*tried + skipped];
            *tried += skipped + 1;
            all.layer[pair(a as usize, b as usize)] = emptiest as u8;
            all.counts[fullest] -= 1;
            all.counts[emptiest] += 1;
        }
    }

    /// The first layer that takes the pair, a new one if need be and possible.
    fn place(&mut self, ends: [SwitchId; 2]) -> Option<u8> {
        let (has, bars) = self.known(ends);
        for layer in 0..self.graphs.len() {
            if bars >> layer & 1 == 0 && (has >> layer & 1 == 1 || self.add(layer, ends)) {
                return Some(layer as u8);
            }
        }
        if self.graphs.len() == usize::from(self.limit) {
            return None;
        }
        // Of the two ways one takes only hops that lead away from the first switch, the other only hops towards it:
        // they share none, and the new layer takes them.
        self.graphs.push(Acyclic::new(self.ways.hop_count()));
        let layer = self.graphs.len() - 1;
        self.add(layer, ends).then_some(layer as u8)
    }

    /// Adds the pair to `layer` if that stays without a cycle.
    fn takes(&mut self, layer: usize, ends: [SwitchId; 2]) -> bool {
        let (has, bars) = self.known(ends);
        bars >> layer & 1 == 0 && (has >> layer & 1 == 1 || self.add(layer, ends))
    }

    /// Layers that have all turns of the pair, and layers in which one of its turns closes a cycle.
    #[inline]
    fn known(&self, [one, other]: [SwitchId; 2]) -> (u16, u16) {
        let (mut has, mut bars) = (u16::MAX, 0);
        for (from, to) in [(one, other), (other, one)] {
            self.ways.turns(from, to, |before, _, which| {
                let turn = (self.base[before as usize] + which) as usize;
                has &= self.has[turn];
                bars |= self.bars[turn];
            });
        }
        (has, bars)
    }

    /// Adds the turns that the pair has and `layer` has not, all or none; notes a turn that can never be added.
    fn add(&mut self, layer: usize, [one, other]: [SwitchId; 2]) -> bool {
        let bit = 1u16 << layer;
        self.missing.clear();
        for (from, to) in [(one, other), (other, one)] {
            self.ways.turns(from, to, |before, after, which| {
                let number = self.base[before as usize] + which;
                if self.has[number as usize] & bit == 0 {
                    self.missing.push(Turn { number, before, after });
                }
            });
        }
        let graph = &mut self.graphs[layer];
        let closing = self.missing.iter().position(|turn| !graph.try_add(turn.before, turn.after));
        let Some(closing) = closing else {
            self.missing.iter().for_each(|turn| self.has[turn.number as usize] |= bit);
            return true;
        };
        for turn in &self.missing[..closing] {
            graph.remove(turn.before, turn.after);
        }
        let turn = self.missing[closing];
        if closing == 0 || graph.closes_cycle(turn.before, turn.after) {
            self.bars[turn.number as usize] |= bit;
        }
        false
    }
}

/// Two layers count as even if they differ by fewer pairs than this; OpenSM counts both directions, and takes 6.
const EVEN: u64 = 3;

/// Where [`Assignment::layer`] has the pair of the switches number `a` and `b` < `a`.
#[inline]
#[must_use]
pub fn pair(a: usize, b: usize) -> usize {
    a * (a - 1) / 2 + b
}
