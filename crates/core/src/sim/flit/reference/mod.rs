//! The model flit by flit: small, slow, and plain enough to be believed.
//!
//! Time goes from one moment to the next at which anything can happen. At each moment, in this order, for channels by
//! ascending id:
//!
//! 0. Flow-control packets and flits arrive, cables finish a flit, hosts drain and make flits.
//! 1. Arbiters go on with their packet, then idle ones choose a new one.
//! 2. Cables send: at the first packet boundary after each tick of `credit_interval` the flow-control packets of lanes
//!    whose buffers changed, else the next flit.
//!
//! Whatever is decided at a moment takes time to have an effect, so this order leaves nothing to chance.
//! [`fast`](super::fast) computes the same packet by packet; see [`super`] for the model.

mod arbiter;
mod arrival;
mod cable;
mod host;

use std::collections::{BTreeSet, VecDeque};

use super::lane_arbiter::{LaneTables, Turns};
use super::network::{Network, Way};
use super::options::FlitOptions;
use super::source::{Consumed, Delivery, Next, Observer, PacketName, Send, Source};
use crate::ids::ChannelId;
use crate::units::Picos;

/// A simulation of every flit.
pub struct Reference<'n, S, O> {
    network: &'n Network<'n>,
    options: &'n FlitOptions,
    tables: LaneTables,
    source: S,
    observer: O,
    now: u64,
    /// Moments to come.
    moments: BTreeSet<u64>,
    packets: Vec<Packet>,
    hosts: Vec<Host>,
    channels: Vec<Channel>,
}

#[derive(Clone, Copy)]
struct Packet {
    name: PacketName,
    flits: u32,
    way: Way,
    /// The message that ends with this packet, and when its first flit was begun.
    ends: Option<(Send, u64)>,
}

/// The generator of a host: one packet waits while another is sent.
#[derive(Default)]
struct Host {
    asked: bool,
    sending: Option<(Send, u64)>,
    number: u32,
    /// When the last flit of the last packet was made, and when the first of the message in progress.
    made: u64,
    began: u64,
    /// When its rank wants to be asked again.
    ask_at: Option<u64>,
}

/// A channel: its arbiter, output buffer and cable at one end, its input buffer at the other.
#[derive(Default)]
struct Channel {
    // The end it leaves from.
    free_at: u64,
    granting: Option<Granting>,
    turns: Turns,
    last_input: Vec<u8>,
    output: VecDeque<(u64, Flit)>,
    /// Slots of the output buffer in use: until the cable has finished the flit.
    output_used: u32,
    cable_free: u64,
    /// When the flit on the cable is finished.
    finishing: Option<u64>,
    inside_packet: bool,
    credit_tick: u64,
    sent: Vec<u64>,
    limit: Vec<u64>,
    credits: VecDeque<(u64, usize, u64)>,
    /// Flits on the cable, by arrival.
    flying: VecDeque<(u64, Flit)>,
    // The end it arrives at.
    /// At a switch: queues by output channel and lane there.
    queues: Vec<((ChannelId, u8), VecDeque<Queued>)>,
    feeding: u32,
    /// At a host: flits by arrival.
    sink: VecDeque<(u64, Flit)>,
    sink_start: Option<u64>,
    sink_tick: u64,
    held: Vec<u64>,
    departed: Vec<u64>,
    advertised: Vec<Option<u64>>,
}

#[derive(Clone, Copy)]
struct Flit {
    packet: usize,
    index: u32,
    /// Lane on the channel it travels.
    vl: u8,
}

struct Queued {
    packet: usize,
    /// Lane by which it came.
    vl: u8,
    arrived: VecDeque<u64>,
}

struct Granting {
    input: u8,
    packet: usize,
    vl: u8,
    granted: u32,
}

impl<'n, S: Source, O: Observer> Reference<'n, S, O> {
    /// A simulation at time 0.
    pub fn new(network: &'n Network<'n>, options: &'n FlitOptions, source: S, observer: O) -> Self {
        let lanes = network.lanes();
        let channel = |_| Channel {
            last_input: vec![u8::MAX; lanes],
            sent: vec![0; lanes],
            limit: vec![0; lanes],
            held: vec![0; lanes],
            departed: vec![0; lanes],
            advertised: vec![None; lanes],
            ..Channel::default()
        };
        let mut simulation = Reference {
            network,
            options,
            tables: LaneTables::new(options, lanes),
            source,
            observer,
            now: 0,
            moments: BTreeSet::from([0]),
            packets: Vec::new(),
            hosts: (0..network.rank_count()).map(|_| Host::default()).collect(),
            channels: (0..network.channel_count()).map(channel).collect(),
        };
        for rank in 0..network.rank_count() as u32 {
            simulation.make(rank);
        }
        simulation
    }

    /// Goes on until `end` or until nothing is left to happen but flow control.
    pub fn run(&mut self, end: Picos) {
        while let Some(now) = self.moments.pop_first().filter(|&now| now <= end.0) {
            self.now = now;
            self.arrive();
            self.arbitrate();
            self.send();
            self.check();
        }
    }

    /// The source and the observer.
    pub fn into_parts(self) -> (S, O) {
        (self.source, self.observer)
    }

    fn alive(&self) -> impl Iterator<Item = ChannelId> + use<'n, S, O> {
        let network = self.network;
        let all = (0..network.channel_count()).map(ChannelId::from_index);
        all.filter(move |&channel| network.flit_ps(channel) > 0)
    }

    fn at(&mut self, moment: u64) {
        if moment > self.now {
            self.moments.insert(moment);
        }
    }

    /// What must hold at every moment.
    fn check(&self) {
        let lane_flits = u64::from(self.options.lane_flits_of(self.network.lanes()));
        for id in self.alive() {
            let channel = &self.channels[id.index()];
            for lane in 0..self.network.lanes() {
                assert!(channel.held[lane] <= lane_flits, "a buffer overflows");
                assert!(channel.sent[lane] <= channel.limit[lane], "credits are negative");
                let inside = channel.sent[lane] - channel.departed[lane];
                assert!(inside <= lane_flits, "flits were sent without credit");
            }
            let capacity = if self.is_host(id) {
                self.options.host_output_flits
            } else {
                self.options.switch_output_flits
            };
            assert!(channel.output_used <= capacity, "an output buffer overflows");
        }
    }
}

impl Channel {
    fn queue(&mut self, key: (ChannelId, u8)) -> &mut VecDeque<Queued> {
        let at = match self.queues.iter().position(|(other, _)| *other == key) {
            Some(at) => at,
            None => {
                self.queues.push((key, VecDeque::new()));
                self.queues.len() - 1
            }
        };
        &mut self.queues[at].1
    }
}

fn pop_if<T>(queue: &mut VecDeque<T>, due: impl Fn(&T) -> bool) -> Option<T> {
    if queue.front().is_some_and(due) { queue.pop_front() } else { None }
}
