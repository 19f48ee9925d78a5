//! Which switches are roots, and how far every other is from them.

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::hops::{HopMatrix, distances};
use crate::recovery::routing::{Compat, Refusal};

/// Distance of each switch from the nearest root; switches that no root reaches rank last.
pub fn ranks(graph: &SwitchGraph<'_>, roots: &[SwitchId]) -> Vec<u32> {
    let mut rank = vec![u32::MAX; graph.switch_count()];
    let mut queue = roots.to_vec();
    for root in roots {
        rank[root.index()] = 0;
    }
    let mut front = 0;
    while let Some(&switch) = queue.get(front) {
        front += 1;
        for &head in graph.heads(switch) {
            if rank[head.index()] == u32::MAX {
                rank[head.index()] = rank[switch.index()] + 1;
                queue.push(head);
            }
        }
    }
    rank
}

/// The roots that Up*/Down* finds by rule, ascending; `None` if a part of the fabric with nodes has none.
#[must_use]
pub fn roots_by_rule(graph: &SwitchGraph<'_>) -> Option<Vec<SwitchId>> {
    choose_roots(graph, &[], Compat::Plain).ok()
}

/// The given roots that are alive, or those that OpenSM's rule finds; a refusal if a set of joined switches has none.
pub fn choose_roots(
    graph: &SwitchGraph<'_>,
    given: &[SwitchId],
    compat: Compat,
) -> Result<Vec<SwitchId>, Refusal> {
    let mut roots = Vec::new();
    for members in graph.joined_switches() {
        let start = members[0];
        let needs_routes = members.iter().any(|&switch| !graph.attached(switch).is_empty());
        let found: Vec<SwitchId> = if given.is_empty() {
            find_roots(graph, &members, compat)
        } else {
            given.iter().copied().filter(|root| members.binary_search(root).is_ok()).collect()
        };
        match (found.is_empty(), needs_routes) {
            (false, _) => roots.extend(found),
            // Switches without nodes carry no traffic; any of them will do.
            (true, false) => roots.push(start),
            (true, true) => return Err(no_root(start, given.is_empty())),
        }
    }
    roots.sort_unstable();
    roots.dedup();
    Ok(roots)
}

fn no_root(switch: SwitchId, automatic: bool) -> Refusal {
    let reason = if automatic {
        "no switch is a root: from none are more than 90 % of the nodes equally far and the rest \
         spread thinly; give roots"
    } else {
        "none of the given roots is alive in the part of the fabric with this switch; give one there"
    };
    Refusal { reason: reason.to_owned(), switch: Some(switch) }
}

/// OpenSM's rule on one set of joined switches, then the nearest of those that pass it (OpenSM itself takes them all).
fn find_roots(graph: &SwitchGraph<'_>, members: &[SwitchId], compat: Compat) -> Vec<SwitchId> {
    let ports: usize = members.iter().map(|&switch| graph.attached(switch).len()).sum();
    let mut row = vec![HopMatrix::FAR; graph.switch_count()];
    let mut queue = Vec::new();
    let mut passed: Vec<(u16, SwitchId)> = Vec::new();
    for &switch in members {
        distances(graph, switch, &mut row, &mut queue);
        let mut at_distance: Vec<usize> = Vec::new();
        for &member in &queue {
            let hops = usize::from(row[member.index()]);
            at_distance.resize(at_distance.len().max(hops + 1), 0);
            at_distance[hops] += graph.attached(member).len();
        }
        let most =
            |share: usize| at_distance.iter().filter(|&&at| at * 100 > ports * share).count();
        if most(90) == 1 && most(5) == 1 {
            let distance = at_distance.iter().position(|&at| at * 100 > ports * 90);
            passed.push((distance.unwrap_or_default() as u16, switch));
        }
        for &member in &queue {
            row[member.index()] = HopMatrix::FAR;
        }
    }
    let nearest = passed.iter().map(|&(distance, _)| distance).min();
    let taken = |&(d, _): &(u16, SwitchId)| compat == Compat::OpenSm || Some(d) == nearest;
    passed.into_iter().filter(taken).map(|(_, switch)| switch).collect()
}
