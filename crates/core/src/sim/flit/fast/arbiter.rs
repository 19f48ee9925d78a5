//! Arbiters: which packet goes next.

use super::state::Leaving;
use super::{Fast, NEVER, NONE, Observer, Source};
use crate::ids::ChannelId;
use crate::units::Picos;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Grants the channel to a packet if one can go; else finds out when to look again.
    pub(super) fn arbitrate(&mut self, channel: usize) {
        let now = self.now;
        let output = &mut self.outputs[channel];
        output.wake_at = NEVER;
        output.waits_room = 0;
        self.lanes.awaits[channel] = false;
        let mut busy = output.busy;
        if busy == 0 {
            return;
        }
        let room = output.room(now, self.common.mtu_flits, &self.common);
        let mut look = Look { again: NEVER, credit: false, need: NONE };
        let (mut ready, mut inputs) = (0u16, [0u8; 16]);
        while busy != 0 {
            let vl = busy.trailing_zeros() as u8;
            busy &= busy - 1;
            if let Some(input) = self.candidate(channel, vl, room, &mut look) {
                ready |= 1 << vl;
                inputs[usize::from(vl)] = input;
            }
        }
        if ready != 0 {
            let output = &mut self.outputs[channel];
            let choice = self.tables.choose(&output.turns, ready);
            let input = inputs[usize::from(choice.vl)];
            let first = self.queues.first(output, input, choice.vl);
            let flits = self.packets[first as usize].flits;
            self.tables.sent(&mut output.turns, choice, flits);
            self.grant(channel, input, choice.vl);
            return;
        }
        self.lanes.awaits[channel] = look.credit;
        let output = &mut self.outputs[channel];
        let mut again = look.again;
        if look.need != NONE {
            output.waits_room = look.need as u16;
            again = again.min(output.room_at(look.need, &self.common).unwrap_or(NEVER));
        }
        if again < NEVER {
            self.wake(channel, again);
        }
    }

    /// The input whose packet for a lane can go now, in turn; else notes what they wait for.
    #[inline]
    fn candidate(&mut self, channel: usize, vl: u8, room: u32, look: &mut Look) -> Option<u8> {
        let credit = self.lanes.credit(channel, vl, self.now);
        if credit < self.least_flits {
            self.wait_for_credit(channel, vl, look);
            return None;
        }
        if room <= self.least_flits {
            look.need = look.need.min(self.least_flits);
            return None;
        }
        let host = self.outputs[channel].host;
        let latency = self.common.stage(&self.outputs[channel]).input_latency;
        let after = usize::from(self.lanes.of(channel, vl).last_input.wrapping_add(1));
        // Round once: from the one after the last served to the end, then from the first.
        let (mut from, mut wrapped) = (after, after == 0);
        loop {
            let output = &self.outputs[channel];
            let Some(input) = self.queues.next_input(output, vl, from) else {
                if wrapped {
                    return None;
                }
                (from, wrapped) = (0, true);
                continue;
            };
            if wrapped && after > 0 && usize::from(input) >= after {
                return None;
            }
            from = usize::from(input) + 1;
            let packet = &self.packets[self.queues.first(output, input, vl) as usize];
            let (there, flits) = (packet.there.head + latency, packet.flits);
            if there > self.now {
                look.again = look.again.min(there);
            } else if credit < flits {
                self.wait_for_credit(channel, vl, look);
            } else if room <= flits {
                look.need = look.need.min(flits);
            } else if !host && let Some(freed) = self.fed_until(channel, input) {
                look.again = look.again.min(freed);
            } else {
                return Some(input);
            }
        }
    }

    fn wait_for_credit(&self, channel: usize, vl: u8, look: &mut Look) {
        look.credit = true;
        look.again = look.again.min(self.lanes.next_credit(channel, vl, self.now));
    }

    /// When an input that feeds as many outputs as it can will feed one less; `None` if it can feed one more now.
    #[inline]
    fn fed_until(&mut self, channel: usize, input: u8) -> Option<u64> {
        let from = self.queues.input(&self.outputs[channel], input);
        self.expire(from);
        let input = &self.inputs[from];
        if input.leaving().len() < self.common.speedup { None } else { input.first_left() }
    }

    /// Forgets packets that have left the buffer at the end of a channel.
    #[inline]
    pub(super) fn expire(&mut self, from: usize) {
        while let Some((vl, flits)) = self.inputs[from].forget(self.now) {
            let departed = &mut self.lanes.of_mut(from, vl).departed;
            *departed = departed.wrapping_add(flits);
        }
    }

    /// Starts the first packet of a queue.
    fn grant(&mut self, channel: usize, input: u8, vl: u8) {
        let (now, common) = (self.now, &self.common);
        let output = &mut self.outputs[channel];
        let lane = self.lanes.of_mut(channel, vl);
        let ends = self.queues.ends(output, input, vl);
        let (first, last) = *ends;
        let packet = &mut self.packets[first as usize];
        if first == last {
            *ends = (NONE, NONE);
            self.queues.mark(output, input, vl, false);
        } else {
            ends.0 = packet.next;
        }
        let (flits, end, stage) = (packet.flits, packet.flits - 1, common.stage(output));
        let paces = &common.paces;
        let granted = packet.there.through(stage.input_latency, now, stage.pace, end, paces);
        let done = granted.time(end, paces);
        packet.there = granted.delayed(stage.output_latency);
        packet.next = NONE;
        let (name, came_vl, host) = (packet.name, packet.came_vl, output.host);
        lane.last_input = input;
        lane.sent = lane.sent.wrapping_add(flits);
        assert!(lane.is_within(now), "credits are negative");
        output.free_at = done + paces.ps(stage.pace);
        output.queued += flits;
        let before = std::mem::replace(&mut output.last, first);
        if output.first == NONE {
            output.first = first;
        } else {
            self.packets[before as usize].next = first;
        }
        let (more, free_at) = (output.busy != 0, output.free_at);
        self.observer.granted(Picos(now), ChannelId(channel as u32), name);
        if more {
            self.wake(channel, free_at);
        }
        if host {
            self.hosts[name.source as usize].waits = false;
            self.make(name.source);
        } else {
            let from = self.queues.input(&self.outputs[channel], input);
            self.expire(from);
            let leaving = Leaving { profile: granted, flits, vl: came_vl, last: done };
            self.inputs[from].leaves(leaving);
            self.buffer_changes(from ^ 1);
        }
        self.start(channel);
    }
}

/// What keeps the packets at an arbiter from going.
struct Look {
    /// When to look again at the latest.
    again: u64,
    /// Some wait for credits.
    credit: bool,
    /// Fewest flits for which there is no room; [`NONE`]: there is for all.
    need: u32,
}
