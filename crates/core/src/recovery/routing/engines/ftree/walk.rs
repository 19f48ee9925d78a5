//! The walk that gives every switch its way to one destination.
//!
//! From the destination's switch it climbs one main path to a root, each time by the group with the fewest routes down. At
//! every switch it passes, all that lies below and has no shorter way gets its way up to that switch, by the cable with
//! the fewest routes up. Other switches above get a way down too, without being counted: nothing uses it in a whole tree.
//! In the end, nearest switches first, cables between switches of one rank are tried, and, for destinations that may be
//! reached the wrong way round, climbs from switches that have a way up.
//!
//! A way is only ever replaced by a shorter one and always leads to a switch that is nearer, so no packet can circle.

use super::groups::{Cable, Group, Groups, Way};
use crate::ids::SwitchId;

/// What kind of destination is walked to.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// Whether it has a main path, whose routes down are counted; routes up always are.
    pub main: bool,
    /// Most hops up after a hop down.
    pub reverse_hops: u32,
}

/// The ways to one destination, and the room to find them.
#[derive(Clone, Debug)]
pub struct Walk {
    groups: Groups,
    /// Whether nodes are attached to each switch.
    leaf: Vec<bool>,
    /// Ranked switches in tuple order, and those of them with a neighbour of their own rank.
    order: Vec<SwitchId>,
    with_beside: Vec<SwitchId>,
    purpose: Purpose,
    hops: Vec<u32>,
    /// Hops up on the way of each switch, after the last one within a rank.
    rises: Vec<u32>,
    port: Vec<u8>,
    reached: Vec<SwitchId>,
    farthest: u32,
}

const FAR: u32 = u32::MAX;

impl Walk {
    /// Walks over `groups`; `leaf` says where nodes are attached, `order` is all ranked switches in tuple order.
    #[must_use]
    pub fn new(groups: Groups, leaf: Vec<bool>, order: &[SwitchId]) -> Self {
        let with_beside = order.iter().copied().filter(|s| !groups.beside[s.index()].is_empty());
        Walk {
            with_beside: with_beside.collect(),
            order: order.to_vec(),
            purpose: Purpose { main: false, reverse_hops: 0 },
            hops: vec![FAR; leaf.len()],
            rises: vec![0; leaf.len()],
            port: vec![0; leaf.len()],
            reached: Vec::new(),
            farthest: 0,
            groups,
            leaf,
        }
    }

    /// Finds the ways to a destination at `target`, and counts them.
    ///
    /// # Complexity
    /// Linear in the groups of the switches above `target`, and of all switches if there are cables within a rank.
    pub fn run(&mut self, target: SwitchId, purpose: Purpose) {
        for switch in self.reached.drain(..) {
            self.hops[switch.index()] = FAR;
        }
        self.purpose = purpose;
        self.farthest = 0;
        self.hops[target.index()] = 0;
        self.rises[target.index()] = 0;
        self.reached.push(target);
        self.climb(target, purpose.main);
        if !self.with_beside.is_empty() || purpose.reverse_hops > 0 {
            self.detours();
        }
    }

    /// Switches other than the target that have a way to it, and the port it leaves by.
    pub fn ways(&self) -> impl Iterator<Item = (SwitchId, u8)> + '_ {
        self.reached[1..].iter().map(|&switch| (switch, self.port[switch.index()]))
    }

    /// Gives switches below and above `at`, which has a way, theirs: above by the groups with the fewest routes down first,
    /// the main path by the very first.
    fn climb(&mut self, at: SwitchId, main: bool) {
        self.descend(at);
        let mut order = self.groups.above[at.index()].clone();
        order.sort_by_key(|&(_, group)| self.groups.all[group as usize].down);
        for (place, (_, group)) in order.into_iter().enumerate() {
            self.rise(at, group, main && place == 0);
        }
    }

    /// Gives the switch above `at` a way down to it, unless it has one as short or this one goes the wrong way round.
    fn rise(&mut self, at: SwitchId, group: u32, main: bool) {
        let Group { upper, cables, down, .. } = &mut self.groups.all[group as usize];
        let upper = *upper;
        let known = self.hops[upper.index()];
        let wrong_way = self.rises[at.index()] > 0;
        if known <= self.hops[at.index()] + 1 || (wrong_way && known != FAR) {
            return;
        }
        let cable = least(cables, |cable| cable.down);
        if main {
            cables[cable].down += 1;
            *down += 1;
        }
        let port = cables[cable].upper_port;
        self.set(upper, at, port, self.rises[at.index()]);
        self.climb(upper, main);
    }

    /// Gives all that lies below `at` and has no way as short a way up to it; says whether nodes are attached there.
    fn descend(&mut self, at: SwitchId) -> bool {
        let further = self.hops[at.index()] + 1;
        let rises = self.rises[at.index()] + 1;
        let open = |way: &Way| self.hops[way.0.index()] > further;
        let mut order: Vec<Way> =
            self.groups.below[at.index()].iter().copied().filter(open).collect();
        order.sort_by_key(|&(_, group)| self.groups.all[group as usize].up);
        let mut nodes = false;
        for (lower, group) in order {
            // What lies below an earlier one may have led here meanwhile.
            if self.hops[lower.index()] <= further {
                continue;
            }
            let cables = &self.groups.all[group as usize].cables;
            let cable = least(cables, |cable| cable.up);
            let port = cables[cable].lower_port;
            self.set(lower, at, port, rises);
            if self.descend(lower) | self.leaf[lower.index()] {
                nodes = true;
                let group = &mut self.groups.all[group as usize];
                group.cables[cable].up += 1;
                group.up += 1;
            }
        }
        nodes
    }

    /// From the nearest switches on, tries cables within a rank, and the wrong way round if that is allowed.
    fn detours(&mut self) {
        let wrong_ways = 1..=self.purpose.reverse_hops;
        let candidates = if wrong_ways.is_empty() { &self.with_beside } else { &self.order };
        let candidates = candidates.clone();
        let mut distance = 0;
        // A way found from here on is longer than `distance`.
        while distance <= self.farthest {
            for &switch in &candidates {
                if self.hops[switch.index()] != distance {
                    continue;
                }
                for place in 0..self.groups.beside[switch.index()].len() {
                    self.cross(switch, self.groups.beside[switch.index()][place]);
                }
                if wrong_ways.contains(&self.rises[switch.index()]) {
                    self.climb(switch, false);
                }
            }
            distance += 1;
        }
    }

    /// Gives a switch of the same rank as `at` a way to it, unless it has one as short, and so those around it.
    fn cross(&mut self, at: SwitchId, (other, group): Way) {
        if self.hops[other.index()] <= self.hops[at.index()] + 1 {
            return;
        }
        let Group { lower, cables, .. } = &mut self.groups.all[group as usize];
        let counted = u32::from(self.purpose.main);
        let port = if other == *lower {
            let cable = least(cables, |cable| cable.up);
            cables[cable].up += counted;
            cables[cable].lower_port
        } else {
            let cable = least(cables, |cable| cable.down);
            cables[cable].down += counted;
            cables[cable].upper_port
        };
        self.set(other, at, port, 0);
        self.climb(other, false);
    }

    /// Writes down that the way of `switch` goes on to `next`.
    fn set(&mut self, switch: SwitchId, next: SwitchId, port: u8, rises: u32) {
        if self.hops[switch.index()] == FAR {
            self.reached.push(switch);
        }
        let hops = self.hops[next.index()] + 1;
        self.hops[switch.index()] = hops;
        self.farthest = self.farthest.max(hops);
        self.rises[switch.index()] = rises;
        self.port[switch.index()] = port;
    }
}

/// The position of the first cable with the fewest routes.
fn least(cables: &[Cable], routes: impl Fn(&Cable) -> u32) -> usize {
    (0..cables.len()).min_by_key(|&at| routes(&cables[at])).unwrap_or(0)
}
