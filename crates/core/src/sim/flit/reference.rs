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

use std::collections::{BTreeSet, VecDeque};

use super::lane_arbiter::{LaneTables, Turns};
use super::network::{End, Network, Way};
use super::options::FlitOptions;
use super::source::{Observer, PacketName, Send, Source};
use crate::ids::{ChannelId, SwitchId};
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
    /// The message that ends with this packet.
    ends: Option<Send>,
}

/// The generator of a host: one packet waits while another is sent.
#[derive(Default)]
struct Host {
    asked: bool,
    sending: Option<(Send, u64)>,
    number: u32,
    /// When the last flit of the last packet was made, and whether the next begins a message.
    made: u64,
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

    // Hosts.

    /// Lets the generator of `rank` begin its next packet, if it has one to send.
    fn make(&mut self, rank: u32) {
        let host = &mut self.hosts[rank as usize];
        if host.asked {
            return;
        }
        let mut gap = 0;
        while host.sending.is_none() {
            let Some(send) = self.source.next(rank, Picos(self.now)) else { return };
            if self.network.way(rank, send.target).is_none() {
                self.source.unrouted(rank, send);
                continue;
            }
            host.sending = Some((send, send.bytes));
            gap = self.options.message_gap.0;
        }
        let Some((send, left)) = host.sending else { return };
        let Some(way) = self.network.way(rank, send.target) else { return };
        let mtu = u64::from(self.options.mtu_flits) * u64::from(self.options.flit_bytes);
        let bytes = left.min(mtu);
        let flits = bytes.div_ceil(u64::from(self.options.flit_bytes)).max(1) as u32;
        host.sending = (left > bytes).then_some((send, left - bytes));
        let name = PacketName { source: rank, number: host.number };
        host.number += 1;
        let ends = (left <= bytes).then_some(send);
        let pace = self.options.host_flit.0;
        let first = self.now.max(host.made) + gap;
        host.made = first + pace * u64::from(flits);
        host.asked = true;
        let ready = |index| first + pace * u64::from(index) + self.options.host_latency.0;
        let arrived: VecDeque<u64> = (0..flits).map(ready).collect();
        let packet = self.packets.len();
        self.packets.push(Packet { name, flits, way, ends });
        arrived.iter().for_each(|&moment| self.at(moment));
        // The generator is the only input of the host's arbiters.
        let queue = Queued { packet, vl: way.vl, arrived };
        let key = (way.injection, way.vl);
        self.channels[way.injection.reverse().index()].queue(key).push_back(queue);
    }

    // Phase 0.

    fn arrive(&mut self) {
        let now = self.now;
        let mut delivered: Vec<(u32, usize)> = Vec::new();
        for id in self.alive() {
            let channel = &mut self.channels[id.index()];
            while let Some((_, vl, limit)) = pop_if(&mut channel.credits, |credit| credit.0 <= now)
            {
                channel.limit[vl] = limit;
            }
            if channel.finishing.take_if(|end| *end <= now).is_some() {
                channel.output_used -= 1;
            }
            while let Some((arrived, flit)) =
                pop_if(&mut self.channels[id.index()].flying, |flying| flying.0 <= now)
            {
                self.arrived(id, flit, arrived);
            }
            if let End::Host(rank) = self.network.head(id)
                && let Some(packet) = self.drain(id)
            {
                delivered.push((rank, packet));
            }
        }
        let mut ready = Vec::new();
        for (rank, packet) in delivered {
            let Packet { name, flits, ends, .. } = self.packets[packet];
            self.observer.consumed(Picos(now), rank, name, flits);
            if let Some(send) = ends {
                self.source.delivered(name.source, send, Picos(now), &mut ready);
                ready.drain(..).for_each(|rank| self.make(rank));
            }
        }
    }

    fn arrived(&mut self, id: ChannelId, flit: Flit, arrived: u64) {
        let Packet { way, .. } = self.packets[flit.packet];
        let (network, options) = (self.network, self.options);
        let channel = &mut self.channels[id.index()];
        channel.held[usize::from(flit.vl)] += 1;
        match network.head(id) {
            End::Switch(switch, input) => {
                let (port, vl) = network.next(switch, input, way.lid, way.sl);
                let output = network.output(switch, port);
                // INVARIANT: only packets that arrive are sent.
                #[allow(clippy::expect_used)]
                let output = output.expect("the packet has a route");
                let queue = channel.queue((output, vl));
                if flit.index == 0 {
                    let arrived = VecDeque::new();
                    queue.push_back(Queued { packet: flit.packet, vl: flit.vl, arrived });
                }
                if let Some(last) = queue.back_mut() {
                    last.arrived.push_back(arrived);
                }
                self.at(arrived + options.input_latency.0);
            }
            _ => {
                let start = *channel.sink_start.get_or_insert(arrived);
                channel.sink.push_back((arrived, flit));
                let pace = options.sink_flit.0;
                let tick = channel.sink_tick.max((arrived - start).div_ceil(pace).max(1) - 1) + 1;
                self.at(start + tick * pace);
            }
        }
    }

    /// Drains a flit if the sink's clock ticks now; returns the packet if it was the last of one.
    fn drain(&mut self, id: ChannelId) -> Option<usize> {
        let (now, pace) = (self.now, self.options.sink_flit.0);
        let channel = &mut self.channels[id.index()];
        let since = now - channel.sink_start?;
        let tick = since / pace;
        if since % pace != 0 || tick <= channel.sink_tick {
            return None;
        }
        let (_, flit) = channel.sink.pop_front()?;
        channel.sink_tick = tick;
        channel.departed[usize::from(flit.vl)] += 1;
        channel.held[usize::from(flit.vl)] -= 1;
        let more = !channel.sink.is_empty();
        if more {
            self.at(now + pace);
        }
        (flit.index + 1 == self.packets[flit.packet].flits).then_some(flit.packet)
    }

    // Phase 1.

    fn arbitrate(&mut self) {
        let alive: Vec<ChannelId> = self.alive().collect();
        for &id in &alive {
            if self.channels[id.index()].granting.is_some() {
                self.grant(id);
            }
        }
        for &id in &alive {
            let channel = &self.channels[id.index()];
            if channel.granting.is_none() && channel.free_at <= self.now {
                self.choose(id);
            }
        }
    }

    /// The inputs of an arbiter: (input port, channel that ends there), ascending by port; a host has but its generator.
    fn inputs(&self, id: ChannelId) -> Vec<(u8, ChannelId)> {
        match self.network.tail(id) {
            End::Switch(switch, _) => self.inputs_of(switch),
            _ => vec![(0, id.reverse())],
        }
    }

    fn inputs_of(&self, switch: SwitchId) -> Vec<(u8, ChannelId)> {
        (1..=self.network.radix(switch))
            .filter_map(|port| Some((port, self.network.output(switch, port)?.reverse())))
            .collect()
    }

    fn is_host(&self, id: ChannelId) -> bool {
        !matches!(self.network.tail(id), End::Switch(..))
    }

    /// Starts the next packet, if one can.
    fn choose(&mut self, id: ChannelId) {
        let (host, now) = (self.is_host(id), self.now);
        let latency = if host { 0 } else { self.options.input_latency.0 };
        let room =
            if host { self.options.host_output_flits } else { self.options.switch_output_flits }
                - self.channels[id.index()].output_used;
        let mut ready: Vec<Vec<u8>> = vec![Vec::new(); self.network.lanes()];
        let inputs = self.inputs(id);
        for &(port, input) in &inputs {
            let from = &self.channels[input.index()];
            for ((output, vl), queue) in &from.queues {
                let Some(first) = queue.front().filter(|_| *output == id) else { continue };
                let flits = self.packets[first.packet].flits;
                let out = &self.channels[id.index()];
                let lane = usize::from(*vl);
                if first.arrived.front().is_some_and(|&arrived| arrived + latency <= now)
                    && out.limit[lane] >= out.sent[lane] + u64::from(flits)
                    && room > flits
                    && (host || from.feeding < self.options.input_speedup)
                {
                    ready[lane].push(port);
                }
            }
        }
        let bits = (0..self.network.lanes()).filter(|&lane| !ready[lane].is_empty());
        let bits = bits.fold(0u16, |bits, lane| bits | 1 << lane);
        if bits == 0 {
            return;
        }
        let out = &mut self.channels[id.index()];
        let choice = self.tables.choose(&out.turns, bits);
        let vl = choice.vl;
        let ports = &ready[usize::from(vl)];
        let last = out.last_input[usize::from(vl)];
        // The first after the one served last, round and round.
        let after = ports.iter().find(|&&port| last != u8::MAX && port > last);
        let port = *after.unwrap_or(&ports[0]);
        out.last_input[usize::from(vl)] = port;
        let from = inputs.iter().find(|(other, _)| *other == port).map(|&(_, input)| input);
        let Some(from) = from else { return };
        self.channels[from.index()].feeding += u32::from(!host);
        let queue = self.channels[from.index()].queue((id, vl));
        let Some(packet) = queue.front().map(|first| first.packet) else { return };
        let Packet { name, flits, .. } = self.packets[packet];
        let out = &mut self.channels[id.index()];
        self.tables.sent(&mut out.turns, choice, flits);
        out.granting = Some(Granting { input: port, packet, vl, granted: 0 });
        // Credits and room are taken for the whole packet; flits take their slots as they come.
        out.sent[usize::from(vl)] += u64::from(flits);
        self.observer.granted(Picos(now), id, name);
        self.grant(id);
        if host {
            self.hosts[name.source as usize].asked = false;
            self.make(name.source);
        }
    }

    /// Grants the next flit of the packet in progress, if it is there.
    fn grant(&mut self, id: ChannelId) {
        let (host, now) = (self.is_host(id), self.now);
        let (latency, pace, on) = if host {
            (0, self.options.host_arbiter.0, 0)
        } else {
            let options = self.options;
            (options.input_latency.0, options.switch_arbiter.0, options.output_latency.0)
        };
        let inputs = self.inputs(id);
        let out = &self.channels[id.index()];
        let Some(Granting { input, packet, vl, granted }) = out.granting else { return };
        if out.free_at > now {
            return;
        }
        let from = inputs.iter().find(|(port, _)| *port == input).map(|&(_, from)| from);
        let Some(from) = from else { return };
        let flits = self.packets[packet].flits;
        let last = granted + 1 == flits;
        let from = &mut self.channels[from.index()];
        let queue = from.queue((id, vl));
        let Some(first) = queue.front_mut() else { return };
        let lane = usize::from(first.vl);
        if pop_if(&mut first.arrived, |arrived| arrived + latency <= now).is_none() {
            return;
        }
        if last {
            queue.pop_front();
        }
        if !host {
            from.departed[lane] += 1;
            from.held[lane] -= 1;
            from.feeding -= u32::from(last);
        }
        let out = &mut self.channels[id.index()];
        out.free_at = now + pace;
        out.output.push_back((now + on, Flit { packet, index: granted, vl }));
        out.output_used += 1;
        out.granting = (!last).then_some(Granting { input, packet, vl, granted: granted + 1 });
        self.at(now + pace);
        self.at(now + on);
    }

    // Phase 2.

    fn send(&mut self) {
        let now = self.now;
        let options = self.options;
        let lane_flits = u64::from(options.lane_flits_of(self.network.lanes()));
        for id in self.alive() {
            let flit_ps = u64::from(self.network.flit_ps(id));
            let credit_ps = credit_ps(options, flit_ps);
            let back = id.reverse().index();
            let channel = &mut self.channels[id.index()];
            if channel.cable_free > now {
                continue;
            }
            if !channel.inside_packet && channel.credit_tick <= now {
                // Flow control of the input buffer at this end, which the reverse channel fills.
                let tick = (now / options.credit_interval.0 + 1) * options.credit_interval.0;
                channel.credit_tick = tick;
                let own = &mut self.channels[back];
                let mut free = now;
                for lane in 0..own.departed.len() {
                    let value = lane_flits + own.departed[lane];
                    if own.advertised[lane] != Some(value) {
                        own.advertised[lane] = Some(value);
                        free += credit_ps;
                        own.credits.push_back((free + options.cable.0, lane, value));
                    }
                }
                let arrivals: Vec<u64> = own.credits.iter().map(|credit| credit.0).collect();
                arrivals.into_iter().for_each(|moment| self.at(moment));
                self.channels[id.index()].cable_free = free;
                self.at(free);
                self.at(tick);
            }
            let channel = &mut self.channels[id.index()];
            if channel.cable_free > now {
                continue;
            }
            if let Some((_, flit)) = pop_if(&mut channel.output, |(ready, _)| *ready <= now) {
                let last = flit.index + 1 == self.packets[flit.packet].flits;
                channel.inside_packet = !last;
                channel.cable_free = now + flit_ps;
                channel.finishing = Some(now + flit_ps);
                channel.flying.push_back((now + options.cable.0, flit));
                self.at(now + flit_ps);
                self.at(now + options.cable.0);
            }
        }
    }

    /// What must hold at every moment.
    fn check(&self) {
        let lane_flits = u64::from(self.options.lane_flits_of(self.network.lanes()));
        for id in self.alive() {
            let channel = &self.channels[id.index()];
            for lane in 0..self.network.lanes() {
                assert!(channel.held[lane] <= lane_flits, "a buffer overflows");
                assert!(channel.sent[lane] <= channel.limit[lane].max(channel.sent[lane]));
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

/// Time of a flow-control packet on a cable.
#[must_use]
pub fn credit_ps(options: &FlitOptions, flit_ps: u64) -> u64 {
    (flit_ps * u64::from(options.credit_bytes)).div_ceil(u64::from(options.flit_bytes)).max(1)
}
