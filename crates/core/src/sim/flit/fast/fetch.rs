//! Reading ahead: what the next events need is on its way into the cache before they come.
//!
//! The state of a large fabric does not fit the cache, and each event needs lines at the end of chains: from a channel to
//! its queue, to the packet, to the entry of the table, to the next channel. One event after the other would wait for each.
//! Here the events to come are looked at in their order, a link of the chain after the other, a few events apart: by then
//! the link before is there, and nobody waits. What is fetched fits the smallest cache. It changes nothing but time.

use std::slice;

use prefetch_index::prefetch_index;

use super::state::Head;
use super::{ARBITRATE, CABLE, CHANNEL, CONSUME, Fast, NONE, Observer, Source, TIMER};

/// Events between two links: a few hundred nanoseconds, more than a line takes.
const APART: usize = 3;

/// Links of the longest chain.
const LINKS: usize = 6;

/// Events that are looked at ahead.
pub(super) const AHEAD: usize = APART * LINKS;

/// What is known of the events ahead: a ring, as large as a power of two.
#[derive(Default)]
pub(super) struct Ahead {
    hints: [Hint; AHEAD.next_power_of_two()],
    /// How many events were looked at.
    count: usize,
    /// How many of those are still to come, if no other event came between.
    waiting: usize,
}

/// An event, and the packet that it is likely to start.
#[derive(Clone, Copy)]
struct Hint {
    key: u32,
    packet: u32,
    input: u8,
    vl: u8,
}

impl Default for Hint {
    fn default() -> Self {
        Hint { key: TIMER, packet: NONE, input: 0, vl: 0 }
    }
}

/// Has the cache line in which a value begins fetched.
#[inline(always)]
fn fetch<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 0);
}

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Looks ahead while an event is taken.
    #[inline]
    pub(super) fn fetch(&mut self) {
        let ring = self.ahead.hints.len();
        self.ahead.waiting = self.ahead.waiting.saturating_sub(1);
        while self.ahead.waiting < AHEAD {
            let Some(key) = self.calendar.ahead(self.ahead.waiting) else { break };
            let count = self.ahead.count;
            self.ahead.hints[count % ring] = Hint { key, ..Hint::default() };
            self.ahead.count += 1;
            self.ahead.waiting += 1;
            self.fetch_ends(key);
            let at = |link: usize| count.wrapping_sub(link * APART) % ring;
            self.ahead.hints[at(1)] = self.fetch_inputs(self.ahead.hints[at(1)]);
            self.ahead.hints[at(2)] = self.fetch_queue(self.ahead.hints[at(2)]);
            self.ahead.hints[at(3)] = self.fetch_packet(self.ahead.hints[at(3)]);
            self.fetch_route(self.ahead.hints[at(4)]);
            self.fetch_next(self.ahead.hints[at(5)]);
        }
    }

    /// First link: the end of the channel.
    #[inline]
    fn fetch_ends(&self, key: u32) {
        let channel = (key & CHANNEL) as usize;
        match key & !CHANNEL {
            ARBITRATE | CABLE => {
                let output = &self.outputs[channel];
                output.fetch_arbiter(fetch);
                output.fetch_cable(fetch);
                self.lanes.fetch(channel, fetch);
            }
            CONSUME => {
                self.outputs[channel ^ 1].fetch_cable(fetch);
                self.lanes.fetch(channel, fetch);
            }
            _ => {}
        }
        fetch(&self.heads[channel % self.heads.len()]);
    }

    /// Second link: which inputs have packets, or the packet itself.
    #[inline]
    fn fetch_inputs(&self, mut hint: Hint) -> Hint {
        let channel = (hint.key & CHANNEL) as usize;
        match hint.key & !CHANNEL {
            ARBITRATE => {
                fetch(self.queues.waiting(&self.outputs[channel]));
                self.fetch_told(channel);
            }
            CABLE => {
                let output = &self.outputs[channel];
                hint.packet = output.first;
                self.fetch_packet_at(output.first);
                self.fetch_told(channel);
            }
            CONSUME => {
                if let Head::Sink(sink) = self.heads[channel] {
                    fetch(&self.sinks[sink as usize]);
                }
            }
            _ => {}
        }
        hint
    }

    /// Third link: the queue that is served next, and the input that it came by.
    #[inline]
    fn fetch_queue(&self, mut hint: Hint) -> Hint {
        let channel = (hint.key & CHANNEL) as usize;
        match hint.key & !CHANNEL {
            ARBITRATE => {
                let output = &self.outputs[channel];
                if output.busy == 0 {
                    return Hint::default();
                }
                let vl = output.busy.trailing_zeros() as u8;
                let after = usize::from(self.lanes.of(channel, vl).last_input.wrapping_add(1));
                let next = |from| self.queues.next_input(output, vl, from);
                let Some(input) = next(after).or_else(|| next(0)) else { return Hint::default() };
                (hint.input, hint.vl) = (input, vl);
                if self.lanes.last_credit(channel, vl) < self.common.mtu_flits {
                    // It may have to catch up with flow control first.
                    let back = &self.outputs[channel ^ 1];
                    back.fetch_cable(fetch);
                    back.input.fetch(fetch);
                }
                fetch(self.queues.of(output, input, vl));
                if !output.host {
                    let from = self.queues.input(output, input);
                    self.outputs[from ^ 1].fetch_cable(fetch);
                    fetch(&self.fed_until[from]);
                    self.outputs[from ^ 1].input.fetch(fetch);
                    self.lanes.fetch(from, fetch);
                }
                self.fetch_front(channel ^ 1);
            }
            CABLE => self.fetch_front(channel ^ 1),
            CONSUME => self.fetch_front(channel),
            _ => {}
        }
        hint
    }

    /// Fourth link: the packet.
    #[inline]
    fn fetch_packet(&self, mut hint: Hint) -> Hint {
        let channel = (hint.key & CHANNEL) as usize;
        match hint.key & !CHANNEL {
            ARBITRATE => {
                let output = &self.outputs[channel];
                let packet = self.first(output, hint.input, hint.vl);
                self.fetch_packet_at(packet);
                if output.first == NONE {
                    // Behind others in the output buffer, it would not go on at once.
                    hint.packet = packet;
                }
                self.fetch_consumed(channel ^ 1);
            }
            CABLE => {
                self.fetch_consumed(channel ^ 1);
            }
            CONSUME => {
                if let Some(packet) = self.fetch_consumed(channel) {
                    fetch(&self.ends[packet as usize]);
                }
            }
            _ => {}
        }
        hint
    }

    /// Fifth link: where the packet goes next, and who makes another one.
    #[inline]
    fn fetch_route(&self, hint: Hint) {
        let Some(packet) = self.packets.get(hint.packet as usize) else { return };
        let channel = (hint.key & CHANNEL) as usize;
        match self.heads[channel] {
            Head::Switch(switch, _) => fetch(self.network.entry(switch, packet.lid)),
            Head::Sink(sink) => fetch(&self.sinks[sink as usize]),
            Head::Idle => {}
        }
        if self.outputs[channel].host {
            fetch(&self.hosts[packet.name.source as usize]);
        }
    }

    /// Sixth link: the arbiter and the queue there.
    #[inline]
    fn fetch_next(&self, hint: Hint) {
        let Some(packet) = self.packets.get(hint.packet as usize) else { return };
        match self.heads[(hint.key & CHANNEL) as usize] {
            Head::Switch(switch, port) => {
                let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
                self.outputs[self.queues.output(switch, out)].fetch_arbiter(fetch);
                let (queue, mark) = self.queues.of_port(switch, out, port, vl);
                fetch(queue);
                fetch(mark);
            }
            Head::Sink(sink) => {
                if let Some(back) = self.sinks[sink as usize].packets.back() {
                    fetch(back);
                }
            }
            Head::Idle => {}
        }
    }

    #[inline]
    fn fetch_packet_at(&self, at: u32) {
        if let Some(packet) = self.packets.get(at as usize) {
            fetch(packet);
        }
    }

    /// What flow control tells of, if there is some to catch up with.
    #[inline]
    fn fetch_told(&self, channel: usize) {
        let output = &self.outputs[channel];
        if output.leaves_at < self.now {
            match self.heads[channel ^ 1] {
                Head::Sink(sink) => fetch(&self.sinks[sink as usize]),
                _ => output.input.fetch(fetch),
            }
            self.lanes.fetch(channel ^ 1, fetch);
        }
    }

    /// Where a channel's sink, if it leads to one, notes the packet that it consumes.
    #[inline]
    fn fetch_front(&self, channel: usize) {
        if let Head::Sink(sink) = self.heads[channel]
            && let Some(front) = self.sinks[sink as usize].packets.front()
        {
            fetch(front);
        }
    }

    /// That packet.
    #[inline]
    fn fetch_consumed(&self, channel: usize) -> Option<u32> {
        let Head::Sink(sink) = self.heads[channel] else { return None };
        let &(packet, _) = self.sinks[sink as usize].packets.front()?;
        self.fetch_packet_at(packet);
        Some(packet)
    }
}
