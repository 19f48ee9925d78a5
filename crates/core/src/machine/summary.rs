//! What `machine show` says of a fabric: how much there is, what is uneven, how far and how wide.
//!
//! Counts alive parts and usable cables of a view. Says what looks wrong by comparing parts with their like, because a
//! fabric file does not say what was meant: a leaf with another number of hosts than most, a cable slower than most
//! between such devices. Does not route.

use std::collections::{BTreeMap, BTreeSet};

use super::bisection::{Bisection, bisection};
use super::distance::{Distances, distances};
use super::graph::{Machine, NodeKind};
use super::switch_graph::SwitchGraph;
use super::view::View;
use crate::ids::{LinkId, SwitchId};
use crate::rng::Seed;
use crate::units::LinkRate;

/// A leaf switch with another number of hosts than is usual in its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnbalancedLeaf {
    /// The switch.
    pub switch: SwitchId,
    /// Hosts at it.
    pub hosts: u32,
    /// Hosts at most leaf switches of its plane.
    pub usual: u32,
}

/// A cable slower than its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DegradedLink {
    /// The cable.
    pub link: LinkId,
    /// How fast it is.
    pub rate: LinkRate,
    /// How fast most cables between such parts are.
    pub expected: LinkRate,
}

/// A machine on one screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Alive nodes of any kind, aggregation engines included.
    pub nodes: usize,
    /// Alive switches.
    pub switches: usize,
    /// Usable cables between switches.
    pub links: usize,
    /// Usable cables with a node at an end.
    pub node_links: usize,
    /// Planes with a part that is still alive.
    pub planes: usize,
    /// Alive aggregation engines.
    pub aggregation_nodes: usize,
    /// Switches with at least one host.
    pub leaf_switches: usize,
    /// Leaf switches with an unusual number of hosts, ascending.
    pub unbalanced_leaves: Vec<UnbalancedLeaf>,
    /// Cables slower than their like, ascending.
    pub degraded_links: Vec<DegradedLink>,
    /// Alive switches by number of ports, ascending.
    pub radix: Vec<(u8, usize)>,
    /// Usable cables by rate, fastest first.
    pub rates: Vec<(LinkRate, usize)>,
    /// How far nodes are from each other; none if no two reach each other over switches.
    pub distances: Option<Distances>,
    /// An upper bound of the bisection; none if fewer than two nodes are attached.
    pub bisection: Option<Bisection>,
}

impl Summary {
    /// Sums up a view. `seed` moves one of the starts from which the bisection is sought.
    ///
    /// # Complexity
    /// Linear in ports, beside the bounded work of [`distances`] and [`bisection`].
    #[must_use]
    pub fn new(view: &View, seed: Seed) -> Self {
        let machine = view.machine();
        let usable = || machine.links().filter(|&link| view.link_usable(link));
        let links = usable().filter(|&link| machine.is_switch_link(link)).count();
        let leaves = leaf_hosts(view);
        let mut radix: BTreeMap<u8, usize> = BTreeMap::new();
        for switch in machine.switches().filter(|&switch| view.switch_alive(switch)) {
            *radix.entry(machine.switch(switch).radix).or_default() += 1;
        }
        let nodes = || machine.nodes().filter(|&node| view.node_alive(node));
        let aggregation = |&node: &_| machine.node(node).kind == NodeKind::Aggregation;
        Summary {
            nodes: nodes().count(),
            switches: radix.values().sum(),
            links,
            node_links: usable().count() - links,
            planes: planes(view),
            aggregation_nodes: nodes().filter(aggregation).count(),
            leaf_switches: leaves.len(),
            unbalanced_leaves: unbalanced(machine, &leaves),
            degraded_links: degraded(view),
            radix: radix.into_iter().collect(),
            rates: counted(usable().map(|link| machine.rate(link))),
            distances: distances(&SwitchGraph::new(view)),
            bisection: bisection(view, seed),
        }
    }
}

fn planes(view: &View) -> usize {
    let machine = view.machine();
    let switches = machine.switches().filter(|&switch| view.switch_alive(switch));
    let mut planes: BTreeSet<u32> = switches.map(|s| machine.plane_of_switch(s)).collect();
    let endpoints = machine.endpoints().filter(|&e| view.usable(machine.injection(e)));
    planes.extend(endpoints.map(|endpoint| machine.plane_of_endpoint(endpoint)));
    planes.len()
}

/// Leaf switches and their hosts, ascending; a host with several cables to one leaf counts once.
fn leaf_hosts(view: &View) -> Vec<(SwitchId, u32)> {
    let machine = view.machine();
    let hosts = |switch: SwitchId| {
        let channels = view.channels_from(machine.switch_vertex(switch));
        let nodes = channels.filter_map(|channel| machine.as_node(machine.head(channel).vertex));
        let hosts = nodes.filter(|&node| machine.node(node).kind == NodeKind::Host);
        hosts.collect::<BTreeSet<_>>().len() as u32
    };
    let all = machine.switches().map(|switch| (switch, hosts(switch)));
    all.filter(|(_, hosts)| *hosts > 0).collect()
}

/// Leaves that differ from the commonest number of hosts in their plane; of equally common ones the larger is usual.
fn unbalanced(machine: &Machine, leaves: &[(SwitchId, u32)]) -> Vec<UnbalancedLeaf> {
    let mut counts: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    for &(switch, hosts) in leaves {
        *counts.entry(machine.plane_of_switch(switch)).or_default().entry(hosts).or_default() += 1;
    }
    let most = |of_plane: &BTreeMap<u32, usize>| {
        of_plane.iter().max_by_key(|&(&hosts, &leaves)| (leaves, hosts)).map(|(&hosts, _)| hosts)
    };
    let usual: BTreeMap<u32, u32> =
        counts.iter().filter_map(|(&plane, of_plane)| Some((plane, most(of_plane)?))).collect();
    let all = leaves.iter().filter_map(|&(switch, hosts)| {
        let usual = *usual.get(&machine.plane_of_switch(switch))?;
        Some(UnbalancedLeaf { switch, hosts, usual })
    });
    all.filter(|leaf| leaf.hosts != leaf.usual).collect()
}

/// Whether a cable joins switches, and what its two ends are.
type Like = (bool, Option<[(u32, u32); 2]>);

/// A pair of devices says what to expect from this many cables on.
const FEWEST_ALIKE: usize = 3;

/// Cables slower than most of their like; of equally common rates the faster is expected.
///
/// Alike are cables between the same two kinds of device (vendor and device id), switch-switch and node cables apart;
/// where these are fewer than three, all cables between switches, or all of nodes.
fn degraded(view: &View) -> Vec<DegradedLink> {
    let machine = view.machine();
    let mut alike: BTreeMap<Like, Vec<LinkId>> = BTreeMap::new();
    let like = |link: LinkId| -> Like {
        let mut devices = machine.ends(link).map(|end| {
            let part = machine.part(end.vertex);
            (part.vendor, part.device)
        });
        devices.sort_unstable();
        (machine.is_switch_link(link), Some(devices))
    };
    for link in machine.links().filter(|&link| view.link_usable(link)) {
        alike.entry(like(link)).or_default().push(link);
        alike.entry((machine.is_switch_link(link), None)).or_default().push(link);
    }
    let rate = |links: &Vec<LinkId>| commonest(links.iter().map(|&link| machine.rate(link)));
    let expected: BTreeMap<&Like, LinkRate> = alike
        .iter()
        .filter(|(like, links)| like.1.is_none() || links.len() >= FEWEST_ALIKE)
        .filter_map(|(like, links)| Some((like, rate(links)?)))
        .collect();
    let checked = machine.links().filter(|&link| view.link_usable(link)).filter_map(|link| {
        let class = (machine.is_switch_link(link), None);
        let expected = *expected.get(&like(link)).or_else(|| expected.get(&class))?;
        Some(DegradedLink { link, rate: machine.rate(link), expected })
    });
    checked.filter(|link| link.rate.rate_gbps() < link.expected.rate_gbps()).collect()
}

/// How often each rate occurs, fastest first; of equally fast ones the wider first.
fn counted(rates: impl Iterator<Item = LinkRate>) -> Vec<(LinkRate, usize)> {
    let mut counts: Vec<(LinkRate, usize)> = Vec::new();
    for rate in rates {
        match counts.iter_mut().find(|(known, _)| *known == rate) {
            Some((_, count)) => *count += 1,
            None => counts.push((rate, 1)),
        }
    }
    counts.sort_by(|(a, _), (b, _)| {
        b.rate_gbps().total_cmp(&a.rate_gbps()).then(b.lanes.cmp(&a.lanes))
    });
    counts
}

fn commonest(rates: impl Iterator<Item = LinkRate>) -> Option<LinkRate> {
    // Fastest first, and the first of equals is kept.
    let counts = counted(rates);
    let most = counts.iter().map(|(_, count)| *count).max()?;
    counts.iter().find(|(_, count)| *count == most).map(|(rate, _)| *rate)
}

#[cfg(test)]
mod tests;
