//! Where ranks are, and where slides can still bring them.

use crate::grid::Grid;
use crate::ids::NodeId;
use crate::recovery::spares::Occupancy;

/// A set of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Nodes {
    words: Vec<u64>,
}

impl Nodes {
    pub fn none(count: usize) -> Self {
        Nodes { words: vec![0; count.div_ceil(64)] }
    }

    #[inline]
    pub fn holds(&self, node: usize) -> bool {
        self.words[node / 64] >> (node % 64) & 1 == 1
    }

    #[inline]
    pub fn insert(&mut self, node: usize) {
        self.words[node / 64] |= 1 << (node % 64);
    }

    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The nodes of the set that are not in another, lowest first.
    pub fn without<'s>(&'s self, other: &'s Nodes) -> impl Iterator<Item = usize> + 's {
        self.words.iter().zip(&other.words).enumerate().flat_map(|(at, (word, other))| {
            let mut word = word & !other;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                word &= word.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }

    /// Adds the nodes of `from`, each so many ids further up or down, that are in `only`; says whether that adds any.
    #[inline]
    fn add_shifted(&mut self, from: &[u64], ids: usize, up: bool, only: &Nodes) -> bool {
        let (words, bits) = (ids / 64, ids % 64);
        let word = |at: Option<usize>| at.and_then(|at| from.get(at)).copied().unwrap_or(0);
        let mut adds = 0;
        for at in 0..from.len() {
            let (near, far) = if up {
                (word(at.checked_sub(words)), word(at.checked_sub(words + 1)))
            } else {
                (word(Some(at + words)), word(Some(at + words + 1)))
            };
            let over = match (bits, up) {
                (0, _) => near,
                (_, true) => near << bits | far >> (64 - bits),
                (_, false) => near >> bits | far << (64 - bits),
            };
            let more = over & only.words[at] & !self.words[at];
            self.words[at] |= more;
            adds |= more;
        }
        adds != 0
    }
}

/// Ranks on nodes, and the ways that slides may still take.
#[derive(Debug)]
pub(super) struct Places {
    grid: Grid,
    /// By node: its rank, or [`NOBODY`].
    pub rank_on: Vec<u32>,
    /// By rank.
    pub node_of: Vec<u32>,
    /// By dimension: nodes from which a slide to higher coordinates, or to lower ones, may still go on.
    ways: Vec<[Nodes; 2]>,
    dead: Nodes,
}

pub(super) const NOBODY: u32 = u32::MAX;

impl Places {
    pub fn new(grid: &Grid) -> Self {
        let nodes = Nodes::none(grid.node_count());
        Places {
            rank_on: vec![NOBODY; grid.node_count()],
            node_of: Vec::new(),
            ways: vec![[nodes.clone(), nodes.clone()]; grid.dimensions()],
            dead: nodes,
            grid: grid.clone(),
        }
    }

    /// Takes over who is where.
    pub fn read(&mut self, occupancy: &Occupancy) {
        self.rank_on.fill(NOBODY);
        self.dead.words.fill(0);
        self.node_of.clear();
        self.node_of.extend(occupancy.node_of().iter().map(|node| node.0));
        for (rank, &node) in self.node_of.iter().enumerate() {
            self.rank_on[node as usize] = rank as u32;
        }
        let free = |node: usize| occupancy.is_free(NodeId::from_index(node));
        for node in 0..self.rank_on.len() {
            if self.rank_on[node] == NOBODY && !free(node) {
                self.dead.insert(node);
            }
        }
        // Free nodes only become fewer: what has none further on has none later.
        for (dimension, [up, down]) in self.ways.iter_mut().enumerate() {
            up.words.fill(0);
            down.words.fill(0);
            let stride = self.grid.stride(dimension) as usize;
            let length = self.grid.lengths()[dimension] as usize;
            let at = |node: usize| node / stride % length;
            for node in 0..self.rank_on.len() {
                if at(node) > 0 && (free(node - stride) || down.holds(node - stride)) {
                    down.insert(node);
                }
                let node = self.rank_on.len() - 1 - node;
                if at(node) + 1 < length && (free(node + stride) || up.holds(node + stride)) {
                    up.insert(node);
                }
            }
        }
    }

    /// All nodes from which a rank may come to a set of nodes in at most `slides` slides.
    ///
    /// A slide moves a rank to the next node that is alive. It passes over nodes that are dead now, and over those that die in
    /// slides before: one each.
    pub fn from_where(&self, to: &Nodes, slides: usize, found: &mut Nodes) {
        found.clone_from(to);
        let mut last = to.words.clone();
        for _ in 1..2 * slides {
            let before = found.words.clone();
            let mut adds = self.step_back(&last, found);
            // Dead nodes cost nothing.
            let mut known = before.clone();
            while adds {
                let passed: Vec<u64> = (0..known.len())
                    .map(|at| found.words[at] & !known[at] & self.dead.words[at])
                    .collect();
                known.clone_from(&found.words);
                adds = passed.iter().any(|&word| word != 0) && self.step_back(&passed, found);
            }
            last = found.words.iter().zip(&before).map(|(now, before)| now & !before).collect();
            if last.iter().all(|&word| word == 0) {
                return;
            }
        }
    }

    fn step_back(&self, from: &[u64], found: &mut Nodes) -> bool {
        let mut adds = false;
        for (dimension, [up, down]) in self.ways.iter().enumerate() {
            let stride = self.grid.stride(dimension) as usize;
            adds |= found.add_shifted(from, stride, false, up);
            adds |= found.add_shifted(from, stride, true, down);
        }
        adds
    }
}
