//! Phase 0 of a moment: what was under way arrives.

use std::collections::VecDeque;

use super::{Consumed, Delivery, Flit, Observer, Packet, Queued, Reference, Source, pop_if};
use crate::ids::ChannelId;
use crate::sim::flit::network::End;
use crate::units::Picos;

impl<S: Source, O: Observer> Reference<'_, S, O> {
    pub(super) fn arrive(&mut self) {
        let now = self.now;
        let mut delivered: Vec<(u32, usize)> = Vec::new();
        for id in self.alive() {
            let channel = &mut self.channels[id.index()];
            while let Some((_, vl, limit)) = pop_if(&mut channel.credits, |credit| credit.0 <= now)
            {
                channel.limit[vl] = limit;
            }
            if channel.finishing.take_if(|end| *end <= now).is_some() {
                channel.output_used -= 1;
            }
            while let Some((arrived, flit)) =
                pop_if(&mut self.channels[id.index()].flying, |flying| flying.0 <= now)
            {
                self.arrived(id, flit, arrived);
            }
            if let End::Host(rank) = self.network.head(id)
                && let Some(packet) = self.drain(id)
            {
                delivered.push((rank, packet));
            }
        }
        let mut ready = Vec::new();
        for (rank, packet) in delivered {
            let Packet { name, flits, ends, .. } = self.packets[packet];
            let mtu = self.options.mtu();
            let bytes = ends.map_or(mtu.0, |(send, _)| send.last_packet(mtu));
            let now = Picos(now);
            self.observer.consumed(Consumed { now, target: rank, packet: name, flits, bytes });
            if let Some((send, began)) = ends {
                let began = Picos(began);
                let delivery = Delivery { source: name.source, send, began, now };
                self.source.delivered(delivery, &mut ready);
                ready.drain(..).for_each(|rank| self.make(rank));
            }
        }
        for rank in 0..self.hosts.len() {
            if self.hosts[rank].ask_at.take_if(|at| *at <= now).is_some() {
                self.make(rank as u32);
            }
        }
    }

    fn arrived(&mut self, id: ChannelId, flit: Flit, arrived: u64) {
        let Packet { way, .. } = self.packets[flit.packet];
        let (network, options) = (self.network, self.options);
        let channel = &mut self.channels[id.index()];
        channel.held[usize::from(flit.vl)] += 1;
        match network.head(id) {
            End::Switch(switch, input) => {
                let (port, vl) = network.next(switch, input, way.lid, way.sl);
                let output = network.output(switch, port);
                // INVARIANT: only packets that arrive are sent.
                #[allow(clippy::expect_used)]
                let output = output.expect("the packet has a route");
                let queue = channel.queue((output, vl));
                if flit.index == 0 {
                    let arrived = VecDeque::new();
                    queue.push_back(Queued { packet: flit.packet, vl: flit.vl, arrived });
                }
                if let Some(last) = queue.back_mut() {
                    last.arrived.push_back(arrived);
                }
                self.at(arrived + options.input_latency.0);
            }
            _ => {
                let start = *channel.sink_start.get_or_insert(arrived);
                channel.sink.push_back((arrived, flit));
                let pace = options.sink_flit.0;
                let tick = channel.sink_tick.max((arrived - start).div_ceil(pace).max(1) - 1) + 1;
                self.at(start + tick * pace);
            }
        }
    }
}
