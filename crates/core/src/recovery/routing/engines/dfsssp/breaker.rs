//! Takes routes out of a lane until its dependencies have no cycle.

use rayon::prelude::*;

use super::arcs::Arcs;
use super::trees::{NO_WAY, Trees};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::parallel;

/// The lane that is being made acyclic, and the next one.
pub struct Breaker<'a> {
    graph: &'a SwitchGraph<'a>,
    trees: &'a Trees,
    arcs: &'a Arcs,
    /// Switch that each slot leaves.
    tail: Vec<SwitchId>,
    /// Routes that cause each dependency in this lane, and in the next.
    routes: Vec<u32>,
    moved: Vec<u32>,
    /// Lane of each route, `[destination][switch]`.
    layer: Vec<u8>,
    /// Destinations whose tree has a dependency: those of number `a` are `users[first_user[a]..first_user[a + 1]]`.
    first_user: Vec<usize>,
    users: Vec<u32>,
    /// Dependencies that lost their last route since this was emptied, as (slot, position).
    vanished: Vec<(u32, u8)>,
    subtree: Vec<SwitchId>,
    leaving: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Done,
}

/// One channel of a depth-first search, and the position it tries next.
#[derive(Clone, Copy)]
struct Step {
    slot: usize,
    next: usize,
}

impl<'a> Breaker<'a> {
    /// Counts the routes of every dependency, with all of them in lane 0.
    pub fn new(graph: &'a SwitchGraph<'a>, trees: &'a Trees, arcs: &'a Arcs) -> Self {
        let switches = (0..graph.switch_count() as u32).map(SwitchId);
        let tail = switches.flat_map(|switch| graph.slots(switch).map(move |_| switch)).collect();
        Breaker {
            graph,
            trees,
            arcs,
            tail,
            routes: count_routes(graph, trees, arcs),
            moved: Vec::new(),
            layer: Vec::new(),
            first_user: Vec::new(),
            users: Vec::new(),
            vanished: Vec::new(),
            subtree: Vec::new(),
            leaving: vec![0; graph.switch_count()],
        }
    }

    /// Lanes of all routes, `[destination][switch]`.
    pub fn into_layers(self) -> Vec<u8> {
        self.layer
    }

    /// Notes which trees have which dependency; needed before routes are moved.
    pub fn index_routes(&mut self) {
        let destinations = self.trees.lids.len();
        self.moved = vec![0; self.arcs.count()];
        self.layer = vec![0; destinations * self.trees.switch_count()];
        let mut count = vec![0usize; self.arcs.count() + 1];
        for destination in 0..destinations {
            self.each_arc(destination, |arc| count[arc + 1] += 1);
        }
        for arc in 0..self.arcs.count() {
            count[arc + 1] += count[arc];
        }
        let mut users = vec![0; *count.last().unwrap_or(&0)];
        let mut next = count.clone();
        for destination in 0..destinations {
            self.each_arc(destination, |arc| {
                users[next[arc]] = destination as u32;
                next[arc] += 1;
            });
        }
        (self.first_user, self.users) = (count, users);
    }

    fn each_arc(&self, destination: usize, mut visit: impl FnMut(usize)) {
        let tree = self.trees.tree(destination);
        for (switch, &position) in tree.iter().enumerate().filter(|(_, at)| **at != NO_WAY) {
            let slot = self.slot(SwitchId(switch as u32), position);
            let after = tree[self.graph.slot_head(slot).index()];
            if after != NO_WAY {
                visit(self.arcs.number(slot, after));
            }
        }
    }

    #[inline]
    fn slot(&self, switch: SwitchId, position: u8) -> usize {
        self.graph.slots(switch).start + usize::from(position)
    }

    /// A channel on a cycle of this lane, if there is one.
    pub fn find_cycle(&mut self) -> Option<usize> {
        self.search(None)
    }

    /// Moves routes from this lane to the next until no cycle is left, then goes on to that one; whether it has routes.
    pub fn break_cycles(&mut self, layer: u8) -> bool {
        self.search(Some(layer));
        let more = self.moved.iter().any(|&routes| routes > 0);
        std::mem::swap(&mut self.routes, &mut self.moved);
        self.moved.fill(0);
        more
    }

    /// Depth-first search for cycles: stops at the first one, or breaks them all by moving routes out of lane `layer`.
    fn search(&mut self, layer: Option<u8>) -> Option<usize> {
        let slots = self.graph.slot_count();
        let mut mark = vec![Mark::New; slots];
        let mut place = vec![0u32; slots];
        let mut path: Vec<Step> = Vec::new();
        for start in 0..slots {
            if mark[start] != Mark::New {
                continue;
            }
            mark[start] = Mark::OnPath;
            place[start] = 0;
            path.push(Step { slot: start, next: 0 });
            while let Some(Step { slot, next }) = path.last_mut() {
                let arcs = self.arcs.of(*slot);
                let found = self.routes[arcs.clone()][*next..].iter().position(|&r| r > 0);
                let Some(found) = found else {
                    mark[*slot] = Mark::Done;
                    path.pop();
                    continue;
                };
                *next += found + 1;
                let head = self.graph.slot_head(*slot);
                let after = self.graph.slots(head).start + *next - 1;
                match mark[after] {
                    Mark::Done => {}
                    Mark::New => {
                        mark[after] = Mark::OnPath;
                        place[after] = path.len() as u32;
                        path.push(Step { slot: after, next: 0 });
                    }
                    Mark::OnPath => {
                        let Some(layer) = layer else { return Some(after) };
                        let cycle = &path[place[after] as usize..];
                        self.take_out(self.weakest(cycle), layer);
                        let keep = self.still_joined(&path, &mark, &place);
                        for step in path.drain(keep..) {
                            mark[step.slot] = Mark::New;
                        }
                    }
                }
            }
        }
        None
    }

    /// The dependency of a cycle that the fewest routes cause; the first of equals.
    fn weakest(&self, cycle: &[Step]) -> Step {
        let routes = |step: &&Step| self.routes[self.arcs.of(step.slot).start + step.next - 1];
        // INVARIANT: a cycle has at least one channel.
        #[allow(clippy::expect_used)]
        *cycle.iter().min_by_key(routes).expect("a cycle is not empty")
    }

    /// How much of the path still hangs together after dependencies vanished.
    fn still_joined(&self, path: &[Step], mark: &[Mark], place: &[u32]) -> usize {
        let on_path = self.vanished.iter().filter_map(|&(slot, position)| {
            let at = place[slot as usize] as usize;
            let taken =
                mark[slot as usize] == Mark::OnPath && path[at].next == usize::from(position) + 1;
            taken.then_some(at + 1)
        });
        on_path.min().unwrap_or(path.len())
    }

    /// Moves all routes that cause a dependency from `layer` to the next.
    fn take_out(&mut self, step: Step, layer: u8) {
        self.vanished.clear();
        let arc = self.arcs.of(step.slot).start + step.next - 1;
        let users = self.first_user[arc]..self.first_user[arc + 1];
        for user in users {
            let destination = self.users[user] as usize;
            self.take_subtree_out(destination, self.tail[step.slot], layer);
        }
        debug_assert_eq!(self.routes[arc], 0);
    }

    /// Moves the routes to a destination that start at or pass `root`.
    fn take_subtree_out(&mut self, destination: usize, root: SwitchId, layer: u8) {
        let (graph, trees) = (self.graph, self.trees);
        let tree = trees.tree(destination);
        let row = destination * trees.switch_count();
        let mut subtree = std::mem::take(&mut self.subtree);
        subtree.clear();
        subtree.push(root);
        let mut front = 0;
        while let Some(&switch) = subtree.get(front) {
            front += 1;
            let after = tree[switch.index()];
            trees.children(graph, tree, switch, |child| {
                // Nothing of this lane comes in from there, whichever tree.
                let slot = graph.slots(child).start + usize::from(tree[child.index()]);
                if after == NO_WAY || self.routes[self.arcs.number(slot, after)] > 0 {
                    subtree.push(child);
                }
            });
        }
        for &switch in subtree.iter().rev() {
            let at = &mut self.layer[row + switch.index()];
            let own = if *at == layer { trees.weight[switch.index()] } else { 0 };
            if own > 0 {
                *at = layer + 1;
            }
            let leaving = own + std::mem::take(&mut self.leaving[switch.index()]);
            let next = self.move_on(tree, switch, leaving);
            if let Some(next) = next
                && switch != root
            {
                self.leaving[next.index()] += leaving;
            } else if let Some(mut at) = next {
                while let Some(further) = self.move_on(tree, at, leaving) {
                    at = further;
                }
            }
        }
        self.subtree = subtree;
    }

    /// Moves `leaving` routes of the dependency that `switch` causes in a tree; returns the switch it forwards to.
    fn move_on(&mut self, tree: &[u8], switch: SwitchId, leaving: u32) -> Option<SwitchId> {
        let position = tree[switch.index()];
        if position == NO_WAY {
            return None;
        }
        let slot = self.slot(switch, position);
        let head = self.graph.slot_head(slot);
        let after = tree[head.index()];
        if after != NO_WAY && leaving > 0 {
            let arc = self.arcs.number(slot, after);
            self.routes[arc] -= leaving;
            self.moved[arc] += leaving;
            if self.routes[arc] == 0 {
                self.vanished.push((slot as u32, after));
            }
        }
        Some(head)
    }
}

/// Routes that cause each dependency.
fn count_routes(graph: &SwitchGraph<'_>, trees: &Trees, arcs: &Arcs) -> Vec<u32> {
    let new_tally = || (vec![0u32; arcs.count()], Vec::new(), Vec::new());
    let destinations = trees.lids.len();
    let count = |(mut routes, mut order, mut passing): (Vec<u32>, Vec<SwitchId>, Vec<u32>),
                 destination| {
        let tree = trees.tree(destination);
        trees.far_to_near(graph, tree, &mut order);
        passing.clear();
        passing.extend_from_slice(&trees.weight);
        for &switch in &order {
            let position = tree[switch.index()];
            if position == NO_WAY {
                continue;
            }
            let slot = graph.slots(switch).start + usize::from(position);
            let head = graph.slot_head(slot);
            let leaving = passing[switch.index()];
            passing[head.index()] += leaving;
            if tree[head.index()] != NO_WAY {
                routes[arcs.number(slot, tree[head.index()])] += leaving;
            }
        }
        (routes, order, passing)
    };
    if !parallel::worth(destinations * graph.switch_count()) {
        return (0..destinations).fold(new_tally(), count).0;
    }
    let tally = (0..destinations)
        .into_par_iter()
        .with_min_len(destinations / (4 * rayon::current_num_threads()) + 1)
        .fold(new_tally, count)
        .map(|(routes, ..)| routes)
        .reduce_with(|mut routes, more| {
            routes.iter_mut().zip(&more).for_each(|(routes, more)| *routes += more);
            routes
        });
    tally.unwrap_or_else(|| vec![0; arcs.count()])
}
