//! What the entries of one LID must wait for.
//!
//! Let `o(s)` and `n(s)` be the switches to which old and new tables send a packet for the LID on from `s`. An entry
//! *moves* if they differ. Any mixture of entries is a subset of the union of both graphs, so:
//!
//! 1. *No circles.* A circle lies in one strongly connected component of the union. If `s` moves only after the next
//!    switch of its new way that moves, where that is in the same component, then the circle cannot hold a new entry:
//!    from there on it would follow the new way, which leaves the component.
//! 2. *No hole ahead.* Where the new way of `s` goes on over a switch that the old tables do not serve, `s` moves after
//!    the next moving switch of that way: it is one of them.
//! 3. *No hole behind.* A switch that the new tables do not serve drops its route only after all that move and are next
//!    upstream of it by the old tables.
//!
//! Entries that 1 and 2 speak of belong to switches that the new tables serve, and wait for such alone, down the new
//! tree; those of 3 wait up the old tree. So nobody waits in a circle. Entries that change and do not move (another
//! cable to the same switch) wait for nobody.
//!
//! An entry that changes to one which leads nowhere counts as "no route"; it is *astray* and gets its new value when all
//! others have theirs.

use super::{Plane, PlaneTables};
use crate::ids::{Lid, SwitchId};
use crate::machine::SwitchGraph;
use crate::recovery::routing::lft::Lft;
use crate::recovery::routing::tree::{Step, step};

/// Where a packet goes from a switch: a place among the plane's switches, or one of these.
const DELIVER: u32 = u32::MAX;
const DROP: u32 = u32::MAX - 1;

/// Works on one LID after the other; reused.
#[derive(Default)]
pub(super) struct Moves {
    old: Forest,
    new: Forest,
    component: Components,
    nearest: Vec<u32>,
}

impl Moves {
    /// Calls `wait(a, b)` for each entry, by its switch's place, that must wait for another; returns by `astray` which
    /// entries lead nowhere. `changed` says which entries change at all.
    pub(super) fn of(
        &mut self,
        tables: &PlaneTables<'_>,
        lid: Lid,
        changed: impl Fn(usize) -> bool,
        mut astray: impl FnMut(usize),
        mut wait: impl FnMut(u32, u32),
    ) {
        let Moves { old: o, new: n, component, nearest } = self;
        o.fill(tables.graph, tables.plane, tables.old, lid);
        n.fill(tables.graph, tables.plane, tables.new, lid);
        let count = tables.plane.switches.len();
        for at in 0..count {
            if !n.served[at] && n.next[at] < DROP && n.next[at] != o.next[at] && changed(at) {
                n.next[at] = DROP;
                astray(at);
            }
        }
        let moves = |at: u32| o.next[at as usize] != n.next[at as usize];
        if !(0..count as u32).any(moves) {
            return;
        }
        component.find(&o.next, &n.next);
        nearest.clear();
        nearest.resize(count, DELIVER);
        let nearest_of = |nearest: &[u32], next: u32| match next {
            DELIVER | DROP => DELIVER,
            next if moves(next) => next,
            next => nearest[next as usize],
        };
        for &at in &n.order {
            let ahead = nearest_of(nearest, n.next[at as usize]);
            nearest[at as usize] = ahead;
            if ahead != DELIVER
                && moves(at)
                && (component.same(at, ahead) || !o.served[ahead as usize])
            {
                wait(at, ahead);
            }
        }
        nearest.fill(DELIVER);
        for &at in &o.order {
            let ahead = nearest_of(nearest, o.next[at as usize]);
            nearest[at as usize] = ahead;
            if ahead != DELIVER && moves(at) && !n.served[ahead as usize] {
                wait(ahead, at);
            }
        }
    }
}

/// Where all switches of a plane send packets for one LID.
#[derive(Default)]
struct Forest {
    next: Vec<u32>,
    served: Vec<bool>,
    /// Switches that are served, each after the one it forwards to.
    order: Vec<u32>,
    path: Vec<u32>,
    seen: Vec<bool>,
}

impl Forest {
    fn fill(&mut self, graph: &SwitchGraph<'_>, plane: &Plane, lft: &Lft, lid: Lid) {
        let machine = graph.machine();
        self.next.clear();
        self.next.extend(plane.switches.iter().map(|&switch| {
            match step(graph, lft, switch, lid) {
                Step::Deliver => DELIVER,
                Step::Drop => DROP,
                Step::Forward(channel) => {
                    plane.place[SwitchId(machine.head(channel).vertex.0).index()]
                }
            }
        }));
        let count = plane.switches.len();
        self.order.clear();
        self.served.clear();
        self.served.resize(count, false);
        self.seen.clear();
        self.seen.resize(count, false);
        for start in 0..count as u32 {
            let mut at = start;
            // A switch that was seen and is not served drops, or is on this very path: a circle.
            let served = loop {
                match at {
                    DELIVER => break true,
                    DROP => break false,
                    _ if self.seen[at as usize] => break self.served[at as usize],
                    _ => {
                        self.seen[at as usize] = true;
                        self.path.push(at);
                        at = self.next[at as usize];
                    }
                }
            };
            while let Some(at) = self.path.pop() {
                self.served[at as usize] = served;
                if served {
                    self.order.push(at);
                }
            }
        }
    }
}

/// Strongly connected components of a graph with two arcs a vertex, by Tarjan's algorithm (1972).
#[derive(Default)]
struct Components {
    /// Order of first visit, from 1; 0 for unvisited.
    visit: Vec<u32>,
    low: Vec<u32>,
    /// Number of the component; `u32::MAX` while it is not known.
    of: Vec<u32>,
    open: Vec<u32>,
    path: Vec<(u32, u8)>,
}

impl Components {
    fn same(&self, a: u32, b: u32) -> bool {
        self.of[a as usize] == self.of[b as usize]
    }

    fn find(&mut self, one: &[u32], other: &[u32]) {
        let count = one.len();
        for list in [&mut self.visit, &mut self.low] {
            list.clear();
            list.resize(count, 0);
        }
        self.of.clear();
        self.of.resize(count, u32::MAX);
        let (mut visits, mut components) = (0, 0);
        for start in 0..count as u32 {
            if self.visit[start as usize] == 0 {
                self.path.push((start, 0));
            }
            while let Some(&mut (at, ref mut arc)) = self.path.last_mut() {
                let here = at as usize;
                if *arc == 0 {
                    visits += 1;
                    self.visit[here] = visits;
                    self.low[here] = visits;
                    self.open.push(at);
                }
                if *arc < 2 {
                    let next = if *arc == 0 { one[here] } else { other[here] };
                    *arc += 1;
                    if next >= DROP {
                        continue;
                    }
                    if self.visit[next as usize] == 0 {
                        self.path.push((next, 0));
                    } else if self.of[next as usize] == u32::MAX {
                        self.low[here] = self.low[here].min(self.visit[next as usize]);
                    }
                    continue;
                }
                self.path.pop();
                if let Some(&(before, _)) = self.path.last() {
                    let before = before as usize;
                    self.low[before] = self.low[before].min(self.low[here]);
                }
                if self.low[here] == self.visit[here] {
                    while let Some(member) = self.open.pop() {
                        self.of[member as usize] = components;
                        if member == at {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
    }
}
