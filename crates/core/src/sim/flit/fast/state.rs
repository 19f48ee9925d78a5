//! What the simulation keeps of the two ends of a channel and of hosts: flat arrays.
//!
//! Large fabrics do not fit a cache, so what is needed together shares lines of 64 bytes: `repr(C)` keeps the order.

use std::collections::VecDeque;

use super::{NEVER, NONE};
use crate::ids::{ChannelId, SwitchId};
use crate::sim::flit::network::{End, Network, Way};
use crate::sim::flit::options::FlitOptions;
use crate::sim::flit::profile::{Pace, Paces, Profile};
use crate::sim::flit::source::Send;
use crate::units::Bytes;

/// Times and sizes that all channels share.
pub(super) struct Common {
    pub paces: Paces,
    /// Times of flow-control packets on cables of these paces.
    pub credits: Paces,
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
            credits: paces.map(|ps| options.credit_ps(u64::from(ps)) as u32),
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

/// The end a channel leaves from: arbiter, output buffer, cable, and the buffer that the other direction fills; three
/// lines, and [`Rare`] has the rest.
#[repr(C, align(64))]
pub(super) struct Output {
    // First line: the arbiter and the output buffer, and what whoever brings it a packet needs.
    pub free_at: u64,
    pub wake_at: u64,
    /// The last two packets that have started: when the cable has finished them, and how many flits they are.
    sent_by: [u64; 2],
    sent_flits: [u16; 2],
    /// Where its queues begin, see `Queues`.
    pub queues: u32,
    pub waiting: u32,
    pub ports: u32,
    /// Flits of granted packets that have not started on the cable.
    pub queued: u32,
    /// Lanes that packets queue for, a bit each.
    pub busy: u16,
    /// The arbiter waits for room for a packet of how many flits; 0: for none.
    pub waits_room: u16,
    pub words: u8,
    pub host: bool,
    /// Which of the two packets started first.
    older: u8,
    /// Which of them came by a slower point and still feel it.
    sent_uneven: [bool; 2],
    // Second line: the cable.
    cable: CableLine,
    pub cable_free: u64,
    pub cable_at: u64,
    pub flit: Pace,
    /// The first and the last packet that have been granted and not started.
    pub first: u32,
    pub last: u32,
    /// The first tick for which no flow control was sent yet.
    pub credit_tick: u64,
    /// When it will send flow control that packets have been started behind; `NEVER`: has sent all such.
    pub ahead: u64,
    /// When the first flit leaves the buffer below that the other side has not been told of; `NEVER`: none does.
    pub leaves_at: u64,
    // Third line: the buffer that the reverse channel fills.
    pub input: Input,
}

/// What is seldom needed of an output: kept apart, so that the others fill fewer pages.
#[derive(Clone, Default)]
pub(super) struct Rare {
    /// When the flits of the two packets that have started leave, if they are uneven.
    sent: [Profile; 2],
    /// The packets that leave the input buffer beside the first.
    leaving: [Leaving; LEAVING_MAX - 1],
}

/// Begins a line.
#[repr(align(64))]
struct CableLine;

impl Output {
    pub fn new(network: &Network<'_>, channel: ChannelId) -> Self {
        let flit_ps = network.flit_ps(channel);
        Output {
            free_at: 0,
            wake_at: NEVER,
            sent_by: [0; 2],
            sent_flits: [0; 2],
            queues: 0,
            waiting: 0,
            ports: 0,
            queued: 0,
            busy: 0,
            waits_room: 0,
            words: 0,
            host: !matches!(network.tail(channel), End::Switch(..)),
            older: 0,
            sent_uneven: [false; 2],
            cable: CableLine,
            cable_free: 0,
            cable_at: NEVER,
            flit: if flit_ps == 0 { Pace::default() } else { network.paces().of(flit_ps) },
            first: NONE,
            last: NONE,
            credit_tick: 0,
            ahead: NEVER,
            leaves_at: NEVER,
            input: Input::default(),
        }
    }

    /// Has the line of its arbiter fetched.
    #[inline]
    pub fn fetch_arbiter(&self, fetch: impl Fn(&u64)) {
        fetch(&self.free_at);
    }

    /// Has the line of its cable fetched.
    #[inline]
    pub fn fetch_cable(&self, fetch: impl Fn(&u64)) {
        fetch(&self.cable_free);
    }

    /// Free slots in the output buffer at `now`, or some number above `enough`.
    #[inline]
    pub fn room(&self, rare: &Rare, now: u64, enough: u32, common: &Common) -> u32 {
        let room = common.stage(self).capacity - self.queued;
        let sending = |at: usize| self.sent_by[at] > now;
        let all = |at: usize| if sending(at) { u32::from(self.sent_flits[at]) } else { 0 };
        // Few packets need the profiles, which lie in other lines.
        match room.checked_sub(all(0) + all(1)) {
            Some(room) if room > enough => room,
            _ => room - self.unsent(0, rare, now, common) - self.unsent(1, rare, now, common),
        }
    }

    /// Flits of a packet on the cable that still hold their slots.
    fn unsent(&self, at: usize, rare: &Rare, now: u64, common: &Common) -> u32 {
        if self.sent_by[at] <= now {
            return 0;
        }
        let flits = u32::from(self.sent_flits[at]);
        // A flit keeps its slot until the cable has finished it.
        match now.checked_sub(common.paces.ps(self.flit)) {
            Some(then) => flits - self.sent(at, rare, common).passed(then, flits, &common.paces),
            None => flits,
        }
    }

    /// When more than `flits` slots will be free, as far as packets on the cable decide it.
    pub fn room_at(&self, rare: &Rare, flits: u32, common: &Common) -> Option<u64> {
        let mut spare = (common.stage(self).capacity - self.queued).checked_sub(flits + 1)?;
        let older = usize::from(self.older);
        // From the packet that leaves last: what may stay of it.
        for at in [1 - older, older] {
            let packet = u32::from(self.sent_flits[at]);
            if packet > spare {
                let left = self.sent(at, rare, common).time(packet - spare - 1, &common.paces);
                return Some(left + common.paces.ps(self.flit));
            }
            spare -= packet;
        }
        Some(0)
    }

    /// When the flits of a packet on the cable leave; that of most follows from their end, which spares a line.
    #[inline]
    fn sent(&self, at: usize, rare: &Rare, common: &Common) -> Profile {
        if self.sent_uneven[at] {
            return rare.sent[at];
        }
        let whole = common.paces.ps(self.flit) * u64::from(self.sent_flits[at]);
        Profile::steady(self.sent_by[at] - whole, self.flit)
    }

    /// When the cable has finished the packet before the one that it sends now.
    #[inline]
    pub fn one_before_sent_by(&self) -> u64 {
        self.sent_by[usize::from(self.older)]
    }

    /// Notes that a packet has started on the cable, which is finished with it at `end`.
    #[inline]
    pub fn starts(&mut self, rare: &mut Rare, sent: Profile, flits: u32, end: u64) {
        let at = usize::from(self.older);
        self.queued -= flits;
        self.sent_uneven[at] = !sent.is_steady();
        if self.sent_uneven[at] {
            rare.sent[at] = sent;
        }
        self.sent_by[at] = end;
        self.sent_flits[at] = flits as u16;
        self.older ^= 1;
        self.cable_free = end;
    }
}

/// Most packets that leave one input buffer at a time.
const LEAVING_MAX: usize = FlitOptions::SPEEDUP_MAX as usize;

/// What is at the end of a channel.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Switch(SwitchId, u8),
    /// Number of the sink.
    Sink(u32),
    Idle,
}

/// The packets that are leaving an input buffer: hardly ever more than one, which shares a line with their count.
#[derive(Clone, Default)]
#[repr(C, align(64))]
pub(super) struct Input {
    count: u8,
    first: Leaving,
}

/// A packet that is leaving an input buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct Leaving {
    pub profile: Profile,
    /// When its last flit leaves.
    pub last: u64,
    pub flits: u32,
    /// Lane by which it came.
    pub vl: u8,
}

impl Input {
    /// Has its line fetched.
    #[inline]
    pub fn fetch(&self, fetch: impl Fn(&u64)) {
        fetch(&self.first.profile.head);
    }

    /// The packets that are leaving.
    #[inline]
    pub fn leaving<'a>(&'a self, rare: &'a Rare) -> impl Iterator<Item = &'a Leaving> {
        let count = usize::from(self.count);
        let others = rare.leaving.iter().take(count.saturating_sub(1));
        std::iter::once(&self.first).take(count).chain(others)
    }

    /// How many of them have not left by `now`, and when the first of those will have.
    #[inline]
    pub fn feeds(&self, rare: &Rare, now: u64) -> (usize, u64) {
        let left = self.leaving(rare).map(|one| one.last).filter(|&last| last > now);
        left.fold((0, NEVER), |(count, first), last| (count + 1, first.min(last)))
    }

    /// Adds, by lane, the flits that have left by `now`; returns when the next one leaves, `NEVER` if none does.
    #[inline]
    pub fn left(&self, rare: &Rare, now: u64, gone: &mut [u32; 16], paces: &Paces) -> u64 {
        let mut next = NEVER;
        for one in self.leaving(rare) {
            let mut flits = one.flits;
            if one.last > now {
                flits = one.profile.passed(now, flits, paces);
                next = next.min(one.profile.time(flits, paces));
            }
            gone[usize::from(one.vl)] += flits;
        }
        next
    }

    /// Notes one more.
    #[inline]
    pub fn leaves(&mut self, rare: &mut Rare, one: Leaving) {
        match self.count {
            0 => self.first = one,
            count => rare.leaving[usize::from(count) - 1] = one,
        }
        self.count += 1;
    }

    /// Forgets one that has left by `now`; tells its lane and flits.
    #[inline]
    pub fn forget(&mut self, rare: &mut Rare, now: u64) -> Option<(u8, u32)> {
        let at = self.leaving(rare).position(|one| one.last <= now)?;
        self.count -= 1;
        let gone = if at == 0 { &mut self.first } else { &mut rare.leaving[at - 1] };
        let Leaving { vl, flits, .. } = *gone;
        let end = usize::from(self.count);
        if at == 0 && end > 0 {
            self.first = rare.leaving[end - 1];
        } else if at < end {
            rare.leaving[at - 1] = rare.leaving[end - 1];
        }
        Some((vl, flits))
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
