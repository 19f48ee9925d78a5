//! Which destinations share a lane: clusters of switches that stand together, with about as many LIDs each.
//!
//! Destinations in one place ask for much the same dependencies, so a lane that serves them runs into few credit loops.
//! The switches are halved, and each half again: two of them far apart are chosen, and each switch goes to the nearer one
//! as far as the number of lanes for either half allows.
//!
//! Source: Domke and Hoefler 2016. Departs from it: the paper has a multilevel k-way partitioner do this (METIS).

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::hops::{HopMatrix, distances};

/// Splits `destinations`, which cables join with one another, into at most `lanes` clusters, none of them empty.
#[must_use]
pub fn clusters(
    graph: &SwitchGraph<'_>,
    destinations: Vec<SwitchId>,
    lanes: usize,
) -> Vec<Vec<SwitchId>> {
    let mut clusters = Vec::new();
    if !destinations.is_empty() {
        split(graph, destinations, lanes, &mut clusters);
    }
    clusters
}

fn split(
    graph: &SwitchGraph<'_>,
    mut switches: Vec<SwitchId>,
    lanes: usize,
    clusters: &mut Vec<Vec<SwitchId>>,
) {
    if switches.len() < 2 || lanes < 2 {
        clusters.push(switches);
        return;
    }
    let [from_one, from_other] = far_apart(graph, &switches);
    switches.sort_by_key(|switch| {
        let nearer = i32::from(from_one[switch.index()]) - i32::from(from_other[switch.index()]);
        (nearer, *switch)
    });
    let weight = |switch: &SwitchId| graph.attached(*switch).len();
    let all: usize = switches.iter().map(weight).sum();
    let (first, mut passed) = (lanes / 2, 0);
    // At the cut, the shares of both sides are as near to those of their lanes as whole switches allow.
    let cut = switches.iter().position(|switch| {
        passed += 2 * weight(switch);
        (passed - weight(switch)) * lanes >= 2 * all * first
    });
    let cut = cut.unwrap_or(switches.len()).clamp(1, switches.len() - 1);
    let rest = switches.split_off(cut);
    split(graph, switches, first, clusters);
    split(graph, rest, lanes - first, clusters);
}

/// Distances from two of `switches` that are far apart.
fn far_apart(graph: &SwitchGraph<'_>, switches: &[SwitchId]) -> [Vec<u16>; 2] {
    let from = |start: SwitchId| {
        let mut row = vec![HopMatrix::FAR; graph.switch_count()];
        distances(graph, start, &mut row, &mut Vec::new());
        row
    };
    let farthest = |row: &[u16]| {
        let far =
            switches.iter().max_by_key(|switch| (row[switch.index()], std::cmp::Reverse(**switch)));
        far.copied().unwrap_or(switches[0])
    };
    let one = from(farthest(&from(switches[0])));
    let other = from(farthest(&one));
    [one, other]
}
