//! Lanes filled route by route: each goes into the first lane that stays acyclic with it.
//!
//! Every lane keeps its dependencies in topological order, so a route whose dependencies are all there already costs a
//! look at each, and only new ones are searched. Nothing is ever moved and no search is started again.

use super::arcs::Arcs;
use super::trees::{NO_WAY, Trees};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::acyclic::Acyclic;

/// One lane.
struct Lane {
    dependencies: Acyclic,
    /// Which dependencies are there, a bit each.
    present: Vec<u64>,
}

/// Layers of all routes, `[destination][switch]`, and how many there are.
///
/// # Errors
/// The source switch of the first route that fits in none of `layers_max` lanes.
pub fn fill(
    graph: &SwitchGraph<'_>,
    trees: &Trees,
    layers_max: u8,
) -> Result<(u8, Vec<u8>), SwitchId> {
    let arcs = Arcs::new(graph);
    let switches = trees.switch_count();
    let mut lanes: Vec<Lane> = Vec::new();
    let mut layer = vec![0u8; trees.lids.len() * switches];
    let mut order = Vec::new();
    let mut path: Vec<(u32, u32, usize)> = Vec::new();
    let mut added: Vec<(u32, u32, usize)> = Vec::new();
    for destination in 0..trees.lids.len() {
        let tree = trees.tree(destination);
        trees.far_to_near(graph, tree, &mut order);
        for &switch in order.iter().filter(|switch| trees.weight[switch.index()] > 0) {
            dependencies(graph, &arcs, tree, switch, &mut path);
            let fits = |lane: &mut Lane| lane.add(&path, &mut added);
            let lane = match lanes.iter_mut().position(fits) {
                Some(lane) => lane,
                None if lanes.len() == usize::from(layers_max) => return Err(switch),
                None => {
                    lanes.push(Lane::new(graph, &arcs));
                    let last = lanes.len() - 1;
                    // One route alone closes no cycle: it enters each switch once.
                    let alone = lanes[last].add(&path, &mut added);
                    debug_assert!(alone);
                    last
                }
            };
            layer[destination * switches + switch.index()] = lane as u8;
        }
    }
    Ok((lanes.len().max(1) as u8, layer))
}

/// The dependencies of one route: slot, slot after it, and number.
fn dependencies(
    graph: &SwitchGraph<'_>,
    arcs: &Arcs,
    tree: &[u8],
    source: SwitchId,
    path: &mut Vec<(u32, u32, usize)>,
) {
    path.clear();
    let (mut at, mut before) = (source, None);
    while tree[at.index()] != NO_WAY {
        let position = tree[at.index()];
        let slot = graph.slots(at).start + usize::from(position);
        if let Some(before) = before {
            path.push((before as u32, slot as u32, arcs.number(before, position)));
        }
        before = Some(slot);
        at = graph.slot_head(slot);
    }
}

impl Lane {
    fn new(graph: &SwitchGraph<'_>, arcs: &Arcs) -> Self {
        Lane {
            dependencies: Acyclic::new(graph.slot_count()),
            present: vec![0; arcs.count().div_ceil(64)],
        }
    }

    /// Adds all dependencies of a route, or none if that would close a cycle; says which.
    fn add(&mut self, path: &[(u32, u32, usize)], added: &mut Vec<(u32, u32, usize)>) -> bool {
        added.clear();
        for &(from, to, arc) in path {
            if self.present[arc / 64] >> (arc % 64) & 1 == 1 {
                continue;
            }
            if !self.dependencies.try_add(from, to) {
                for &(from, to, arc) in added.iter().rev() {
                    self.dependencies.remove(from, to);
                    self.present[arc / 64] &= !(1 << (arc % 64));
                }
                return false;
            }
            self.present[arc / 64] |= 1 << (arc % 64);
            added.push((from, to, arc));
        }
        true
    }
}
