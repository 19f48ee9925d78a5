//! Listed failures: the parts a user names.
//!
//! Every sample is the same. Parts go by the names that [`Names`] knows: a switch or node by name or GUID, a link by one
//! plug, `leaf3[17]`, or by both. Parts that are dead already may be listed again.

use super::{FaultError, FaultModel, FaultSet};
use crate::machine::{NameError, Names, View};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The listed fault model.
pub struct Listed;

/// Names separated by line ends where the text has one, else by commas; the names of real parts hold semicolons.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let separator = if list.contains('\n') { '\n' } else { ',' };
    list.split(separator).map(str::trim).filter(|item| !item.is_empty())
}

fn found<Id>(
    list: &str,
    find: impl Fn(&str) -> Result<Id, NameError>,
) -> Result<Vec<Id>, NameError> {
    items(list).map(find).collect()
}

impl FaultModel for Listed {
    fn name(&self) -> &'static str {
        "listed"
    }

    fn summary(&self) -> &'static str {
        "the parts that are named"
    }

    fn params(&self) -> &'static [Param] {
        const fn list(name: &'static str, doc: &'static str) -> Param {
            Param { name, doc, kind: Kind::Text, default: Some("") }
        }
        const {
            &[
                list("links", "failed links by one plug, as `leaf3[17], leaf4[17]`"),
                list("switches", "failed switches by name or GUID, as `spine1, 0x2c9020048f1a8`"),
                list("nodes", "failed nodes by name or GUID"),
            ]
        }
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        _seed: Seed,
        _sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let names = Names::new(view.machine());
        Ok(FaultSet::new(
            found(args.text("links"), |text| names.find_link(text))?,
            found(args.text("switches"), |text| names.find_switch(text))?,
            found(args.text("nodes"), |text| names.find_node(text))?,
        ))
    }

    fn sample_count(&self, _view: &View, _args: &Args) -> Result<Option<u64>, FaultError> {
        Ok(Some(1))
    }
}
