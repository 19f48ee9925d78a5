//! The rank of every switch: 0 at the roots, one more for each level below.
//!
//! Given roots rank their neighbours by distance. Without them the roots are the switches farthest from any node. A set
//! of joined switches that is no tree for OpenSM is refused here, or by [`purity`](super::groups::Groups::purity).

use std::ops::RangeInclusive;

use crate::ids::{EndpointId, SwitchId};
use crate::machine::SwitchGraph;
use crate::recovery::routing::Refusal;

/// The rank of a switch that has none.
pub const UNRANKED: u32 = u32::MAX;

/// Levels of switches that OpenSM takes for a fat-tree.
const LEVELS: RangeInclusive<u32> = 2..=8;

/// Living switches that usable cables join.
#[derive(Clone, Debug)]
pub struct Part {
    /// In visiting order.
    pub switches: Vec<SwitchId>,
    /// Rank at which the compute nodes are.
    pub leaf_rank: u32,
}

/// Sets of joined switches: each in the order of `switches`, and by the first of each.
#[must_use]
pub fn parts(graph: &SwitchGraph<'_>, switches: &[SwitchId]) -> Vec<Part> {
    let mut part_of = vec![usize::MAX; graph.switch_count()];
    let mut parts: Vec<Part> = Vec::new();
    for &switch in switches {
        if part_of[switch.index()] == usize::MAX {
            part_of[switch.index()] = parts.len();
            let mut stack = vec![switch];
            while let Some(switch) = stack.pop() {
                for &head in graph.heads(switch) {
                    if part_of[head.index()] == usize::MAX {
                        part_of[head.index()] = parts.len();
                        stack.push(head);
                    }
                }
            }
            parts.push(Part { switches: Vec::new(), leaf_rank: UNRANKED });
        }
        parts[part_of[switch.index()]].switches.push(switch);
    }
    parts
}

/// Number of nodes attached to the part, a node with several ports once.
#[must_use]
pub fn node_count(graph: &SwitchGraph<'_>, part: &Part) -> u32 {
    part.switches.iter().map(|&switch| graph.sources(switch)).sum()
}

/// Ranks the switches of `part` in `rank` and finds its leaf rank.
///
/// # Errors
/// If OpenSM would not take it for a fat-tree.
pub fn rank_part(
    graph: &SwitchGraph<'_>,
    part: &mut Part,
    given: &[SwitchId],
    is_compute: impl Fn(EndpointId) -> bool,
    rank: &mut [u32],
) -> Result<(), Refusal> {
    let first = part.switches[0];
    let refuse = |switch, reason: String| Err(Refusal { reason, switch: Some(switch) });
    let members = |keep: &dyn Fn(SwitchId) -> bool| -> Vec<SwitchId> {
        part.switches.iter().copied().filter(|&switch| keep(switch)).collect()
    };
    let mut roots = members(&|switch| given.contains(&switch));
    if !given.is_empty() && roots.is_empty() {
        let reason = "none of the given roots is alive in the part of the fabric with this switch; \
                      give one there";
        return refuse(first, reason.to_owned());
    }
    if given.is_empty() {
        let height = by_distance(graph, &members(&|s| !graph.attached(s).is_empty()), rank);
        if height == 0 {
            let reason = "nodes are attached to every switch, so none is a root; a fat-tree has \
                          switches without nodes above";
            return refuse(first, reason.to_owned());
        }
        roots = members(&|switch| rank[switch.index()] == height);
        part.switches.iter().for_each(|switch| rank[switch.index()] = UNRANKED);
    }
    let levels = by_distance(graph, &roots, rank) + 1;
    if !LEVELS.contains(&levels) {
        let (least, most) = (LEVELS.start(), LEVELS.end());
        let level = if levels == 1 { "level" } else { "levels" };
        let reason = format!("the tree has {levels} {level}; {least} to {most} are allowed");
        return refuse(first, reason);
    }
    let leaves = members(&|switch| graph.attached(switch).iter().any(|&end| is_compute(end)));
    let deepest = leaves.iter().map(|leaf| rank[leaf.index()]).max();
    let leaf_rank = deepest.unwrap_or(levels - 1);
    if let Some(&odd) = leaves.iter().find(|leaf| rank[leaf.index()] != leaf_rank) {
        let reason = format!(
            "compute nodes are attached at rank {} here, but at rank {leaf_rank} elsewhere",
            rank[odd.index()]
        );
        return refuse(odd, reason);
    }
    part.leaf_rank = leaf_rank;
    Ok(())
}

/// Distance of every joined switch from the nearest of `starts`; the largest.
fn by_distance(graph: &SwitchGraph<'_>, starts: &[SwitchId], rank: &mut [u32]) -> u32 {
    let mut queue = starts.to_vec();
    queue.iter().for_each(|start| rank[start.index()] = 0);
    let (mut front, mut largest) = (0, 0);
    while let Some(&switch) = queue.get(front) {
        front += 1;
        largest = rank[switch.index()];
        for &head in graph.heads(switch) {
            if rank[head.index()] == UNRANKED {
                rank[head.index()] = largest + 1;
                queue.push(head);
            }
        }
    }
    largest
}
