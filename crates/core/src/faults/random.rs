//! Random failures: so many links, switches and nodes, each as a count or a per cent.
//!
//! A per cent of links counts switch-switch links only (or those of `link_class`), and is rounded down: "1 % link
//! failures (= two faulty links)" of 256. Draws are nested: the first failures of a class come from one random order
//! of its parts, so more failures of the same sample contain fewer of them.
//!
//! With `keep_connected` a part is passed over if its failure would part two alive nodes that were connected, or take
//! an alive node's last cable; fewer possible failures than asked for are an error that says how many there were.
//! Switches then fail first, then links, then nodes, because what a link may do depends on the switches left: the
//! draw is nested in links and nodes for a fixed number of switches. Without it, it is nested in all three.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14: seeded random faults that "preserve physical connectivity".

use super::amount::Amount;
use super::draw::{Class, Draw, KEEP_CONNECTED, LinkClass};
use super::{FaultError, FaultModel, FaultSet};
use crate::machine::View;
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The random fault model.
pub struct Random;

const AMOUNTS: [(&str, Class); 3] =
    [("switches", Class::Switches), ("links", Class::Links), ("nodes", Class::Nodes)];

impl FaultModel for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn summary(&self) -> &'static str {
        "random links, switches and nodes, nested from few to many (Domke et al. 2014)"
    }

    fn params(&self) -> &'static [Param] {
        const fn amount(name: &'static str, doc: &'static str) -> Param {
            Param { name, doc, kind: Kind::Text, default: Some("0") }
        }
        const {
            &[
                amount("links", "failed links: a count, or a per cent rounded down, as 1%"),
                amount("switches", "failed switches: a count, or a per cent rounded down"),
                amount("nodes", "failed nodes: a count, or a per cent rounded down"),
                LinkClass::PARAM,
                KEEP_CONNECTED,
            ]
        }
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        seed: Seed,
        sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let links = LinkClass::named(args.text(LinkClass::PARAM.name));
        let mut draw = Draw::new(view, links, args.flag(KEEP_CONNECTED.name), seed, sample);
        for (name, class) in AMOUNTS {
            let amount: Amount = args.text(name).parse()?;
            draw.fail(class, amount.of(draw.available(class)))?;
        }
        Ok(draw.finish())
    }
}
