//! One channel of a mesh: who sends over it, and how many more may.

use super::places::{NOBODY, Nodes, Places, Room};
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::load::Partners;

/// Who sends to whom, by rank.
#[derive(Debug)]
pub(super) struct Pattern {
    targets: Vec<Vec<u32>>,
    sources: Vec<Vec<u32>>,
    /// By ranks that come to the far side, then to the near side: the most messages between them.
    pub between: Vec<Vec<u32>>,
}

impl Pattern {
    pub fn new(partners: &Partners, failures: usize) -> Self {
        let ranks = partners.ranks();
        let (mut targets, mut sources) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for rank in 0..ranks as u32 {
            for target in partners.targets(Rank(rank)).filter(|target| target.0 != rank) {
                targets[rank as usize].push(target.0);
                sources[target.index()].push(rank);
            }
        }
        let degree = targets.iter().chain(&sources).map(Vec::len).max().unwrap_or(0);
        let shared = shared(&targets, &sources).max(shared(&sources, &targets));
        let row = |i| (0..=failures).map(|j| most_between(i, j, degree, shared)).collect();
        Pattern { between: (0..=failures).map(row).collect(), targets, sources }
    }

    /// The most messages that a rank sends, or receives.
    pub fn degree(&self) -> u32 {
        self.targets.iter().chain(&self.sources).map(Vec::len).max().unwrap_or(0) as u32
    }
}

/// The most partners that two ranks share.
fn shared(targets: &[Vec<u32>], sources: &[Vec<u32>]) -> usize {
    let mut most = 0;
    let mut count = vec![0; targets.len()];
    for (rank, row) in targets.iter().enumerate() {
        count.fill(0);
        for other in row.iter().flat_map(|&target| &sources[target as usize]) {
            if *other as usize != rank {
                count[*other as usize] += 1;
                most = most.max(count[*other as usize]);
            }
        }
    }
    most
}

/// The most messages between `i` and `j` ranks that have at most `degree` partners, any two at most `shared` in common.
///
/// Pairs of partners on the other side: a rank with `d` of them has `d (d - 1) / 2`, and each pair is counted at most
/// `shared` times.
fn most_between(i: usize, j: usize, degree: usize, shared: usize) -> u32 {
    let one_way = |many: usize, few: usize| {
        let mut pairs = shared * few * few.saturating_sub(1) / 2;
        let mut messages = 0;
        // Each gets its first, then its second partner, which costs one pair, and so on.
        for cost in 0..degree.min(few) {
            let more = pairs.checked_div(cost).map_or(many, |left| many.min(left));
            pairs -= more * cost;
            messages += more;
        }
        messages
    };
    one_way(i, j).min(one_way(j, i)) as u32
}

/// A channel in a round. A message crosses it if its sender is in one box of nodes and its receiver in another.
#[derive(Debug)]
pub(super) struct Cut {
    pub round: usize,
    /// The smaller and the larger of the two boxes.
    near: Block,
    far: Block,
    near_nodes: Vec<usize>,
    /// Whether the near ones send.
    near_sends: bool,
}

/// A box of nodes.
#[derive(Clone, Debug)]
struct Block {
    nodes: Nodes,
    /// By dimension.
    lows: Vec<u32>,
    highs: Vec<u32>,
}

impl Block {
    fn new(grid: &Grid, lows: Vec<u32>, highs: Vec<u32>) -> Self {
        let mut nodes = Nodes::none(grid.node_count());
        for node in (0..grid.node_count()).map(NodeId::from_index) {
            let mut bounds = lows.iter().zip(&highs).enumerate();
            if bounds.all(|(dimension, (low, high))| {
                (low..=high).contains(&&grid.coordinate(node, dimension))
            }) {
                nodes.insert(node.index());
            }
        }
        Block { nodes, lows, highs }
    }
}

impl Cut {
    /// All channels of a mesh under dimension-order routing.
    ///
    /// A message turns from one dimension to the next where its receiver is. So on a channel along a dimension it comes from a
    /// sender with the same higher coordinates, before the channel, and goes to a receiver with the same lower ones, behind it.
    pub fn all(grid: &Grid, rounds: usize) -> Vec<Cut> {
        let mut found = Vec::new();
        for node in (0..grid.node_count()).map(NodeId::from_index) {
            for dimension in 0..grid.dimensions() {
                let own: Vec<u32> = grid.coordinates(node).collect();
                let ends: Vec<u32> = grid.lengths().iter().map(|length| length - 1).collect();
                if own[dimension] == ends[dimension] {
                    continue;
                }
                for up in [true, false] {
                    let side = |lower: bool, fixed: &dyn Fn(usize) -> bool| {
                        let low = |other: usize| match other == dimension {
                            true => {
                                if lower {
                                    0
                                } else {
                                    own[other] + 1
                                }
                            }
                            false => {
                                if fixed(other) {
                                    own[other]
                                } else {
                                    0
                                }
                            }
                        };
                        let high = |other: usize| match other == dimension {
                            true => {
                                if lower {
                                    own[other]
                                } else {
                                    ends[other]
                                }
                            }
                            false => {
                                if fixed(other) {
                                    own[other]
                                } else {
                                    ends[other]
                                }
                            }
                        };
                        let all = 0..own.len();
                        Block::new(grid, all.clone().map(low).collect(), all.map(high).collect())
                    };
                    let senders = side(up, &|other| other > dimension);
                    let receivers = side(!up, &|other| other < dimension);
                    found.extend((0..rounds).map(|round| Cut::new(round, &senders, &receivers)));
                }
            }
        }
        found
    }

    fn new(round: usize, senders: &Block, receivers: &Block) -> Self {
        let near_sends = senders.nodes.count() <= receivers.nodes.count();
        let (near, far) = if near_sends { (senders, receivers) } else { (receivers, senders) };
        let near_nodes = near.nodes.without(&far.nodes).collect();
        Cut { round, near: near.clone(), far: far.clone(), near_nodes, near_sends }
    }

    /// Messages that cross it.
    pub fn load(&self, pattern: &Pattern, places: &Places) -> u32 {
        let out = if self.near_sends { &pattern.targets } else { &pattern.sources };
        let ranks = self.near_nodes.iter().map(|&node| places.rank_on[node]);
        let crosses = |rank: u32| {
            let row = out[rank as usize].iter();
            row.filter(|&&other| self.far.holds(places, other)).count()
        };
        ranks.filter(|&rank| rank != NOBODY).map(crosses).sum::<usize>() as u32
    }

    /// Messages that may cross it after so many slides, at most; `None` if they are fewer than `wanted` for sure.
    pub fn bound(
        &self,
        pattern: &Pattern,
        places: &Places,
        slides: usize,
        wanted: u32,
        scratch: &mut Scratch,
    ) -> Option<Most> {
        let load = self.load(pattern, places);
        if slides == 0 {
            return (load >= wanted).then_some(Most { all: load, but_one: load });
        }
        let (out, back) = if self.near_sends {
            (&pattern.targets, &pattern.sources)
        } else {
            (&pattern.sources, &pattern.targets)
        };
        // Who may come to the near side: all partners on the far side count.
        let Scratch { room, near, far, asked } = scratch;
        near.clear();
        places.origins(&self.near.nodes, slides, room);
        for node in room.found.without(&self.near.nodes) {
            let rank = places.rank_on[node];
            if rank != NOBODY {
                let row = out[rank as usize].iter();
                let there = |other: &&u32| self.far.holds(places, **other);
                let comer = |count| Comer::new(places, node, &self.near, &self.far, count);
                near.extend(Some(row.filter(there).count()).filter(|&count| count > 0).map(comer));
            }
        }
        // Who may come to the far side, of the partners of those on the near side.
        far.clear();
        asked.clear();
        places.origins(&self.far.nodes, slides, room);
        for rank in self.near_nodes.iter().map(|&node| places.rank_on[node]) {
            if rank != NOBODY {
                asked.extend_from_slice(&out[rank as usize]);
            }
        }
        asked.sort_unstable();
        asked.dedup();
        for &rank in asked.iter() {
            let node = places.node_of[rank as usize] as usize;
            if !self.far.nodes.holds(node) && room.found.holds(node) {
                let row = back[rank as usize].iter();
                let count = row.filter(|other| self.near.holds(places, **other)).count();
                far.push(Comer::new(places, node, &self.far, &self.near, count));
            }
        }
        near.sort_unstable_by_key(|comer| std::cmp::Reverse(comer.messages));
        far.sort_unstable_by_key(|comer| std::cmp::Reverse(comer.messages));
        // Of so many slides, some bring ranks to the far side, some to the near side, some nobody.
        let most = |slides: usize| {
            let mut more = 0;
            for comes in 0..=slides {
                let sum = most(far, comes, slides);
                for goes in 0..=slides - comes {
                    more = more.max(sum + most(near, goes, slides) + pattern.between[comes][goes]);
                }
            }
            load + more
        };
        let all = most(slides);
        (all >= wanted).then(|| Most { all, but_one: most(slides - 1) })
    }

    /// Adds the nodes of all ranks with a message that may cross it, now or after at most so many slides.
    pub fn add_concerned(
        &self,
        pattern: &Pattern,
        places: &Places,
        slides: usize,
        scratch: &mut Scratch,
        concerned: &mut Nodes,
    ) {
        let out = if self.near_sends { &pattern.targets } else { &pattern.sources };
        places.origins(&self.far.nodes, slides, &mut scratch.room);
        let far = scratch.room.found.clone();
        places.origins(&self.near.nodes, slides, &mut scratch.room);
        for node in scratch.room.found.all() {
            let rank = places.rank_on[node];
            if rank == NOBODY {
                continue;
            }
            for &other in &out[rank as usize] {
                let there = places.node_of[other as usize] as usize;
                if far.holds(there) {
                    concerned.insert(node);
                    concerned.insert(there);
                }
            }
        }
    }
}

/// Messages that may cross a channel, at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// After all slides.
    pub all: u32,
    /// If one of them moves nobody that the channel concerns.
    pub but_one: u32,
}

impl Block {
    #[inline]
    fn holds(&self, places: &Places, rank: u32) -> bool {
        self.nodes.holds(places.node_of[rank as usize] as usize)
    }
}

/// A rank that may come to a side.
#[derive(Clone, Copy, Debug)]
struct Comer {
    /// Messages with ranks on the other side.
    messages: u32,
    /// The line on which it may come at once, and free nodes ahead on it.
    line: Option<(u32, u8)>,
    /// Whether it is on the other side.
    crosses: bool,
}

impl Comer {
    fn new(places: &Places, node: usize, to: &Block, other: &Block, messages: usize) -> Self {
        let line = places.line_to(node, &to.lows, &to.highs);
        Comer { messages: messages as u32, line, crosses: other.nodes.holds(node) }
    }
}

/// The most messages that `count` ranks bring to a side in `slides` slides; the ranks with the most messages come first.
///
/// If every slide brings one, each comes on the line it is on, once for each free node ahead. Otherwise those from the other
/// side come on the channel's own line, once for each free node ahead, or leave it first, one a slide that brings nobody.
fn most(comers: &[Comer], count: usize, slides: usize) -> u32 {
    let (mut left, mut sum) = (count, 0);
    let mut others = slides - count;
    for (at, comer) in comers.iter().enumerate() {
        if left == 0 {
            break;
        }
        if count == slides || comer.crosses {
            let taken = comers[..at].iter().filter(|before| before.line == comer.line).count();
            let fits = comer.line.is_some_and(|(_, free)| taken < usize::from(free));
            if !fits {
                if count == slides || others == 0 {
                    continue;
                }
                others -= 1;
            }
        }
        sum += comer.messages;
        left -= 1;
    }
    sum
}

/// Room for bounds.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    room: Room,
    near: Vec<Comer>,
    far: Vec<Comer>,
    asked: Vec<u32>,
}
