//! Lets parts fail one by one as long as no nodes are parted.
//!
//! Two nodes are together while cables join them, by any plane; nodes do not forward. A failure is refused if two
//! alive nodes that were together no longer would be, or if an alive node would lose its last usable cable. Failures
//! among switches that serve no pair of nodes are allowed. Aggregation engines live and die with their switch and do
//! not count.
//!
//! A failed cable or switch parts the fabric only if its neighbours no longer meet, so the search grows a region
//! around each of them in turn and ends when all but one have met or are complete: in a fabric with other ways nearby
//! that takes a few steps, whatever the size of the machine.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ids::{ChannelId, LinkId, NodeId, SwitchId};
use crate::machine::{Groups, Machine, NodeKind, View};

/// What is alive, and which groups of switches every node reaches.
pub(super) struct Connectivity<'a> {
    machine: &'a Machine,
    usable: Vec<bool>,
    /// Whether a node is alive, and no aggregation engine.
    node_alive: Vec<bool>,
    group: Vec<u32>,
    group_count: u32,
    /// Groups each node is attached to, ascending; see [`Connectivity::reach_now`].
    reach: Vec<Vec<u32>>,
    /// How many alive nodes have that reach. Most machines have one entry a plane or fewer.
    classes: BTreeMap<Vec<u32>, u32>,
    search: Search,
}

/// The switch is dead.
const DEAD: u32 = u32::MAX;
/// Added to the id of a back-to-back cable, which joins its two nodes as a group of switches would.
const BACK_TO_BACK: u32 = 1 << 31;

impl<'a> Connectivity<'a> {
    pub(super) fn new(view: &'a View) -> Self {
        let machine = view.machine();
        let groups = Groups::new(view);
        let mut connectivity = Connectivity {
            machine,
            usable: machine.links().map(|link| view.link_usable(link)).collect(),
            node_alive: machine
                .nodes()
                .map(|n| view.node_alive(n) && machine.node(n).kind != NodeKind::Aggregation)
                .collect(),
            group: machine.switches().map(|s| groups.of_switch(s).unwrap_or(DEAD)).collect(),
            group_count: groups.count() as u32,
            reach: Vec::new(),
            classes: BTreeMap::new(),
            search: Search::new(machine.switch_count()),
        };
        for node in machine.nodes() {
            let reach = connectivity.reach_now(node);
            if connectivity.node_alive[node.index()] {
                *connectivity.classes.entry(reach.clone()).or_default() += 1;
            }
            connectivity.reach.push(reach);
        }
        connectivity
    }

    /// Lets a link fail unless that parts nodes; says whether it failed.
    pub(super) fn fail_link(&mut self, link: LinkId) -> bool {
        if !self.usable[link.index()] {
            return true;
        }
        self.usable[link.index()] = false;
        let ends = self.machine.ends(link).map(|end| end.vertex);
        let switches = ends.map(|end| self.machine.as_switch(end));
        let nodes: Vec<NodeId> = ends.iter().filter_map(|&end| self.machine.as_node(end)).collect();
        let neighbours = match switches {
            [Some(a), Some(b)] => vec![a, b],
            _ => Vec::new(),
        };
        if self.settle(&neighbours, &nodes) {
            return true;
        }
        self.usable[link.index()] = true;
        false
    }

    /// Lets a switch fail unless that parts nodes; says whether it failed.
    pub(super) fn fail_switch(&mut self, switch: SwitchId) -> bool {
        let vertex = self.machine.switch_vertex(switch);
        let group = std::mem::replace(&mut self.group[switch.index()], DEAD);
        let channels: Vec<ChannelId> = self
            .machine
            .channels_from(vertex)
            .filter(|channel| self.usable[channel.link().index()])
            .collect();
        let (mut neighbours, mut nodes) = (Vec::new(), Vec::new());
        for &channel in &channels {
            self.usable[channel.link().index()] = false;
            let head = self.machine.head(channel).vertex;
            neighbours.extend(self.machine.as_switch(head).filter(|&other| other != switch));
            nodes.extend(self.machine.as_node(head));
        }
        if self.settle(&neighbours, &nodes) {
            return true;
        }
        self.group[switch.index()] = group;
        for channel in channels {
            self.usable[channel.link().index()] = true;
        }
        false
    }

    /// Lets a node fail unless another one hangs on it alone, back to back; says whether it failed.
    pub(super) fn fail_node(&mut self, node: NodeId) -> bool {
        if !self.node_alive[node.index()] {
            return true;
        }
        let links: Vec<LinkId> = self
            .machine
            .endpoints_of(node)
            .map(|endpoint| self.machine.injection(endpoint).link())
            .filter(|link| self.usable[link.index()])
            .collect();
        let mut partners = Vec::new();
        for &link in &links {
            self.usable[link.index()] = false;
            let ends = self.machine.ends(link).map(|end| self.machine.as_node(end.vertex));
            partners.extend(ends.into_iter().flatten().filter(|&end| end != node));
        }
        self.node_alive[node.index()] = false;
        self.count_out(node);
        if self.settle(&[], &partners) {
            return true;
        }
        self.node_alive[node.index()] = true;
        *self.classes.entry(self.reach[node.index()].clone()).or_default() += 1;
        for link in links {
            self.usable[link.index()] = true;
        }
        false
    }

    /// Works out what a failure next to `neighbours` and `nodes` parted; keeps it or takes it back.
    fn settle(&mut self, neighbours: &[SwitchId], nodes: &[NodeId]) -> bool {
        let pieces = self.search.pieces(self.machine, &self.usable, neighbours);
        let mut before = Vec::new();
        let mut touched: BTreeSet<NodeId> = nodes.iter().copied().collect();
        for piece in &pieces {
            for &switch in piece {
                before.push((switch, self.group[switch.index()]));
                self.group[switch.index()] = self.group_count;
                touched.extend(self.nodes_at(switch));
            }
            self.group_count += 1;
        }
        let changed: Vec<(NodeId, Vec<u32>)> = touched
            .into_iter()
            .filter(|&node| self.node_alive[node.index()])
            .map(|node| (node, self.reach_now(node)))
            .filter(|(node, reach)| *reach != self.reach[node.index()])
            .collect();
        if self.parts(&changed) {
            for (switch, group) in before {
                self.group[switch.index()] = group;
            }
            return false;
        }
        for (node, reach) in changed {
            self.count_out(node);
            *self.classes.entry(reach.clone()).or_default() += 1;
            self.reach[node.index()] = reach;
        }
        true
    }

    /// Whether any two nodes that were together would not be once those in `changed` reach what is given there.
    fn parts(&self, changed: &[(NodeId, Vec<u32>)]) -> bool {
        if changed.is_empty() {
            return false;
        }
        let mut others = self.classes.clone();
        let mut moves: BTreeSet<(&[u32], &[u32])> = BTreeSet::new();
        for (node, now) in changed {
            let old = self.reach[node.index()].as_slice();
            if let Some(count) = others.get_mut(old) {
                *count -= 1;
            }
            moves.insert((old, now));
        }
        moves.iter().any(|&(old, now)| {
            let lost = |old_other: &[u32], now_other: &[u32]| {
                meets(old, old_other) && !meets(now, now_other)
            };
            now.is_empty()
                || others.iter().any(|(other, &count)| count > 0 && lost(other, other))
                || moves.iter().any(|&(old_other, now_other)| lost(old_other, now_other))
        })
    }

    fn count_out(&mut self, node: NodeId) {
        let reach = &self.reach[node.index()];
        if let Some(count) = self.classes.get_mut(reach) {
            *count -= 1;
            if *count == 0 {
                self.classes.remove(reach);
            }
        }
    }

    /// The groups a node is attached to, ascending.
    fn reach_now(&self, node: NodeId) -> Vec<u32> {
        let channels = self.machine.endpoints_of(node).map(|e| self.machine.injection(e));
        let mut reach: Vec<u32> = channels
            .filter(|channel| self.usable[channel.link().index()])
            .map(|channel| match self.machine.as_switch(self.machine.head(channel).vertex) {
                Some(switch) => self.group[switch.index()],
                None => BACK_TO_BACK | channel.link().0,
            })
            .collect();
        reach.sort_unstable();
        reach.dedup();
        reach
    }

    fn nodes_at(&self, switch: SwitchId) -> impl Iterator<Item = NodeId> + '_ {
        self.machine
            .channels_from(self.machine.switch_vertex(switch))
            .filter(|channel| self.usable[channel.link().index()])
            .filter_map(|channel| self.machine.as_node(self.machine.head(channel).vertex))
    }
}

/// Whether two ascending lists have an item in common.
fn meets(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|item| b.binary_search(item).is_ok())
}

/// Grows regions until they meet.
struct Search {
    stamp: u32,
    seen: Vec<u32>,
    region: Vec<u32>,
}

#[derive(Default)]
struct Region {
    switches: Vec<SwitchId>,
    queue: VecDeque<SwitchId>,
    /// The region this one was joined to.
    joined: Option<usize>,
    complete: bool,
}

impl Search {
    fn new(switch_count: usize) -> Self {
        Search { stamp: 0, seen: vec![0; switch_count], region: vec![0; switch_count] }
    }

    /// The connected sets that `sources` lie in, but for one of them.
    ///
    /// Which one is left out depends on how fast the regions are complete; it is the large one where sizes differ
    /// much.
    fn pieces(
        &mut self,
        machine: &Machine,
        usable: &[bool],
        sources: &[SwitchId],
    ) -> Vec<Vec<SwitchId>> {
        self.stamp += 1;
        let mut regions: Vec<Region> = Vec::new();
        for &source in sources {
            if self.seen[source.index()] != self.stamp {
                self.seen[source.index()] = self.stamp;
                self.region[source.index()] = regions.len() as u32;
                let queue = VecDeque::from([source]);
                regions.push(Region { switches: vec![source], queue, ..Region::default() });
            }
        }
        let mut growing = regions.len();
        let mut complete = Vec::new();
        while growing > 1 {
            for at in 0..regions.len() {
                if growing == 1 || regions[at].joined.is_some() || regions[at].complete {
                    continue;
                }
                match regions[at].queue.pop_front() {
                    Some(switch) => growing -= self.grow(machine, usable, &mut regions, at, switch),
                    None => {
                        regions[at].complete = true;
                        complete.push(at);
                        growing -= 1;
                    }
                }
            }
        }
        complete.into_iter().map(|at| std::mem::take(&mut regions[at].switches)).collect()
    }

    /// Adds the neighbours of `switch` to its region and joins the regions it meets; returns how many those were.
    fn grow(
        &mut self,
        machine: &Machine,
        usable: &[bool],
        regions: &mut [Region],
        mut at: usize,
        switch: SwitchId,
    ) -> usize {
        let mut met = 0;
        for channel in machine.channels_from(machine.switch_vertex(switch)) {
            let Some(next) = machine.as_switch(machine.head(channel).vertex) else { continue };
            if !usable[channel.link().index()] {
                continue;
            }
            if self.seen[next.index()] != self.stamp {
                self.seen[next.index()] = self.stamp;
                self.region[next.index()] = at as u32;
                regions[at].switches.push(next);
                regions[at].queue.push_back(next);
                continue;
            }
            let mut other = self.region[next.index()] as usize;
            while let Some(joined) = regions[other].joined {
                other = joined;
            }
            if other != at {
                let large = |region: &Region| region.switches.len();
                let (into, from) = if large(&regions[other]) > large(&regions[at]) {
                    (other, at)
                } else {
                    (at, other)
                };
                let moved = std::mem::take(&mut regions[from]);
                regions[from].joined = Some(into);
                regions[into].switches.extend(moved.switches);
                regions[into].queue.extend(moved.queue);
                at = into;
                met += 1;
            }
        }
        met
    }
}
