//! Dimension order with datelines: the next hop, the service level and the virtual lane.
//!
//! A route goes along x, then y, then z, in each the shorter way round; if a gap is in that way it takes the other one.
//! If the switch is missing at which it should turn, it goes as far as it can and turns early; the next switch then sends it
//! on along the dimension that it left too soon, a turn that plain dimension order never takes.
//!
//! Bit d of the service level says whether the shorter way in dimension d crosses the dateline, from coordinates alone. On a
//! channel in dimension d, bit 0 of the lane is bit d of the level: of an unbroken ring, lane 0 then lacks the cable
//! across the dateline and lane 1 the cables opposite, and a broken ring is no ring. Bit 1 is set right after a turn back to an
//! earlier dimension; bit 2 is the second quality of service.

use super::shape::Direction;
use super::torus::Torus;
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::parallel;
use crate::recovery::routing::order::{VisitOrder, by_port};
use crate::recovery::routing::{Compat, LaneError, Lft, RouteOptions, SlToVl};

impl Torus {
    /// Where `at` sends packets for `to`; none at the destination or where gaps leave no way.
    ///
    /// Both are in one part.
    #[inline]
    #[must_use]
    pub fn step(&self, at: SwitchId, to: SwitchId) -> Option<Direction> {
        let (here, there) = (self.place(at)?, self.place(to)?);
        for dimension in 0..here.len() {
            if here[dimension] == there[dimension] {
                continue;
            }
            let ways = self.shape.ways(dimension, here[dimension], there[dimension]);
            let run = self.run(at, ways.shorter);
            if run >= ways.hops {
                return Some(ways.shorter);
            }
            // A ring is in one piece, so if neither way reaches the turn its switch is missing.
            if self.run(at, ways.shorter.opposite()) >= ways.hops_round {
                return Some(ways.shorter.opposite());
            }
            if run > 0 {
                return Some(ways.shorter);
            }
        }
        None
    }

    /// The service level of routes between two switches; 0 if one has no place.
    #[inline]
    #[must_use]
    pub fn level(&self, from: SwitchId, to: SwitchId) -> u8 {
        let (Some(from), Some(to)) = (self.place(from), self.place(to)) else { return 0 };
        (0..from.len()).fold(0, |level, dimension| {
            let ways = self.shape.ways(dimension, from[dimension], to[dimension]);
            level | u8::from(ways.crosses_dateline) << dimension
        })
    }
}

/// Bits 0 and 1 of the lane on a channel in dimension `output`, for what came along dimension `input`.
#[inline]
#[must_use]
pub fn lane(level: u8, input: Option<usize>, output: usize) -> u8 {
    let turns_back = input.is_some_and(|input| input > output);
    (level >> output & 1) | u8::from(turns_back) << 1
}

/// Forwarding tables: parallel cables take turns, by destination.
///
/// Destinations come switch by switch, each switch's nodes in the order of `port_order`, then of their ports; the LIDs of
/// switches take turns by themselves. All LIDs of an endpoint are destinations of their own, but OpenSM sends them by one cable.
#[must_use]
pub fn tables(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    torus: &Torus,
    port_order: &[u8],
) -> Lft {
    let machine = graph.machine();
    let order = VisitOrder::new(graph, options);
    let mut lft = Lft::empty(machine, options.lmc);
    let lids = lft.lids();
    // Ports of a destination switch with the endpoints on them, in turn.
    let attached: Vec<Vec<_>> = machine
        .switches()
        .map(|switch| {
            let port = |end| machine.head(machine.injection(end)).port;
            let mut ends = by_port(graph, switch);
            ends.sort_by_key(|&end| port_order.iter().position(|&p| p == port(end)).unwrap_or(256));
            ends.into_iter().map(|end| (port(end), end)).collect()
        })
        .collect();
    lft.fill_rows(|at, row| {
        let mut turns = [[0usize; 2]; 6];
        for &to in order.switches() {
            if to == at {
                row[lids.of_switch(to).index()] = 0;
                for &(port, end) in &attached[to.index()] {
                    lids.all_of_endpoint(end).for_each(|lid| row[lid.index()] = port);
                }
            } else if torus.part_of[to.index()] == torus.part_of[at.index()]
                && let Some(direction) = torus.step(at, to)
            {
                let ports = torus.ports(at, direction);
                let [node_turn, switch_turn] = &mut turns[direction.index()];
                let next = |turn: &mut usize| {
                    let port = ports[*turn % ports.len()];
                    *turn += 1;
                    port
                };
                for &(_, end) in &attached[to.index()] {
                    let mut port = next(node_turn);
                    for (nth, lid) in lids.all_of_endpoint(end).enumerate() {
                        if nth > 0 && options.compat == Compat::Plain {
                            port = next(node_turn);
                        }
                        row[lid.index()] = port;
                    }
                }
                row[lids.of_switch(to).index()] = next(switch_turn);
            }
        }
    });
    lft
}

/// The service level of every pair, `[switch][lid]`, dead cables of nodes included.
#[must_use]
pub fn levels(graph: &SwitchGraph<'_>, torus: &Torus, lft: &Lft) -> Vec<u8> {
    let (machine, lids) = (graph.machine(), lft.lids());
    let mut levels = vec![0; machine.switch_count() * lids.count()];
    let targets: Vec<Option<SwitchId>> = machine
        .endpoints()
        .map(|end| machine.as_switch(machine.head(machine.injection(end)).vertex))
        .collect();
    let steps = levels.len();
    parallel::rows(
        &mut levels,
        lids.count(),
        steps,
        || (),
        |(), from, row| {
            let from = SwitchId::from_index(from);
            for (end, to) in machine.endpoints().zip(&targets) {
                let level = to.map_or(0, |to| torus.level(from, to));
                lids.all_of_endpoint(end).for_each(|lid| row[lid.index()] = level);
            }
            for to in machine.switches() {
                row[lids.of_switch(to).index()] = torus.level(from, to);
            }
        },
    );
    levels
}

/// The tables that turn service levels into lanes, for `lanes` lanes and one or two qualities of service.
///
/// # Errors
/// Never: all lanes are below 8.
pub fn sl_to_vl(
    graph: &SwitchGraph<'_>,
    torus: &Torus,
    lanes: u8,
    qualities: u32,
) -> Result<SlToVl, LaneError> {
    let machine = graph.machine();
    let dimension = |switch: SwitchId, port: u8| {
        let channel = machine.channel_at(machine.switch_vertex(switch), port)?;
        let head = machine.as_switch(machine.head(channel).vertex)?;
        let direction = torus.shape.direction(torus.place(switch)?, torus.place(head)?)?;
        Some(direction.dimension())
    };
    let usable = if lanes < 4 { 1 } else { 3 };
    SlToVl::new(machine, |switch, input, output| {
        let (input, output) = (dimension(switch, input), dimension(switch, output));
        std::array::from_fn(|level: usize| {
            let quality = if qualities == 2 { (level as u8) >> 3 } else { 0 };
            match output {
                // Nodes get by on one lane a quality.
                None => quality,
                Some(output) => lane(level as u8, input, output) & usable | quality << 2,
            }
        })
    })
}
