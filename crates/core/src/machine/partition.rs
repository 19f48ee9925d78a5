//! Moves vertices between two sides so that less is cut: passes after Fiduccia and Mattheyses.
//!
//! In a pass every vertex moves at most once, the one that gains most first, also where that is a loss; then the pass
//! goes back to the best state it saw. What is minimised is the rate of the cut edges plus a price for every unit of
//! weight by which the heavier side is above half, which is what dealing it to the other side costs at least; sides
//! stay about as even as whole vertices allow. A local search: it finds good cuts, not the best ones.
//!
//! Source: Fiduccia and Mattheyses, "A Linear-Time Heuristic for Improving Network Partitions", DAC 1982.
//! Departs from it: heaps instead of buckets, because rates are no small numbers; a pass gives up when it has not got
//! better for long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An undirected graph with weights of vertices and rates of edges.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    base: Vec<u32>,
    heads: Vec<u32>,
    rates: Vec<u64>,
    weight: Vec<u32>,
    total: u64,
    heaviest: u64,
    /// Cost of a unit of weight above half.
    unit_price: u64,
}

impl Weighted {
    /// The graph with these edges; parallel ones are added up, loops left out.
    pub(super) fn new(weight: Vec<u32>, mut edges: Vec<(u32, u32, u64)>, unit_price: u64) -> Self {
        edges.retain(|&(a, b, _)| a != b);
        let turned: Vec<_> = edges.iter().map(|&(a, b, rate)| (b, a, rate)).collect();
        edges.extend(turned);
        edges.sort_unstable();
        edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
        let mut base = vec![0u32; weight.len() + 1];
        for edge in &edges {
            base[edge.0 as usize + 1] += 1;
        }
        for vertex in 0..weight.len() {
            base[vertex + 1] += base[vertex];
        }
        Weighted {
            base,
            heads: edges.iter().map(|edge| edge.1).collect(),
            rates: edges.iter().map(|edge| edge.2).collect(),
            heaviest: weight.iter().copied().max().unwrap_or(0).into(),
            total: weight.iter().map(|&weight| u64::from(weight)).sum(),
            weight,
            unit_price,
        }
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.weight.len()
    }

    pub(super) fn weight(&self, vertex: usize) -> u32 {
        self.weight[vertex]
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Neighbours of `vertex`, ascending.
    pub(super) fn heads(&self, vertex: usize) -> &[u32] {
        &self.heads[self.base[vertex] as usize..self.base[vertex + 1] as usize]
    }

    fn edges(&self, vertex: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let row = self.base[vertex] as usize..self.base[vertex + 1] as usize;
        self.heads[row.clone()]
            .iter()
            .map(|&head| head as usize)
            .zip(self.rates[row].iter().copied())
    }

    /// Weight by which the heavier side is above half, with `first` of it on the first side.
    fn excess(&self, first: u64) -> u64 {
        first.max(self.total - first) - self.total.div_ceil(2)
    }

    /// Price of that.
    fn price(&self, first: u64) -> i64 {
        (self.unit_price * self.excess(first)) as i64
    }

    /// Rate of the cut edges plus the price of the imbalance.
    pub(super) fn score(&self, side: &[bool]) -> i64 {
        let vertices = 0..self.vertex_count();
        let cut: u64 = vertices
            .clone()
            .flat_map(|vertex| self.edges(vertex).map(move |(head, rate)| (vertex, head, rate)))
            .filter(|&(vertex, head, _)| vertex < head && side[vertex] != side[head])
            .map(|(.., rate)| rate)
            .sum();
        let first: u64 = vertices.filter(|&v| !side[v]).map(|v| u64::from(self.weight[v])).sum();
        cut as i64 + self.price(first)
    }
}

/// Passes that a start gets at most; most stop gaining after three or four.
const MOST_PASSES: usize = 12;

/// Improves `side` (false is the first side) until passes gain nothing or `work` edge visits are used up.
pub(super) fn refine(graph: &Weighted, side: &mut [bool], work: &mut u64) {
    for _ in 0..MOST_PASSES {
        if *work == 0 || !Pass::new(graph, side, work).run() {
            break;
        }
    }
}

/// One pass.
struct Pass<'a> {
    graph: &'a Weighted,
    side: &'a mut [bool],
    work: &'a mut u64,
    gain: Vec<i64>,
    locked: Vec<bool>,
    /// By side: movable vertices, most gain first, then lowest number; entries whose gain is out of date are skipped.
    heaps: [BinaryHeap<(i64, Reverse<u32>)>; 2],
    /// Weight on the first side.
    first: u64,
}

impl<'a> Pass<'a> {
    fn new(graph: &'a Weighted, side: &'a mut [bool], work: &'a mut u64) -> Self {
        let count = graph.vertex_count();
        let mut gain = vec![0i64; count];
        let mut heaps: [Vec<(i64, Reverse<u32>)>; 2] = [Vec::new(), Vec::new()];
        let mut first = 0;
        for vertex in 0..count {
            for (head, rate) in graph.edges(vertex) {
                gain[vertex] +=
                    if side[head] == side[vertex] { -(rate as i64) } else { rate as i64 };
            }
            // A vertex without edges or weight changes nothing.
            if graph.weight[vertex] > 0 || !graph.heads(vertex).is_empty() {
                heaps[usize::from(side[vertex])].push((gain[vertex], Reverse(vertex as u32)));
            }
            if !side[vertex] {
                first += u64::from(graph.weight[vertex]);
            }
        }
        *work = work.saturating_sub((count + graph.heads.len()) as u64);
        let heaps = heaps.map(BinaryHeap::from);
        Pass { graph, side, work, gain, locked: vec![false; count], heaps, first }
    }

    /// Runs it; whether anything was gained.
    fn run(mut self) -> bool {
        let patience = (self.graph.vertex_count() / 8).max(64);
        // As even as whole vertices can be made; more would be needless, less would cut a corner off.
        let uneven = self.graph.excess(self.first).max(self.graph.heaviest / 2);
        let (mut score, mut best, mut best_len) = (0i64, 0i64, 0);
        let mut moved: Vec<usize> = Vec::new();
        while moved.len() < best_len + patience && *self.work > 0 {
            let Some((vertex, gained)) = self.choose() else { break };
            self.shift(vertex);
            moved.push(vertex);
            score -= gained;
            if score < best && self.graph.excess(self.first) <= uneven {
                (best, best_len) = (score, moved.len());
            }
        }
        for &vertex in &moved[best_len..] {
            self.side[vertex] = !self.side[vertex];
        }
        best_len > 0
    }

    /// The movable vertex whose move lowers the score most, and by how much; ties go to the heavier side.
    fn choose(&mut self) -> Option<(usize, i64)> {
        let heavier = usize::from(self.first * 2 < self.graph.total);
        let mut found: Option<(usize, i64)> = None;
        for from in [heavier, 1 - heavier] {
            while let Some(vertex) = self.top(from) {
                match self.gained(vertex, from) {
                    Some(gained) if found.is_none_or(|(_, most)| gained > most) => {
                        found = Some((vertex, gained));
                        break;
                    }
                    // Too heavy for the other side now. If nothing else can move it stays where it is for this pass.
                    None if found.is_none() => {
                        self.heaps[from].pop();
                    }
                    _ => break,
                }
            }
        }
        found
    }

    fn top(&mut self, from: usize) -> Option<usize> {
        while let Some(&(gain, Reverse(vertex))) = self.heaps[from].peek() {
            let vertex = vertex as usize;
            if !self.locked[vertex] && self.gain[vertex] == gain {
                return Some(vertex);
            }
            self.heaps[from].pop();
        }
        None
    }

    /// By how much the score falls if `vertex` moves; none if the other side would get too heavy.
    fn gained(&self, vertex: usize, from: usize) -> Option<i64> {
        let weight = u64::from(self.graph.weight[vertex]);
        let first = if from == 0 { self.first - weight } else { self.first + weight };
        let receiver = if from == 0 { self.graph.total - first } else { first };
        let most = self.graph.total.div_ceil(2) + self.graph.heaviest;
        let change = self.graph.price(first) - self.graph.price(self.first);
        (weight == 0 || receiver <= most).then_some(self.gain[vertex] - change)
    }

    fn shift(&mut self, vertex: usize) {
        let graph = self.graph;
        let weight = u64::from(graph.weight[vertex]);
        self.locked[vertex] = true;
        self.first = if self.side[vertex] { self.first + weight } else { self.first - weight };
        self.side[vertex] = !self.side[vertex];
        for (head, rate) in graph.edges(vertex) {
            let apart = self.side[head] != self.side[vertex];
            self.gain[head] += if apart { 2 * rate as i64 } else { -2 * (rate as i64) };
            if !self.locked[head] {
                let entry = (self.gain[head], Reverse(head as u32));
                self.heaps[usize::from(self.side[head])].push(entry);
            }
        }
        *self.work = self.work.saturating_sub(graph.heads(vertex).len() as u64 + 1);
    }
}
