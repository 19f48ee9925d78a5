//! An estimate of the bisection bandwidth: the least rate of cables between two equal halves of the nodes.
//!
//! Finding it is NP-complete, so this is an upper bound: the best of several starting cuts, refined. Starts are made by
//! filling one half in an order: by switch number, along each coordinate, by the groups of each level, breadth-first
//! from a leaf and from the far end of that, and at random. Each is refined by [`super::partition`] while its budget of
//! work lasts, the best start first.
//!
//! Nodes go with their switches, as evenly as that allows; what is left over is dealt across exactly (one more on one
//! side if the number of nodes is odd) where that cuts least, and all cables between the sides are counted. Cutting
//! off every node of a half at its own cable is no bisection of the fabric, so it is not sought; one switch alone is
//! cut so.
//!
//! Nodes without a usable cable and aggregation engines are left out, and so are back-to-back cables.

use std::collections::BTreeMap;

use super::graph::{Machine, NodeKind};
use super::partition::{Weighted, refine};
use super::view::View;
use crate::ids::{ChannelId, NodeId};
use crate::rng::Seed;

/// A cut between two halves of the nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bisection {
    /// Rate of the cut cables in one direction, in GB/s.
    pub rate_gb_s: f64,
    /// Number of cut cables.
    pub links: usize,
}

/// Which parts stand on the second side; dead and unattached ones stand anywhere.
#[derive(Clone, Debug)]
pub(super) struct Halves {
    pub(super) switches: Vec<bool>,
    pub(super) nodes: BTreeMap<NodeId, bool>,
}

/// Edge visits that all refinement together may take: about a second.
const WORK: u64 = 15_000_000;
/// Random starts, for networks whose numbers and levels say nothing of their shape.
const RANDOM_STARTS: u64 = 8;

/// The least cut found; none if fewer than two nodes are attached to switches.
///
/// # Complexity
/// Linear in ports for each start, and a bounded amount of refinement.
#[must_use]
pub fn bisection(view: &View, seed: Seed) -> Option<Bisection> {
    best_halves(view, seed).map(|(_, bisection)| bisection)
}

/// As [`bisection`], with the cut itself.
pub(super) fn best_halves(view: &View, seed: Seed) -> Option<(Halves, Bisection)> {
    let nodes = Attached::new(view);
    if nodes.list.len() < 2 {
        return None;
    }
    let graph = weighted(view, &nodes);
    let mut sides: Vec<(i64, Vec<bool>)> = orders(view, &graph, seed)
        .into_iter()
        .map(|order| fill(&graph, &order))
        .map(|side| (graph.score(&side), side))
        .collect();
    // Stable, so that equal starts keep the order of the list above.
    sides.sort_by_key(|(score, _)| *score);
    let mut work = WORK;
    let mut best: Option<(u64, Halves)> = None;
    for (_, mut side) in sides {
        refine(&graph, &mut side, &mut work);
        let halves = deal(view, &nodes, &side);
        let cut = cut_links(view, &halves).map(|link| price(view.machine(), link)).sum();
        if best.as_ref().is_none_or(|(least, _)| cut < *least) {
            best = Some((cut, halves));
        }
        if work == 0 {
            break;
        }
    }
    let (_, halves) = best?;
    // From a positive zero: an empty sum of floats is a negative one.
    let rates = cut_links(view, &halves).map(|link| rate_gb_s(view.machine(), link));
    let rate_gb_s = rates.fold(0.0, |sum, rate| sum + rate);
    let links = cut_links(view, &halves).count();
    Some((halves, Bisection { rate_gb_s, links }))
}

/// Rate of a cable in whole kb/s, which sums exactly.
fn price(machine: &Machine, channel: ChannelId) -> u64 {
    (machine.rate(channel.link()).rate_gbps() * 1e6).round() as u64
}

fn rate_gb_s(machine: &Machine, channel: ChannelId) -> f64 {
    machine.rate(channel.link()).rate_gb_s()
}

/// Nodes with a usable cable to a switch.
struct Attached {
    /// The node, and its channels into the fabric.
    list: Vec<(NodeId, Vec<ChannelId>)>,
}

impl Attached {
    fn new(view: &View) -> Self {
        let machine = view.machine();
        let usable = |node: NodeId| -> Vec<ChannelId> {
            machine
                .endpoints_of(node)
                .map(|endpoint| machine.injection(endpoint))
                .filter(|&channel| view.usable(channel))
                .filter(|&channel| machine.as_switch(machine.head(channel).vertex).is_some())
                .collect()
        };
        let list = machine
            .nodes()
            .filter(|&node| machine.node(node).kind != NodeKind::Aggregation)
            .map(|node| (node, usable(node)))
            .filter(|(_, channels)| !channels.is_empty())
            .collect();
        Attached { list }
    }
}

/// The graph that is cut: switches, weighing the nodes that hang on them alone, then sets of nodes that share their
/// switches.
fn weighted(view: &View, nodes: &Attached) -> Weighted {
    let machine = view.machine();
    let mut edges: Vec<(u32, u32, u64)> = machine
        .switch_links()
        .filter(|&link| view.link_usable(link))
        .map(|link| {
            let [a, b] = machine.ends(link).map(|end| end.vertex.0);
            (a, b, price(machine, link.forward()))
        })
        .collect();
    let mut weight = vec![0u32; machine.switch_count()];
    let mut shared: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut least = u64::MAX;
    for (_, channels) in &nodes.list {
        let mut heads: Vec<u32> = channels.iter().map(|&c| machine.head(c).vertex.0).collect();
        heads.sort_unstable();
        heads.dedup();
        let vertex = match heads[..] {
            [switch] => switch,
            _ => *shared.entry(heads).or_insert_with(|| {
                weight.push(0);
                weight.len() as u32 - 1
            }),
        };
        weight[vertex as usize] += 1;
        let out: u64 = channels.iter().map(|&channel| price(machine, channel)).sum();
        least = least.min(out);
        let across =
            channels.iter().map(|&c| (vertex, machine.head(c).vertex.0, price(machine, c)));
        // Cables of a node that weighs on its switch are loops, which the graph drops.
        edges.extend(across);
    }
    Weighted::new(weight, edges, least)
}

/// Orders in which a half is filled.
fn orders(view: &View, graph: &Weighted, seed: Seed) -> Vec<Vec<u32>> {
    let machine = view.machine();
    let switch_count = machine.switch_count();
    let switches = || 0..switch_count as u32;
    let by_key = |key: &dyn Fn(u32) -> Vec<u32>| {
        let mut order: Vec<u32> = switches().collect();
        order.sort_by_cached_key(|&switch| (key(switch), switch));
        with_shared(graph, order)
    };
    let mut orders = vec![with_shared(graph, switches().collect())];
    if let Some(coordinates) = machine.coordinates() {
        for dimension in 0..coordinates.shape.len() {
            orders.push(by_key(&|switch| {
                let mut key = coordinates.position(switch as usize).to_vec();
                key[..=dimension].rotate_right(1);
                key
            }));
        }
    }
    for level in machine.levels() {
        orders.push(by_key(&|switch| vec![level.of_vertex[switch as usize]]));
    }
    let weighs = |vertex: &u32| graph.weight(*vertex as usize) > 0;
    let near = breadth_first(graph, (0..graph.vertex_count() as u32).find(weighs).unwrap_or(0));
    let far = near.iter().copied().rfind(weighs).unwrap_or(0);
    orders.push(breadth_first(graph, far));
    orders.push(near);
    for start in 0..RANDOM_STARTS {
        let mut random: Vec<u32> = switches().collect();
        seed.stream("bisection", start).shuffle(&mut random);
        orders.push(with_shared(graph, random));
    }
    orders
}

/// Adds the vertices that are no switches, each after the first of its switches.
fn with_shared(graph: &Weighted, switches: Vec<u32>) -> Vec<u32> {
    let switch_count = switches.len();
    let mut place = vec![0u32; switch_count];
    for (at, &switch) in switches.iter().enumerate() {
        place[switch as usize] = at as u32;
    }
    let first = |vertex: u32| match vertex as usize {
        switch if switch < switch_count => place[switch],
        set => graph.heads(set).iter().map(|&head| place[head as usize]).min().unwrap_or(0),
    };
    let mut order: Vec<u32> = (0..graph.vertex_count() as u32).collect();
    // Switches have lower numbers, so each comes before the sets placed after it.
    order.sort_by_cached_key(|&vertex| (first(vertex), vertex));
    order
}

/// All vertices breadth-first from `start`, then from the lowest one left, and so on.
fn breadth_first(graph: &Weighted, start: u32) -> Vec<u32> {
    let mut seen = vec![false; graph.vertex_count()];
    let mut order = Vec::with_capacity(graph.vertex_count());
    for root in std::iter::once(start).chain(0..graph.vertex_count() as u32) {
        let mut next = order.len();
        if !std::mem::replace(&mut seen[root as usize], true) {
            order.push(root);
        }
        while next < order.len() {
            for &head in graph.heads(order[next] as usize) {
                if !std::mem::replace(&mut seen[head as usize], true) {
                    order.push(head);
                }
            }
            next += 1;
        }
    }
    order
}

/// Puts vertices on the first side in this order until it holds half of the weight.
fn fill(graph: &Weighted, order: &[u32]) -> Vec<bool> {
    let mut side = vec![true; graph.vertex_count()];
    let mut first = 0;
    for &vertex in order {
        let weight = u64::from(graph.weight(vertex as usize));
        let (under, over) = (graph.total() - first * 2, (first + weight) * 2);
        // A vertex that passes half is taken if that comes closer to half.
        if first > 0 && over > graph.total() + under {
            break;
        }
        side[vertex as usize] = false;
        first += weight;
        if first * 2 >= graph.total() {
            break;
        }
    }
    side
}

/// Deals the nodes evenly to the sides of their switches, cutting as little as possible.
fn deal(view: &View, nodes: &Attached, side: &[bool]) -> Halves {
    let machine = view.machine();
    // What a node costs on the first side beyond what it costs on the second.
    let extra = |channels: &[ChannelId]| -> i64 {
        let signed = |&channel: &ChannelId| {
            let rate = price(machine, channel) as i64;
            if side[machine.head(channel).vertex.index()] { rate } else { -rate }
        };
        channels.iter().map(signed).sum()
    };
    let mut by_extra: Vec<(i64, NodeId)> =
        nodes.list.iter().map(|(node, channels)| (extra(channels), *node)).collect();
    by_extra.sort_unstable();
    let half = by_extra.len() / 2;
    // The odd one goes where it costs less.
    let odd = by_extra.len() % 2 == 1 && by_extra[half].0 < 0;
    let first = half + usize::from(odd);
    Halves {
        switches: side[..machine.switch_count()].to_vec(),
        nodes: by_extra.iter().enumerate().map(|(at, &(_, node))| (node, at >= first)).collect(),
    }
}

/// Usable cables between the sides, by one of their channels.
fn cut_links<'a>(view: &'a View, halves: &'a Halves) -> impl Iterator<Item = ChannelId> + 'a {
    let machine = view.machine();
    let side = move |vertex| match (machine.as_switch(vertex), machine.as_node(vertex)) {
        (Some(switch), _) => Some(halves.switches[switch.index()]),
        (None, Some(node)) => halves.nodes.get(&node).copied(),
        (None, None) => None,
    };
    let between_nodes = move |channel: ChannelId| {
        machine.ends(channel.link()).iter().all(|end| machine.as_node(end.vertex).is_some())
    };
    machine
        .links()
        .filter(|&link| view.link_usable(link))
        .map(|link| link.forward())
        .filter(move |&channel| !between_nodes(channel))
        .filter(move |&channel| {
            let sides = [machine.tail(channel).vertex, machine.head(channel).vertex].map(side);
            matches!(sides, [Some(a), Some(b)] if a != b)
        })
}

#[cfg(test)]
mod tests;
