//! Parts of a machine as tables and dictionaries.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::ids::ChannelId;
use runflat_core::machine::diff::diff as differences;
use runflat_core::machine::{Machine, Names, NodeKind, Summary, SwitchGraph, View};

use crate::table::{Column, Table};

/// A channel as `A[3] -> B[7]`.
pub fn channel(machine: &Machine, names: &Names<'_>, channel: ChannelId) -> String {
    format!("{} -> {}", names.plug(machine.tail(channel)), names.plug(machine.head(channel)))
}

/// Switches: index, name, guid, ports, nodes attached, alive.
pub fn switches(view: &View) -> PyResult<Table> {
    let (machine, graph) = (view.machine(), SwitchGraph::new(view));
    let names = Names::new(machine);
    let all = || machine.switches();
    Table::from_columns(vec![
        ("index", Column::int(all().map(|s| u64::from(s.0)))),
        ("name", Column::text(all().map(|s| names.switch(s)))),
        ("guid", Column::text(all().map(|s| guid(machine.switch(s).guid)))),
        ("ports", Column::int(all().map(|s| u64::from(machine.switch(s).radix)))),
        ("nodes", Column::int(all().map(|s| graph.attached(s).len() as u64))),
        ("alive", Column::flag(all().map(|s| view.switch_alive(s)))),
    ])
}

/// Nodes: index, name, guid, kind, endpoints, alive.
pub fn nodes(view: &View) -> PyResult<Table> {
    let machine = view.machine();
    let names = Names::new(machine);
    let all = || machine.nodes();
    let kind = |kind| match kind {
        NodeKind::Host => "host",
        NodeKind::Aggregation => "aggregation",
        NodeKind::Router => "router",
    };
    Table::from_columns(vec![
        ("index", Column::int(all().map(|n| u64::from(n.0)))),
        ("name", Column::text(all().map(|n| names.node(n)))),
        ("guid", Column::text(all().map(|n| guid(machine.node(n).guid)))),
        ("kind", Column::text(all().map(|n| kind(machine.node(n).kind).to_owned()))),
        ("endpoints", Column::int(all().map(|n| machine.endpoints_of(n).len() as u64))),
        ("alive", Column::flag(all().map(|n| view.node_alive(n)))),
    ])
}

/// Cables: index, both ends by vertex number (switches, then nodes), name and port, rate, alive.
pub fn links(view: &View) -> PyResult<Table> {
    let machine = view.machine();
    let names = Names::new(machine);
    let all = || machine.links();
    let end = |link, at: usize| machine.ends(link)[at];
    Table::from_columns(vec![
        ("index", Column::int(all().map(|l| u64::from(l.0)))),
        ("a", Column::int(all().map(|l| u64::from(end(l, 0).vertex.0)))),
        ("a_port", Column::int(all().map(|l| u64::from(end(l, 0).port)))),
        ("b", Column::int(all().map(|l| u64::from(end(l, 1).vertex.0)))),
        ("b_port", Column::int(all().map(|l| u64::from(end(l, 1).port)))),
        ("name", Column::text(all().map(|l| names.link(l)))),
        ("rate", Column::text(all().map(|l| machine.rate(l).to_string()))),
        ("alive", Column::flag(all().map(|l| view.link_usable(l)))),
    ])
}

fn guid(guid: u64) -> String {
    format!("0x{guid:016x}")
}

/// The keys of `machine show --json`.
pub fn summary<'py>(
    py: Python<'py>,
    view: &View,
    summary: &Summary,
) -> PyResult<Bound<'py, PyDict>> {
    let names = Names::new(view.machine());
    let unbalanced = summary.unbalanced_leaves.iter().map(|leaf| {
        format!("{} ({} nodes, usual {})", names.switch(leaf.switch), leaf.hosts, leaf.usual)
    });
    let degraded = summary
        .degraded_links
        .iter()
        .map(|link| format!("{} ({} of {})", names.link(link.link), link.rate, link.expected));
    let rates = summary.rates.iter().map(|(rate, count)| (rate.to_string(), *count));
    let shown = PyDict::new(py);
    shown.set_item("nodes", summary.nodes)?;
    shown.set_item("switches", summary.switches)?;
    shown.set_item("links", summary.links)?;
    shown.set_item("node_links", summary.node_links)?;
    shown.set_item("planes", summary.planes)?;
    shown.set_item("leaf_switches", summary.leaf_switches)?;
    shown.set_item("unbalanced_leaves", summary.unbalanced_leaves.len())?;
    shown.set_item("degraded_links", summary.degraded_links.len())?;
    shown.set_item("unbalanced_leaf_names", unbalanced.collect::<Vec<_>>())?;
    shown.set_item("degraded_link_names", degraded.collect::<Vec<_>>())?;
    shown.set_item("aggregation_nodes", summary.aggregation_nodes)?;
    shown.set_item("radix", &summary.radix)?;
    shown.set_item("rates", rates.collect::<Vec<_>>())?;
    let distances = summary.distances.as_ref();
    shown.set_item("diameter", distances.map(|distances| distances.diameter))?;
    shown.set_item("distance_mean", distances.map(|distances| distances.mean))?;
    shown.set_item("distances_sampled", distances.is_some_and(|distances| distances.sampled))?;
    let bisection = summary.bisection.as_ref();
    shown.set_item("bisection_gb_s", bisection.map(|cut| cut.rate_gb_s))?;
    shown.set_item("bisection_links", bisection.map(|cut| cut.links))?;
    Ok(shown)
}

/// Differences: how many of each kind, and a sentence for each.
pub fn diff<'py>(
    py: Python<'py>,
    expected: &Machine,
    found: &Machine,
) -> PyResult<Bound<'py, PyDict>> {
    let diff = differences(expected, found);
    let shown = PyDict::new(py);
    shown.set_item("missing_parts", diff.missing_parts.len())?;
    shown.set_item("extra_parts", diff.extra_parts.len())?;
    shown.set_item("replaced_parts", diff.replaced_parts.len())?;
    shown.set_item("renamed_parts", diff.renamed_parts.len())?;
    shown.set_item("missing_links", diff.missing_links.len())?;
    shown.set_item("extra_links", diff.extra_links.len())?;
    shown.set_item("wrong_links", diff.wrong_links.len())?;
    shown.set_item("changed_rates", diff.changed_rates.len())?;
    shown.set_item("differences", diff.sentences(expected, found))?;
    Ok(shown)
}
