//! How far nodes are from each other, in hops between switches.
//!
//! Two nodes at one switch are 0 hops apart. Nodes of one plane are measured by their shortest way there; a node with
//! several ports in a plane stands where it injects (its lowest usable port). Exact where the breadth-first searches
//! are affordable, else from evenly spaced leaf switches. Does not follow routes, which may be longer.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::graph::NodeKind;
use super::switch_graph::SwitchGraph;
use crate::ids::SwitchId;

/// Distances between nodes of the same plane that reach each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Distances {
    /// Largest hops between two nodes; a lower bound if `sampled`.
    pub diameter: u32,
    /// Mean hops over ordered pairs of different nodes; of sampled leaves' nodes to all others if `sampled`.
    pub mean: f64,
    /// Whether not every leaf switch was searched from.
    pub sampled: bool,
}

/// Channels that all searches together may cross: about a second.
const WORK: u64 = 200_000_000;
const UNREACHED: u32 = u32::MAX;

/// Hops from one switch to every other, by breadth-first search.
#[derive(Clone, Debug)]
pub struct HopSearch {
    hops: Vec<u32>,
    queue: VecDeque<SwitchId>,
}

impl HopSearch {
    /// Room for searches over `switch_count` switches.
    #[must_use]
    pub fn new(switch_count: usize) -> Self {
        HopSearch { hops: vec![UNREACHED; switch_count], queue: VecDeque::new() }
    }

    /// Searches from `start`; answers of the search before are gone.
    ///
    /// # Complexity
    /// Linear in channels.
    pub fn run(&mut self, graph: &SwitchGraph, start: SwitchId) {
        self.hops.fill(UNREACHED);
        self.hops[start.index()] = 0;
        self.queue.push_back(start);
        while let Some(switch) = self.queue.pop_front() {
            let next = self.hops[switch.index()] + 1;
            for &head in graph.heads(switch) {
                if self.hops[head.index()] == UNREACHED {
                    self.hops[head.index()] = next;
                    self.queue.push_back(head);
                }
            }
        }
    }

    /// Hops from the start to `switch`, if cables lead there.
    #[inline]
    #[must_use]
    pub fn hops(&self, switch: SwitchId) -> Option<u32> {
        let hops = self.hops[switch.index()];
        (hops != UNREACHED).then_some(hops)
    }
}

/// Number of nodes that inject at each switch, aggregation engines left out.
#[must_use]
pub fn injecting_nodes(graph: &SwitchGraph) -> Vec<u32> {
    let machine = graph.machine();
    let mut nodes = vec![0; graph.switch_count()];
    for endpoint in machine.endpoints().filter(|&endpoint| graph.injects(endpoint)) {
        let counts = machine.node(machine.endpoint_node(endpoint)).kind != NodeKind::Aggregation;
        if let Some(switch) = graph.switch_of(endpoint).filter(|_| counts) {
            nodes[switch.index()] += 1;
        }
    }
    nodes
}

/// Distances between the nodes of `graph`; none where no two nodes reach each other over switches.
///
/// # Complexity
/// Leaf switches x channels, or about 2e8 if that is less.
#[must_use]
pub fn distances(graph: &SwitchGraph) -> Option<Distances> {
    distances_within(graph, WORK)
}

pub(super) fn distances_within(graph: &SwitchGraph, work: u64) -> Option<Distances> {
    let nodes = injecting_nodes(graph);
    let leaves: Vec<SwitchId> =
        graph.machine().switches().filter(|leaf| nodes[leaf.index()] > 0).collect();
    let channels: usize = graph.machine().switches().map(|s| graph.heads(s).len()).sum();
    // Visiting a switch costs about as much as crossing a channel.
    let cost = (channels + graph.switch_count()).max(1) as u64;
    let most = (work / cost).max(1) as usize;
    let sampled = leaves.len() > most;
    let starts: Vec<SwitchId> = if sampled {
        (0..most).map(|at| leaves[at * leaves.len() / most]).collect()
    } else {
        leaves.clone()
    };
    // Whole numbers only, so that the order in which threads add does not matter.
    let (diameter, hops, pairs) = starts
        .par_iter()
        .map_init(
            || HopSearch::new(graph.switch_count()),
            |search, &start| {
                search.run(graph, start);
                from(search, start, &leaves, &nodes)
            },
        )
        .reduce(|| (0, 0, 0), |a, b| (a.0.max(b.0), a.1 + b.1, a.2 + b.2));
    let mean = hops as f64 / pairs as f64;
    (pairs > 0).then_some(Distances { diameter, mean, sampled })
}

/// Largest hops, sum of hops and number of ordered pairs from the nodes at `start`.
fn from(
    search: &HopSearch,
    start: SwitchId,
    leaves: &[SwitchId],
    nodes: &[u32],
) -> (u32, u128, u128) {
    let sources = u128::from(nodes[start.index()]);
    let (mut diameter, mut hops, mut pairs) = (0, 0, 0);
    for &leaf in leaves {
        if let Some(distance) = search.hops(leaf) {
            let others = u128::from(nodes[leaf.index()]) - u128::from(leaf == start);
            diameter = diameter.max(distance);
            hops += u128::from(distance) * others * sources;
            pairs += others * sources;
        }
    }
    (diameter, hops, pairs)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::ids::NodeId;
    use crate::machine::{Builder, View, generators};
    use crate::params::Given;
    use crate::rng::Seed;
    use crate::units::LinkRate;

    /// Hops between the switches of two nodes in every way they can be measured, by Floyd and Warshall.
    fn naive(view: &View) -> Option<(u32, f64)> {
        let machine = view.machine();
        let count = machine.switch_count();
        let mut hops = vec![vec![UNREACHED; count]; count];
        (0..count).for_each(|at| hops[at][at] = 0);
        for link in machine.switch_links().filter(|&link| view.link_usable(link)) {
            let [a, b] = machine.ends(link).map(|end| end.vertex.index());
            if a != b {
                (hops[a][b], hops[b][a]) = (1, 1);
            }
        }
        for via in 0..count {
            for a in 0..count {
                for b in 0..count {
                    hops[a][b] = hops[a][b].min(hops[a][via].saturating_add(hops[via][b]));
                }
            }
        }
        let at = |node: NodeId| {
            let channel = view.channels_from(machine.node_vertex(node)).next()?;
            Some(machine.head(channel).vertex.index())
        };
        let (mut diameter, mut sum, mut pairs) = (0, 0.0, 0.0);
        for (a, b) in machine.nodes().flat_map(|a| machine.nodes().map(move |b| (a, b))) {
            if let (Some(from), Some(to)) = (at(a), at(b))
                && a != b
                && hops[from][to] != UNREACHED
            {
                diameter = diameter.max(hops[from][to]);
                sum += f64::from(hops[from][to]);
                pairs += 1.0;
            }
        }
        (pairs > 0.0).then(|| (diameter, sum / pairs))
    }

    proptest! {
        #[test]
        fn distances_are_those_of_floyd_and_warshall(
            switch_count in 1usize..8,
            links in prop::collection::vec((0usize..8, 0usize..8), 0..14),
            nodes in prop::collection::vec(0usize..8, 0..8),
            dead in prop::collection::vec(0u32..14, 0..3),
        ) {
            let mut builder = Builder::new("any", true);
            let switches: Vec<_> =
                (0..switch_count).map(|at| builder.switch(format!("s{at}"), 60).unwrap()).collect();
            for (a, b) in &links {
                let (a, b) = (a % switch_count, b % switch_count);
                if a != b {
                    builder.cable(switches[a], switches[b], LinkRate::EDR);
                }
            }
            for (at, switch) in nodes.iter().enumerate() {
                let node = builder.node(format!("n{at}"), 1);
                builder.cable(node, switches[switch % switch_count], LinkRate::EDR);
            }
            let view = View::intact(Arc::new(builder.build().unwrap()));
            let count = view.machine().link_count();
            let dead: Vec<_> = view.machine().links().filter(|l| dead.contains(&l.0)).collect();
            prop_assert!(dead.len() <= count);
            let view = view.without(&dead, &[], &[]);
            let found = distances(&SwitchGraph::new(&view));
            match (found, naive(&view)) {
                (Some(found), Some((diameter, mean))) => {
                    prop_assert_eq!(found.diameter, diameter);
                    prop_assert!((found.mean - mean).abs() < 1e-9);
                    prop_assert!(!found.sampled);
                }
                (found, expected) => prop_assert!(found.is_none() && expected.is_none()),
            }
        }
    }

    #[test]
    fn a_tree_is_twice_as_wide_as_high_and_sampling_finds_that() {
        let machine = generators::make("kary-ntree(4;3)", &Given::new(), Seed(1)).unwrap();
        let view = View::intact(Arc::new(machine));
        let graph = SwitchGraph::new(&view);
        let exact = distances(&graph).unwrap();
        assert_eq!((exact.diameter, exact.sampled), (4, false));
        // Of 63 others, 3 are at the same leaf, 12 below the same second level, 48 beyond.
        assert!((exact.mean - (12.0 * 2.0 + 48.0 * 4.0) / 63.0).abs() < 1e-12);
        let sampled = distances_within(&graph, 1000).unwrap();
        assert_eq!((sampled.diameter, sampled.sampled), (4, true));
        assert!((sampled.mean - exact.mean).abs() < 1e-12, "all leaves of a tree are alike");
    }
}
