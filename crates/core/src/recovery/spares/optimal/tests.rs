//! What holds after every substitution that a search has found.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::{Allocation, Choices, Occupancy, Policy, Substitutes, needs_straight_lines};
use super::*;
use crate::grid::Grid;
use crate::load::{GridLoad, MovingLoad, Partners};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::workload;

/// A job of stencil messages, and those.
fn job<const Q: usize>(lengths: &[u32], torus: bool, sides: usize) -> (Job<GridLoad<Q>>, Traffic) {
    let grid = Arc::new(Grid::new(lengths, torus).unwrap());
    let allocation: Allocation = format!("{Q}D({sides},1)").parse().unwrap();
    let shape = allocation.job_shape(&grid).unwrap().iter().map(u32::to_string).collect::<Vec<_>>();
    let bound =
        workload::bind(&format!("stencil({})", shape.join(",")), &Default::default()).unwrap();
    let occupancy = Occupancy::new(grid.clone(), &allocation).unwrap();
    let traffic = bound.phase(occupancy.node_of().len() as u32, 0, Seed(1)).unwrap();
    let load = GridLoad::<Q>::new(&grid);
    let partners = Arc::new(Partners::new(&traffic));
    let load = MovingLoad::new(partners, load, occupancy.node_of());
    (Job::new(occupancy, vec![load]), traffic)
}

fn policy(text: &str, dimensions: usize) -> Policy {
    Policy::parse(text, dimensions).unwrap()
}

/// Fails random nodes until none is left.
fn follows<const Q: usize>(lengths: &[u32], torus: bool, moves_max: u32, seed: u64) {
    let (mut own, traffic) = job::<Q>(lengths, torus, 1 + seed as usize % Q);
    let grid = own.occupancy.grid().clone();
    let search = Policy::Optimal(Effort { trials: 20, moves_max });
    let others = ["hybrid(all)", "1D", "0D"].map(|text| policy(text, Q));
    let mut substitutes = Substitutes::new(&search, Choices::default(), Q);
    let mut stream = Seed(seed).stream("test", 0);
    let mut dead = Vec::new();
    loop {
        let failed = own.occupancy.node_of()[stream.index(own.occupancy.node_of().len())];
        let (before, spares) = (own.clone(), own.occupancy.free_count());
        let done = own.fail(&mut substitutes, failed, &mut stream);
        if spares == 0 {
            assert!(matches!(done, Substitution::NoSpareLeft(_)));
            break;
        }
        dead.push(failed);
        assert!(own.occupancy.dead().eq({
            dead.sort_unstable();
            dead.iter().copied()
        }));
        assert_eq!(own.occupancy.free_count() + 1, spares);
        let mut taken = own.occupancy.node_of().to_vec();
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|one, next| one < next), "two ranks on a node");
        assert!(dead.iter().all(|node| taken.binary_search(node).is_err()));
        let places = own.occupancy.node_of().iter().zip(before.occupancy.node_of());
        let moved = places.filter(|(now, before)| now != before).count();
        assert!(moved as u32 <= moves_max, "{moved} ranks moved, at most {moves_max} may");
        // Masks and loads are those of a job that is set up like this.
        let rebuilt = Occupancy::of(grid.clone(), own.occupancy.node_of().to_vec());
        let load = GridLoad::<Q>::new(&grid);
        let partners = Arc::new(Partners::new(&traffic));
        let load = MovingLoad::new(partners, load, rebuilt.node_of());
        let mut anew = Job::new(rebuilt, vec![load]);
        dead.iter().for_each(|&node| anew.occupancy.fail_idle(node));
        assert_eq!((own.collision_max(), own.pressure()), (anew.collision_max(), anew.pressure()));
        let mut random = Seed(seed).stream("near", 0);
        let near = |job: &Job<_>, random: &mut _| {
            let (occupancy, from) = (&job.occupancy, job.occupancy.node_of()[0]);
            nearest::nearest(occupancy, from, Tie::Lowest, random)
        };
        assert_eq!(near(&own, &mut random), near(&anew, &mut random));
        // No slide from the same state does better.
        for other in others.iter().filter(|_| moves_max == u32::MAX) {
            let mut slid = before.clone();
            let mut substitutes = Substitutes::new(other, Choices::default(), Q);
            let done = slid.fail(&mut substitutes, failed, &mut stream);
            if matches!(done, Substitution::Slide(_)) {
                assert!(own.collision_max() <= slid.collision_max(), "{other}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn ranks_and_loads_are_where_they_should_be(
        seed in 0u64..1 << 32, torus: bool, dimensions in 2usize..=4, limited: bool,
    ) {
        let length = |dimension: usize| 2 + (seed >> (3 * dimension)) as u32 % [0, 0, 6, 3, 2][dimensions];
        let lengths: Vec<u32> = (0..dimensions).map(length).collect();
        let moves_max = if limited { 1 + (seed % 7) as u32 } else { u32::MAX };
        match dimensions {
            2 => follows::<2>(&lengths, torus, moves_max, seed),
            3 => follows::<3>(&lengths, torus, moves_max, seed),
            _ => follows::<4>(&lengths, torus, moves_max, seed),
        }
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    let found = |seed| {
        let (mut own, _) = job::<2>(&[9, 8], false, 2);
        let failed: Vec<_> = [0, 20, 33, 41, 50].map(NodeId).to_vec();
        let mut stream = Seed(seed).stream("slides", 0);
        own.fail_all(&policy("optimal", 2), Choices::default(), &failed, &mut stream)
    };
    assert_eq!(found(1), found(1));
}

/// Where straight lines fit, they are found, whatever happened before: the bound is reached.
#[test]
fn no_collision_where_the_dead_nodes_leave_straight_lines() {
    let (start, traffic) = job::<2>(&[8, 8], false, 2);
    let grid = start.occupancy.grid().clone();
    assert!(needs_straight_lines(&grid, &[7, 7], &traffic));
    let search = policy("optimal(trials=50)", 2);
    let (mut straight, mut bent) = (0, 0);
    for sequence in 0..200 {
        let mut own = start.clone();
        let mut stream = Seed(5).stream("test", sequence);
        let mut substitutes = Substitutes::new(&search, Choices::default(), 2);
        for _ in 0..4 {
            let failed = own.occupancy.node_of()[stream.index(own.occupancy.node_of().len())];
            own.fail(&mut substitutes, failed, &mut stream);
            let dead: Vec<_> = own.occupancy.dead().collect();
            match Fit::of(&grid, &[7, 7], &dead) {
                Fit::On(_) => {
                    straight += 1;
                    assert_eq!(own.collision_max(), 1);
                }
                Fit::Never => {
                    bent += 1;
                    assert!(own.collision_max() >= 2);
                }
                Fit::Unknown => panic!("two rows and columns are few"),
            }
        }
    }
    assert!(straight > 400 && bent > 100, "{straight} {bent}");
}

#[test]
fn what_lacks_a_message_or_closes_around_is_no_stencil_on_a_mesh() {
    let (start, mut traffic) = job::<2>(&[6, 6], false, 2);
    traffic.messages.swap_remove(3);
    assert!(!needs_straight_lines(start.occupancy.grid(), &[5, 5], &traffic));
    let (start, traffic) = job::<2>(&[6, 6], true, 2);
    assert!(!needs_straight_lines(start.occupancy.grid(), &[5, 5], &traffic));
}
