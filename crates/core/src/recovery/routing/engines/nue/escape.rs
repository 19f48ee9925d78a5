//! The escape tree of a lane: routes that are always there, for switches for which no others are found.
//!
//! A breadth-first tree of all switches, with its root where the farthest of the lane's destinations is nearest. All
//! dependencies of its routes to these destinations are in use before the first search, so that no search can block them,
//! and so for all cables between two switches.
//!
//! Source: Domke and Hoefler 2016. Departs from it: the root is a centre of the destinations by distance, not the most
//! central switch of their convex hull by betweenness.

use super::layer::Layer;
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::hops::{HopMatrix, distances};

/// A spanning tree of switches that cables join.
pub struct EscapeTree {
    /// Parent of each switch; the root is its own.
    parent: Vec<SwitchId>,
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
        let mut parent: Vec<SwitchId> = graph.machine().switches().collect();
        let mut order = vec![root];
        let mut front = 0;
        while let Some(&switch) = order.get(front) {
            front += 1;
            for &head in graph.heads(switch) {
                if head != root && parent[head.index()] == head {
                    parent[head.index()] = switch;
                    order.push(head);
                }
            }
        }
        EscapeTree { parent, order }
    }

    /// Puts the dependencies of all routes to `destinations` in use.
    fn reserve(&self, graph: &SwitchGraph<'_>, destinations: &[SwitchId], layer: &mut Layer<'_>) {
        // Destinations at or below each switch.
        let mut below = vec![0usize; graph.switch_count()];
        destinations.iter().for_each(|destination| below[destination.index()] += 1);
        for &switch in self.order[1..].iter().rev() {
            below[self.parent[switch.index()].index()] += below[switch.index()];
        }
        for &middle in &self.order {
            let mut beside: Vec<SwitchId> = graph.heads(middle).to_vec();
            beside.sort_unstable();
            beside.dedup();
            beside.retain(|&other| self.is_parent(other, middle) || self.is_parent(middle, other));
            for &to in &beside {
                let some_behind = match self.is_parent(to, middle) {
                    true => below[middle.index()] < destinations.len(),
                    false => below[to.index()] > 0,
                };
                for &from in beside.iter().filter(|&&from| some_behind && from != to) {
                    use_all(graph, layer, [from, middle, to]);
                }
            }
        }
    }

    fn is_parent(&self, parent: SwitchId, child: SwitchId) -> bool {
        parent != child && self.parent[child.index()] == parent
    }

    /// The switch to which `switch` forwards on the way to another one, `target`.
    #[must_use]
    pub fn next(&self, switch: SwitchId, target: SwitchId) -> SwitchId {
        let mut at = target;
        while self.parent[at.index()] != at {
            let parent = self.parent[at.index()];
            if parent == switch {
                return at;
            }
            at = parent;
        }
        self.parent[switch.index()]
    }
}

/// Puts the dependencies of all cables between the first two switches on all between the last two in use.
fn use_all(graph: &SwitchGraph<'_>, layer: &mut Layer<'_>, [from, middle, to]: [SwitchId; 3]) {
    for before in cables(graph, from, middle) {
        for after in cables(graph, middle, to) {
            let open = layer.allow(before, after);
            assert!(open, "the dependencies of a tree have no cycle");
        }
    }
}

/// Slots of the cables from one switch to another.
pub fn cables<'g>(
    graph: &'g SwitchGraph<'_>,
    from: SwitchId,
    to: SwitchId,
) -> impl Iterator<Item = u32> + 'g {
    graph
        .slots(from)
        .zip(graph.heads(from))
        .filter(move |&(_, &head)| head == to)
        .map(|(slot, _)| slot as u32)
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
