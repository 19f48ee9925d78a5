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

    /// Notes that flits leave the buffer at the end that `channel` leaves from.
    #[inline]
    pub(super) fn buffer_changes(&mut self, channel: usize) {
        if !self.changed[channel] {
            self.changed[channel] = true;
            self.wake_cable(channel, self.credit_at(&self.outputs[channel]));
        }
    }

    pub(super) fn look_at_cable(&mut self, channel: usize) {
        self.outputs[channel].cable_at = NEVER;
        if self.credit_at(&self.outputs[channel]) <= self.now {
            if self.changed[channel] {
                self.send_credits(channel);
            } else {
                self.decided(channel);
            }
        }
        self.start(channel);
    }

    /// Nothing more is to be said before the next tick.
    fn decided(&mut self, channel: usize) {
        let interval = self.common.credit_interval;
        self.outputs[channel].credit_tick = (self.now / interval + 1) * interval;
    }

    /// Tells the sender of the reverse channel what has left the buffer here.
    fn send_credits(&mut self, channel: usize) {
        let (now, from) = (self.now, channel ^ 1);
        let mut partly = [0u32; 16];
        let more = self.leaving_flits(from, &mut partly);
        self.decided(channel);
        self.changed[channel] = more;
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
        if first < NEVER {
            self.outputs[channel].cable_free = free;
            if self.lanes.awaits[from] {
                self.wake(from, first);
            }
        }
    }

    /// Adds, by lane, the flits that have left the buffer at the end of a channel of packets that have not left it as a
    /// whole; returns whether there are such packets.
    fn leaving_flits(&mut self, from: usize, gone: &mut [u32; 16]) -> bool {
        if let Head::Switch(..) = self.heads[from] {
            self.expire(from);
        }
        let (now, paces) = (self.now, &self.common.paces);
        match self.heads[from] {
            Head::Switch(..) => {
                let leaving = self.inputs[from].leaving();
                for one in leaving {
                    gone[usize::from(one.vl)] += one.profile.passed(now, one.flits, paces);
                }
                !leaving.is_empty()
            }
            Head::Sink(sink) => {
                let Sink { start, packets, .. } = &self.sinks[sink as usize];
                // Only the first is partly consumed: those before it are gone.
                if let (Some(start), Some(&(first, tick))) = (start, packets.front()) {
                    let packet = &self.packets[first as usize];
                    let ticks = (now - start.min(&now)) / self.common.sink_flit;
                    if ticks >= tick {
                        let moment = start + ticks * self.common.sink_flit;
                        let there = packet.there.passed(moment, packet.flits, paces);
                        let count = u64::from(there).min(ticks - tick + 1);
                        gone[usize::from(packet.came_vl)] += count as u32;
                    }
                }
                !packets.is_empty()
            }
            Head::Idle => false,
        }
    }

    /// Starts packets on the cable as far as it is clear that nothing comes between, and has the cable looked at when
    /// there is more to decide.
    pub(super) fn start(&mut self, channel: usize) {
        loop {
            let output = &self.outputs[channel];
            if output.first == NONE {
                break;
            }
            let due = self.credit_at(output);
            let there = self.packets[output.first as usize].there;
            let start = there.head.max(output.cable_free);
            if due <= start {
                // Flow control goes first, if it turns out that there is something to say.
                self.wake_cable(channel, due);
                return;
            }
            // The packet sent before the last one must be through.
            let through = output.one_before_sent_by();
            if through > self.now {
                self.wake_cable(channel, through);
                return;
            }
            self.send_first(channel, start, due);
        }
        if self.changed[channel] {
            self.wake_cable(channel, self.credit_at(&self.outputs[channel]));
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
        output.first = packet.next;
        output.starts(sent, flits, end);
        // Until now the cable was idle at every tick, or has decided.
        output.credit_tick = due;
        packet.next = NONE;
        packet.came_vl = packet.vl;
        packet.there = sent.delayed(common.cable);
        self.counts.flit_hops += u64::from(flits);
        if output.waits_room > 0
            && let Some(room) = output.room_at(output.waits_room.into(), common)
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
        let ends = self.queues.ends(output, port, vl);
        let before = std::mem::replace(&mut ends.1, packet);
        if ends.0 != NONE {
            self.packets[before as usize].next = packet;
            return;
        }
        ends.0 = packet;
        self.queues.mark(output, port, vl, true);
        let there = head + self.common.stage(output).input_latency;
        self.wake(channel, there);
    }
}
