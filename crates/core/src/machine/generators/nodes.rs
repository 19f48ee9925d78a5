//! How generators hang nodes below switches.

use crate::machine::{Builder, Part};
use crate::units::LinkRate;

/// Adds `count` one-port nodes `n0, n1, ...`: each of `leaves` gets an equal share, the first ones one more; neighbours
/// in number are neighbours in the machine.
pub fn attach_evenly(builder: &mut Builder, leaves: &[Part], count: u64, rate: LinkRate) {
    let bins = leaves.len().max(1) as u64;
    let mut node = 0;
    for (index, &leaf) in leaves.iter().enumerate() {
        for _ in 0..count / bins + u64::from((index as u64) < count % bins) {
            let part = builder.node(format!("n{node}"), 1);
            builder.cable(part, leaf, rate);
            node += 1;
        }
    }
}
