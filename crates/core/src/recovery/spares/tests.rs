//! Figures 4 to 7 and 9 of the paper, and what holds after every substitution.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::grid::Grid;
use crate::ids::{NodeId, Rank};
use crate::load::{GridLoad, MovingLoad, PairLoad, Partners};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::workload;

/// A stencil of the ranks of a job, all messages at once.
fn stencil(shape: &[u32], points: &str, periodic: bool) -> Traffic {
    let text = shape.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let bound =
        workload::bind(&format!("stencil({text}; {points}; {periodic})"), &Default::default())
            .unwrap();
    let ranks = shape.iter().product();
    bound.phase(ranks, 0, Seed(1)).unwrap()
}

fn collisions(occupancy: &Occupancy, traffic: &Traffic) -> u32 {
    let mut load = GridLoad::<2>::new(occupancy.grid());
    let node_of = occupancy.node_of();
    for one in &traffic.messages {
        load.add(node_of[one.source.index()], node_of[one.target.index()]);
    }
    load.collision_max()
}

fn start(lengths: &[u32], torus: bool, allocation: &str) -> (Occupancy, Vec<u32>) {
    let grid = Arc::new(Grid::new(lengths, torus).unwrap());
    let allocation: Allocation = allocation.parse().unwrap();
    let shape = allocation.job_shape(&grid).unwrap();
    (Occupancy::new(grid, &allocation).unwrap(), shape)
}

#[test]
fn worst_cases_of_two_dimensions() {
    for (allocation, method, failures, wanted) in [
        ("2D(1,1)", "0D", 1, vec![5]),
        ("2D(2,1)", "2D", 2, vec![1, 1]),
        ("2D(2,1)", "1D", 2, vec![3, 4]),
    ] {
        let method = Policy::parse(method, 2).unwrap();
        let (start, shape) = start(&[8, 8], false, allocation);
        let messages = stencil(&shape, "5P", false);
        assert_eq!(collisions(&start, &messages), 1);
        let ranks = start.node_of().len();
        let mut worst = vec![0; failures];
        for sequence in 0..ranks.pow(failures as u32) {
            let mut occupancy = start.clone();
            let choices = Choices { pick: Pick::Fixed, ..Choices::default() };
            let mut substitutes = Substitutes::new(&method, choices, 2);
            let mut stream = Seed(1).stream("test", 0);
            let mut rest = sequence;
            for worst in &mut worst {
                let failed = occupancy.node_of()[rest % ranks];
                rest /= ranks;
                let mut moves = Vec::new();
                let done = substitutes.choose(&occupancy, failed, &mut stream).carry_out(
                    &mut occupancy,
                    failed,
                    &mut moves,
                );
                assert!(matches!(done, Substitution::Slide(_)), "{done:?}");
                *worst = collisions(&occupancy, &messages).max(*worst);
            }
        }
        assert_eq!(worst, wanted, "{method} {allocation}");
    }
}

/// Loads counted anew, channel by channel.
fn counted<const Q: usize>(grid: &Grid, node_of: &[NodeId], traffic: &Traffic) -> GridLoad<Q> {
    let mut load = GridLoad::<Q>::new(grid);
    for one in &traffic.messages {
        load.add(node_of[one.source.index()], node_of[one.target.index()]);
    }
    load
}

/// Fails random nodes until none is left: whatever the method, ranks stand on nodes of their own that are alive, and loads
/// that follow the moves are those counted anew.
fn follows<const Q: usize>(
    lengths: &[u32],
    torus: bool,
    method: &Policy,
    choices: Choices,
    seed: u64,
) {
    let sides = 1 + seed as usize % Q;
    let (mut occupancy, shape) = start(lengths, torus, &format!("{Q}D({sides},1)"));
    let points = if seed.is_multiple_of(3) { "box" } else { "star" };
    let traffic = stencil(&shape, points, seed.is_multiple_of(2));
    let grid = occupancy.grid().clone();
    let partners = Arc::new(Partners::new(&traffic));
    let load = GridLoad::<Q>::new(&grid);
    let mut moving = MovingLoad::new(partners, load, occupancy.node_of());
    let mut substitutes = Substitutes::new(method, choices, Q);
    let mut stream = Seed(seed).stream("test", 0);
    let mut dead = Vec::new();
    let degrees = method.degrees();
    loop {
        let failed = occupancy.node_of()[stream.index(occupancy.node_of().len())];
        let (before, spares) = (occupancy.node_of().to_vec(), occupancy.free_count());
        let mut moves = Vec::new();
        match substitutes.choose(&occupancy, failed, &mut stream).carry_out(
            &mut occupancy,
            failed,
            &mut moves,
        ) {
            Substitution::Slide(degree) => assert!(degrees.contains(&degree)),
            Substitution::Idle | Substitution::Searched => panic!("a node with a rank has failed"),
            Substitution::NoSpareLeft(_) => {
                assert!(spares == 0 || !degrees.contains(&0));
                break;
            }
        }
        dead.push(failed);
        let mut taken = occupancy.node_of().to_vec();
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|one, next| one < next), "two ranks on a node");
        assert!(dead.iter().all(|node| !taken.contains(node) && occupancy.is_dead(*node)));
        assert_eq!(occupancy.free_count() + 1, spares);
        for one in &moves {
            assert_eq!(before[one.rank.index()], one.from);
            assert_eq!(occupancy.node_of()[one.rank.index()], one.to);
            assert_eq!(occupancy.rank_on(one.to), Some(one.rank));
        }
        let moved = |rank: usize| moves.iter().any(|one| one.rank == Rank(rank as u32));
        assert!(
            (0..before.len())
                .all(|rank| moved(rank) == (before[rank] != occupancy.node_of()[rank]))
        );
        let pairs: Vec<_> = moves.iter().map(|one| (one.rank, one.to)).collect();
        moving.relocate(&pairs);
        let mut anew = counted::<Q>(&grid, occupancy.node_of(), &traffic);
        let all = || (0..grid.node_count()).map(NodeId::from_index);
        for (node, dimension) in
            all().flat_map(|node| (0..Q).map(move |dimension| (node, dimension)))
        {
            for up in [true, false] {
                assert_eq!(moving.load().on(node, dimension, up), anew.on(node, dimension, up));
            }
        }
        assert_eq!(moving.collision_max(), anew.collision_max());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn loads_that_follow_moves_are_those_counted_anew(
        seed in 0u64..1 << 32,
        dimensions in 2usize..=5,
        torus: bool,
        degrees in 0usize..6,
        (pick, tie) in (0usize..3, 0usize..4),
    ) {
        let names = ["hybrid(all)", "0D", "1D", "2D", "hybrid(-1D)", "hybrid(1D+0D)"];
        let method = Policy::parse(names[degrees], dimensions).unwrap();
        let choices = Choices {
            pick: [Pick::Random, Pick::Fixed, Pick::Uneven][pick],
            tie: [Tie::Lowest, Tie::Highest, Tie::Random, Tie::Aligned][tie],
        };
        let length = |dimension: usize| 2 + (seed >> (2 * dimension)) as u32 % [0, 0, 7, 4, 3, 2][dimensions] ;
        let lengths: Vec<u32> = (0..dimensions).map(length).collect();
        match dimensions {
            2 => follows::<2>(&lengths, torus, &method, choices, seed),
            3 => follows::<3>(&lengths, torus, &method, choices, seed),
            4 => follows::<4>(&lengths, torus, &method, choices, seed),
            _ => follows::<5>(&lengths, torus, &method, choices, seed),
        }
    }

    /// The nearest free node is the one that looking at all of them finds.
    #[test]
    fn nearest_is_what_looking_at_all_finds(
        lengths in prop::collection::vec(1u32..7, 1..5), torus: bool, used in prop::collection::vec(0u32..10, 1..60), from in 0usize..10_000,
    ) {
        let grid = Arc::new(Grid::new(&lengths, torus).unwrap());
        let count = grid.node_count();
        let mut taken: Vec<_> = used.iter().scan(0, |at, step| { *at += step; Some(*at as usize) }).collect();
        taken.dedup();
        let node_of: Vec<_> = taken.into_iter().filter(|&node| node < count).map(NodeId::from_index).collect();
        let occupancy = Occupancy::of(grid.clone(), node_of);
        let from = NodeId::from_index(from % count);
        let free = || (0..count).map(NodeId::from_index).filter(|&node| occupancy.is_free(node));
        let mut stream = Seed(1).stream("test", 0);
        let mut find = |tie| nearest::nearest(&occupancy, from, tie, &mut stream);
        prop_assert_eq!(find(Tie::Lowest), free().min_by_key(|&node| (grid.hops(from, node), node)));
        let highest = free().min_by_key(|&node| (grid.hops(from, node), std::cmp::Reverse(node)));
        prop_assert_eq!(find(Tie::Highest), highest);
        let shared = |node: NodeId| grid.coordinates(node).zip(grid.coordinates(from)).filter(|(a, b)| a == b).count();
        let aligned = free().min_by_key(|&node| (grid.hops(from, node), std::cmp::Reverse(shared(node)), node));
        prop_assert_eq!(find(Tie::Aligned), aligned);
        // Without a job of some shape there are no sides.
        prop_assert_eq!(find(Tie::Balanced), find(Tie::Lowest));
        let any = find(Tie::Random).map(|node| grid.hops(from, node));
        prop_assert_eq!(any, highest.map(|node| grid.hops(from, node)));
    }
}

#[test]
fn a_full_ring_has_no_nearest_node() {
    let (occupancy, _) = start(&[4], true, "1D(1,0)");
    let mut stream = Seed(1).stream("test", 0);
    assert_eq!(nearest::nearest(&occupancy, NodeId(1), Tie::Lowest, &mut stream), None);
}

/// Failures in the diagonal find spares on both sides equally far away: "the spare nodes must be chosen from alternating sides".
#[test]
fn sides_take_turns() {
    let (mut occupancy, _) = start(&[8, 8], false, "2D(2,1)");
    let method = Policy::parse("0D", 2).unwrap();
    let choices = Choices { tie: Tie::Balanced, ..Choices::default() };
    let mut substitutes = Substitutes::new(&method, choices, 2);
    let mut stream = Seed(1).stream("test", 0);
    let mut sides = Vec::new();
    for at in [1, 3, 5, 6] {
        let failed = occupancy.grid().node_at(&[at, at]).unwrap();
        let mut moves = Vec::new();
        let choice = substitutes.choose(&occupancy, failed, &mut stream);
        choice.carry_out(&mut occupancy, failed, &mut moves);
        sides.extend(occupancy.side(moves[0].to));
    }
    // Of 8 and 7, since the corner is on the first side; where both have as many left, the lower id is there too.
    assert_eq!(sides, [0, 0, 1, 0]);
    assert_eq!(occupancy.free_by_side(), [5, 6]);
}
