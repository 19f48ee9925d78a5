//! Who still reaches whom in a broken view.
//!
//! A *group* is a set of switches that usable cables join; a node reaches what its usable cables reach, and never
//! forwards. Does not look at routes: a group is connected by cables, whether or not a routing engine finds the way.

use super::graph::NodeKind;
use super::view::View;
use crate::ids::{NodeId, SwitchId};

/// The connected groups of alive switches, numbered in order of their lowest switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of_switch: Vec<u32>,
    count: u32,
}

const DEAD: u32 = u32::MAX;

impl Groups {
    /// Finds the groups of `view`.
    ///
    /// # Complexity
    /// Linear in ports.
    #[must_use]
    pub fn new(view: &View) -> Self {
        let machine = view.machine();
        let mut groups = Groups { of_switch: vec![DEAD; machine.switch_count()], count: 0 };
        let mut stack = Vec::new();
        for start in machine.switches() {
            if groups.of_switch[start.index()] != DEAD || !view.switch_alive(start) {
                continue;
            }
            groups.of_switch[start.index()] = groups.count;
            stack.push(start);
            while let Some(switch) = stack.pop() {
                for channel in view.channels_from(machine.switch_vertex(switch)) {
                    if let Some(next) = machine.as_switch(machine.head(channel).vertex)
                        && groups.of_switch[next.index()] == DEAD
                    {
                        groups.of_switch[next.index()] = groups.count;
                        stack.push(next);
                    }
                }
            }
            groups.count += 1;
        }
        groups
    }

    /// Number of groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The group of a switch; none if it is dead.
    #[inline]
    #[must_use]
    pub fn of_switch(&self, switch: SwitchId) -> Option<u32> {
        let group = self.of_switch[switch.index()];
        (group != DEAD).then_some(group)
    }
}

/// Alive nodes that no longer reach the main group of any plane they were cabled into, ascending.
///
/// The main group of a plane is the group with most alive nodes attached; ties go to more switches, then to the
/// lowest switch. A node belongs to it by one usable cable to one of its switches. Two nodes cabled back to back are
/// a plane of their own, whose main group they are while that cable is usable. A node with ports in several planes is
/// cut only if it is cut in each; one that was never cabled is not cut. Dead nodes are not listed: they failed, they
/// are not cut. Aggregation engines are part of their switch and neither counted nor listed.
///
/// # Complexity
/// Linear in ports.
#[must_use]
pub fn cut_nodes(view: &View) -> Vec<NodeId> {
    let machine = view.machine();
    let groups = Groups::new(view);
    let main = main_groups(view, &groups);
    let connected = |node: NodeId| {
        machine.endpoints_of(node).any(|endpoint| {
            let channel = machine.injection(endpoint);
            view.usable(channel)
                && match machine.as_switch(machine.head(channel).vertex) {
                    Some(switch) => {
                        let plane = machine.plane_of_switch(switch) as usize;
                        groups.of_switch(switch) == main[plane]
                    }
                    None => true,
                }
        })
    };
    let cabled = |node: NodeId| machine.endpoints_of(node).len() > 0;
    nodes(view).filter(|&node| cabled(node) && !connected(node)).collect()
}

/// Alive nodes but for aggregation engines.
fn nodes(view: &View) -> impl Iterator<Item = NodeId> + '_ {
    let machine = view.machine();
    let counts =
        |&node: &NodeId| view.node_alive(node) && machine.node(node).kind != NodeKind::Aggregation;
    machine.nodes().filter(counts)
}

/// The main group of each plane; none where no switch of the plane is alive.
fn main_groups(view: &View, groups: &Groups) -> Vec<Option<u32>> {
    let machine = view.machine();
    let nodes = attached_nodes(view, groups);
    let mut switches = vec![0u32; groups.count()];
    for switch in machine.switches() {
        if let Some(group) = groups.of_switch(switch) {
            switches[group as usize] += 1;
        }
    }
    let size = |group: u32| (nodes[group as usize], switches[group as usize]);
    let mut main: Vec<Option<u32>> = vec![None; machine.plane_count()];
    for switch in machine.switches() {
        let best = &mut main[machine.plane_of_switch(switch) as usize];
        // Switches ascend, so of equal groups the one with the lowest switch comes first and stays.
        if let Some(group) = groups.of_switch(switch)
            && best.is_none_or(|best| size(group) > size(best))
        {
            *best = Some(group);
        }
    }
    main
}

/// Number of alive nodes attached to each group; a node with several cables into one group counts once.
fn attached_nodes(view: &View, groups: &Groups) -> Vec<u32> {
    let mut count = vec![0u32; groups.count()];
    let mut seen: Vec<u32> = Vec::new();
    for node in nodes(view) {
        seen.clear();
        for group in attachments(view, groups, node) {
            if !seen.contains(&group) {
                seen.push(group);
                count[group as usize] += 1;
            }
        }
    }
    count
}

fn attachments(view: &View, groups: &Groups, node: NodeId) -> impl Iterator<Item = u32> {
    let machine = view.machine();
    machine
        .endpoints_of(node)
        .map(|endpoint| machine.injection(endpoint))
        .filter(|&channel| view.usable(channel))
        .filter_map(|channel| machine.as_switch(machine.head(channel).vertex))
        .filter_map(|switch| groups.of_switch(switch))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ids::LinkId;
    use crate::machine::Builder;
    use crate::units::LinkRate;

    /// Two planes of two switches each; nodes 0 and 1 have a port in both, node 2 in the first alone, node 3 in none.
    fn two_planes() -> View {
        let mut builder = Builder::new("planes", true);
        let switches: Vec<_> =
            (0..4).map(|at| builder.switch(format!("s{at}"), 4).unwrap()).collect();
        builder.cable(switches[0], switches[1], LinkRate::EDR);
        builder.cable(switches[2], switches[3], LinkRate::EDR);
        let nodes: Vec<_> = (0..4).map(|at| builder.node(format!("n{at}"), 2)).collect();
        for (node, switch) in [(0, 0), (0, 2), (1, 1), (1, 3), (2, 1)] {
            builder.cable(nodes[node], switches[switch], LinkRate::EDR);
        }
        View::intact(Arc::new(builder.build().unwrap()))
    }

    #[test]
    fn a_node_is_cut_only_where_every_plane_is() {
        let view = two_planes();
        assert_eq!(cut_nodes(&view), []);
        let first = view.without(&[LinkId(0)], &[], &[]);
        assert_eq!(Groups::new(&first).count(), 3);
        assert_eq!(cut_nodes(&first), [], "node 0 has the second plane left");
        let both = first.without(&[LinkId(1)], &[], &[]);
        assert_eq!(cut_nodes(&both), [], "node 0 is the main group of the second plane");
        let gone = both.without(&[], &[SwitchId(2)], &[]);
        assert_eq!(cut_nodes(&gone), [NodeId(0)]);
        assert_eq!(cut_nodes(&gone.without(&[], &[], &[NodeId(0)])), [], "the dead are not cut");
    }

    #[test]
    fn the_main_group_has_most_nodes_then_most_switches() {
        let view = two_planes().without(&[LinkId(0)], &[SwitchId(2), SwitchId(3)], &[]);
        assert_eq!(cut_nodes(&view), [NodeId(0)], "switch 1 holds two nodes, switch 0 one");
    }

    #[test]
    fn back_to_back_nodes_are_cut_with_their_cable() {
        let mut builder = Builder::new("pair", true);
        let (a, b) = (builder.node("a", 1), builder.node("b", 1));
        builder.cable(a, b, LinkRate::EDR);
        let view = View::intact(Arc::new(builder.build().unwrap()));
        assert_eq!(cut_nodes(&view), []);
        assert_eq!(cut_nodes(&view.without(&[LinkId(0)], &[], &[])), [NodeId(0), NodeId(1)]);
        assert_eq!(cut_nodes(&view.without(&[], &[], &[NodeId(0)])), [NodeId(1)]);
    }
}
