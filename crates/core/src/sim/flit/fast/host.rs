//! Hosts: what they make, and what they consume.

use super::state::Head;
use super::{CONSUME, Fast, NONE, Observer, Packet, Source};
use crate::sim::flit::network::Way;
use crate::sim::flit::profile::Profile;
use crate::sim::flit::source::PacketName;
use crate::units::Picos;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Lets the generator of `rank` begin its next packet, if it has one to send.
    pub(super) fn make(&mut self, rank: u32) {
        let host = &mut self.hosts[rank as usize];
        if host.waits {
            return;
        }
        let mut gap = 0;
        while host.sending.is_none() {
            let Some(send) = self.source.next(rank, Picos(self.now)) else { return };
            match self.network.way(rank, send.target) {
                Some(way) => host.sending = Some((send, way, send.bytes)),
                None => self.source.unrouted(rank, send),
            }
            gap = self.common.message_gap;
        }
        let Some((send, way, left)) = host.sending else { return };
        let flit_bytes = u64::from(self.common.flit_bytes);
        let bytes = left.min(u64::from(self.common.mtu_flits) * flit_bytes);
        let flits = bytes.div_ceil(flit_bytes).max(1) as u32;
        host.sending = (left > bytes).then_some((send, way, left - bytes));
        let name = PacketName { source: rank, number: host.number };
        host.number += 1;
        let (first, pace) = (self.now.max(host.made) + gap, self.common.host_flit);
        host.made = first + self.common.paces.ps(pace) * u64::from(flits);
        host.waits = true;
        let there = Profile::steady(first + self.common.host_latency, pace);
        let Way { injection, lid, sl, vl } = way;
        let packet = Packet { there, lid, name, flits, next: NONE, sl, vl, came_vl: vl };
        let packet = self.add_packet(packet, (left <= bytes).then_some(send));
        self.enqueue(injection.index(), 0, vl, packet, there.head);
    }

    /// Puts a packet before a sink, which takes a flit a tick.
    pub(super) fn swallow(&mut self, channel: usize, sink: u32, at: u32, there: Profile) {
        let pace = self.common.sink_flit;
        let flits = self.packets[at as usize].flits;
        let sink = &mut self.sinks[sink as usize];
        let start = *sink.start.get_or_insert(there.head);
        let tick = |moment: u64| (moment - start).div_ceil(pace).max(1);
        let first = tick(there.head).max(sink.last_tick + 1);
        let whole = there.time(flits - 1, &self.common.paces);
        let last = tick(whole).max(first + u64::from(flits) - 1);
        sink.last_tick = last;
        sink.packets.push_back((at, first));
        self.calendar.push((start + last * pace, CONSUME | channel as u32));
        self.buffer_changes(channel ^ 1);
    }

    /// Consumes the first packet before a sink.
    pub(super) fn consume(&mut self, channel: usize) {
        let Head::Sink(sink) = self.inputs[channel].head else { return };
        let sink = &mut self.sinks[sink as usize];
        let (rank, Some((at, _))) = (sink.rank, sink.packets.pop_front()) else { return };
        let Packet { name, flits, came_vl, .. } = self.packets[at as usize];
        let departed = &mut self.lanes.of_mut(channel, came_vl).departed;
        *departed = departed.wrapping_add(flits);
        self.unused.push(at);
        self.counts.consumed_flits += u64::from(flits);
        self.observer.consumed(Picos(self.now), rank, name, flits);
        if let Some(send) = self.ends[at as usize] {
            self.counts.messages += 1;
            let mut ready = std::mem::take(&mut self.ready);
            self.source.delivered(name.source, send, Picos(self.now), &mut ready);
            for rank in ready.drain(..) {
                self.make(rank);
            }
            self.ready = ready;
        }
    }
}
