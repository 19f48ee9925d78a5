//! Reading ahead: what the next events need comes into the cache all at once.
//!
//! The state of a large fabric does not fit the cache, and each event needs lines at the end of chains: from a channel to
//! its queue, to the packet, to the next channel. One event after the other would wait for each; here the processor waits
//! for those of a whole bucket of the calendar together, link of the chain by link. It changes nothing but time: about a
//! third less of it for thousands of nodes.

use super::state::Head;
use super::{ARBITRATE, CABLE, CHANNEL, Fast, NONE, Observer, Source, TIMER};

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Reads what the events of the bucket just opened will need.
    pub(super) fn fetch(&mut self) {
        let ends = self.fetch_ends();
        let packets = self.fetch_packets();
        let next = self.fetch_next();
        // So that no read is left out for having no use.
        std::hint::black_box(ends ^ packets ^ next);
    }

    /// The two ends of their channels.
    fn fetch_ends(&self) -> u64 {
        let channels = self.calendar.ahead().filter(|(_, key)| key & !CHANNEL != TIMER);
        channels.fold(0, |sum, (_, key)| {
            let channel = (key & CHANNEL) as usize;
            let output = &self.outputs[channel];
            let sum = sum ^ output.wake_at ^ output.cable_at ^ self.inputs[channel].line();
            if key & !CHANNEL == CABLE {
                // Flow control tells of the buffer that the other way fills.
                let reverse = &self.inputs[channel ^ 1];
                sum ^ reverse.line() ^ reverse.next_line() ^ self.lanes.lines(channel ^ 1)
            } else {
                sum ^ self.lanes.lines(channel)
            }
        })
    }

    /// The packets that wait there, and the inputs that those came by.
    fn fetch_packets(&mut self) -> u64 {
        self.fetched.clear();
        let mut sum = 0;
        for (time, key) in self.calendar.ahead() {
            let channel = (key & CHANNEL) as usize;
            if key & !CHANNEL == TIMER {
                continue;
            }
            let output = &self.outputs[channel];
            let packet = match key & !CHANNEL {
                CABLE if output.cable_at == time => output.first,
                ARBITRATE if output.wake_at == time && output.busy > 0 => {
                    let (input, packet) = self.likely(channel);
                    if !output.host {
                        let from = self.queues.input(output, input);
                        let back = &self.outputs[from ^ 1];
                        sum ^= self.inputs[from].line() ^ back.wake_at ^ back.cable_at;
                    }
                    packet
                }
                _ => continue,
            };
            let Some(read) = self.packets.get(packet as usize) else { continue };
            sum ^= read.there.head;
            // Behind others in the output buffer, it does not go on at once.
            if output.first == NONE || output.first == packet {
                self.fetched.push((channel as u32, packet));
            }
        }
        sum
    }

    /// An input and its packet that are likely to be next at an arbiter for which packets wait.
    fn likely(&self, channel: usize) -> (u8, u32) {
        let output = &self.outputs[channel];
        let vl = output.busy.trailing_zeros() as u8;
        let lane = self.lanes.of(channel, vl);
        let after = usize::from(lane.last_input.wrapping_add(1));
        let next = |from| self.queues.next_input(output, lane, vl, from);
        let input = next(after).or_else(|| next(0)).unwrap_or(0);
        (input, self.queues.first(output, input, vl))
    }

    /// Where those packets go next, and the packets that they will queue behind.
    fn fetch_next(&self) -> u64 {
        self.fetched.iter().fold(0, |sum, &(channel, packet)| {
            let Head::Switch(switch, port) = self.inputs[channel as usize].head else { return sum };
            let packet = &self.packets[packet as usize];
            let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
            let next = self.queues.output(switch, out);
            let output = &self.outputs[next];
            let before = self.packets.get(self.queues.last(output, port, vl) as usize);
            let before = before.map_or(NONE, |packet| packet.next);
            sum ^ output.wake_at ^ self.lanes.of(next, vl).inputs ^ u64::from(before)
        })
    }
}
