//! Arbiters: which packet goes next.

use super::queues::Queue;
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
        let room = output.room(&self.rare[channel], now, self.common.mtu_flits, &self.common);
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
            let vl = if self.lanes.count == 1 { 0 } else { self.choose(channel, ready, &inputs) };
            self.grant(channel, inputs[usize::from(vl)], vl);
            return;
        }
        self.lanes.awaits[channel] = look.credit;
        if look.credit {
            self.wake_for_credits(channel);
        }
        let output = &mut self.outputs[channel];
        let mut again = look.again;
        if look.need != NONE {
            output.waits_room = look.need as u16;
            again = again
                .min(output.room_at(&self.rare[channel], look.need, &self.common).unwrap_or(NEVER));
        }
        if again < NEVER {
            self.wake(channel, again);
        }
    }

    /// The lane whose turn it is of those in `ready`, whose packets come from `inputs`.
    fn choose(&mut self, channel: usize, ready: u16, inputs: &[u8; 16]) -> u8 {
        let choice = self.tables.choose(&self.turns[channel], ready);
        let input = inputs[usize::from(choice.vl)];
        let first = self.first(&self.outputs[channel], input, choice.vl);
        let flits = self.packets[first as usize].flits;
        self.tables.sent(&mut self.turns[channel], choice, flits);
        choice.vl
    }

    /// The input whose packet for a lane can go now, in turn; else notes what they wait for.
    #[inline]
    fn candidate(&mut self, channel: usize, vl: u8, room: u32, look: &mut Look) -> Option<u8> {
        let mut credit = self.lanes.credit(channel, vl, self.now);
        if credit < self.common.mtu_flits {
            self.settle(channel ^ 1, self.now);
            credit = self.lanes.credit(channel, vl, self.now);
        }
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
            if !host && let Some(freed) = self.fed_until(channel, input) {
                look.again = look.again.min(freed);
                continue;
            }
            let packet = &self.packets[self.first(output, input, vl) as usize];
            let (there, flits) = (packet.there.head + latency, packet.flits);
            if there > self.now {
                look.again = look.again.min(there);
            } else if credit < flits {
                self.wait_for_credit(channel, vl, look);
            } else if room <= flits {
                look.need = look.need.min(flits);
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
    fn fed_until(&self, channel: usize, input: u8) -> Option<u64> {
        let from = self.queues.input(&self.outputs[channel], input);
        let freed = self.fed_until[from];
        (freed > self.now).then_some(freed)
    }

    /// Forgets packets that have left the buffer at the end of a channel.
    #[inline]
    fn expire(&mut self, from: usize) {
        let (input, rare) = (&mut self.outputs[from ^ 1].input, &mut self.rare[from ^ 1]);
        while let Some((vl, flits)) = input.forget(rare, self.now) {
            let departed = &mut self.lanes.of_mut(from, vl).departed;
            *departed = departed.wrapping_add(flits);
        }
    }

    /// Starts the first packet of a queue.
    fn grant(&mut self, channel: usize, input: u8, vl: u8) {
        let (now, common) = (self.now, &self.common);
        let output = &mut self.outputs[channel];
        let credit = self.lanes.credit(channel, vl, now);
        let lane = self.lanes.of_mut(channel, vl);
        let queue = self.queues.of_mut(output, input, vl);
        let first = queue.first;
        if first == queue.last {
            *queue = Queue::EMPTY;
            self.queues.mark(output, input, vl, false);
        } else {
            queue.first = self.behind[first as usize];
        }
        let packet = &mut self.packets[first as usize];
        let (flits, end, stage) = (packet.flits, packet.flits - 1, common.stage(output));
        let paces = &common.paces;
        let granted = packet.there.through(stage.input_latency, now, stage.pace, end, paces);
        let done = granted.time(end, paces);
        packet.there = granted.delayed(stage.output_latency);
        let (name, came_vl, host) = (packet.name, packet.came_vl, output.host);
        lane.last_input = input;
        assert!(flits <= credit, "credits are negative");
        lane.sent = lane.sent.wrapping_add(flits);
        output.free_at = done + paces.ps(stage.pace);
        output.queued += flits;
        self.behind[first as usize] = NONE;
        let before = std::mem::replace(&mut output.last, first);
        if output.first == NONE {
            output.first = first;
        } else {
            self.behind[before as usize] = first;
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
            self.settle(from ^ 1, now);
            self.expire(from);
            let leaving = Leaving { profile: granted, flits, vl: came_vl, last: done };
            let (input, rare) = (&mut self.outputs[from ^ 1].input, &mut self.rare[from ^ 1]);
            input.leaves(rare, leaving);
            let (feeds, first) = input.feeds(rare, now);
            if feeds >= self.common.speedup {
                self.fed_until[from] = first;
            }
            self.buffer_changes(from ^ 1, now);
        }
        // Behind another packet it waits until the cable is looked at for that one.
        if self.outputs[channel].first == first {
            self.settle(channel, now);
            self.start(channel);
        }
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
