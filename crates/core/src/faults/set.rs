//! The parts that failed.

use crate::ids::{LinkId, NodeId, SwitchId};
use crate::machine::View;

/// Failed links, switches and nodes, each ascending and without repetition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultSet {
    links: Vec<LinkId>,
    switches: Vec<SwitchId>,
    nodes: Vec<NodeId>,
}

impl FaultSet {
    /// The set of the given parts, in any order.
    #[must_use]
    pub fn new(
        mut links: Vec<LinkId>,
        mut switches: Vec<SwitchId>,
        mut nodes: Vec<NodeId>,
    ) -> Self {
        links.sort_unstable();
        links.dedup();
        switches.sort_unstable();
        switches.dedup();
        nodes.sort_unstable();
        nodes.dedup();
        FaultSet { links, switches, nodes }
    }

    /// Failed cables; those that died with a switch or node at their end are not among them.
    #[must_use]
    pub fn links(&self) -> &[LinkId] {
        &self.links
    }

    /// Failed switches.
    #[must_use]
    pub fn switches(&self) -> &[SwitchId] {
        &self.switches
    }

    /// Failed nodes.
    #[must_use]
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// Number of failed parts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.links.len() + self.switches.len() + self.nodes.len()
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Whether everything that failed here failed in `other` too.
    #[must_use]
    pub fn is_subset(&self, other: &FaultSet) -> bool {
        fn within<T: Ord>(few: &[T], many: &[T]) -> bool {
            few.iter().all(|part| many.binary_search(part).is_ok())
        }
        within(&self.links, &other.links)
            && within(&self.switches, &other.switches)
            && within(&self.nodes, &other.nodes)
    }

    /// `view` with these parts dead as well.
    #[must_use]
    pub fn apply(&self, view: &View) -> View {
        view.without(&self.links, &self.switches, &self.nodes)
    }
}
