//! What the simulation keeps of channels, queues and hosts: flat arrays.

use std::collections::VecDeque;

use super::{NEVER, NONE};
use crate::ids::{ChannelId, SwitchId};
use crate::sim::flit::lane_arbiter::Turns;
use crate::sim::flit::network::{End, Network};
use crate::sim::flit::options::FlitOptions;
use crate::sim::flit::profile::Profile;
use crate::sim::flit::reference::credit_ps;
use crate::sim::flit::source::Send;

/// Times and sizes that all channels share.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub cable: u64,
    pub credit_interval: u64,
    pub host_flit: u32,
    pub host_latency: u64,
    pub sink_flit: u64,
    pub message_gap: u64,
    pub speedup: usize,
    pub mtu_flits: u32,
    pub flit_bytes: u32,
}

impl Pace {
    pub fn new(options: &FlitOptions) -> Self {
        Pace {
            cable: options.cable.0,
            credit_interval: options.credit_interval.0,
            host_flit: options.host_flit.0 as u32,
            host_latency: options.host_latency.0,
            sink_flit: options.sink_flit.0,
            message_gap: options.message_gap.0,
            speedup: options.input_speedup as usize,
            mtu_flits: options.mtu_flits,
            flit_bytes: options.flit_bytes,
        }
    }
}

/// The end a channel leaves from: arbiter, output buffer and cable.
pub(super) struct Output {
    // Arbiter.
    pub free_at: u64,
    pub wake_at: u64,
    pub turns: Turns,
    pub grant_pace: u32,
    pub input_latency: u64,
    pub output_latency: u64,
    pub host: bool,
    /// Packets that queue for it.
    pub waiting: u32,
    /// Whether it waits for credits; for room for a packet of how many flits, 0: for none.
    pub waits_credit: bool,
    pub waits_room: u32,
    pub credits: VecDeque<(u64, u8, u64)>,
    // Output buffer: granted packets that have not started on the cable.
    pub capacity: u32,
    pub queued: u32,
    pub first: u32,
    pub last: u32,
    // Cable.
    pub flit_ps: u32,
    pub credit_ps: u64,
    /// Packets that have started: when their flits leave, and how many they are; 0: none.
    pub sending: [(Profile, u32); 2],
    pub cable_free: u64,
    pub cable_at: u64,
    /// The first tick for which no flow control was sent yet.
    pub credit_tick: u64,
    /// Whether the buffer at this end may have changed since its sender was told.
    pub changed: bool,
}

impl Output {
    pub fn new(network: &Network<'_>, channel: ChannelId, options: &FlitOptions) -> Self {
        let host = !matches!(network.tail(channel), End::Switch(..));
        let flit_ps = network.flit_ps(channel);
        let (grant_pace, input_latency, output_latency, capacity) = if host {
            (options.host_arbiter.0, 0, 0, options.host_output_flits)
        } else {
            let through = (options.input_latency.0, options.output_latency.0);
            (options.switch_arbiter.0, through.0, through.1, options.switch_output_flits)
        };
        Output {
            free_at: 0,
            wake_at: NEVER,
            turns: Turns::default(),
            grant_pace: grant_pace as u32,
            input_latency,
            output_latency,
            host,
            waiting: 0,
            waits_credit: false,
            waits_room: 0,
            credits: VecDeque::new(),
            capacity,
            queued: 0,
            first: NONE,
            last: NONE,
            flit_ps,
            credit_ps: credit_ps(options, u64::from(flit_ps)),
            sending: [(Profile::default(), 0); 2],
            cable_free: 0,
            cable_at: NEVER,
            credit_tick: 0,
            changed: false,
        }
    }

    /// Flits in the output buffer at `now`.
    #[inline]
    pub fn used(&self, now: u64) -> u32 {
        let unsent = |&(profile, flits): &(Profile, u32)| {
            // A flit keeps its slot until the cable has finished it.
            match now.checked_sub(u64::from(self.flit_ps)) {
                Some(then) if flits > 0 => flits - profile.passed(then, flits),
                _ => flits,
            }
        };
        self.queued + self.sending.iter().map(unsent).sum::<u32>()
    }

    /// When more than `flits` slots will be free, as far as packets on the cable decide it.
    pub fn room_at(&self, flits: u32) -> Option<u64> {
        let mut spare = (self.capacity - self.queued).checked_sub(flits + 1)?;
        // From the packet that leaves last: what may stay of it.
        for &(profile, packet) in self.sending.iter().rev() {
            if packet > spare {
                return Some(profile.time(packet - spare - 1) + u64::from(self.flit_ps));
            }
            spare -= packet;
        }
        Some(0)
    }
}

/// The end a channel arrives at: an input buffer of a switch, or a sink.
pub(super) enum Input {
    Switch {
        switch: SwitchId,
        port: u8,
        /// Packets that are leaving: when their flits do, how many, by which lane they came.
        leaving: Vec<Leaving>,
    },
    Sink {
        rank: u32,
        /// When the first flit came; the sink's clock ticks from there.
        start: Option<u64>,
        last_tick: u64,
        /// Packets that are not yet consumed, and the tick of their first flit.
        packets: VecDeque<(u32, u64)>,
    },
    Idle,
}

#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub profile: Profile,
    pub flits: u32,
    pub vl: u8,
    pub last: u64,
}

impl Input {
    pub fn new(network: &Network<'_>, channel: ChannelId) -> Self {
        match network.head(channel) {
            End::Switch(switch, port) => Input::Switch { switch, port, leaving: Vec::new() },
            End::Host(rank) => {
                Input::Sink { rank, start: None, last_tick: 0, packets: VecDeque::new() }
            }
            End::Idle => Input::Idle,
        }
    }
}

/// Packets that wait at switches and hosts, by output channel, input port and lane.
pub(super) struct Queues {
    lanes: usize,
    /// By channel: where its queues begin; input `port` and lane `vl` are at `port x lanes + vl`.
    base: Vec<u32>,
    ends: Vec<(u32, u32)>,
    /// By channel: where its words begin, by lane: a bit for each input port that has a packet.
    mask_base: Vec<u32>,
    words: Vec<u8>,
    masks: Vec<u64>,
    /// By channel and lane: the input that was served last; 255: none.
    pub last_input: Vec<u8>,
    /// By switch and port: the channel that leaves there.
    port_base: Vec<u32>,
    port_channel: Vec<u32>,
}

impl Queues {
    pub fn new(network: &Network<'_>) -> Self {
        let lanes = network.lanes();
        let mut queues = Queues {
            lanes,
            base: Vec::new(),
            ends: Vec::new(),
            mask_base: Vec::new(),
            words: Vec::new(),
            masks: Vec::new(),
            last_input: vec![u8::MAX; network.channel_count() * lanes],
            port_base: Vec::new(),
            port_channel: Vec::new(),
        };
        for channel in (0..network.channel_count()).map(ChannelId::from_index) {
            let inputs = match network.tail(channel) {
                _ if network.flit_ps(channel) == 0 => 0,
                End::Switch(switch, _) => usize::from(network.radix(switch)) + 1,
                _ => 1,
            };
            let words = inputs.div_ceil(64);
            queues.base.push(queues.ends.len() as u32);
            queues.mask_base.push(queues.masks.len() as u32);
            queues.words.push(words as u8);
            queues.ends.resize(queues.ends.len() + inputs * lanes, (NONE, NONE));
            queues.masks.resize(queues.masks.len() + words * lanes, 0);
        }
        for switch in (0..network.switch_count() as u32).map(SwitchId) {
            queues.port_base.push(queues.port_channel.len() as u32);
            queues.port_channel.push(NONE);
            for port in 1..=network.radix(switch) {
                let channel = network.output(switch, port).map_or(NONE, |channel| channel.0);
                queues.port_channel.push(channel);
            }
        }
        queues
    }

    /// The channel that leaves a switch by a port.
    #[inline]
    pub fn output(&self, switch: SwitchId, port: u8) -> usize {
        let base = self.port_base[switch.index()] as usize;
        self.port_channel[base + usize::from(port)] as usize
    }

    /// The first and last packet of a queue.
    #[inline]
    pub fn ends(&mut self, channel: usize, port: u8, vl: u8) -> &mut (u32, u32) {
        let at = self.base[channel] as usize + usize::from(port) * self.lanes + usize::from(vl);
        &mut self.ends[at]
    }

    #[inline]
    pub fn first(&self, channel: usize, port: u8, vl: u8) -> u32 {
        let at = self.base[channel] as usize + usize::from(port) * self.lanes + usize::from(vl);
        self.ends[at].0
    }

    fn words(&self, channel: usize, vl: u8) -> std::ops::Range<usize> {
        let words = usize::from(self.words[channel]);
        let base = self.mask_base[channel] as usize + usize::from(vl) * words;
        base..base + words
    }

    /// Whether an input has a packet for a channel and lane.
    #[inline]
    pub fn mark(&mut self, channel: usize, port: u8, vl: u8, waits: bool) {
        let at = self.words(channel, vl).start + usize::from(port) / 64;
        let bit = 1 << (port % 64);
        if waits {
            self.masks[at] |= bit;
        } else {
            self.masks[at] &= !bit;
        }
    }

    /// Whether any input has a packet for a channel and lane.
    #[inline]
    pub fn any(&self, channel: usize, vl: u8) -> bool {
        self.masks[self.words(channel, vl)].iter().any(|&word| word != 0)
    }

    /// The first input at or after `from` that has a packet, if any.
    #[inline]
    pub fn next_input(&self, channel: usize, vl: u8, from: usize) -> Option<u8> {
        let words = &self.masks[self.words(channel, vl)];
        let mut at = from / 64;
        let mut word = words.get(at)? & (u64::MAX << (from % 64));
        loop {
            if word != 0 {
                return Some((at * 64) as u8 + word.trailing_zeros() as u8);
            }
            at += 1;
            word = *words.get(at)?;
        }
    }
}

/// The generator of a host: one packet waits while another is sent.
#[derive(Clone, Copy, Default)]
pub(super) struct Host {
    /// Whether a packet of it waits.
    pub waits: bool,
    /// The message in progress, and the bytes left of it.
    pub sending: Option<(Send, u64)>,
    /// Packets so far.
    pub number: u32,
    /// When the last flit of the last packet is made.
    pub made: u64,
}
