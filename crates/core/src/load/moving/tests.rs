//! Loads that follow ranks along random walks are those counted anew, whatever the messages.

use proptest::prelude::*;

use super::*;
use crate::grid::Grid;
use crate::load::{FoldedLoad, GridLoad};
use crate::rng::Seed;
use crate::traffic::{Message, Traffic};
use crate::units::Bytes;

/// Messages to ranks at some distances, some left out; or to any ranks.
fn traffic(ranks: u32, pattern: u32, stream: &mut Stream) -> Traffic {
    let mut messages = Vec::new();
    let distances: &[i64] = [&[1, -1, 4, -4][..], &[1, 5], &[-3], &[]][pattern as usize % 4];
    for source in 0..ranks {
        let mut send = |target: i64| {
            if (0..i64::from(ranks)).contains(&target) && target != i64::from(source) {
                let target = Rank(target as u32);
                messages.push(Message { source: Rank(source), target, size: Bytes(1) });
            }
        };
        distances.iter().for_each(|distance| send(i64::from(source) + distance));
        let others = if distances.is_empty() { stream.below(4) } else { 0 };
        (0..others).for_each(|_| send(stream.below(u64::from(ranks)) as i64));
    }
    Traffic { ranks, messages }
}

/// A chain of moves over straight lines with bends to a free node, passing over some nodes.
fn walk(grid: &Grid, node_of: &[NodeId], stream: &mut Stream) -> Option<Vec<(Rank, NodeId)>> {
    let rank_on = |node| node_of.iter().position(|&own| own == node);
    let mut at = node_of[stream.index(node_of.len())];
    let mut next = rank_on(at)?;
    let (mut moves, mut passed) = (Vec::new(), vec![at]);
    let (mut dimension, mut up) = (0, true);
    for step in 0..30 {
        if step == 0 || stream.below(5) == 0 {
            (dimension, up) = (stream.index(grid.dimensions()), stream.below(2) == 0);
        }
        at = grid.next(at, dimension, up)?;
        if passed.contains(&at) || stream.below(6) == 0 {
            continue;
        }
        passed.push(at);
        moves.push((Rank(next as u32), at));
        match rank_on(at) {
            Some(rank) => next = rank,
            None => return Some(moves),
        }
    }
    None
}

fn follows<const Q: usize>(lengths: &[u32], wraps: u64, pattern: u32, seed: u64) {
    let grid = Grid::wrapped(lengths, |dimension| wraps >> dimension & 1 == 1).unwrap();
    let mut stream = Seed(seed).stream("test", 0);
    let mut nodes: Vec<_> = (0..grid.node_count()).map(NodeId::from_index).collect();
    stream.shuffle(&mut nodes);
    nodes.truncate((grid.node_count() * 3 / 4).max(1));
    nodes.sort_unstable();
    let traffic = traffic(nodes.len() as u32, pattern, &mut stream);
    let partners = Arc::new(Partners::new(&traffic));
    let load = GridLoad::<Q>::new(&grid);
    let mut moving = MovingLoad::new(partners.clone(), load.clone(), &nodes);
    let identity = (0..grid.node_count()).map(NodeId::from_index).collect();
    let folded = FoldedLoad::new(load.clone(), identity);
    let mut folded = MovingLoad::new(partners.clone(), folded, &nodes);
    for round in 0..40 {
        let Some(mut moves) = walk(&grid, &nodes, &mut stream) else { continue };
        if stream.below(2) == 0 {
            moves.reverse();
        }
        moves.iter().for_each(|&(rank, to)| nodes[rank.index()] = to);
        moving.relocate(&moves);
        folded.relocate(&moves);
        let mut anew = MovingLoad::new(partners.clone(), load.clone(), &nodes);
        for node in (0..grid.node_count()).map(NodeId::from_index) {
            for (dimension, up) in (0..Q).flat_map(|one| [(one, true), (one, false)]) {
                let on = |load: &MovingLoad<GridLoad<Q>>| load.load().on(node, dimension, up);
                assert_eq!(on(&moving), on(&anew));
            }
        }
        if round % 3 == 0 {
            assert_eq!(moving.collision_max(), anew.collision_max());
            assert_eq!(folded.collision_max(), anew.collision_max());
        }
        if round > 20 {
            assert_eq!(moving.pressure(), anew.pressure());
            let mut own = Seed(seed).stream("hottest", round);
            assert_eq!(moving.hottest(&mut own.clone()), anew.hottest(&mut own));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn loads_follow_random_walks(
        seed in 0u64..1 << 32, dimensions in 1usize..=4, wraps in 0u64..16, pattern in 0u32..4,
    ) {
        let length = |dimension: usize| 1 + (seed >> (4 * dimension)) as u32 % [0, 40, 9, 5, 4][dimensions];
        let lengths: Vec<u32> = (0..dimensions).map(length).collect();
        match dimensions {
            1 => follows::<1>(&lengths, wraps, pattern, seed),
            2 => follows::<2>(&lengths, wraps, pattern, seed),
            3 => follows::<3>(&lengths, wraps, pattern, seed),
            _ => follows::<4>(&lengths, wraps, pattern, seed),
        }
    }
}

/// On a line of two nodes, from one line's end to another's begin is as far as from one node of a line to the next.
#[test]
fn a_rank_that_comes_from_another_line_at_the_same_pace_is_not_on_this_one() {
    let grid = Grid::wrapped(&[2, 4], |_| false).unwrap();
    let mut nodes: Vec<_> = [6, 5, 0].map(NodeId).to_vec();
    let messages =
        (0..2).map(|source| Message { source: Rank(source), target: Rank(2), size: Bytes(1) });
    let partners = Arc::new(Partners::new(&Traffic { ranks: 3, messages: messages.collect() }));
    let load = GridLoad::<2>::new(&grid);
    let mut moving = MovingLoad::new(partners.clone(), load.clone(), &nodes);
    let moves = [(Rank(0), NodeId(7)), (Rank(1), NodeId(6))];
    moves.iter().for_each(|&(rank, to)| nodes[rank.index()] = to);
    moving.relocate(&moves);
    let anew = MovingLoad::new(partners, load, &nodes);
    for (node, dimension) in (0..8).map(NodeId).flat_map(|node| [(node, 0), (node, 1)]) {
        for up in [true, false] {
            let on = |load: &MovingLoad<GridLoad<2>>| load.load().on(node, dimension, up);
            assert_eq!(on(&moving), on(&anew), "{node:?} {dimension} {up}");
        }
    }
}
