//! Hosts: the generator, which makes packets, and the sink, which drains flits by its clock.

use std::collections::VecDeque;

use super::{Next, Observer, Packet, PacketName, Queued, Reference, Source};
use crate::ids::ChannelId;
use crate::units::Picos;

impl<S: Source, O: Observer> Reference<'_, S, O> {
    /// Lets the generator of `rank` begin its next packet, if it has one to send.
    pub(super) fn make(&mut self, rank: u32) {
        let host = &mut self.hosts[rank as usize];
        if host.asked {
            return;
        }
        let (mut gap, mut unrouted) = (0, 0);
        while host.sending.is_none() && unrouted < S::MOST_UNROUTED {
            let send = match self.source.next(rank, Picos(self.now)) {
                Next::Message(send) => send,
                Next::At(moment) => {
                    host.ask_at = Some(host.ask_at.map_or(moment.0, |at| at.min(moment.0)));
                    return self.at(moment.0);
                }
                Next::Nothing => return,
            };
            if self.network.way(rank, send.target).is_none() {
                self.source.unrouted(rank, send);
                unrouted += 1;
                continue;
            }
            host.sending = Some((send, send.bytes));
            gap = self.options.message_gap.0;
        }
        let Some((send, left)) = host.sending else { return };
        let Some(way) = self.network.way(rank, send.target) else { return };
        let bytes = left.min(self.options.mtu().0);
        let flits = bytes.div_ceil(u64::from(self.options.flit_bytes)).max(1) as u32;
        host.sending = (left > bytes).then_some((send, left - bytes));
        let name = PacketName { source: rank, number: host.number };
        host.number += 1;
        let pace = self.options.host_flit.0;
        let first = self.now.max(host.made) + gap;
        if left == send.bytes {
            host.began = first;
        }
        let ends = (left <= bytes).then_some((send, host.began));
        host.made = first + pace * u64::from(flits);
        host.asked = true;
        let ready = |index| first + pace * u64::from(index) + self.options.host_latency.0;
        let arrived: VecDeque<u64> = (0..flits).map(ready).collect();
        let packet = self.packets.len();
        self.packets.push(Packet { name, flits, way, ends });
        arrived.iter().for_each(|&moment| self.at(moment));
        // The generator is the only input of the host's arbiters.
        let queue = Queued { packet, vl: way.vl, arrived };
        let key = (way.injection, way.vl);
        self.channels[way.injection.reverse().index()].queue(key).push_back(queue);
    }

    /// Drains a flit if the sink's clock ticks now; returns the packet if it was the last of one.
    pub(super) fn drain(&mut self, id: ChannelId) -> Option<usize> {
        let (now, pace) = (self.now, self.options.sink_flit.0);
        let channel = &mut self.channels[id.index()];
        let since = now - channel.sink_start?;
        let tick = since / pace;
        if since % pace != 0 || tick <= channel.sink_tick {
            return None;
        }
        let (_, flit) = channel.sink.pop_front()?;
        channel.sink_tick = tick;
        channel.departed[usize::from(flit.vl)] += 1;
        channel.held[usize::from(flit.vl)] -= 1;
        let more = !channel.sink.is_empty();
        if more {
            self.at(now + pace);
        }
        (flit.index + 1 == self.packets[flit.packet].flits).then_some(flit.packet)
    }
}
