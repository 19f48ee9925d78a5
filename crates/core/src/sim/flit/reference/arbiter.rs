//! Phase 1 of a moment: arbiters go on with their packet, then idle ones choose a new one.

use super::{Flit, Granting, Observer, Packet, Reference, Source, pop_if};
use crate::ids::{ChannelId, SwitchId};
use crate::sim::flit::network::End;
use crate::units::Picos;

impl<S: Source, O: Observer> Reference<'_, S, O> {
    pub(super) fn arbitrate(&mut self) {
        let alive: Vec<ChannelId> = self.alive().collect();
        for &id in &alive {
            if self.channels[id.index()].granting.is_some() {
                self.grant(id);
            }
        }
        for &id in &alive {
            let channel = &self.channels[id.index()];
            if channel.granting.is_none() && channel.free_at <= self.now {
                self.choose(id);
            }
        }
    }

    /// The inputs of an arbiter: (input port, channel that ends there), ascending by port; a host has but its generator.
    fn inputs(&self, id: ChannelId) -> Vec<(u8, ChannelId)> {
        match self.network.tail(id) {
            End::Switch(switch, _) => self.inputs_of(switch),
            _ => vec![(0, id.reverse())],
        }
    }

    fn inputs_of(&self, switch: SwitchId) -> Vec<(u8, ChannelId)> {
        (1..=self.network.radix(switch))
            .filter_map(|port| Some((port, self.network.output(switch, port)?.reverse())))
            .collect()
    }

    pub(super) fn is_host(&self, id: ChannelId) -> bool {
        !matches!(self.network.tail(id), End::Switch(..))
    }

    /// Starts the next packet, if one can.
    fn choose(&mut self, id: ChannelId) {
        let (host, now) = (self.is_host(id), self.now);
        let latency = if host { 0 } else { self.options.input_latency.0 };
        let room =
            if host { self.options.host_output_flits } else { self.options.switch_output_flits }
                - self.channels[id.index()].output_used;
        let mut ready: Vec<Vec<u8>> = vec![Vec::new(); self.network.lanes()];
        let inputs = self.inputs(id);
        for &(port, input) in &inputs {
            let from = &self.channels[input.index()];
            for ((output, vl), queue) in &from.queues {
                let Some(first) = queue.front().filter(|_| *output == id) else { continue };
                let flits = self.packets[first.packet].flits;
                let out = &self.channels[id.index()];
                let lane = usize::from(*vl);
                if first.arrived.front().is_some_and(|&arrived| arrived + latency <= now)
                    && out.limit[lane] >= out.sent[lane] + u64::from(flits)
                    && room > flits
                    && (host || from.feeding < self.options.input_speedup)
                {
                    ready[lane].push(port);
                }
            }
        }
        let bits = (0..self.network.lanes()).filter(|&lane| !ready[lane].is_empty());
        let bits = bits.fold(0u16, |bits, lane| bits | 1 << lane);
        if bits == 0 {
            return;
        }
        let out = &mut self.channels[id.index()];
        let choice = self.tables.choose(&out.turns, bits);
        let vl = choice.vl;
        let ports = &ready[usize::from(vl)];
        let last = out.last_input[usize::from(vl)];
        // The first after the one served last, round and round.
        let after = ports.iter().find(|&&port| last != u8::MAX && port > last);
        let port = *after.unwrap_or(&ports[0]);
        out.last_input[usize::from(vl)] = port;
        let from = inputs.iter().find(|(other, _)| *other == port).map(|&(_, input)| input);
        let Some(from) = from else { return };
        self.channels[from.index()].feeding += u32::from(!host);
        let queue = self.channels[from.index()].queue((id, vl));
        let Some(packet) = queue.front().map(|first| first.packet) else { return };
        let Packet { name, flits, .. } = self.packets[packet];
        let out = &mut self.channels[id.index()];
        self.tables.sent(&mut out.turns, choice, flits);
        out.granting = Some(Granting { input: port, packet, vl, granted: 0 });
        // Credits and room are taken for the whole packet; flits take their slots as they come.
        out.sent[usize::from(vl)] += u64::from(flits);
        self.observer.granted(Picos(now), id, name);
        self.grant(id);
        if host {
            self.hosts[name.source as usize].asked = false;
            self.make(name.source);
        }
    }

    /// Grants the next flit of the packet in progress, if it is there.
    fn grant(&mut self, id: ChannelId) {
        let (host, now) = (self.is_host(id), self.now);
        let (latency, pace, on) = if host {
            (0, self.options.host_arbiter.0, 0)
        } else {
            let options = self.options;
            (options.input_latency.0, options.switch_arbiter.0, options.output_latency.0)
        };
        let inputs = self.inputs(id);
        let out = &self.channels[id.index()];
        let Some(Granting { input, packet, vl, granted }) = out.granting else { return };
        if out.free_at > now {
            return;
        }
        let from = inputs.iter().find(|(port, _)| *port == input).map(|&(_, from)| from);
        let Some(from) = from else { return };
        let flits = self.packets[packet].flits;
        let last = granted + 1 == flits;
        let from = &mut self.channels[from.index()];
        let queue = from.queue((id, vl));
        let Some(first) = queue.front_mut() else { return };
        let lane = usize::from(first.vl);
        if pop_if(&mut first.arrived, |arrived| arrived + latency <= now).is_none() {
            return;
        }
        if last {
            queue.pop_front();
        }
        if !host {
            from.departed[lane] += 1;
            from.held[lane] -= 1;
            from.feeding -= u32::from(last);
        }
        let out = &mut self.channels[id.index()];
        out.free_at = now + pace;
        out.output.push_back((now + on, Flit { packet, index: granted, vl }));
        out.output_used += 1;
        out.granting = (!last).then_some(Granting { input, packet, vl, granted: granted + 1 });
        self.at(now + pace);
        self.at(now + on);
    }
}
