//! What the simulation keeps of the two ends of a channel and of hosts: flat arrays.
//!
//! Large fabrics do not fit a cache, so what is needed together shares lines of 64 bytes: `repr(C)` keeps the order.

use std::collections::VecDeque;

use super::{NEVER, NONE};
use crate::ids::{ChannelId, SwitchId};
use crate::sim::flit::lane_arbiter::Turns;
use crate::sim::flit::network::{End, Network, Way};
use crate::sim::flit::options::FlitOptions;
use crate::sim::flit::profile::{Pace, Paces, Profile};
use crate::sim::flit::source::Send;
use crate::units::Bytes;

/// Times and sizes that all channels share.
pub(super) struct Common {
    pub paces: Paces,
    /// Arbiters of switches, and those of hosts.
    pub stages: [Stage; 2],
    pub cable: u64,
    pub credit_interval: u64,
    pub host_flit: Pace,
    pub host_latency: u64,
    pub sink_flit: u64,
    pub message_gap: u64,
    pub speedup: usize,
    pub mtu_flits: u32,
    pub mtu: Bytes,
    pub flit_bytes: u32,
    pub lane_flits: u32,
}

/// What an arbiter is like.
pub(super) struct Stage {
    pub pace: Pace,
    pub input_latency: u64,
    pub output_latency: u64,
    /// Flits of its output buffer.
    pub capacity: u32,
}

impl Common {
    pub fn new(network: &Network<'_>, options: &FlitOptions) -> Self {
        let paces = network.paces().clone();
        let switch = Stage {
            pace: paces.of(options.switch_arbiter.0 as u32),
            input_latency: options.input_latency.0,
            output_latency: options.output_latency.0,
            capacity: options.switch_output_flits,
        };
        let host = Stage {
            pace: paces.of(options.host_arbiter.0 as u32),
            input_latency: 0,
            output_latency: 0,
            capacity: options.host_output_flits,
        };
        Common {
            stages: [switch, host],
            cable: options.cable_ps(),
            credit_interval: options.credit_interval.0,
            host_flit: paces.of(options.host_flit.0 as u32),
            host_latency: options.host_latency.0,
            sink_flit: options.sink_flit.0,
            message_gap: options.message_gap.0,
            speedup: options.input_speedup as usize,
            mtu_flits: options.mtu_flits,
            mtu: options.mtu(),
            flit_bytes: options.flit_bytes,
            lane_flits: options.lane_flits_of(network.lanes()),
            paces,
        }
    }

    /// The arbiter of an output.
    #[inline]
    pub fn stage(&self, output: &Output) -> &Stage {
        &self.stages[usize::from(output.host)]
    }
}

/// The end a channel leaves from: arbiter, output buffer and cable.
#[repr(C, align(64))]
pub(super) struct Output {
    // First line: what whoever brings a packet or frees something needs.
    pub free_at: u64,
    pub wake_at: u64,
    /// Where its queues begin, see `Queues`.
    pub queues: u32,
    pub wide: u32,
    pub ports: u32,
    /// Lanes that packets queue for, a bit each.
    pub busy: u16,
    pub words: u8,
    pub host: bool,
    /// Whether it waits for credits; for room for a packet of how many flits, 0: for none.
    pub waits_room: u32,
    pub waits_credit: bool,
    /// Whether the buffer at this end may have changed since its sender was told.
    pub changed: bool,
    pub flit: Pace,
    /// Output buffer: flits of granted packets that have not started on the cable, the first and the last packet.
    pub queued: u32,
    pub first: u32,
    pub last: u32,
    pub flit_ps: u32,
    pub credit_ps: u32,
    // Second line: the cable.
    pub cable_free: u64,
    pub cable_at: u64,
    /// The first tick for which no flow control was sent yet.
    pub credit_tick: u64,
    /// The last two packets that have started: when the cable has finished them, how many flits they are, and ...
    sent_by: [u64; 2],
    sent_flits: [u16; 2],
    pub turns: Turns,
    // Two more lines: ... when their flits leave.
    sent: [Profile; 2],
}

impl Output {
    pub fn new(network: &Network<'_>, channel: ChannelId, options: &FlitOptions) -> Self {
        let flit_ps = network.flit_ps(channel);
        let dead = flit_ps == 0;
        Output {
            free_at: 0,
            wake_at: NEVER,
            queues: 0,
            wide: 0,
            ports: 0,
            busy: 0,
            words: 0,
            host: !matches!(network.tail(channel), End::Switch(..)),
            waits_room: 0,
            waits_credit: false,
            changed: false,
            flit: if dead { Pace::default() } else { network.paces().of(flit_ps) },
            queued: 0,
            first: NONE,
            last: NONE,
            flit_ps,
            credit_ps: options.credit_ps(u64::from(flit_ps)) as u32,
            cable_free: 0,
            cable_at: NEVER,
            credit_tick: 0,
            sent_by: [0; 2],
            sent_flits: [0; 2],
            turns: Turns::default(),
            sent: [Profile::default(); 2],
        }
    }

    /// Has its lines fetched.
    #[inline]
    pub fn fetch(&self, fetch: impl Fn(&u64)) {
        fetch(&self.free_at);
        fetch(&self.cable_free);
        fetch(&self.sent[0].head);
        fetch(&self.sent[1].head);
    }

    /// Free slots in the output buffer at `now`, or some number above `enough`.
    #[inline]
    pub fn room(&self, now: u64, enough: u32, common: &Common) -> u32 {
        let room = common.stage(self).capacity - self.queued;
        let sending = |at: usize| self.sent_by[at] > now;
        let all = |at: usize| if sending(at) { u32::from(self.sent_flits[at]) } else { 0 };
        // Few packets need the profiles, which lie in other lines.
        match room.checked_sub(all(0) + all(1)) {
            Some(room) if room > enough => room,
            _ => room - self.unsent(0, now, common) - self.unsent(1, now, common),
        }
    }

    /// Flits of a packet on the cable that still hold their slots.
    fn unsent(&self, at: usize, now: u64, common: &Common) -> u32 {
        if self.sent_by[at] <= now {
            return 0;
        }
        let flits = u32::from(self.sent_flits[at]);
        // A flit keeps its slot until the cable has finished it.
        match now.checked_sub(u64::from(self.flit_ps)) {
            Some(then) => flits - self.sent[at].passed(then, flits, &common.paces),
            None => flits,
        }
    }

    /// When more than `flits` slots will be free, as far as packets on the cable decide it.
    pub fn room_at(&self, flits: u32, common: &Common) -> Option<u64> {
        let mut spare = (common.stage(self).capacity - self.queued).checked_sub(flits + 1)?;
        // From the packet that leaves last: what may stay of it.
        for at in [1, 0] {
            let packet = u32::from(self.sent_flits[at]);
            if packet > spare {
                let index = packet - spare - 1;
                return Some(self.sent[at].time(index, &common.paces) + u64::from(self.flit_ps));
            }
            spare -= packet;
        }
        Some(0)
    }

    /// When the cable has finished the packet before the one that it sends now.
    #[inline]
    pub fn one_before_sent_by(&self) -> u64 {
        self.sent_by[0]
    }

    /// Notes that a packet has started on the cable, which is finished with it at `end`.
    #[inline]
    pub fn starts(&mut self, sent: Profile, flits: u32, end: u64) {
        self.queued -= flits;
        self.sent = [self.sent[1], sent];
        self.sent_by = [self.sent_by[1], end];
        self.sent_flits = [self.sent_flits[1], flits as u16];
        self.cable_free = end;
    }
}

/// Most packets that leave one input buffer at a time.
const LEAVING_MAX: usize = FlitOptions::SPEEDUP_MAX as usize;

/// The end a channel arrives at, and the packets that are leaving the buffer there.
#[repr(C, align(64))]
pub(super) struct Input {
    pub head: Head,
    leaving: u8,
    // By packet: the lane by which it came, its flits, when the last of them leaves; in further lines, when each does.
    vl: [u8; LEAVING_MAX],
    flits: [u16; LEAVING_MAX],
    last: [u64; LEAVING_MAX],
    profile: [Profile; LEAVING_MAX],
}

/// What is at the end of a channel.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Switch(SwitchId, u8),
    /// Number of the sink.
    Sink(u32),
    Idle,
}

/// A packet that is leaving an input buffer.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub profile: Profile,
    pub flits: u32,
    /// Lane by which it came.
    pub vl: u8,
    /// When its last flit leaves.
    pub last: u64,
}

impl Input {
    pub fn new(head: Head) -> Self {
        Input {
            head,
            leaving: 0,
            vl: [0; LEAVING_MAX],
            flits: [0; LEAVING_MAX],
            last: [0; LEAVING_MAX],
            profile: [Profile::default(); LEAVING_MAX],
        }
    }

    /// Has its first two lines fetched.
    #[inline]
    pub fn fetch(&self, fetch: impl Fn(&u64)) {
        fetch(&self.last[0]);
        fetch(&self.profile[0].head);
    }

    /// How many packets are leaving.
    #[inline]
    pub fn leaving_count(&self) -> usize {
        usize::from(self.leaving)
    }

    /// The packets that are leaving.
    pub fn leaving(&self) -> impl Iterator<Item = Leaving> {
        (0..self.leaving_count()).map(|at| Leaving {
            profile: self.profile[at],
            flits: u32::from(self.flits[at]),
            vl: self.vl[at],
            last: self.last[at],
        })
    }

    /// When the first of them has left.
    #[inline]
    pub fn first_left(&self) -> Option<u64> {
        self.last[..self.leaving_count()].iter().copied().min()
    }

    /// Notes one more.
    #[inline]
    pub fn leaves(&mut self, one: Leaving) {
        let at = self.leaving_count();
        self.profile[at] = one.profile;
        self.flits[at] = one.flits as u16;
        self.vl[at] = one.vl;
        self.last[at] = one.last;
        self.leaving += 1;
    }

    /// Forgets one that has left by `now`; tells its lane and flits.
    #[inline]
    pub fn forget(&mut self, now: u64) -> Option<(u8, u32)> {
        let count = self.leaving_count();
        let at = self.last[..count].iter().position(|&last| last <= now)?;
        let gone = (self.vl[at], u32::from(self.flits[at]));
        let end = count - 1;
        if at < end {
            self.profile[at] = self.profile[end];
            self.flits[at] = self.flits[end];
            self.vl[at] = self.vl[end];
            self.last[at] = self.last[end];
        }
        self.leaving -= 1;
        Some(gone)
    }
}

/// The input buffer of a host.
#[derive(Default)]
pub(super) struct Sink {
    pub rank: u32,
    /// When the first flit came; the sink's clock ticks from there.
    pub start: Option<u64>,
    pub last_tick: u64,
    /// Packets that are not yet consumed, and the tick of their first flit.
    pub packets: VecDeque<(u32, u64)>,
}

/// The generator of a host: one packet waits while another is sent.
#[derive(Clone, Copy, Default)]
pub(super) struct Host {
    /// Whether a packet of it waits.
    pub waits: bool,
    /// The message in progress, its way, and the bytes left of it.
    pub sending: Option<(Send, Way, u64)>,
    /// Packets so far.
    pub number: u32,
    /// When the last flit of the last packet is made, and when the first of the message in progress.
    pub made: u64,
    pub began: u64,
    /// When its rank wants to be asked again.
    pub ask_at: u64,
}
