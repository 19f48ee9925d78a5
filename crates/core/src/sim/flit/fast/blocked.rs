//! Which packets wait in switches, and for what.

use super::state::Head;
use super::{Fast, NONE, Observer, Source};
use crate::ids::ChannelId;
use crate::sim::flit::deadlock::Waiting;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// The packets at the heads of all queues of switches, and those on the way to queues that are empty.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut found = Vec::new();
        for (channel, output) in self.outputs.iter().enumerate() {
            self.on_the_way(channel, &mut found);
            if output.host {
                continue;
            }
            for vl in (0..self.lanes.count as u8).filter(|vl| output.busy >> vl & 1 == 1) {
                let mut from = 1;
                while let Some(input) = self.queues.next_input(output, vl, from) {
                    from = usize::from(input) + 1;
                    let packet = &self.packets[self.first(output, input, vl) as usize];
                    let filled_by = self.queues.input(output, input);
                    found.push(Waiting {
                        buffer: (ChannelId(filled_by as u32), packet.came_vl),
                        next: (ChannelId(channel as u32), vl),
                        can_go: self.will_fit(channel, vl, packet.flits),
                    });
                }
            }
        }
        found
    }

    /// Packets that were granted a channel and have not started on its cable: they fill the buffer at its end, so that it
    /// still moves if one of them can go on from there.
    fn on_the_way(&self, channel: usize, found: &mut Vec<Waiting>) {
        let mut at = self.outputs[channel].first;
        while at != NONE {
            let packet = &self.packets[at as usize];
            at = self.behind[at as usize];
            let buffer = (ChannelId(channel as u32), packet.vl);
            let Head::Switch(switch, port) = self.heads[channel] else {
                found.push(Waiting { buffer, next: buffer, can_go: true });
                continue;
            };
            let (out, vl) = self.network.next(switch, port, packet.lid, packet.sl);
            let next = self.queues.output(switch, out);
            // Behind others it goes no earlier than they do.
            if self.queues.of(&self.outputs[next], port, vl).first == NONE {
                let can_go = self.will_fit(next, vl, packet.flits);
                found.push(Waiting { buffer, next: (ChannelId(next as u32), vl), can_go });
            }
        }
    }

    /// Whether a packet has a place in the buffer at the end of a channel once all has left that is leaving.
    fn will_fit(&self, channel: usize, vl: u8, flits: u32) -> bool {
        let Head::Switch(..) = self.heads[channel] else { return true };
        let input = &self.outputs[channel ^ 1].input;
        let (leaving, lane) = (input.leaving(&self.rare[channel ^ 1]), self.lanes.of(channel, vl));
        let leaving = leaving.filter(|one| one.vl == vl).map(|one| one.flits).sum::<u32>();
        let held = lane.sent.wrapping_sub(lane.departed).wrapping_sub(leaving);
        held + flits <= self.common.lane_flits
    }
}
