//! The shortest ways of LASH: breadth-first trees from every switch, the earlier tree deciding.
//!
//! Parallel cables count as one here: a [`Hop`] leads from a switch to a neighbour, by whichever cable. The tree of the
//! first switch gives every switch its way to all that stand below it, the next tree fills in what is still open, and so
//! on; each tree at least settles all ways from its root, so every way ends up a shortest one.

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;

/// A number for each (switch, neighbour).
pub type Hop = u32;

/// For all switches and targets, the neighbour that comes next.
#[derive(Clone, Debug)]
pub struct Ways {
    /// First hop of each switch; those to its neighbours follow in the order of their lowest ports.
    base: Vec<u32>,
    heads: Vec<SwitchId>,
    /// `[target][switch]`: which of its neighbours the switch takes, or [`NO_WAY`].
    next: Vec<u8>,
}

const NO_WAY: u8 = 255;

impl Ways {
    /// The ways over the usable part of a fabric, `order` being that of the trees.
    ///
    /// # Complexity
    /// Switches^2 x the mean distance; one byte a pair of switches.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>, order: &[SwitchId]) -> Self {
        let switches = graph.switch_count();
        let mut ways =
            Ways { base: vec![0], heads: Vec::new(), next: vec![NO_WAY; switches * switches] };
        for switch in (0..switches as u32).map(SwitchId) {
            let first = ways.heads.len();
            for &head in graph.heads(switch) {
                if !ways.heads[first..].contains(&head) {
                    ways.heads.push(head);
                }
            }
            ways.base.push(ways.heads.len() as u32);
        }
        let mut tree = Tree::new(switches);
        for &root in order {
            tree.grow(&ways, root);
            tree.settle(&mut ways.next);
            tree.forget();
        }
        ways
    }

    /// Number of switches.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.base.len() - 1
    }

    /// Number of hops.
    #[must_use]
    pub fn hop_count(&self) -> usize {
        self.heads.len()
    }

    /// Where a hop arrives.
    #[inline]
    #[must_use]
    pub fn head(&self, hop: Hop) -> SwitchId {
        self.heads[hop as usize]
    }

    /// Neighbours of `switch`, in the order of their lowest ports.
    #[inline]
    #[must_use]
    pub fn neighbours(&self, switch: SwitchId) -> &[SwitchId] {
        &self.heads[self.base[switch.index()] as usize..self.base[switch.index() + 1] as usize]
    }

    /// Which of the neighbours of `switch` comes next on the way to `target`; none if there is no way, or they are one.
    #[inline]
    #[must_use]
    pub fn next(&self, switch: SwitchId, target: SwitchId) -> Option<usize> {
        let next = self.next[target.index() * self.switch_count() + switch.index()];
        (next != NO_WAY).then_some(usize::from(next))
    }

    /// Tells `turn(before, after, which)` of every two hops in a row on the way from `from` to `to`, `after` being
    /// number `which` of those that leave the head of `before`.
    #[inline]
    pub fn turns(&self, from: SwitchId, to: SwitchId, mut turn: impl FnMut(Hop, Hop, u32)) {
        let row = &self.next[to.index() * self.switch_count()..][..self.switch_count()];
        if row[from.index()] == NO_WAY {
            return;
        }
        let mut before = self.base[from.index()] + u32::from(row[from.index()]);
        loop {
            let at = self.heads[before as usize];
            if at == to {
                return;
            }
            let which = u32::from(row[at.index()]);
            let after = self.base[at.index()] + which;
            turn(before, after, which);
            before = after;
        }
    }
}

/// A breadth-first tree, used again for every root.
struct Tree {
    /// Parent of each switch, and which of the parent's neighbours it is.
    above: Vec<(u32, u8)>,
    queue: Vec<SwitchId>,
}

const OUTSIDE: u32 = u32::MAX;

impl Tree {
    fn new(switches: usize) -> Self {
        Tree { above: vec![(OUTSIDE, NO_WAY); switches], queue: Vec::new() }
    }

    fn grow(&mut self, ways: &Ways, root: SwitchId) {
        self.queue.push(root);
        self.above[root.index()].0 = root.0;
        let mut front = 0;
        while let Some(&switch) = self.queue.get(front) {
            front += 1;
            for (which, head) in ways.neighbours(switch).iter().enumerate() {
                if self.above[head.index()].0 == OUTSIDE {
                    self.above[head.index()] = (switch.0, which as u8);
                    self.queue.push(*head);
                }
            }
        }
    }

    /// Gives every switch on the way from the root to a target its next neighbour, unless an earlier tree has.
    fn settle(&self, next: &mut [u8]) {
        let switches = self.above.len();
        for &target in &self.queue[1..] {
            let row = &mut next[target.index() * switches..][..switches];
            let mut below = target.0;
            loop {
                let (at, which) = self.above[below as usize];
                if at == below {
                    break;
                }
                let known = &mut row[at as usize];
                if *known == NO_WAY {
                    *known = which;
                }
                below = at;
            }
        }
    }

    fn forget(&mut self) {
        for switch in self.queue.drain(..) {
            self.above[switch.index()] = (OUTSIDE, NO_WAY);
        }
    }
}
