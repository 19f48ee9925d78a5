//! Arbiters: which packet goes next.

use super::state::{Input, Leaving};
use super::{Fast, NEVER, NONE, Observer, Source};
use crate::ids::ChannelId;
use crate::units::Picos;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Grants the channel to a packet if one can go; else finds out when to look again.
    pub(super) fn arbitrate(&mut self, channel: usize) {
        let now = self.now;
        let output = &mut self.outputs[channel];
        output.wake_at = NEVER;
        output.waits_credit = false;
        output.waits_room = 0;
        while let Some(&(at, vl, limit)) = output.credits.front() {
            if at > now {
                break;
            }
            output.credits.pop_front();
            self.limit[channel * self.lanes + usize::from(vl)] = limit;
        }
        if output.waiting == 0 {
            return;
        }
        let room = output.capacity - output.used(now);
        let mut look = Look { again: NEVER, credit: false, need: NONE };
        let (mut ready, mut inputs) = (0u16, [0u8; 16]);
        for vl in 0..self.lanes as u8 {
            if let Some(input) = self.candidate(channel, vl, room, &mut look) {
                ready |= 1 << vl;
                inputs[usize::from(vl)] = input;
            }
        }
        if ready != 0 {
            let choice = self.tables.choose(&self.outputs[channel].turns, ready);
            let input = inputs[usize::from(choice.vl)];
            let first = self.queues.first(channel, input, choice.vl);
            let flits = self.packets[first as usize].flits;
            self.tables.sent(&mut self.outputs[channel].turns, choice, flits);
            self.grant(channel, input, choice.vl);
            return;
        }
        let output = &mut self.outputs[channel];
        output.waits_credit = look.credit;
        let mut again = look.again;
        if look.credit
            && let Some(&(at, ..)) = output.credits.front()
        {
            again = again.min(at);
        }
        if look.need != NONE {
            output.waits_room = look.need;
            again = again.min(output.room_at(look.need).unwrap_or(NEVER));
        }
        if again < NEVER {
            self.wake(channel, again);
        }
    }

    /// The input whose packet for a lane can go now, in turn; else notes what they wait for.
    #[inline]
    fn candidate(&mut self, channel: usize, vl: u8, room: u32, look: &mut Look) -> Option<u8> {
        if !self.queues.any(channel, vl) {
            return None;
        }
        let slot = channel * self.lanes + usize::from(vl);
        let credit = self.limit[slot] - self.sent[slot];
        if credit < u64::from(self.least_flits) {
            look.credit = true;
            return None;
        }
        if room <= self.least_flits {
            look.need = look.need.min(self.least_flits);
            return None;
        }
        let (latency, host) = {
            let output = &self.outputs[channel];
            (output.input_latency, output.host)
        };
        let last = self.queues.last_input[slot];
        let after = usize::from(last.wrapping_add(1));
        // Round once: from the one after the last served to the end, then from the first.
        let (mut from, mut wrapped) = (after, after == 0);
        loop {
            let Some(input) = self.queues.next_input(channel, vl, from) else {
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
            let packet = &self.packets[self.queues.first(channel, input, vl) as usize];
            let (there, flits) = (packet.there.head + latency, packet.flits);
            if there > self.now {
                look.again = look.again.min(there);
            } else if credit < u64::from(flits) {
                look.credit = true;
            } else if room <= flits {
                look.need = look.need.min(flits);
            } else if let Some(freed) = self.fed_until(channel, input).filter(|_| !host) {
                look.again = look.again.min(freed);
            } else {
                return Some(input);
            }
        }
    }

    /// When an input that feeds as many outputs as it can will feed one less; `None` if it can feed one more now.
    #[inline]
    fn fed_until(&mut self, channel: usize, input: u8) -> Option<u64> {
        let (now, speedup) = (self.now, self.pace.speedup);
        let from = self.input_channel(channel, input);
        self.expire(from);
        let Input::Switch { leaving, .. } = &self.inputs[from] else { return None };
        if leaving.len() < speedup {
            return None;
        }
        debug_assert!(leaving.iter().all(|one| one.last > now));
        leaving.iter().map(|one| one.last).min()
    }

    /// Forgets packets that have left the buffer at the end of a channel.
    pub(super) fn expire(&mut self, from: usize) {
        let Input::Switch { leaving, .. } = &mut self.inputs[from] else { return };
        let (now, lanes) = (self.now, self.lanes);
        let departed = &mut self.departed[from * lanes..(from + 1) * lanes];
        leaving.retain(|one| {
            let stays = one.last > now;
            if !stays {
                departed[usize::from(one.vl)] += u64::from(one.flits);
            }
            stays
        });
    }

    /// The channel that arrives at an input port of the switch that `channel` leaves.
    #[inline]
    fn input_channel(&self, channel: usize, input: u8) -> usize {
        let Input::Switch { switch, .. } = &self.inputs[channel ^ 1] else { return channel ^ 1 };
        self.queues.output(*switch, input) ^ 1
    }

    /// Starts the first packet of a queue.
    fn grant(&mut self, channel: usize, input: u8, vl: u8) {
        let now = self.now;
        let (first, last) = *self.queues.ends(channel, input, vl);
        let at = first as usize;
        let next = self.packets[at].next;
        if first == last {
            *self.queues.ends(channel, input, vl) = (NONE, NONE);
            self.queues.mark(channel, input, vl, false);
        } else {
            self.queues.ends(channel, input, vl).0 = next;
        }
        let slot = channel * self.lanes + usize::from(vl);
        self.queues.last_input[slot] = input;
        let output = &mut self.outputs[channel];
        let packet = &mut self.packets[at];
        let (flits, end) = (packet.flits, packet.flits - 1);
        let pace = output.grant_pace;
        let granted = packet.there.through(output.input_latency, now, pace, end);
        let done = granted.time(end);
        packet.there = granted.delayed(output.output_latency);
        packet.next = NONE;
        let (name, came_vl, host) = (packet.name, packet.came_vl, output.host);
        self.sent[slot] += u64::from(flits);
        output.free_at = done + u64::from(pace);
        output.waiting -= 1;
        output.queued += flits;
        if output.first == NONE {
            output.first = first;
        } else {
            let before = output.last as usize;
            self.packets[before].next = first;
        }
        output.last = first;
        let (more, free_at) = (output.waiting > 0, output.free_at);
        self.observer.granted(Picos(now), ChannelId(channel as u32), name);
        if more {
            self.wake(channel, free_at);
        }
        if host {
            self.hosts[name.source as usize].waits = false;
            self.make(name.source);
        } else {
            let from = self.input_channel(channel, input);
            self.expire(from);
            if let Input::Switch { leaving, .. } = &mut self.inputs[from] {
                leaving.push(Leaving { profile: granted, flits, vl: came_vl, last: done });
            }
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
