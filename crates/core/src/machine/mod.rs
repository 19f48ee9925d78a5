//! What is connected: switches, nodes and numbered ports, joined by cables.
//!
//! A [`Machine`] is immutable; breaking it gives a [`View`] with dead parts masked and ids unchanged, so that results
//! before and after compare. Made by [`generators`] or read by [`formats`]; both go through the [`Builder`], which is
//! the only place that checks a machine. Does not route.

mod bisection;
mod builder;
pub mod diff;
mod distance;
pub mod formats;
pub mod generators;
mod graph;
mod hierarchy;
mod lids;
pub mod names;
mod partition;
mod reach;
#[cfg(test)]
pub(crate) mod samples;
mod summary;
mod switch_graph;
mod view;
pub mod wire_lids;

pub use bisection::{Bisection, bisection};
pub use builder::{Builder, MachineError, Part};
pub use distance::{Distances, HopSearch, distances, injecting_nodes};
pub use graph::{EndpointInfo, Machine, NodeKind, PartInfo, PortRef};
pub use hierarchy::{Coordinates, Level};
pub use lids::{LMC_MAX, LidOwner, Lids, UNICAST_LIDS};
pub use names::{NameError, Names};
pub use reach::{Groups, cut_nodes};
pub use summary::{DegradedLink, Summary, UnbalancedLeaf};
pub use switch_graph::SwitchGraph;
pub use view::View;
pub use wire_lids::{WireLidError, WireLids};
