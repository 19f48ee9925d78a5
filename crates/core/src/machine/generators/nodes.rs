//! How generators hang nodes below switches.

use super::GeneratorError;
use super::limits::port;
use crate::machine::{Builder, Part};
use crate::params::{Args, Kind, Param};
use crate::units::LinkRate;

/// How many nodes hang off every switch of a direct network.
pub const NODES_PER_SWITCH: Param = Param {
    name: "nodes_per_switch",
    doc: "`p`: nodes on each switch",
    kind: Kind::Int(1, 253),
    default: Some("1"),
};

/// How many nodes there are in all, instead of an equal number on every switch.
pub const NODES: Param = Param {
    name: "nodes",
    doc: "number of nodes, in equal shares to the switches (the first ones get one more); 0 means \
          `p` each",
    kind: Kind::Int(0, 4_000_000),
    default: Some("0"),
};

/// The number of nodes that [`NODES`] and [`NODES_PER_SWITCH`] ask for.
pub fn node_total(args: &Args, switches: u64) -> u64 {
    match args.int(NODES.name) {
        0 => switches.saturating_mul(args.int(NODES_PER_SWITCH.name)),
        nodes => nodes,
    }
}

/// What bin `index` gets when `count` things are dealt evenly to `bins`: the first bins get one more.
pub const fn share(count: u64, bins: u64, index: u64) -> u64 {
    count / bins + (index < count % bins) as u64
}

/// Adds `count` one-port nodes `n0, n1, ...`: each of `leaves` gets an equal share, the first ones one more; neighbours
/// in number are neighbours in the machine.
pub fn attach_evenly(builder: &mut Builder, leaves: &[Part], count: u64, rate: LinkRate) {
    let bins = leaves.len().max(1) as u64;
    let shares = leaves.iter().zip(0..).map(|(&leaf, index)| (leaf, share(count, bins, index)));
    attach_shares(builder, shares, rate);
}

/// Adds one-port nodes `n0, n1, ...`, as many to each switch as stands beside it.
pub fn attach_shares(
    builder: &mut Builder,
    shares: impl IntoIterator<Item = (Part, u64)>,
    rate: LinkRate,
) {
    let mut node = 0;
    for (leaf, count) in shares {
        for _ in 0..count {
            let part = builder.node(format!("n{node}"), 1);
            builder.cable(part, leaf, rate);
            node += 1;
        }
    }
}

/// Adds nodes as [`attach_evenly`] does, on the ports that follow the first `taken` ones of each switch.
///
/// # Errors
/// If a port number is beyond InfiniBand's.
pub fn attach_after(
    builder: &mut Builder,
    switches: &[Part],
    taken: u64,
    count: u64,
    rate: LinkRate,
) -> Result<(), GeneratorError> {
    let bins = switches.len().max(1) as u64;
    let mut node = 0;
    for (&switch, index) in switches.iter().zip(0..) {
        for place in 0..share(count, bins, index) {
            let part = builder.node(format!("n{node}"), 1);
            builder.cable_ports((part, 1), (switch, port(taken + place + 1)?), rate);
            node += 1;
        }
    }
    Ok(())
}
