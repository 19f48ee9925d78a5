//! Correlated failures: whole groups of a level fail together, as a chassis does with its power supply.
//!
//! Every switch and node of a failed group is dead; its cables die with them. Groups without an alive part are no
//! candidates. Nested: groups fail in one random order a sample.

use std::collections::BTreeSet;

use super::amount::Amount;
use super::{FaultError, FaultModel, FaultSet};
use crate::ids::VertexId;
use crate::machine::{Level, View};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The correlated fault model.
pub struct Correlated;

impl FaultModel for Correlated {
    fn name(&self) -> &'static str {
        "correlated"
    }

    fn summary(&self) -> &'static str {
        "whole groups of a level at once: a chassis, a cabinet, a host"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "level",
                doc: "which groups fail: a level of the machine, as chassis",
                kind: Kind::Text,
                default: None,
            },
            Param {
                name: "groups",
                doc: "failed groups: a count, or a per cent rounded down",
                kind: Kind::Text,
                default: Some("1"),
            },
        ]
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        seed: Seed,
        sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let machine = view.machine();
        let given = args.text("level");
        let level = machine.level(given).ok_or_else(|| {
            let known: Vec<&str> = machine.levels().iter().map(|l| l.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            FaultError::Level { given: given.to_owned(), known }
        })?;
        let vertices = || (0..machine.vertex_count()).map(VertexId::from_index);
        let group = |vertex: VertexId| level.of_vertex[vertex.index()];
        let alive = vertices().filter(|&vertex| view.vertex_alive(vertex));
        let groups: BTreeSet<u32> =
            alive.map(group).filter(|&group| group != Level::NONE).collect();
        let mut groups: Vec<u32> = groups.into_iter().collect();
        let available = groups.len() as u64;
        let asked = args.text("groups").parse::<Amount>()?.of(available);
        if asked > available {
            return Err(FaultError::TooMany { what: format!("{given} groups"), asked, available });
        }
        seed.stream("faults.groups", sample).shuffle(&mut groups);
        let failed: BTreeSet<u32> = groups.into_iter().take(asked as usize).collect();
        let dead = || vertices().filter(|&v| view.vertex_alive(v) && failed.contains(&group(v)));
        Ok(FaultSet::new(
            Vec::new(),
            dead().filter_map(|vertex| machine.as_switch(vertex)).collect(),
            dead().filter_map(|vertex| machine.as_node(vertex)).collect(),
        ))
    }
}
