//! Nested draws: each class of parts is put in one random order, and the first ones of it fail.
//!
//! The order depends on seed and sample alone, so the first `k` failures are contained in the first `k + 1`. Models
//! that draw from this share it: `lifetime` lets the same parts fail as `random` does.

use std::fmt;

use super::connectivity::Connectivity;
use super::error::FaultError;
use super::set::FaultSet;
use crate::ids::{LinkId, NodeId, SwitchId};
use crate::machine::{NodeKind, View};
use crate::params::{Kind, Param};
use crate::rng::Seed;

/// A class of parts that fail alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Cables.
    Links,
    /// Switches.
    Switches,
    /// Nodes.
    Nodes,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Links => "links",
            Class::Switches => "switches",
            Class::Nodes => "nodes",
        })
    }
}

/// Which cables may fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkClass {
    /// Cables between switches.
    #[default]
    Switch,
    /// Cables with a node at an end.
    Node,
    /// All of them.
    All,
}

impl LinkClass {
    /// The parameter that selects it.
    pub(super) const PARAM: Param = Param {
        name: "link_class",
        doc: "which links may fail and are counted: between switches, of nodes, or all",
        kind: Kind::Choice(&["switch", "node", "all"]),
        default: Some("switch"),
    };

    pub(super) fn named(word: &str) -> LinkClass {
        match word {
            "node" => LinkClass::Node,
            "all" => LinkClass::All,
            _ => LinkClass::Switch,
        }
    }
}

/// The parameter that keeps nodes connected.
pub(super) const KEEP_CONNECTED: Param = Param {
    name: "keep_connected",
    doc: "pass over a part whose failure would part nodes that were connected",
    kind: Kind::Flag,
    default: Some("false"),
};

/// Usable links of the class, ascending.
pub(super) fn links(view: &View, class: LinkClass) -> Vec<LinkId> {
    let machine = view.machine();
    let wanted = |link: LinkId| match class {
        LinkClass::All => true,
        LinkClass::Switch => machine.is_switch_link(link),
        LinkClass::Node => !machine.is_switch_link(link),
    };
    machine.links().filter(|&link| view.link_usable(link) && wanted(link)).collect()
}

/// Alive switches, ascending.
pub(super) fn switches(view: &View) -> Vec<SwitchId> {
    view.machine().switches().filter(|&switch| view.switch_alive(switch)).collect()
}

/// Alive nodes, ascending; aggregation engines fail with their switch, not by themselves.
pub(super) fn nodes(view: &View) -> Vec<NodeId> {
    let machine = view.machine();
    let fails =
        |&node: &NodeId| view.node_alive(node) && machine.node(node).kind != NodeKind::Aggregation;
    machine.nodes().filter(fails).collect()
}

/// Parts of one class in the order in which they fail.
struct Order<T> {
    parts: Vec<T>,
    next: usize,
    failed: Vec<T>,
}

impl<T: Copy> Order<T> {
    fn new(mut parts: Vec<T>, seed: Seed, stream: &str, sample: u64) -> Self {
        seed.stream(stream, sample).shuffle(&mut parts);
        Order { parts, next: 0, failed: Vec::new() }
    }

    /// Lets the next parts fail that `may` until `total` have.
    fn fail(
        &mut self,
        class: Class,
        total: u64,
        mut may: impl FnMut(T) -> bool,
    ) -> Result<(), FaultError> {
        let available = self.parts.len() as u64;
        if total > available {
            return Err(FaultError::TooMany { what: class.to_string(), asked: total, available });
        }
        while (self.failed.len() as u64) < total {
            let Some(&part) = self.parts.get(self.next) else {
                let possible = self.failed.len() as u64;
                return Err(FaultError::Connected { class, asked: total, possible });
            };
            self.next += 1;
            if may(part) {
                self.failed.push(part);
            }
        }
        Ok(())
    }
}

/// One sample while parts of it fail.
pub(super) struct Draw<'a> {
    links: Order<LinkId>,
    switches: Order<SwitchId>,
    nodes: Order<NodeId>,
    connectivity: Option<Connectivity<'a>>,
}

impl<'a> Draw<'a> {
    pub(super) fn new(
        view: &'a View,
        class: LinkClass,
        keep_connected: bool,
        seed: Seed,
        sample: u64,
    ) -> Self {
        Draw {
            links: Order::new(links(view, class), seed, "faults.links", sample),
            switches: Order::new(switches(view), seed, "faults.switches", sample),
            nodes: Order::new(nodes(view), seed, "faults.nodes", sample),
            connectivity: keep_connected.then(|| Connectivity::new(view)),
        }
    }

    /// How many parts of the class there are to fail.
    pub(super) fn available(&self, class: Class) -> u64 {
        let count = match class {
            Class::Links => self.links.parts.len(),
            Class::Switches => self.switches.parts.len(),
            Class::Nodes => self.nodes.parts.len(),
        };
        count as u64
    }

    /// Lets parts of the class fail until `total` of it have.
    ///
    /// A part once passed over is not tried again: it stays the one that must not fail.
    pub(super) fn fail(&mut self, class: Class, total: u64) -> Result<(), FaultError> {
        let connectivity = &mut self.connectivity;
        match class {
            Class::Links => self.links.fail(class, total, |link| {
                connectivity.as_mut().is_none_or(|kept| kept.fail_link(link))
            }),
            Class::Switches => self.switches.fail(class, total, |switch| {
                connectivity.as_mut().is_none_or(|kept| kept.fail_switch(switch))
            }),
            Class::Nodes => self.nodes.fail(class, total, |node| {
                connectivity.as_mut().is_none_or(|kept| kept.fail_node(node))
            }),
        }
    }

    pub(super) fn finish(self) -> FaultSet {
        FaultSet::new(self.links.failed, self.switches.failed, self.nodes.failed)
    }
}
