//! The choice of ports that MinHop, DOR and Up*/Down* share: each switch spreads destinations over the channels it may use.
//!
//! At each switch, for each destination in visiting order, the usable channel with the fewest node LIDs so far wins, ties
//! to the lowest port; switch LIDs are routed but not counted, since they carry no traffic. Further LIDs of a node port
//! (LMC above 0) are chosen after the first LIDs of all, then the second, and so on: the scan begins after the port that
//! the destination got last, and prefers channels to systems, else to switches, that its earlier LIDs do not use.
//!
//! Source: `reference/routing-engines.md`, section 5, and what OpenSM 3.3.23 does with several LIDs, found by experiment
//! (`tests/opensm/reference/minhop.py`).

use super::lft::Lft;
use super::options::RouteOptions;
use super::order::VisitOrder;
use crate::ids::{ChannelId, SwitchId};
use crate::machine::{LidOwner, Lids, SwitchGraph};

/// Over which of the legal channels a switch spreads load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// All of them.
    AllWays,
    /// Parallel cables to the neighbour at the lowest legal port.
    FirstNeighbour,
}

/// Fills forwarding tables.
///
/// `may_use(switch, channel, head, target)` says whether the channel leads towards `target` legally; `spread` says over
/// which of those load may go.
///
/// # Complexity
/// LIDs x ports of all switches.
pub fn balance(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    spread: Spread,
    may_use: impl Fn(SwitchId, ChannelId, SwitchId, SwitchId) -> bool + Sync,
) -> Lft {
    let order = VisitOrder::new(graph, options).destinations(graph, &options.routing_order);
    let mut lft = Lft::empty(graph.machine(), options.lmc);
    let lids = lft.lids();
    lft.fill_rows(|switch, row| {
        if graph.view().switch_alive(switch) {
            let legal = |channel, head, target| may_use(switch, channel, head, target);
            Balancer::new(graph, switch, spread, lids).fill(&order, legal, row);
        }
    });
    lft
}

/// One switch while it chooses.
struct Balancer<'a> {
    graph: &'a SwitchGraph<'a>,
    switch: SwitchId,
    spread: Spread,
    lids: Lids,
    /// Node LIDs so far, by position of the channel.
    load: Vec<u32>,
    /// Positions of the channels that lead to the target, ascending.
    candidates: Vec<usize>,
    candidates_for: Option<SwitchId>,
}

impl<'a> Balancer<'a> {
    fn new(graph: &'a SwitchGraph<'a>, switch: SwitchId, spread: Spread, lids: Lids) -> Self {
        Balancer {
            graph,
            switch,
            spread,
            lids,
            load: vec![0; graph.channels(switch).len()],
            candidates: Vec::new(),
            candidates_for: None,
        }
    }

    fn fill(
        mut self,
        order: &[LidOwner],
        may_use: impl Fn(ChannelId, SwitchId, SwitchId) -> bool,
        row: &mut [u8],
    ) {
        let (graph, lids) = (self.graph, self.lids);
        let machine = graph.machine();
        // Positions that earlier LIDs of each destination got.
        let mut got: Vec<Vec<u8>> = vec![Vec::new(); if lids.lmc() > 0 { order.len() } else { 0 }];
        let mut none = Vec::new();
        for offset in 0..lids.per_endpoint() as u8 {
            for (at, &owner) in order.iter().enumerate() {
                let target = match owner {
                    LidOwner::Switch(target) => Some(target),
                    LidOwner::Endpoint(endpoint) => graph.switch_of(endpoint),
                };
                let (Some(target), Some(lid)) = (target, lids.at(owner, offset)) else { continue };
                if target == self.switch {
                    row[lid.index()] = match owner {
                        LidOwner::Switch(_) => 0,
                        LidOwner::Endpoint(e) => machine.head(machine.injection(e)).port,
                    };
                    continue;
                }
                self.find_candidates(target, &may_use);
                let got = got.get_mut(at).unwrap_or(&mut none);
                let Some(chosen) = self.choose(got) else { continue };
                if lids.lmc() > 0 {
                    got.push(chosen as u8);
                }
                self.load[chosen] += u32::from(matches!(owner, LidOwner::Endpoint(_)));
                row[lid.index()] = machine.tail(graph.channels(self.switch)[chosen]).port;
            }
        }
    }

    fn find_candidates(
        &mut self,
        target: SwitchId,
        may_use: &impl Fn(ChannelId, SwitchId, SwitchId) -> bool,
    ) {
        if self.candidates_for.replace(target) == Some(target) {
            return;
        }
        self.candidates.clear();
        let neighbours = self.graph.neighbours(self.switch).enumerate();
        let legal = neighbours.filter(|&(_, (channel, head))| may_use(channel, head, target));
        self.candidates.extend(legal.map(|(position, _)| position));
        if let (Spread::FirstNeighbour, Some(&first)) = (self.spread, self.candidates.first()) {
            let heads = self.graph.heads(self.switch);
            self.candidates.retain(|&position| heads[position] == heads[first]);
        }
    }

    /// The channel for the next LID of a destination whose earlier ones got `got`.
    fn choose(&self, got: &[u8]) -> Option<usize> {
        let Some(&last) = got.last() else {
            return self.candidates.iter().copied().min_by_key(|&position| self.load[position]);
        };
        if self.spread == Spread::FirstNeighbour {
            let uses = |p: usize| got.iter().filter(|&&other| usize::from(other) == p).count();
            return self.fewest(self.candidates.iter().copied(), uses);
        }
        let heads = self.graph.heads(self.switch);
        let uses = |p: usize| got.iter().filter(|&&o| heads[usize::from(o)] == heads[p]).count();
        let shares_system = |p: usize| {
            got.iter().any(|&other| self.one_system(heads[usize::from(other)], heads[p]))
        };
        let after = self.candidates.partition_point(|&position| position <= usize::from(last));
        let (before, after) = self.candidates.split_at(after);
        let scan = || after.iter().chain(before).copied();
        if scan().any(|position| !shares_system(position)) {
            self.fewest(scan().filter(|&position| !shares_system(position)), uses)
        } else if scan().any(|position| uses(position) == 0) {
            self.fewest(scan().filter(|&position| uses(position) == 0), uses)
        } else {
            self.fewest(scan(), uses)
        }
    }

    /// Whether two switches are one system: the same, or chips of one chassis.
    fn one_system(&self, a: SwitchId, b: SwitchId) -> bool {
        let system = |switch| self.graph.machine().switch(switch).system_guid;
        a == b || system(a) != 0 && system(a) == system(b)
    }

    /// The channel with the fewest LIDs; of equally many, one replaces the best so far only if it is used less than every
    /// best one before was. (The mark stays when a fuller-used one wins by load: OpenSM's tie, kept as it is.)
    fn fewest(
        &self,
        mut scan: impl Iterator<Item = usize>,
        uses: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        let mut best = scan.next()?;
        let mut mark = uses(best);
        for position in scan {
            let (load, least) = (self.load[position], self.load[best]);
            if load < least || load == least && uses(position) < mark {
                best = position;
                mark = mark.min(uses(position));
            }
        }
        Some(best)
    }
}
