//! Ring: switches in a circle, one node each.

use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine};
use crate::params::{Args, Kind, Param};

/// The ring generator.
pub struct Ring;

impl Generator for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn summary(&self) -> &'static str {
        "switches in a circle"
    }

    fn params(&self) -> &'static [Param] {
        &[Param {
            name: "switches",
            doc: "switches in the circle",
            kind: Kind::Int(3, 1000),
            default: None,
        }]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let count = args.int("switches") as usize;
        let mut builder = Builder::new(&context.name, true);
        let mut switches = Vec::new();
        for number in 0..count {
            switches.push(builder.switch(format!("s{number}"), 3)?);
        }
        for (number, &switch) in switches.iter().enumerate() {
            let node = builder.node(format!("n{number}"), 1);
            builder.cable(switch, node, context.rate);
            builder.cable(switch, switches[(number + 1) % count], context.rate);
        }
        Ok(builder.build()?)
    }
}
