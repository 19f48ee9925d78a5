//! Cables: packets and flow control, one after the other.

use super::state::Input;
use super::{Fast, NONE, Observer, Source};
use crate::sim::flit::profile::Profile;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Announces all buffers at time 0.
    pub(super) fn announce_buffers(&mut self) {
        for channel in 0..self.outputs.len() {
            if self.outputs[channel].flit_ps == 0 {
                continue;
            }
            let mut free = 0;
            for vl in 0..self.lanes {
                // The buffer at this end is filled by the reverse channel.
                free += self.outputs[channel].credit_ps;
                let arrival = free + self.pace.cable;
                let credit = (arrival, vl as u8, self.lane_flits);
                self.outputs[channel ^ 1].credits.push_back(credit);
            }
            let output = &mut self.outputs[channel];
            output.cable_free = free;
            output.credit_tick = self.pace.credit_interval;
        }
    }

    /// When the cable of `channel` next decides whether to send flow control: at the first packet boundary after a tick
    /// that has not seen it decide.
    fn credit_at(&self, channel: usize) -> u64 {
        let output = &self.outputs[channel];
        let due = output.credit_tick.max(output.cable_free);
        if due >= self.now {
            return due;
        }
        // It has been idle since, and has decided at every tick that there is nothing to say.
        self.now.next_multiple_of(self.pace.credit_interval)
    }

    /// Notes that flits leave the buffer at the end that `channel` leaves from.
    pub(super) fn buffer_changes(&mut self, channel: usize) {
        if !self.outputs[channel].changed {
            let due = self.credit_at(channel);
            let output = &mut self.outputs[channel];
            output.changed = true;
            self.wake_cable(channel, due);
        }
    }

    pub(super) fn look_at_cable(&mut self, channel: usize) {
        self.outputs[channel].cable_at = super::NEVER;
        if self.credit_at(channel) <= self.now {
            if self.outputs[channel].changed {
                self.send_credits(channel);
            } else {
                self.decided(channel);
            }
        }
        self.start(channel);
    }

    /// Nothing more is to be said before the next tick.
    fn decided(&mut self, channel: usize) {
        let interval = self.pace.credit_interval;
        self.outputs[channel].credit_tick = (self.now / interval + 1) * interval;
    }

    /// Tells the sender of the reverse channel what has left the buffer here.
    fn send_credits(&mut self, channel: usize) {
        let (now, lanes) = (self.now, self.lanes);
        let from = channel ^ 1;
        self.expire(from);
        let mut gone = [0u64; 16];
        gone[..lanes].copy_from_slice(&self.departed[from * lanes..(from + 1) * lanes]);
        let more = match &self.inputs[from] {
            Input::Switch { leaving, .. } => {
                for one in leaving {
                    gone[usize::from(one.vl)] += u64::from(one.profile.passed(now, one.flits));
                }
                !leaving.is_empty()
            }
            Input::Sink { start, packets, .. } => {
                // Only the first is partly consumed: those before it are gone.
                if let (Some(start), Some(&(first, tick))) = (start, packets.front()) {
                    let packet = &self.packets[first as usize];
                    let ticks = (now - start.min(&now)) / self.pace.sink_flit;
                    if ticks >= tick {
                        let moment = start + ticks * self.pace.sink_flit;
                        let there = packet.there.passed(moment, packet.flits);
                        let count = u64::from(there).min(ticks - tick + 1);
                        gone[usize::from(packet.came_vl)] += count;
                    }
                }
                !packets.is_empty()
            }
            Input::Idle => false,
        };
        self.decided(channel);
        self.outputs[channel].changed = more;
        let mut free = now;
        let mut news = false;
        for (vl, &gone) in gone[..lanes].iter().enumerate() {
            let told = &mut self.advertised[from * lanes + vl];
            if *told != gone {
                *told = gone;
                free += self.outputs[channel].credit_ps;
                let arrival = free + self.pace.cable;
                let credit = (arrival, vl as u8, self.lane_flits + gone);
                self.outputs[from].credits.push_back(credit);
                news = true;
            }
        }
        if news {
            self.outputs[channel].cable_free = free;
            if self.outputs[from].waits_credit
                && let Some(&(at, ..)) = self.outputs[from].credits.front()
            {
                self.wake(from, at);
            }
        }
    }

    /// Starts packets on the cable as far as it is clear that nothing comes between, and has the cable looked at when
    /// there is more to decide.
    pub(super) fn start(&mut self, channel: usize) {
        loop {
            let output = &mut self.outputs[channel];
            if output.first == NONE {
                break;
            }
            let there = self.packets[output.first as usize].there;
            let start = there.head.max(output.cable_free);
            let due = self.credit_at(channel);
            if due <= start {
                // Flow control goes first, if it turns out that there is something to say.
                self.wake_cable(channel, due);
                return;
            }
            let output = &mut self.outputs[channel];
            // The packet sent before the last one must be through.
            if output.sending[0].1 > 0 {
                let (profile, flits) = output.sending[0];
                let through = profile.time(flits - 1) + u64::from(output.flit_ps);
                if through > self.now {
                    self.wake_cable(channel, through);
                    return;
                }
            }
            let first = output.first;
            let packet = &mut self.packets[first as usize];
            let (flits, end) = (packet.flits, packet.flits - 1);
            let sent = there.through(0, start, output.flit_ps, end);
            output.first = packet.next;
            packet.next = NONE;
            output.queued -= flits;
            output.sending = [output.sending[1], (sent, flits)];
            // Until now the cable was idle at every tick, or has decided.
            output.credit_tick = due;
            output.cable_free = sent.time(end) + u64::from(output.flit_ps);
            packet.came_vl = packet.vl;
            packet.there = sent.delayed(self.pace.cable);
            let wait = output.waits_room;
            self.counts.flit_hops += u64::from(flits);
            if wait > 0
                && let Some(room) = self.outputs[channel].room_at(wait)
            {
                self.wake(channel, room);
            }
            self.arrive(channel, first, sent.delayed(self.pace.cable));
        }
        if self.outputs[channel].changed {
            let due = self.credit_at(channel);
            self.wake_cable(channel, due);
        }
    }

    /// Puts a packet into the buffer at the end of a channel.
    fn arrive(&mut self, channel: usize, first: u32, there: Profile) {
        match self.inputs[channel] {
            Input::Switch { switch, port, .. } => {
                let packet = &mut self.packets[first as usize];
                let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
                packet.vl = vl;
                let output = self.queues.output(switch, out);
                self.enqueue(output, port, vl, first, there.head);
            }
            Input::Sink { .. } => self.swallow(channel, first, there),
            Input::Idle => {}
        }
    }

    /// Appends a packet to a queue of the arbiter of `channel`.
    pub(super) fn enqueue(&mut self, channel: usize, port: u8, vl: u8, packet: u32, head: u64) {
        let (first, last) = self.queues.ends(channel, port, vl);
        let alone = *first == NONE;
        let before = *last;
        *last = packet;
        if alone {
            *first = packet;
            self.queues.mark(channel, port, vl, true);
        } else {
            self.packets[before as usize].next = packet;
        }
        let output = &mut self.outputs[channel];
        output.waiting += 1;
        let there = head + output.input_latency;
        if alone {
            self.wake(channel, there);
        }
    }
}
