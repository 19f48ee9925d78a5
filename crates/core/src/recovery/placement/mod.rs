//! Which rank runs on which node: so far, ranks in node order over what is left of the machine.

use crate::ids::NodeId;
use crate::machine::{NodeKind, View, cut_nodes};

/// Rank -> node: hosts that are alive and not cut off, in ascending order.
#[must_use]
pub fn in_node_order(view: &View) -> Vec<NodeId> {
    let machine = view.machine();
    let cut = cut_nodes(view);
    let cabled = |node: NodeId| machine.endpoints_of(node).len() > 0;
    machine
        .nodes()
        .filter(|&node| view.node_alive(node) && machine.node(node).kind == NodeKind::Host)
        .filter(|&node| cabled(node) && cut.binary_search(&node).is_err())
        .collect()
}
