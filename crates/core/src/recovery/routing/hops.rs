//! Distances between switches, and the port balancing that MinHop and Up*/Down* share.

use rayon::prelude::*;

use super::lft::Lft;
use super::options::RouteOptions;
use super::order::VisitOrder;
use crate::ids::{ChannelId, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};

/// Distances in switch-switch hops, `[row][column]`; [`HopMatrix::FAR`] where there is no way.
#[derive(Clone, Debug)]
pub struct HopMatrix {
    switches: usize,
    hops: Vec<u16>,
}

impl HopMatrix {
    /// No way.
    pub const FAR: u16 = u16::MAX;
    /// Longest way that counts as one; the top bit is left to engines.
    pub const LONGEST: u16 = 0x7ffe;

    /// Fewest hops between all switches; the same both ways, as every cable is.
    ///
    /// # Complexity
    /// Switches x channels time, switches^2 x 2 bytes.
    #[must_use]
    pub fn shortest(graph: &SwitchGraph<'_>) -> Self {
        Self::by_row(graph, |start, row, queue| distances(graph, start, row, queue))
    }

    /// Fills each row by `fill(switch, row, queue)` in parallel; rows start out [`HopMatrix::FAR`].
    pub fn by_row(
        graph: &SwitchGraph<'_>,
        fill: impl Fn(SwitchId, &mut [u16], &mut Vec<SwitchId>) + Sync,
    ) -> Self {
        let switches = graph.switch_count();
        let mut hops = vec![Self::FAR; switches * switches];
        hops.par_chunks_exact_mut(switches.max(1))
            .enumerate()
            .for_each_init(Vec::new, |queue, (switch, row)| {
                fill(SwitchId::from_index(switch), row, queue)
            });
        HopMatrix { switches, hops }
    }

    /// The row of `switch`.
    #[inline]
    #[must_use]
    pub fn row(&self, switch: SwitchId) -> &[u16] {
        &self.hops[switch.index() * self.switches..(switch.index() + 1) * self.switches]
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let n = self.switches;
        let mut hops = vec![0; n * n];
        hops.par_chunks_exact_mut(n.max(1)).enumerate().for_each(|(row, out)| {
            for (column, value) in out.iter_mut().enumerate() {
                *value = self.hops[column * n + row];
            }
        });
        HopMatrix { switches: n, hops }
    }
}

/// Fewest hops from `start` to every switch; `row` starts out [`HopMatrix::FAR`], `queue` ends up listing who is reached.
pub fn distances(
    graph: &SwitchGraph<'_>,
    start: SwitchId,
    row: &mut [u16],
    queue: &mut Vec<SwitchId>,
) {
    queue.clear();
    queue.push(start);
    row[start.index()] = 0;
    let mut front = 0;
    while let Some(&switch) = queue.get(front) {
        front += 1;
        let next = row[switch.index()] + 1;
        if next > HopMatrix::LONGEST {
            break;
        }
        for &head in graph.heads(switch) {
            if row[head.index()] == HopMatrix::FAR {
                row[head.index()] = next;
                queue.push(head);
            }
        }
    }
}

/// Fills forwarding tables so that each switch spreads destinations over the channels it may use.
///
/// At each switch, for each destination in visiting order, the usable channel with the fewest endpoint LIDs so far wins,
/// ties to the lowest port; switch LIDs are routed but not counted, since they carry no traffic. The further LIDs of an
/// endpoint prefer channels to systems, then to switches, that its earlier LIDs have not used, scanning on from the last.
/// `may_use(switch, channel, head, target)` says whether the channel leads towards `target` legally; `spread` says over
/// which of those load may go.
pub fn balance(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    spread: Spread,
    may_use: impl Fn(SwitchId, ChannelId, SwitchId, SwitchId) -> bool + Sync,
) -> Lft {
    let machine = graph.machine();
    let order = VisitOrder::new(graph, options).destinations(graph, &options.routing_order);
    let mut lft = Lft::empty(machine, options.lmc);
    let lids = lft.lids();
    let mut rows: Vec<&mut [u8]> = lft.rows_mut().collect();
    rows.par_iter_mut().enumerate().for_each(|(index, row)| {
        let switch = SwitchId::from_index(index);
        if !graph.view().switch_alive(switch) {
            return;
        }
        let channels = graph.channels(switch);
        let mut load = vec![0u32; channels.len()];
        let mut candidates: Vec<usize> = Vec::new();
        let mut candidates_for = None;
        for &owner in &order {
            let (target, endpoint) = match owner {
                LidOwner::Switch(target) => (Some(target), None),
                LidOwner::Endpoint(e) => (graph.switch_of(e), Some(e)),
            };
            let Some(target) = target else { continue };
            if target == switch {
                match endpoint {
                    None => row[lids.of_switch(switch).index()] = 0,
                    Some(e) => {
                        let port = machine.head(machine.injection(e)).port;
                        lids.all_of_endpoint(e).for_each(|lid| row[lid.index()] = port);
                    }
                }
                continue;
            }
            if candidates_for != Some(target) {
                candidates_for = Some(target);
                candidates.clear();
                let legal = graph
                    .neighbours(switch)
                    .enumerate()
                    .filter(|&(_, (channel, head))| may_use(switch, channel, head, target));
                candidates.extend(legal.map(|(position, _)| position));
                if let (Spread::FirstNeighbour, Some(&first)) = (spread, candidates.first()) {
                    let heads = graph.heads(switch);
                    candidates.retain(|&position| heads[position] == heads[first]);
                }
            }
            let Some(&best) = candidates.iter().min_by_key(|&&position| load[position]) else {
                continue;
            };
            let Some(endpoint) = endpoint else {
                row[lids.of_switch(target).index()] = machine.tail(channels[best]).port;
                continue;
            };
            let mut chosen = best;
            let mut used: Vec<usize> = Vec::new();
            for lid in lids.all_of_endpoint(endpoint) {
                if !used.is_empty() {
                    chosen = next_way(graph, switch, &candidates, &load, &used);
                }
                used.push(chosen);
                load[chosen] += 1;
                row[lid.index()] = machine.tail(channels[chosen]).port;
            }
        }
    });
    lft
}

/// Over which of the legal channels a switch spreads load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All of them.
    AllWays,
    /// Parallel cables to the neighbour at the lowest legal port.
    FirstNeighbour,
}

/// The channel for a further LID of an endpoint, `used` being those of its earlier ones, by position.
fn next_way(
    graph: &SwitchGraph<'_>,
    switch: SwitchId,
    candidates: &[usize],
    load: &[u32],
    used: &[usize],
) -> usize {
    let heads = graph.heads(switch);
    let system = |position: usize| graph.machine().switch(heads[position]).system_guid;
    let last = used[used.len() - 1];
    let rank = |position: usize| {
        let new_switch = used.iter().all(|&other| heads[other] != heads[position]);
        let new_system =
            new_switch && used.iter().all(|&o| system(o) == 0 || system(o) != system(position));
        (!new_system, !new_switch, load[position], position <= last, position)
    };
    candidates.iter().copied().min_by_key(|&position| rank(position)).unwrap_or(last)
}
