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

    /// The nodes of the set, lowest first.
    pub fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| each(at, word))
    }

    /// The nodes of the set that are not in another, lowest first.
    pub fn without<'s>(&'s self, other: &'s Nodes) -> impl Iterator<Item = usize> + 's {
        let words = self.words.iter().zip(&other.words).enumerate();
        words.flat_map(|(at, (word, other))| each(at, word & !other))
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

/// Nodes in a word of a set.
fn each(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (bit < 64).then_some(at * 64 + bit)
    })
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
    /// By dimension, direction and node: free nodes further on.
    ahead: Vec<[Vec<u8>; 2]>,
    dead: Nodes,
}

/// Room for searches of nodes, and what they found.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub found: Nodes,
    last: Vec<u64>,
    passed: Vec<u64>,
    known: Vec<u64>,
}

pub(super) const NOBODY: u32 = u32::MAX;

impl Places {
    pub fn new(grid: &Grid) -> Self {
        let nodes = Nodes::none(grid.node_count());
        Places {
            rank_on: vec![NOBODY; grid.node_count()],
            node_of: Vec::new(),
            ways: vec![[nodes.clone(), nodes.clone()]; grid.dimensions()],
            ahead: vec![[(); 2].map(|()| vec![0; grid.node_count()]); grid.dimensions()],
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
        for (dimension, ahead) in self.ahead.iter_mut().enumerate() {
            let stride = self.grid.stride(dimension) as usize;
            let length = self.grid.lengths()[dimension] as usize;
            let at = |node: usize| node / stride % length;
            let last = self.rank_on.len() - 1;
            for node in 0..=last {
                let before = node.wrapping_sub(stride);
                let down =
                    if at(node) == 0 { 0 } else { u8::from(free(before)) + ahead[1][before] };
                ahead[1][node] = down;
                let (node, after) = (last - node, last - node + stride);
                let up = at(node) + 1 < length;
                ahead[0][node] = if up { u8::from(free(after)) + ahead[0][after] } else { 0 };
            }
            for (ways, ahead) in self.ways[dimension].iter_mut().zip(ahead) {
                ways.words.fill(0);
                let some = ahead.iter().enumerate().filter(|(_, count)| **count > 0);
                some.for_each(|(node, _)| ways.insert(node));
            }
        }
    }

    /// How a rank comes into a box of nodes by slides along the line it is on: the line, by its dimension and the direction
    /// and then by a number, and how many free nodes it has ahead. `None` if more than one dimension is in the way.
    pub fn line_to(&self, from: usize, lows: &[u32], highs: &[u32]) -> Option<(u32, u8)> {
        let mut found = None;
        for dimension in 0..lows.len() {
            let at = self.grid.coordinate(NodeId(from as u32), dimension);
            let up = at < lows[dimension];
            if !up && at <= highs[dimension] {
                continue;
            }
            if found.is_some() {
                return None;
            }
            let start = from as u32 - at * self.grid.stride(dimension);
            let line = (start * lows.len() as u32 + dimension as u32) * 2 + u32::from(up);
            found = Some((line, self.ahead[dimension][usize::from(!up)][from]));
        }
        found
    }

    /// All nodes from which a rank may come to a set of nodes in at most `slides` slides.
    ///
    /// A slide moves a rank to the next node that is alive. It passes over nodes that are dead now, and over those that die in
    /// slides before: one each. That is `2 slides - 1` nodes at most, and one fewer for more than one slide: if all of them
    /// move the rank, the node that died first is behind it, and it passes over it only on its way back.
    pub fn origins(&self, to: &Nodes, slides: usize, room: &mut Room) {
        let Room { found, last, passed, known } = room;
        found.clone_from(to);
        last.clone_from(&to.words);
        for _ in 0..(2 * slides - 1).min(2 * slides.max(2) - 2) {
            known.clone_from(&found.words);
            let before = known.clone();
            let mut adds = self.step_back(last, found);
            // Dead nodes cost nothing.
            while adds {
                passed.clear();
                passed.extend(
                    (0..known.len()).map(|at| found.words[at] & !known[at] & self.dead.words[at]),
                );
                known.clone_from(&found.words);
                adds = passed.iter().any(|&word| word != 0) && self.step_back(passed, found);
            }
            last.clear();
            last.extend(found.words.iter().zip(&before).map(|(now, before)| now & !before));
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
