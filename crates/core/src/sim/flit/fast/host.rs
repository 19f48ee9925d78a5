//! Hosts: what they make, and what they consume.

use super::state::Input;
use super::{CONSUME, Fast, NONE, Observer, Packet, Source};
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
            if self.network.way(rank, send.target).is_none() {
                self.source.unrouted(rank, send);
                continue;
            }
            host.sending = Some((send, send.bytes));
            gap = self.pace.message_gap;
        }
        let Some((send, left)) = host.sending else { return };
        let Some(way) = self.network.way(rank, send.target) else { return };
        let flit_bytes = u64::from(self.pace.flit_bytes);
        let bytes = left.min(u64::from(self.pace.mtu_flits) * flit_bytes);
        let flits = bytes.div_ceil(flit_bytes).max(1) as u32;
        host.sending = (left > bytes).then_some((send, left - bytes));
        let name = PacketName { source: rank, number: host.number };
        host.number += 1;
        let first = self.now.max(host.made) + gap;
        host.made = first + u64::from(self.pace.host_flit) * u64::from(flits);
        host.waits = true;
        let there = Profile::steady(first + self.pace.host_latency, self.pace.host_flit);
        let packet = self.add_packet(Packet {
            there,
            lid: way.lid,
            name,
            flits,
            next: NONE,
            sl: way.sl,
            vl: way.vl,
            came_vl: way.vl,
            ends: (left <= bytes).then_some(send),
        });
        self.enqueue(way.injection.index(), 0, way.vl, packet, there.head);
    }

    /// Puts a packet before a sink, which takes a flit a tick.
    pub(super) fn swallow(&mut self, channel: usize, at: u32, there: Profile) {
        let pace = self.pace.sink_flit;
        let flits = self.packets[at as usize].flits;
        let Input::Sink { start, last_tick, packets, .. } = &mut self.inputs[channel] else {
            return;
        };
        let start = *start.get_or_insert(there.head);
        let tick = |moment: u64| (moment - start).div_ceil(pace).max(1);
        let first = tick(there.head).max(*last_tick + 1);
        let last = tick(there.time(flits - 1)).max(first + u64::from(flits) - 1);
        *last_tick = last;
        packets.push_back((at, first));
        self.calendar.push((start + last * pace, CONSUME | channel as u32));
        self.buffer_changes(channel ^ 1);
    }

    /// Consumes the first packet before a sink.
    pub(super) fn consume(&mut self, channel: usize) {
        let Input::Sink { rank, packets, .. } = &mut self.inputs[channel] else { return };
        let (rank, Some((at, _))) = (*rank, packets.pop_front()) else { return };
        let Packet { name, flits, ends, came_vl, .. } = self.packets[at as usize];
        self.departed[channel * self.lanes + usize::from(came_vl)] += u64::from(flits);
        self.unused.push(at);
        self.counts.consumed_flits += u64::from(flits);
        self.observer.consumed(Picos(self.now), rank, name, flits);
        if let Some(send) = ends {
            self.counts.messages += 1;
            let mut ready = Vec::new();
            self.source.delivered(name.source, send, Picos(self.now), &mut ready);
            for rank in ready {
                self.make(rank);
            }
        }
    }
}
