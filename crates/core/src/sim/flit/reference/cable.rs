//! Phase 2 of a moment: cables send flow control or the next flit.

use super::{Observer, Reference, Source, pop_if};

impl<S: Source, O: Observer> Reference<'_, S, O> {
    pub(super) fn send(&mut self) {
        let now = self.now;
        let options = self.options;
        let lane_flits = u64::from(options.lane_flits_of(self.network.lanes()));
        for id in self.alive() {
            let flit_ps = u64::from(self.network.flit_ps(id));
            let credit_ps = options.credit_ps(flit_ps);
            let back = id.reverse().index();
            let channel = &mut self.channels[id.index()];
            if channel.cable_free > now {
                continue;
            }
            if !channel.inside_packet && channel.credit_tick <= now {
                // Flow control of the input buffer at this end, which the reverse channel fills.
                let tick = (now / options.credit_interval.0 + 1) * options.credit_interval.0;
                channel.credit_tick = tick;
                let own = &mut self.channels[back];
                let mut free = now;
                for lane in 0..own.departed.len() {
                    let value = lane_flits + own.departed[lane];
                    if own.advertised[lane] != Some(value) {
                        own.advertised[lane] = Some(value);
                        free += credit_ps;
                        own.credits.push_back((free + options.cable_ps(), lane, value));
                    }
                }
                let arrivals: Vec<u64> = own.credits.iter().map(|credit| credit.0).collect();
                arrivals.into_iter().for_each(|moment| self.at(moment));
                self.channels[id.index()].cable_free = free;
                self.at(free);
                self.at(tick);
            }
            let channel = &mut self.channels[id.index()];
            if channel.cable_free > now {
                continue;
            }
            if let Some((_, flit)) = pop_if(&mut channel.output, |(ready, _)| *ready <= now) {
                let last = flit.index + 1 == self.packets[flit.packet].flits;
                channel.inside_packet = !last;
                channel.cable_free = now + flit_ps;
                channel.finishing = Some(now + flit_ps);
                channel.flying.push_back((now + options.cable_ps(), flit));
                self.at(now + flit_ps);
                self.at(now + options.cable_ps());
            }
        }
    }
}
