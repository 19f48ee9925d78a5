//! The fabric as the flit simulation sees it: channels with rates and delays, and where a packet goes next.

use super::options::FlitOptions;
use super::profile::{PACES_MAX, Paces};
use crate::ids::{ChannelId, Lid, NodeId, SwitchId};
use crate::machine::{PortRef, SwitchGraph};
use crate::recovery::routing::{Lanes, Lft, RouteTree, Routing};

/// A fabric with its routes, ready to be simulated.
///
/// Channels keep the machine's ids; dead ones are there and never used.
#[derive(Debug)]
pub struct Network<'g> {
    graph: &'g SwitchGraph<'g>,
    routing: &'g Routing,
    /// Lanes in use.
    lanes: usize,
    /// By channel: time of a flit on the cable, in ps; 0 where dead.
    flit_ps: Vec<u32>,
    /// Times between flits at hosts, switches and cables.
    paces: Paces,
    /// By channel: the part it leaves from and the one it arrives at.
    ends: Vec<[End; 2]>,
    /// The ports by which a rank sends, one a plane: plane, channel and switch.
    sends: ByRank<(u32, ChannelId, SwitchId)>,
    /// All by which it receives: plane and LID.
    receives: ByRank<(u32, Lid)>,
    /// Bit `switch x LIDs + lid`: whether packets from nodes at the switch arrive.
    arrives: Vec<u64>,
}

/// One end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A port of a switch.
    Switch(SwitchId, u8),
    /// A port of a node that runs this rank.
    Host(u32),
    /// Nobody who sends or receives.
    Idle,
}

/// A few things of each rank, one after the other: hosts look at random ones with every message.
#[derive(Debug)]
struct ByRank<T> {
    all: Vec<T>,
    /// Where those of each rank begin, and where the last end.
    start: Vec<u32>,
}

impl<T> ByRank<T> {
    fn new(ranks: impl Iterator<Item = Vec<T>>) -> Self {
        let (mut all, mut start) = (Vec::new(), vec![0]);
        for mut rank in ranks {
            all.append(&mut rank);
            start.push(all.len() as u32);
        }
        ByRank { all, start }
    }

    #[inline]
    fn of(&self, rank: u32) -> &[T] {
        let rank = rank as usize;
        &self.all[self.start[rank] as usize..self.start[rank + 1] as usize]
    }
}

/// How a packet sets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The channel by which the host injects.
    pub injection: ChannelId,
    /// The destination.
    pub lid: Lid,
    /// The service level.
    pub sl: u8,
    /// The lane on the first channel.
    pub vl: u8,
}

/// A fabric that this model cannot take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkError {
    /// Buffers shared out among lanes hold no packet.
    #[error(
        "`buffer_flits` {buffer} shared by {lanes} lanes, each with `lane_flits` {most} at the most, holds no packet \
         of {mtu} flits; give larger ones"
    )]
    SmallBuffer {
        /// Flits of the whole buffer.
        buffer: u32,
        /// The most for one lane.
        most: u32,
        /// Lanes in use.
        lanes: usize,
        /// Flits of a packet.
        mtu: u32,
    },
    /// An output buffer holds no packet.
    #[error("an output buffer of {flits} flits must be larger than a packet of {mtu}")]
    SmallOutput {
        /// Flits of the buffer.
        flits: u32,
        /// Flits of a packet.
        mtu: u32,
    },
    /// A time of zero.
    #[error("`{name}` must be above 0")]
    Zero {
        /// The parameter.
        name: &'static str,
    },
    /// An input that feeds no output, or more than there is space to note.
    #[error("`input_speedup` must be 1 to {max}, got {given}", max = FlitOptions::SPEEDUP_MAX)]
    Speedup {
        /// The parameter.
        given: u32,
    },
    /// Packets of more flits than are counted.
    #[error("`mtu_bytes` must be 1 to {max} flits, got {given}", max = FlitOptions::MTU_FLITS_MAX)]
    LongPacket {
        /// The parameter.
        given: u32,
    },
    /// A packet that takes too long.
    #[error(
        "a packet of {mtu} flits at {pace_ps} ps a flit must take less than 2^32 ps; \
         give smaller packets or faster hosts, switches and cables"
    )]
    SlowPacket {
        /// Time between flits.
        pace_ps: u64,
        /// Flits of a packet.
        mtu: u32,
    },
    /// Too many rates in one fabric.
    #[error(
        "`host_flit_ns`, `host_arbiter_ns`, `switch_arbiter_ns` and the rates of cables must be {PACES_MAX} different times \
         at most, got {given}; give all cables one rate by `cable_gb_s`"
    )]
    Paces {
        /// Different times.
        given: usize,
    },
}

impl<'g> Network<'g> {
    /// Reads the usable part of a fabric; rank `r` runs on `placement[r]`.
    ///
    /// # Errors
    /// Options by which no packet could ever be sent.
    ///
    /// # Complexity
    /// Switches x LIDs for finding out which pairs have a route, a bit each.
    pub fn new(
        graph: &'g SwitchGraph<'g>,
        routing: &'g Routing,
        placement: &[NodeId],
        options: &FlitOptions,
    ) -> Result<Self, NetworkError> {
        let machine = graph.machine();
        let lanes = usize::from(routing.lanes.count());
        check(options, lanes)?;
        let mut rank_of = vec![None; machine.node_count()];
        for (rank, node) in (0u32..).zip(placement) {
            rank_of[node.index()] = Some(rank);
        }
        let end = |plug: PortRef| match machine.as_switch(plug.vertex) {
            Some(switch) => End::Switch(switch, plug.port),
            None => machine
                .as_node(plug.vertex)
                .and_then(|node| rank_of[node.index()])
                .map_or(End::Idle, End::Host),
        };
        let channels = || (0..machine.channel_count()).map(ChannelId::from_index);
        let flit_ps: Vec<u32> = channels()
            .map(|channel| {
                let rate = machine.rate(channel.link()).rate_gb_s();
                let ps =
                    f64::from(options.flit_bytes) * 1000.0 / options.cable_gb_s.unwrap_or(rate);
                if graph.view().usable(channel) { (ps.round() as u32).max(1) } else { 0 }
            })
            .collect();
        let paces = paces(options, &flit_ps)?;
        let sends = placement.iter().map(|&node| sends(graph, node));
        let receives = placement.iter().map(|&node| receives(graph, routing, node));
        Ok(Network {
            graph,
            routing,
            lanes,
            flit_ps,
            paces,
            ends: channels().map(|c| [end(machine.tail(c)), end(machine.head(c))]).collect(),
            sends: ByRank::new(sends),
            receives: ByRank::new(receives),
            arrives: arrives(graph, &routing.lft, placement),
        })
    }

    /// Number of ranks.
    #[must_use]
    pub fn rank_count(&self) -> usize {
        self.sends.start.len() - 1
    }

    /// Number of channels, dead ones included.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.ends.len()
    }

    /// Number of switches, dead ones included.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.graph.switch_count()
    }

    /// Ports of a switch.
    #[must_use]
    pub fn radix(&self, switch: SwitchId) -> u8 {
        self.graph.machine().switch(switch).radix
    }

    /// Lanes in use.
    #[must_use]
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Time of a flit on the cable in ps; 0 on a dead one.
    #[inline]
    #[must_use]
    pub fn flit_ps(&self, channel: ChannelId) -> u32 {
        self.flit_ps[channel.index()]
    }

    /// Times between flits at hosts, switches and cables.
    #[must_use]
    pub fn paces(&self) -> &Paces {
        &self.paces
    }

    /// The end a channel leaves from.
    #[inline]
    #[must_use]
    pub fn tail(&self, channel: ChannelId) -> End {
        self.ends[channel.index()][0]
    }

    /// The end a channel arrives at.
    #[inline]
    #[must_use]
    pub fn head(&self, channel: ChannelId) -> End {
        self.ends[channel.index()][1]
    }

    /// The channel plugged into a port of a switch, if it is alive.
    #[must_use]
    pub fn output(&self, switch: SwitchId, port: u8) -> Option<ChannelId> {
        let machine = self.graph.machine();
        let channel = machine.channel_at(machine.switch_vertex(switch), port)?;
        (self.flit_ps(channel) > 0).then_some(channel)
    }

    /// The port by which a switch sends a packet on, and its lane there; the packet must be one that arrives.
    #[inline]
    #[must_use]
    pub fn next(&self, switch: SwitchId, input: u8, lid: Lid, sl: u8) -> (u8, u8) {
        let port = self.routing.lft.port(switch, lid);
        let vl = match &self.routing.lanes {
            Lanes::ByPort(_, tables) => tables.lane(switch, input, port, sl),
            _ => sl,
        };
        (port, vl)
    }

    /// Where the port stands by which a switch sends packets on to a LID.
    #[inline]
    #[must_use]
    pub fn entry(&self, switch: SwitchId, lid: Lid) -> &u8 {
        self.routing.lft.entry(switch, lid)
    }

    /// How packets from one rank to another set out; `None` if they would not arrive.
    ///
    /// Of several planes that both are attached to, the one of the target's lowest port is taken, as [`PathFinder`] does.
    ///
    /// [`PathFinder`]: crate::recovery::routing::PathFinder
    #[must_use]
    pub fn way(&self, source: u32, target: u32) -> Option<Way> {
        let own = self.sends.of(source);
        let found = self.receives.of(target).iter().find_map(|&(plane, lid)| {
            let &(_, injection, switch) = own.iter().find(|&&(own, ..)| own == plane)?;
            Some((injection, switch, lid))
        });
        let (injection, switch, lid) = found?;
        let bit = switch.index() * self.routing.lft.lids().count() + lid.index();
        if self.arrives[bit / 64] >> (bit % 64) & 1 == 0 {
            return None;
        }
        let sl = self.routing.sl(switch, lid);
        // What a host makes of service levels closes no loop: nothing waits for its channel's buffer but itself.
        let vl = (usize::from(sl)).min(self.lanes - 1) as u8;
        Some(Way { injection, lid, sl, vl })
    }
}

/// Refuses options by which no packet could ever be sent, whatever the fabric, if `lanes` lanes are in use.
///
/// # Errors
/// The first of them.
pub fn check(options: &FlitOptions, lanes: usize) -> Result<(), NetworkError> {
    let mtu = options.mtu_flits;
    if mtu == 0 || mtu > FlitOptions::MTU_FLITS_MAX {
        return Err(NetworkError::LongPacket { given: mtu });
    }
    let speedup = options.input_speedup;
    if speedup == 0 || speedup > FlitOptions::SPEEDUP_MAX {
        return Err(NetworkError::Speedup { given: speedup });
    }
    let (buffer, per_lane) = (options.buffer_flits, options.lane_flits_of(lanes));
    if per_lane < mtu {
        let most = options.lane_flits;
        return Err(NetworkError::SmallBuffer { buffer, most, lanes, mtu });
    }
    for flits in [options.host_output_flits, options.switch_output_flits] {
        if flits <= mtu {
            return Err(NetworkError::SmallOutput { flits, mtu });
        }
    }
    // Whatever takes no time could act twice at one moment, and the order of such acts would be chance.
    let times = [
        ("host_flit_ns", options.host_flit),
        ("host_latency_ns", options.host_latency),
        ("host_arbiter_ns", options.host_arbiter),
        ("sink_flit_ns", options.sink_flit),
        ("input_latency_ns", options.input_latency),
        ("output_latency_ns", options.output_latency),
        ("switch_arbiter_ns", options.switch_arbiter),
        ("credit_interval_ns", options.credit_interval),
    ];
    match times.iter().find(|(_, time)| time.0 == 0) {
        Some(&(name, _)) => Err(NetworkError::Zero { name }),
        None => Ok(()),
    }
}

/// The paces of a fabric whose channels take these times for a flit, 0 where dead.
fn paces(options: &FlitOptions, flit_ps: &[u32]) -> Result<Paces, NetworkError> {
    let parts = [options.host_flit.0, options.host_arbiter.0, options.switch_arbiter.0];
    let cables = flit_ps.iter().filter(|&&ps| ps > 0).map(|&ps| u64::from(ps));
    let mtu = options.mtu_flits;
    let mut all = Vec::new();
    for pace_ps in parts.into_iter().chain(cables) {
        match u32::try_from(pace_ps) {
            Ok(ps) if ps.checked_mul(mtu).is_some() => all.push(ps),
            _ => return Err(NetworkError::SlowPacket { pace_ps, mtu }),
        }
    }
    Paces::new(all).map_err(|given| NetworkError::Paces { given })
}

fn sends(graph: &SwitchGraph<'_>, node: NodeId) -> Vec<(u32, ChannelId, SwitchId)> {
    let machine = graph.machine();
    let ends = machine.endpoints_of(node).filter(|&end| graph.injects(end));
    let port =
        |end| Some((machine.plane_of_endpoint(end), machine.injection(end), graph.switch_of(end)?));
    ends.filter_map(port).collect()
}

fn receives(graph: &SwitchGraph<'_>, routing: &Routing, node: NodeId) -> Vec<(u32, Lid)> {
    let machine = graph.machine();
    let attached = machine.endpoints_of(node).filter(|&end| graph.switch_of(end).is_some());
    let port = |end| (machine.plane_of_endpoint(end), routing.lft.lids().of_endpoint(end));
    attached.map(port).collect()
}

/// Which switches reach which LIDs of ranks.
fn arrives(graph: &SwitchGraph<'_>, lft: &Lft, placement: &[NodeId]) -> Vec<u64> {
    let (machine, count) = (graph.machine(), lft.lids().count());
    let mut bits = vec![0u64; (graph.switch_count() * count).div_ceil(64)];
    let mut tree = RouteTree::default();
    for end in placement.iter().flat_map(|&node| machine.endpoints_of(node)) {
        if graph.switch_of(end).is_none() {
            continue;
        }
        let lid = lft.lids().of_endpoint(end);
        tree.walk(graph, lft, lid);
        for switch in machine.switches().filter(|&switch| tree.hops(switch).is_some()) {
            let bit = switch.index() * count + lid.index();
            bits[bit / 64] |= 1 << (bit % 64);
        }
    }
    bits
}
