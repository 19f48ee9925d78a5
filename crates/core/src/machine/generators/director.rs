//! Director switches: boxes that are two-stage Clos networks of crossbar chips inside.
//!
//! Every leaf chip is cabled equally to every spine chip of its box; the leaf chips' other ports, numbered first, are
//! the box's external ports. The chips of a box share a system image GUID and a group of level `chassis`. Construction
//! only: which box is cabled to what is the business of the generators.
//!
//! Source: the 144-port box from Vishnu, Krishnan, Panda 2010, Figure 3 (twelve disjoint paths between leaf blocks,
//! hence twelve spine chips with one cable to each leaf chip, which leaves half of their ports free); the others from
//! public data sheets of 24-port (288) and 36-port (324, 648) generations.

use super::GeneratorError;
use super::limits::port;
use crate::machine::{Builder, Part};
use crate::units::LinkRate;

/// What a box is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// External ports.
    pub ports: u64,
    /// Ports of a chip.
    pub radix: u64,
    /// Leaf chips.
    pub leaves: u64,
    /// Spine chips.
    pub spines: u64,
}

/// 144 ports of 24-port chips.
pub const D144: Model = Model { ports: 144, radix: 24, leaves: 12, spines: 12 };
/// 288 ports of 24-port chips.
pub const D288: Model = Model { ports: 288, radix: 24, leaves: 24, spines: 12 };
/// 324 ports of 36-port chips.
pub const D324: Model = Model { ports: 324, radix: 36, leaves: 18, spines: 9 };
/// 648 ports of 36-port chips.
pub const D648: Model = Model { ports: 648, radix: 36, leaves: 36, spines: 18 };

impl Model {
    /// External ports of one leaf chip.
    pub const fn external(self) -> u64 {
        self.ports / self.leaves
    }

    /// Chips of the box.
    pub const fn chips(self) -> u64 {
        self.leaves + self.spines
    }

    /// Cables from one leaf chip to one spine chip.
    const fn parallel(self) -> u64 {
        (self.radix - self.external()) / self.spines
    }

    /// Adds a box; `number` tells boxes of one machine apart.
    ///
    /// # Errors
    /// None for the models of this module.
    pub fn build(
        self,
        builder: &mut Builder,
        name: &str,
        number: u64,
        rate: LinkRate,
    ) -> Result<Director, GeneratorError> {
        let mut chips = |kind: &str, count: u64| -> Result<Vec<Part>, GeneratorError> {
            let mut parts = Vec::new();
            for index in 0..count {
                let part = builder.switch(format!("{name}.{kind}{index}"), self.radix)?;
                builder.info_mut(part).system_guid = SYSTEM_GUIDS + number + 1;
                builder.group("chassis", name, part);
                parts.push(part);
            }
            Ok(parts)
        };
        let (leaves, spines) = (chips("leaf", self.leaves)?, chips("spine", self.spines)?);
        for (&leaf, row) in leaves.iter().zip(0..) {
            for (&spine, column) in spines.iter().zip(0..) {
                for cable in 0..self.parallel() {
                    let up = port(self.external() + column * self.parallel() + cable + 1)?;
                    let down = port(row * self.parallel() + cable + 1)?;
                    builder.cable_ports((leaf, up), (spine, down), rate);
                }
            }
        }
        Ok(Director { leaves, spines, plugged: 0 })
    }
}

/// First of the system image GUIDs of generated boxes.
const SYSTEM_GUIDS: u64 = 0x0044_0000_0000_0000;

/// A box in a machine under construction.
#[derive(Clone, Debug)]
pub struct Director {
    /// Its leaf chips.
    pub leaves: Vec<Part>,
    /// Its spine chips.
    pub spines: Vec<Part>,
    plugged: usize,
}

impl Director {
    /// The leaf chip for the next cable of a trunk: chips take turns.
    pub fn next_leaf(&mut self) -> Part {
        let leaf = self.leaves[self.plugged % self.leaves.len()];
        self.plugged += 1;
        leaf
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_use_their_chips_as_clos_networks_do() {
        for model in [D144, D288, D324, D648] {
            assert_eq!(model.external() * model.leaves, model.ports);
            // Full bisection: as many cables up as external ports, and the spines have room for them.
            assert_eq!(model.parallel() * model.spines, model.external());
            assert!(model.parallel() * model.leaves <= model.radix);
        }
    }

    #[test]
    fn chips_share_a_system_guid_and_a_chassis() {
        let mut builder = Builder::new("two", true);
        for (name, number) in [("a", 0), ("b", 1)] {
            D324.build(&mut builder, name, number, LinkRate::QDR).unwrap();
        }
        let machine = builder.build().unwrap();
        let guid = |switch: u32| machine.switch(crate::ids::SwitchId(switch)).system_guid;
        assert_eq!(guid(0), guid(26));
        assert_ne!(guid(0), guid(27));
        assert_eq!(machine.level("chassis").unwrap().groups, ["a", "b"]);
        assert_eq!((machine.switch_count(), machine.link_count()), (54, 648));
    }
}
