//! First links: the cables between switches fail in the order of their numbers.

use super::{FaultError, FaultModel, FaultSet};
use crate::machine::View;
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The first-links fault model.
pub struct FirstLinks;

impl FaultModel for FirstLinks {
    fn name(&self) -> &'static str {
        "first-links"
    }

    fn summary(&self) -> &'static str {
        "cables in the order of their numbers"
    }

    fn params(&self) -> &'static [Param] {
        &[Param { name: "links", doc: "how many", kind: Kind::Int(0, 1000), default: Some("1") }]
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        _seed: Seed,
        _sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let links = view.machine().switch_links().take(args.int("links") as usize);
        Ok(FaultSet::new(links.collect(), Vec::new(), Vec::new()))
    }
}
