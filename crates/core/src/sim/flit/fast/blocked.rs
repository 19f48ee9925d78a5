//! Which packets wait in switches, and for what.

use super::state::Input;
use super::{Fast, NONE, Observer, Source};
use crate::ids::ChannelId;
use crate::sim::flit::deadlock::Waiting;

impl<S: Source, O: Observer> Fast<'_, S, O> {
    /// The packets at the heads of all queues of switches.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut found = Vec::new();
        for (channel, output) in self.outputs.iter().enumerate() {
            let Input::Switch { switch, .. } = &self.inputs[channel ^ 1] else { continue };
            if output.host || output.waiting == 0 {
                continue;
            }
            for vl in 0..self.lanes as u8 {
                let mut from = 1;
                while let Some(input) = self.queues.next_input(channel, vl, from) {
                    from = usize::from(input) + 1;
                    let first = self.queues.first(channel, input, vl);
                    debug_assert_ne!(first, NONE);
                    let packet = &self.packets[first as usize];
                    let filled_by = self.queues.output(*switch, input) ^ 1;
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

    /// Whether a packet has a place in the buffer at the end of a channel once all has left that is leaving.
    fn will_fit(&self, channel: usize, vl: u8, flits: u32) -> bool {
        let Input::Switch { leaving, .. } = &self.inputs[channel] else { return true };
        let slot = channel * self.lanes + usize::from(vl);
        let leaving = leaving.iter().filter(|one| one.vl == vl);
        let gone: u64 = self.departed[slot] + leaving.map(|one| u64::from(one.flits)).sum::<u64>();
        self.sent[slot] - gone + u64::from(flits) <= self.lane_flits
    }
}
