//! The escape tree of a lane: routes that are always there, for switches for which no others are found.
//!
//! A breadth-first tree of all switches, with its root where the farthest of the lane's destinations is nearest. All
//! dependencies of its routes to these destinations are in use before the first search, so that no search can block them.
//!
//! Source: Domke and Hoefler 2016. Departs from it: the root is a centre of the destinations by distance, not the most
//! central switch of their convex hull by betweenness.

use super::layer::Layer;
use super::search::NONE;
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::hops::{HopMatrix, distances};

/// A spanning tree of switches that cables join.
pub struct EscapeTree {
    /// Slot from each switch to its parent, [`NONE`] at the root.
    up: Vec<u32>,
    /// Slot from each switch's parent to it.
    down: Vec<u32>,
    /// All switches, each after its parent.
    order: Vec<SwitchId>,
}

impl EscapeTree {
    /// The tree for `destinations`, which cables join with one another, and puts its dependencies in use in `layer`.
    #[must_use]
    pub fn new(
        graph: &SwitchGraph<'_>,
        members: &[SwitchId],
        destinations: &[SwitchId],
        layer: &mut Layer<'_>,
    ) -> Self {
        let tree = Self::from_root(graph, centre(graph, members, destinations));
        tree.reserve(graph, destinations, layer);
        tree
    }

    fn from_root(graph: &SwitchGraph<'_>, root: SwitchId) -> Self {
        let mut tree = EscapeTree {
            up: vec![NONE; graph.switch_count()],
            down: vec![NONE; graph.switch_count()],
            order: vec![root],
        };
        let mut front = 0;
        while let Some(&switch) = tree.order.get(front) {
            front += 1;
            for slot in graph.slots(switch) {
                let head = graph.slot_head(slot);
                if head != root && tree.up[head.index()] == NONE {
                    let back = graph.slot(graph.slot_channel(slot).reverse());
                    tree.up[head.index()] = back as u32;
                    tree.down[head.index()] = slot as u32;
                    tree.order.push(head);
                }
            }
        }
        tree
    }

    /// Puts the dependencies of all routes to `destinations` in use.
    fn reserve(&self, graph: &SwitchGraph<'_>, destinations: &[SwitchId], layer: &mut Layer<'_>) {
        // Destinations at or below each switch.
        let mut below = vec![0usize; graph.switch_count()];
        destinations.iter().for_each(|destination| below[destination.index()] += 1);
        let parent = |switch: SwitchId| {
            let up = self.up[switch.index()];
            (up != NONE).then(|| graph.slot_head(up as usize))
        };
        for &switch in self.order.iter().rev() {
            if let Some(parent) = parent(switch) {
                below[parent.index()] += below[switch.index()];
            }
        }
        let mut children = vec![Vec::new(); graph.switch_count()];
        for &switch in &self.order {
            if let Some(parent) = parent(switch) {
                children[parent.index()].push(switch);
            }
        }
        for &middle in &self.order {
            let (here, from_above) = (middle.index(), self.down[middle.index()]);
            let leaves = children[here].iter().filter(|child| below[child.index()] > 0);
            for out in leaves.map(|child| self.down[child.index()]) {
                let from_below = children[here].iter().map(|child| (child, self.up[child.index()]));
                let others = from_below.filter(|(child, _)| self.down[child.index()] != out);
                let into = others.map(|(_, slot)| slot).chain([from_above]);
                into.filter(|&slot| slot != NONE).for_each(|slot| use_it(layer, slot, out));
            }
            if below[here] < destinations.len() && self.up[here] != NONE {
                for child in &children[here] {
                    use_it(layer, self.up[child.index()], self.up[here]);
                }
            }
        }
    }

    /// The channel by which `switch` forwards to another one, `target`.
    #[must_use]
    pub fn next(&self, graph: &SwitchGraph<'_>, switch: SwitchId, target: SwitchId) -> u32 {
        let mut at = target;
        while at != switch && self.up[at.index()] != NONE {
            let parent = graph.slot_head(self.up[at.index()] as usize);
            if parent == switch {
                return self.down[at.index()];
            }
            at = parent;
        }
        self.up[switch.index()]
    }
}

fn use_it(layer: &mut Layer<'_>, before: u32, after: u32) {
    let open = layer.allow(before, after);
    assert!(open, "the dependencies of a tree have no cycle");
}

/// The switch from which the farthest destination is nearest, then all together, then the lowest.
fn centre(graph: &SwitchGraph<'_>, members: &[SwitchId], destinations: &[SwitchId]) -> SwitchId {
    let mut farthest = vec![(0u16, 0u64); graph.switch_count()];
    let mut row = vec![HopMatrix::FAR; graph.switch_count()];
    let mut queue = Vec::new();
    for &destination in destinations {
        distances(graph, destination, &mut row, &mut queue);
        for &switch in &queue {
            let hops = std::mem::replace(&mut row[switch.index()], HopMatrix::FAR);
            let (most, all) = &mut farthest[switch.index()];
            *most = hops.max(*most);
            *all += u64::from(hops);
        }
    }
    let best = members.iter().min_by_key(|switch| (farthest[switch.index()], **switch));
    best.copied().unwrap_or(destinations[0])
}
