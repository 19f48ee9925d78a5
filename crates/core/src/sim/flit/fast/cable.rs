//! Cables: packets and flow control, one after the other.

use super::state::{Head, Output, Sink};
use super::{Fast, NEVER, NONE, Observer, Source};
use crate::ids::ChannelId;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Announces all buffers at time 0.
    pub(super) fn announce_buffers(&mut self) {
        for channel in 0..self.outputs.len() {
            if self.network.flit_ps(ChannelId::from_index(channel)) == 0 {
                continue;
            }
            let (mut free, pace) = (0, self.outputs[channel].flit);
            for vl in 0..self.lanes.count as u8 {
                // The buffer at this end is filled by the reverse channel.
                free += self.common.credits.ps(pace);
                let arrival = free + self.common.cable;
                self.lanes.tell(channel ^ 1, vl, 0, arrival, self.common.lane_flits);
            }
            let output = &mut self.outputs[channel];
            output.cable_free = free;
            output.credit_tick = self.common.credit_interval;
        }
    }

    /// When the cable of an output next decides whether to send flow control: at the first packet boundary after a tick
    /// that has not seen it decide.
    #[inline]
    fn credit_at(&self, output: &Output) -> u64 {
        let due = output.credit_tick.max(output.cable_free);
        if due >= self.now {
            return due;
        }
        // It has been idle since, and has decided at every tick that there is nothing to say.
        self.now.next_multiple_of(self.common.credit_interval)
    }

    /// Notes that flits leave the buffer at the end that `channel` leaves from, the first at `moment`; it was
    /// [settled](Self::settle).
    #[inline]
    pub(super) fn buffer_changes(&mut self, channel: usize, moment: u64) {
        let output = &self.outputs[channel];
        if output.leaves_at <= moment {
            return;
        }
        let tick = self.credit_at(output);
        let output = &mut self.outputs[channel];
        if output.ahead == NEVER {
            output.credit_tick = tick;
        }
        output.leaves_at = moment;
        if self.lanes.awaits[channel ^ 1] {
            self.wake_for_credits(channel ^ 1);
        }
    }

    /// Has the cable looked at that brings credits for `channel` when it may next send some.
    pub(super) fn wake_for_credits(&mut self, channel: usize) {
        let back = channel ^ 1;
        let output = &self.outputs[back];
        if output.leaves_at < NEVER {
            // Be it before the flit leaves: packets that start meanwhile may put it off until then.
            let due = self.credit_at(output);
            self.wake_cable(back, due.min(output.ahead));
        }
    }

    pub(super) fn look_at_cable(&mut self, channel: usize) {
        self.outputs[channel].cable_at = NEVER;
        let from = channel ^ 1;
        let arrival = self.settle(channel, self.now + 1);
        if self.credit_at(&self.outputs[channel]) <= self.now {
            // There was nothing to say.
            self.outputs[channel].credit_tick = self.tick_from(self.now + 1);
        }
        self.start(channel);
        if self.lanes.awaits[from] {
            if arrival < NEVER {
                self.wake(from, arrival);
            }
            self.wake_for_credits(from);
        }
    }

    /// The first tick of flow control not before a moment.
    #[inline]
    fn tick_from(&self, moment: u64) -> u64 {
        moment.next_multiple_of(self.common.credit_interval)
    }

    /// Catches up with the flow control that the cable of a channel has sent before `until`; returns when the first of it
    /// arrives, `NEVER` if there was none.
    ///
    /// Nobody looks at a cable when it sends flow control, unless somebody waits for credits: what it said follows from
    /// the flits that had left the buffer by then. So this comes before all that changes which flits leave.
    #[inline]
    pub(super) fn settle(&mut self, channel: usize, until: u64) -> u64 {
        let mut first = NEVER;
        while self.outputs[channel].leaves_at < until {
            let output = &mut self.outputs[channel];
            let due = output.ahead.min(output.credit_tick.max(output.cable_free));
            if due >= until {
                break;
            }
            if due < output.leaves_at {
                // It was idle, and had nothing to say at the ticks before that.
                output.credit_tick = output.leaves_at.next_multiple_of(self.common.credit_interval);
                continue;
            }
            // Who waits for credits has the cable looked at in time.
            let late = due < self.now && self.lanes.awaits[channel ^ 1];
            assert!(!late, "an arbiter was not woken for credits");
            first = first.min(self.send_credits(channel, due));
        }
        first
    }

    /// Tells the sender of the reverse channel what has left the buffer here by `now`; returns when the first of it arrives.
    fn send_credits(&mut self, channel: usize, now: u64) -> u64 {
        let from = channel ^ 1;
        let mut partly = [0u32; 16];
        let leaves_at = self.leaving_flits(from, now, &mut partly);
        let (mut free, mut first) = (now, NEVER);
        for vl in 0..self.lanes.count as u8 {
            let gone = self.lanes.of(from, vl).departed.wrapping_add(partly[usize::from(vl)]);
            // What was granted and is not gone has a place: credits are never negative, no buffer overflows.
            let held = self.lanes.of(from, vl).sent.wrapping_sub(gone);
            assert!(held <= self.common.lane_flits, "flits were sent without credit");
            let limit = self.common.lane_flits.wrapping_add(gone);
            if self.lanes.told(from, vl) != limit {
                free += self.common.credits.ps(self.outputs[channel].flit);
                let arrival = free + self.common.cable;
                first = first.min(arrival);
                self.lanes.tell(from, vl, now, arrival, limit);
            }
        }
        assert!(first < NEVER, "flow control was to be sent and had nothing to say");
        let tick = self.tick_from(now + 1);
        let output = &mut self.outputs[channel];
        output.leaves_at = leaves_at;
        if output.ahead == now {
            output.ahead = NEVER;
        } else {
            (output.credit_tick, output.cable_free) = (tick, free);
        }
        first
    }

    /// Adds, by lane, the flits that have left the buffer at the end of a channel by `now`, of packets that have not
    /// been forgotten there; returns when the next one leaves, `NEVER` if none does.
    fn leaving_flits(&self, from: usize, now: u64, gone: &mut [u32; 16]) -> u64 {
        let paces = &self.common.paces;
        match self.heads[from] {
            Head::Switch(..) => {
                self.outputs[from ^ 1].input.left(&self.rare[from ^ 1], now, gone, paces)
            }
            Head::Sink(sink) => {
                let Sink { start, packets, .. } = &self.sinks[sink as usize];
                // Only the first is partly consumed: those before it are gone.
                let (Some(start), Some(&(first, tick))) = (start, packets.front()) else {
                    return NEVER;
                };
                let (packet, pace) = (&self.packets[first as usize], self.common.sink_flit);
                let ticks = (now - start.min(&now)) / pace;
                let moment = start + ticks * pace;
                let there = packet.there.passed(moment, packet.flits, paces);
                let count = u64::from(there).min((ticks + 1).saturating_sub(tick));
                gone[usize::from(packet.came_vl)] += count as u32;
                let next = packet.there.time(count as u32, paces) - start;
                start + pace * next.div_ceil(pace).max(tick + count)
            }
            Head::Idle => NEVER,
        }
    }

    /// Whether flow control will be sent at `due` whatever is granted until then, and takes the cable for one packet of it.
    #[inline]
    fn tells(&self, output: &Output, due: u64) -> bool {
        self.lanes.count == 1 && output.ahead == NEVER && output.leaves_at <= due
    }

    /// Starts packets on the cable as far as it is clear what comes between, and has the cable looked at when there is
    /// more to decide.
    pub(super) fn start(&mut self, channel: usize) {
        loop {
            let output = &self.outputs[channel];
            if output.first == NONE {
                return;
            }
            let due = self.credit_at(output);
            let there = self.packets[output.first as usize].there;
            let start = there.head.max(output.cable_free);
            if due <= start {
                // Flow control goes first, if there is something to say.
                if !self.tells(output, due) {
                    self.wake_cable(channel, due.min(output.ahead));
                    return;
                }
                let tick = self.tick_from(due + 1);
                let credit = self.common.credits.ps(output.flit);
                let output = &mut self.outputs[channel];
                (output.ahead, output.credit_tick) = (due, tick);
                output.cable_free = due + credit;
                continue;
            }
            // The packet sent before the last one must be through.
            let through = output.one_before_sent_by();
            if through > self.now {
                self.wake_cable(channel, through);
                return;
            }
            self.send_first(channel, start, due);
        }
    }

    /// Starts the first packet of an output buffer on the cable; flow control is next due at `due`.
    fn send_first(&mut self, channel: usize, start: u64, due: u64) {
        let (common, output) = (&self.common, &mut self.outputs[channel]);
        let first = output.first;
        let packet = &mut self.packets[first as usize];
        let (flits, last) = (packet.flits, packet.flits - 1);
        let sent = packet.there.through(0, start, output.flit, last, &common.paces);
        let end = sent.time(last, &common.paces) + common.paces.ps(output.flit);
        output.first = self.behind[first as usize];
        output.starts(&mut self.rare[channel], sent, flits, end);
        // Until now the cable was idle at every tick, or has decided.
        output.credit_tick = due;
        packet.came_vl = packet.vl;
        packet.there = sent.delayed(common.cable);
        self.counts.flit_hops += u64::from(flits);
        if output.waits_room > 0
            && let Some(room) =
                output.room_at(&self.rare[channel], output.waits_room.into(), common)
        {
            self.wake(channel, room);
        }
        self.arrive(channel, first);
    }

    /// Puts a packet into the buffer at the end of a channel.
    fn arrive(&mut self, channel: usize, first: u32) {
        let packet = &mut self.packets[first as usize];
        let there = packet.there;
        match self.heads[channel] {
            Head::Switch(switch, port) => {
                let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
                packet.vl = vl;
                let output = self.queues.output(switch, out);
                self.enqueue(output, port, vl, first, there.head);
            }
            Head::Sink(sink) => self.swallow(channel, sink, first, there),
            Head::Idle => {}
        }
    }

    /// Appends a packet to a queue of the arbiter of `channel`.
    pub(super) fn enqueue(&mut self, channel: usize, port: u8, vl: u8, packet: u32, head: u64) {
        let output = &mut self.outputs[channel];
        let queue = self.queues.of_mut(output, port, vl);
        let before = std::mem::replace(&mut queue.last, packet);
        if queue.first != NONE {
            self.behind[before as usize] = packet;
            return;
        }
        queue.first = packet;
        self.queues.mark(output, port, vl, true);
        let there = head + self.common.stage(output).input_latency;
        self.wake(channel, there);
    }
}
