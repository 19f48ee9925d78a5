//! The model packet by packet: the same grants and the same picoseconds as [`reference`](mod@super::reference), at a
//! handful of events for a packet and hop.
//!
//! A packet that is granted streams without further waits, so when each of its flits passes a point is a
//! `Profile`: credits, buffer levels and the ends of transmissions follow from it when somebody asks. What is left to
//! decide are grants (events of arbiters), starts on a cable where flow control may come first (events of cables), and the
//! consumption of packets. Arbiters and cables are looked at only when something they wait for may have changed.
//!
//! Flow control that nobody waits for is no event: it is worked out later, from what had left the buffer by then.
//!
//! Bound: memory. A packet and hop touches some 20 lines of 64 bytes, most on pages of their own; `fetch` asks for those
//! of the next events before they come. State is linear in channels x lanes x ports of a switch.

mod arbiter;
mod blocked;
mod cable;
mod fetch;
mod host;
mod lanes;
mod memory;
mod queue;
mod queues;
mod state;

use super::lane_arbiter::{LaneTables, Turns};
use super::network::{End, Network};
use super::options::FlitOptions;
use super::profile::Profile;
use super::source::{Observer, PacketName, Send, Source};
use crate::ids::{ChannelId, Lid};
use crate::units::Picos;
use fetch::Ahead;
use lanes::Lanes;
pub use memory::{memory_bound, most_packets};
use queue::Calendar;
use queues::Queues;
use state::{Common, Head, Host, Output, Rare, Sink};

/// A simulation of packets.
pub struct Fast<'n, S, O> {
    network: &'n Network<'n>,
    tables: LaneTables,
    /// By channel: whose turn it is among lanes, if there are several.
    turns: Vec<Turns>,
    source: S,
    observer: O,
    common: Common,
    now: u64,
    calendar: Calendar,
    ahead: Ahead,
    packets: Vec<Packet>,
    /// By packet: the one behind it in its queue, if it is not the last. Apart from the rest, so that who joins a queue
    /// does not touch the packet before it.
    behind: Vec<u32>,
    /// By packet: the message that ends with it.
    ends: Vec<Option<Ends>>,
    unused: Vec<u32>,
    /// Smallest packet so far, in flits.
    least_flits: u32,
    hosts: Vec<Host>,
    outputs: Vec<Output>,
    rare: Vec<Rare>,
    /// What is at the end of each channel.
    heads: Vec<Head>,
    sinks: Vec<Sink>,
    lanes: Lanes,
    /// By channel: until when the buffer at its end feeds as many outputs as it can; apart, so that it stays in the cache.
    fed_until: Vec<u64>,
    queues: Queues,
    /// Ranks to ask for a message: kept for its memory.
    ready: Vec<u32>,
    counts: Counts,
}

/// What was counted since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were made.
    pub packets: u64,
    /// Flits of them.
    pub flits: u64,
    /// Flits consumed.
    pub consumed_flits: u64,
    /// Messages consumed.
    pub messages: u64,
    /// Flits times channels they crossed.
    pub flit_hops: u64,
    /// Events looked at.
    pub events: u64,
}

/// A packet; what is needed at its end only is kept apart, so that this fits a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Packet {
    /// When its flits are there: for the arbiter it queues at, or for the cable.
    there: Profile,
    lid: Lid,
    name: PacketName,
    flits: u32,
    sl: u8,
    /// Lane on the channel it goes to next, and on the one it came by.
    vl: u8,
    came_vl: u8,
}

/// A message, and when its host began to make it.
#[derive(Clone, Copy)]
struct Ends {
    send: Send,
    began: u64,
}

const NONE: u32 = u32::MAX;
const NEVER: u64 = u64::MAX;

/// Fabrics of fewer channels fit the cache: reading ahead would cost more than it saves.
const FETCHED_CHANNELS: usize = 1 << 12;

/// What an event is about, above the bits of the channel, of a timer of the rank; in this order at one moment.
const CONSUME: u32 = 0;
const TIMER: u32 = 1 << 30;
const ARBITRATE: u32 = 2 << 30;
const CABLE: u32 = 3 << 30;
const CHANNEL: u32 = (1 << 30) - 1;

impl<'n, S: Source, O: Observer> Fast<'n, S, O> {
    /// A simulation at time 0.
    pub fn new(network: &'n Network<'n>, options: &FlitOptions, source: S, observer: O) -> Self {
        let channels = network.channel_count();
        let ids = || (0..channels).map(ChannelId::from_index);
        let mut outputs: Vec<_> = ids().map(|id| Output::new(network, id)).collect();
        let mut sinks = Vec::new();
        let mut head = |id| match network.head(id) {
            End::Switch(switch, port) => Head::Switch(switch, port),
            End::Host(rank) => {
                sinks.push(Sink { rank, ..Sink::default() });
                Head::Sink(sinks.len() as u32 - 1)
            }
            End::Idle => Head::Idle,
        };
        let heads = ids().map(&mut head).collect();
        let mut simulation = Fast {
            network,
            tables: LaneTables::new(options, network.lanes()),
            turns: vec![Turns::default(); if network.lanes() > 1 { channels } else { 0 }],
            source,
            observer,
            common: Common::new(network, options),
            now: 0,
            calendar: Calendar::new(channels),
            ahead: Ahead::default(),
            packets: Vec::new(),
            behind: Vec::new(),
            ends: Vec::new(),
            unused: Vec::new(),
            least_flits: u32::MAX,
            hosts: vec![Host { ask_at: NEVER, ..Host::default() }; network.rank_count()],
            queues: Queues::new(network, &mut outputs),
            outputs,
            rare: vec![Rare::default(); channels],
            heads,
            sinks,
            lanes: Lanes::new(channels, network.lanes()),
            fed_until: vec![0; channels],
            ready: Vec::new(),
            counts: Counts::default(),
        };
        simulation.announce_buffers();
        for rank in 0..network.rank_count() as u32 {
            simulation.make(rank);
        }
        simulation
    }

    /// Has room for so many packets: growing would copy them and leave holes. What is not used takes no memory.
    pub fn reserve(&mut self, packets: u64) {
        let more = packets.saturating_sub(self.packets.len() as u64) as usize;
        self.packets.reserve_exact(more);
        self.behind.reserve_exact(more);
        self.ends.reserve_exact(more);
        self.unused.reserve_exact(more);
    }

    /// Goes on until `end`, or until nothing is left to happen. Returns whether something is.
    pub fn run(&mut self, end: Picos) -> bool {
        loop {
            if self.outputs.len() < FETCHED_CHANNELS {
                self.calendar.turn(1);
            } else {
                self.calendar.turn(fetch::AHEAD);
                self.fetch();
            }
            let Some((now, key)) = self.calendar.pop(end.0) else { break };
            self.now = now;
            self.counts.events += 1;
            let channel = (key & CHANNEL) as usize;
            match key & !CHANNEL {
                CONSUME => self.consume(channel),
                TIMER if self.hosts[channel].ask_at == now => self.ask(channel as u32),
                ARBITRATE if self.outputs[channel].wake_at == now => self.arbitrate(channel),
                CABLE if self.outputs[channel].cable_at == now => self.look_at_cable(channel),
                _ => {}
            }
        }
        !self.calendar.is_empty()
    }

    /// Flits that were made and are not consumed: those before hosts, on the way and in buffers, as these know them.
    pub fn held_flits(&self) -> u64 {
        let channels = 0..self.outputs.len();
        channels.map(|channel| self.before_host(channel) + self.beyond(channel)).sum()
    }

    /// Flits that wait for the arbiter of a channel, if it is a host's.
    fn before_host(&self, channel: usize) -> u64 {
        let output = &self.outputs[channel];
        if !output.host {
            return 0;
        }
        // One packet waits at a time.
        let lanes = (0..self.lanes.count as u8).filter(|vl| output.busy >> vl & 1 == 1);
        let first = lanes.map(|vl| self.first(output, 0, vl));
        first.map(|first| u64::from(self.packets[first as usize].flits)).sum()
    }

    /// The first packet of a queue; `NONE`: it is empty.
    #[inline]
    fn first(&self, output: &Output, port: u8, vl: u8) -> u32 {
        self.queues.of(output, port, vl).first
    }

    /// Flits that were granted a channel and have not left the buffer at its end as a whole packet, nor been granted the next.
    fn beyond(&self, channel: usize) -> u64 {
        let lanes = (0..self.lanes.count as u8).map(|vl| self.lanes.of(channel, vl));
        let granted: u64 = lanes.map(|lane| u64::from(lane.sent.wrapping_sub(lane.departed))).sum();
        let leaving = self.outputs[channel ^ 1].input.leaving(&self.rare[channel ^ 1]);
        granted - leaving.map(|one| u64::from(one.flits)).sum::<u64>()
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// The observer.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The source and the observer.
    pub fn into_parts(self) -> (S, O) {
        (self.source, self.observer)
    }

    fn add_packet(&mut self, packet: Packet, ends: Option<Ends>) -> u32 {
        self.counts.packets += 1;
        self.counts.flits += u64::from(packet.flits);
        self.least_flits = self.least_flits.min(packet.flits);
        match self.unused.pop() {
            Some(at) => {
                self.packets[at as usize] = packet;
                self.ends[at as usize] = ends;
                at
            }
            None => {
                self.packets.push(packet);
                self.behind.push(NONE);
                self.ends.push(ends);
                (self.packets.len() - 1) as u32
            }
        }
    }

    /// Has an arbiter looked at at `moment`, if it is not to be before.
    #[inline]
    fn wake(&mut self, channel: usize, moment: u64) {
        let output = &mut self.outputs[channel];
        let moment = moment.max(output.free_at);
        if moment < output.wake_at {
            output.wake_at = moment;
            self.calendar.push((moment, ARBITRATE | channel as u32));
        }
    }

    /// Has a cable looked at at `moment`, if it is not to be before.
    #[inline]
    fn wake_cable(&mut self, channel: usize, moment: u64) {
        let output = &mut self.outputs[channel];
        if moment < output.cable_at {
            output.cable_at = moment;
            self.calendar.push((moment, CABLE | channel as u32));
        }
    }
}
