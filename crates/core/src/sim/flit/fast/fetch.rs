//! Reading ahead: what the next events need is on its way into the cache before they come.
//!
//! The state of a large fabric does not fit the cache, and each event needs lines at the end of chains: from a channel to
//! its queue, to the packet, to the next channel. One event after the other would wait for each. Here each link of the
//! chain is asked for a bucket of the calendar earlier than the next, for all events of the bucket, and nobody waits. It
//! changes nothing but time.

use std::slice;

use prefetch_index::prefetch_index;

use super::state::Head;
use super::{ARBITRATE, CABLE, CHANNEL, CONSUME, Fast, NONE, Observer, Source, TIMER};

/// Has the cache line in which a value begins fetched.
#[inline(always)]
fn fetch<T>(value: &T) {
    prefetch_index(slice::from_ref(value), 0);
}

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Asks for what the events of the buckets to come will need: the bucket just opened and the two after it.
    pub(super) fn fetch(&mut self) {
        for event in self.calendar.bucket(2) {
            self.fetch_ends(event as u32);
        }
        for event in self.calendar.bucket(1) {
            self.fetch_packet(event as u32);
        }
        for &event in self.calendar.open() {
            self.fetch_next(event as u32);
        }
    }

    /// The two ends of the channel.
    #[inline]
    fn fetch_ends(&self, key: u32) {
        let channel = (key & CHANNEL) as usize;
        match key & !CHANNEL {
            TIMER => {}
            CONSUME => {
                self.outputs[channel ^ 1].fetch_cable(fetch);
                fetch(self.lanes.of(channel, 0));
            }
            ARBITRATE => {
                self.outputs[channel].fetch_arbiter(fetch);
                self.outputs[channel].fetch_cable(fetch);
                self.lanes.fetch(channel, fetch);
            }
            _ => {
                self.outputs[channel].fetch_cable(fetch);
                // Flow control tells of the buffer that the other way fills.
                self.inputs[channel ^ 1].fetch(fetch);
                self.lanes.fetch(channel ^ 1, fetch);
            }
        }
    }

    /// The packet that waits there, and the input that it came by.
    #[inline]
    fn fetch_packet(&self, key: u32) {
        let Some((channel, input, packet)) = self.likely(key) else { return };
        let output = &self.outputs[channel];
        if let Some(input) = input
            && !output.host
        {
            let from = self.queues.input(output, input);
            self.inputs[from].fetch(fetch);
            self.outputs[from ^ 1].fetch_cable(fetch);
        }
        if let Some(packet) = self.packets.get(packet as usize) {
            fetch(packet);
        }
    }

    /// The arbiter and the queue where that packet goes next.
    #[inline]
    fn fetch_next(&self, key: u32) {
        let Some((channel, _, packet)) = self.likely(key) else { return };
        let first = self.outputs[channel].first;
        if first != NONE && first != packet {
            // Behind others in the output buffer, it does not go on at once.
            return;
        }
        let Head::Switch(switch, port) = self.heads[channel] else { return };
        let Some(packet) = self.packets.get(packet as usize) else { return };
        let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
        let next = self.queues.output(switch, out);
        let output = &self.outputs[next];
        output.fetch_arbiter(fetch);
        fetch(self.queues.slot(output, port, vl));
    }

    /// The channel that an event is about, and the packet that it is likely to start; of an arbiter also its input.
    #[inline]
    fn likely(&self, key: u32) -> Option<(usize, Option<u8>, u32)> {
        let channel = (key & CHANNEL) as usize;
        match key & !CHANNEL {
            CABLE => Some((channel, None, self.outputs[channel].first)),
            ARBITRATE => {
                let output = &self.outputs[channel];
                if output.busy == 0 {
                    return None;
                }
                let vl = output.busy.trailing_zeros() as u8;
                let lane = self.lanes.of(channel, vl);
                let after = usize::from(lane.last_input.wrapping_add(1));
                let next = |from| self.queues.next_input(output, vl, from);
                let input = next(after).or_else(|| next(0))?;
                Some((channel, Some(input), self.queues.first(output, input, vl)))
            }
            _ => None,
        }
    }
}
