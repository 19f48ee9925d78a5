//! What an engine may be given: OpenSM's own inputs.

use super::engines::torus_2qos::TorusConf;
use crate::ids::{EndpointId, SwitchId};
use crate::machine::LidOwner;

/// Inputs that engines share, whichever of them an engine looks at; those of one engine alone are its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteOptions {
    /// Root switches for tree-like engines; empty: the engine finds them or refuses.
    pub roots: Vec<SwitchId>,
    /// Compute nodes' ports, which fat-tree and SSSP serve first; empty: all.
    pub compute_nodes: Vec<EndpointId>,
    /// I/O nodes' ports, which come after the compute nodes.
    pub io_nodes: Vec<EndpointId>,
    /// Destinations that MinHop's balancing takes first, in this order.
    pub routing_order: Vec<LidOwner>,
    /// What the grid looks like, for torus-2QoS; none: as the machine's coordinates say.
    pub torus_conf: Option<TorusConf>,
    /// LID mask count: every endpoint has 2^lmc LIDs; 0 to 7.
    pub lmc: u8,
    /// Virtual lanes that may be used, 1 to 15.
    pub max_vl: u8,
    /// Whose order breaks ties.
    pub compat: Compat,
}

impl Default for RouteOptions {
    fn default() -> Self {
        RouteOptions {
            roots: Vec::new(),
            compute_nodes: Vec::new(),
            io_nodes: Vec::new(),
            routing_order: Vec::new(),
            torus_conf: None,
            lmc: 0,
            max_vl: 8,
            compat: Compat::Plain,
        }
    }
}

/// Whose order of visiting breaks ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Lowest id first.
    #[default]
    Plain,
    /// As OpenSM 3.3.23 on a little-endian machine: by GUID with its bytes reversed, and by its heap in SSSP.
    OpenSm,
}
