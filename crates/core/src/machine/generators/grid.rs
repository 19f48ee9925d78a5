//! Cartesian grids of switches: what meshes, tori, hypercubes, Blue Gene/Q and Tofu have in common.
//!
//! Ports stand in fixed blocks: dimension by dimension, the cables towards lower coordinates before those towards
//! higher ones, cable `i` at the same number on every switch; nodes come after. A switch at the border of a mesh leaves
//! its outer block empty. Switch and node numbers count dimension 0 fastest, and the machine knows its coordinates.

use super::limits::{Size, port, product};
use super::nodes::attach_after;
use super::{Context, GeneratorError};
use crate::machine::{Builder, Coordinates, Machine, Part};

/// One dimension of a grid, with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A row with two ends.
    Line(u64),
    /// A closed ring. Of length 2 it is one cable, as a second one would only double the first; of length 1 none.
    Ring(u64),
    /// A closed ring that doubles its cables at length 2, as machines with hard-wired links for both directions do.
    DoubleRing(u64),
    /// Two switches across one cable that has the same port number at both ends.
    Pair,
}

impl Dimension {
    fn length(self) -> u64 {
        match self {
            Dimension::Line(length) | Dimension::Ring(length) | Dimension::DoubleRing(length) => {
                length
            }
            Dimension::Pair => 2,
        }
    }

    /// Blocks of ports: one a direction.
    fn blocks(self) -> u64 {
        if self == Dimension::Pair { 1 } else { 2 }
    }

    /// The coordinate that cables in the higher direction lead to.
    fn after(self, at: u64) -> Option<u64> {
        match self {
            Dimension::Line(length) => (at + 1 < length).then_some(at + 1),
            Dimension::Pair | Dimension::Ring(..=2) => (at + 1 < self.length()).then_some(at + 1),
            Dimension::DoubleRing(1) => None,
            Dimension::Ring(length) | Dimension::DoubleRing(length) => Some((at + 1) % length),
        }
    }

    /// Whether a cable joins the last coordinate to the first beside the one there would be in a line.
    fn wraps(self) -> bool {
        match self {
            Dimension::Line(_) | Dimension::Pair => false,
            Dimension::Ring(length) => length > 2,
            Dimension::DoubleRing(length) => length > 1,
        }
    }
}

/// A grid of switches.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Its dimensions, fastest first.
    pub dimensions: Vec<Dimension>,
    /// Cables between neighbours.
    pub parallel: u64,
}

impl Grid {
    /// Number of switches, `u64::MAX` if there are more.
    pub fn switch_count(&self) -> u64 {
        product(self.dimensions.iter().map(|dimension| dimension.length()))
    }

    /// Builds the grid with `nodes` dealt evenly to its switches.
    ///
    /// # Errors
    /// A machine or a switch that is too large.
    pub fn build(&self, nodes: u64, context: &Context) -> Result<Machine, GeneratorError> {
        let switch_count = self.switch_count();
        let blocks: u64 = self.dimensions.iter().map(|dimension| dimension.blocks()).sum();
        let taken = blocks.saturating_mul(self.parallel);
        let radix = taken.saturating_add(nodes.div_ceil(switch_count.max(1))).max(1);
        let ports = switch_count.saturating_mul(radix);
        Size { switches: switch_count, nodes, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let coordinates = self.coordinates(switch_count);
        let mut switches = Vec::new();
        for position in coordinates.of_switch.chunks(self.dimensions.len().max(1)) {
            let name = position.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
            switches.push(builder.switch(format!("s{name}"), radix)?);
        }
        self.cable(&mut builder, &switches, context)?;
        attach_after(&mut builder, &switches, taken, nodes, context.rate)?;
        builder.coordinates(coordinates);
        Ok(builder.build()?)
    }

    fn coordinates(&self, switch_count: u64) -> Coordinates {
        let mut of_switch = Vec::new();
        for mut rest in 0..switch_count {
            for dimension in &self.dimensions {
                of_switch.push((rest % dimension.length()) as u32);
                rest /= dimension.length();
            }
        }
        Coordinates {
            shape: self.dimensions.iter().map(|dimension| dimension.length() as u32).collect(),
            wraps: self.dimensions.iter().map(|dimension| dimension.wraps()).collect(),
            of_switch,
        }
    }

    fn cable(
        &self,
        builder: &mut Builder,
        switches: &[Part],
        context: &Context,
    ) -> Result<(), GeneratorError> {
        for index in 0..switches.len() as u64 {
            let (mut stride, mut block) = (1, 0);
            for dimension in &self.dimensions {
                let at = index / stride % dimension.length();
                if let Some(after) = dimension.after(at) {
                    let other = index - at * stride + after * stride;
                    let higher = block + dimension.blocks() - 1;
                    for cable in 0..self.parallel {
                        let plus = port(higher * self.parallel + cable + 1)?;
                        let minus = port(block * self.parallel + cable + 1)?;
                        let ends = [switches[index as usize], switches[other as usize]];
                        builder.cable_ports((ends[0], plus), (ends[1], minus), context.rate);
                    }
                }
                stride *= dimension.length();
                block += dimension.blocks();
            }
        }
        Ok(())
    }
}
