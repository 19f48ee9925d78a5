//! Hosts: what they make, and what they consume.

use super::state::Head;
use super::{CONSUME, Ends, Fast, NEVER, Observer, Packet, Source, TIMER};
use crate::sim::flit::network::Way;
use crate::sim::flit::profile::Profile;
use crate::sim::flit::source::{Consumed, Delivery, Next, PacketName};
use crate::units::Picos;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// Lets the generator of `rank` begin its next packet, if it has one to send.
    pub(super) fn make(&mut self, rank: u32) {
        let host = &mut self.hosts[rank as usize];
        if host.waits {
            return;
        }
        let (mut gap, mut unrouted) = (0, 0);
        while host.sending.is_none() && unrouted < S::MOST_UNROUTED {
            let send = match self.source.next(rank, Picos(self.now)) {
                Next::Message(send) => send,
                Next::At(moment) => return self.ask_at(rank, moment.0),
                Next::Nothing => return,
            };
            match self.network.way(rank, send.target) {
                Some(way) => host.sending = Some((send, way, send.bytes)),
                None => {
                    unrouted += 1;
                    self.source.unrouted(rank, send);
                }
            }
            gap = self.common.message_gap;
        }
        let Some((send, way, left)) = host.sending else { return };
        let flit_bytes = u64::from(self.common.flit_bytes);
        let bytes = left.min(self.common.mtu.0);
        let flits = bytes.div_ceil(flit_bytes).max(1) as u32;
        host.sending = (left > bytes).then_some((send, way, left - bytes));
        let name = PacketName { source: rank, number: host.number };
        host.number += 1;
        let (first, pace) = (self.now.max(host.made) + gap, self.common.host_flit);
        if left == send.bytes {
            host.began = first;
        }
        host.made = first + self.common.paces.ps(pace) * u64::from(flits);
        host.waits = true;
        let there = Profile::steady(first + self.common.host_latency, pace);
        let Way { injection, lid, sl, vl } = way;
        let packet = Packet { there, lid, name, flits, sl, vl, came_vl: vl };
        let ends = Ends { send, began: host.began };
        let packet = self.add_packet(packet, (left <= bytes).then_some(ends));
        self.enqueue(injection.index(), 0, vl, packet, there.head);
    }

    /// Has the generator of `rank` look again at `moment`, if it is not to before.
    fn ask_at(&mut self, rank: u32, moment: u64) {
        let host = &mut self.hosts[rank as usize];
        if moment < host.ask_at {
            host.ask_at = moment;
            self.calendar.push((moment, TIMER | rank));
        }
    }

    /// Asks a rank that wanted to be asked now.
    pub(super) fn ask(&mut self, rank: u32) {
        self.hosts[rank as usize].ask_at = NEVER;
        self.make(rank);
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
        let moment = start + first * pace;
        self.buffer_changes(channel ^ 1, moment);
    }

    /// Consumes the first packet before a sink.
    pub(super) fn consume(&mut self, channel: usize) {
        let Head::Sink(sink) = self.heads[channel] else { return };
        self.settle(channel ^ 1, self.now);
        let sink = &mut self.sinks[sink as usize];
        let (rank, Some((at, _))) = (sink.rank, sink.packets.pop_front()) else { return };
        let Packet { name, flits, came_vl, .. } = self.packets[at as usize];
        let departed = &mut self.lanes.of_mut(channel, came_vl).departed;
        *departed = departed.wrapping_add(flits);
        self.unused.push(at);
        self.counts.consumed_flits += u64::from(flits);
        let mtu = self.common.mtu;
        let bytes = self.ends[at as usize].map_or(mtu.0, |ends| ends.send.last_packet(mtu));
        let now = Picos(self.now);
        self.observer.consumed(Consumed { now, target: rank, packet: name, flits, bytes });
        if let Some(Ends { send, began }) = self.ends[at as usize] {
            self.counts.messages += 1;
            let mut ready = std::mem::take(&mut self.ready);
            let began = Picos(began);
            self.source.delivered(Delivery { source: name.source, send, began, now }, &mut ready);
            for rank in ready.drain(..) {
                self.make(rank);
            }
            self.ready = ready;
        }
    }
}
