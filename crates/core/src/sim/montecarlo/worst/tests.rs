//! Proved worst cases against all sequences.

use std::sync::Arc;

use super::*;
use crate::grid::Grid;
use crate::load::{GridLoad, MovingLoad, Partners};
use crate::recovery::spares::{Allocation, Occupancy};
use crate::sim::montecarlo::all_sequences;
use crate::workload;

fn job(lengths: [u32; 2], torus: bool, allocation: &str) -> Job<GridLoad<2>> {
    let grid = Arc::new(Grid::new(&lengths, torus).unwrap());
    let allocation: Allocation = allocation.parse().unwrap();
    let shape = allocation.job_shape(&grid).unwrap();
    let text = format!("stencil({},{})", shape[0], shape[1]);
    let occupancy = Occupancy::new(grid.clone(), &allocation).unwrap();
    let ranks = occupancy.node_of().len();
    let traffic = workload::bind(&text, &Default::default())
        .unwrap()
        .phase(ranks as u32, 0, Seed(1))
        .unwrap();
    let partners = Arc::new(Partners::new(&traffic));
    let load = GridLoad::<2>::new(&grid);
    let load = MovingLoad::new(partners, load, occupancy.node_of());
    Job::new(occupancy, vec![load])
}

fn fixed() -> Choices {
    Choices { pick: Pick::Fixed, ..Choices::default() }
}

/// Against every sequence: the same worst case, and a sequence that shows it.
fn agrees(lengths: [u32; 2], torus: bool, allocation: &str, policy: &str, failures: usize) {
    let job = job(lengths, torus, allocation);
    let policy = Policy::parse(policy, 2).unwrap();
    let wanted = all_sequences(&job, &policy, fixed(), failures);
    let found = worst_cases(&job, &policy, fixed(), failures, 1 << 22, &mut |_| true).unwrap();
    assert_eq!(found.len(), failures);
    for (wanted, one) in wanted.iter().zip(&found) {
        let told = format!("{lengths:?} {torus} {allocation} {policy}: {one:?} not {wanted:?}");
        assert_eq!(
            (one.collision_max, one.bound),
            (wanted.collision_max, wanted.collision_max),
            "{told}"
        );
        let trial = Trial { job: &job, policy: &policy, choices: fixed() };
        if wanted.recovered > 0 {
            assert_eq!(trial.collision(&one.sequence), Some(one.collision_max), "{told}");
            assert_eq!(one.sequence.len(), one.failures);
        }
    }
}

#[test]
fn nearest_spares_are_as_bad_as_the_worst_of_all_sequences() {
    for torus in [false, true] {
        agrees([4, 4], torus, "2D(1,1)", "0D", 5);
        agrees([5, 4], torus, "2D(2,1)", "0D", 5);
        agrees([4, 6], torus, "2D(1,1)", "0D", 4);
        agrees([5, 5], torus, "2D(2,1)", "0D", 4);
        agrees([6, 6], torus, "2D(1,1)", "0D", 3);
        agrees([6, 6], torus, "2D(1,2)", "0D", 3);
    }
}

#[test]
fn slides_are_as_bad_as_the_worst_of_all_sequences() {
    agrees([4, 4], false, "2D(2,1)", "1D", 6);
    agrees([4, 5], false, "2D(1,1)", "1D", 4);
    agrees([5, 4], false, "2D(2,1)", "1D", 4);
    agrees([5, 5], false, "2D(2,1)", "1D", 4);
    agrees([6, 6], false, "2D(2,1)", "1D", 3);
    agrees([6, 5], false, "2D(2,2)", "1D", 3);
}

#[test]
fn a_search_that_ends_early_leaves_a_bound_above_what_it_found() {
    for (allocation, policy) in [("2D(1,1)", "0D"), ("2D(2,1)", "1D")] {
        let job = job([6, 6], false, allocation);
        let policy = Policy::parse(policy, 2).unwrap();
        let find = |limit| worst_cases(&job, &policy, fixed(), 4, limit, &mut |_| true).unwrap();
        let (few, all) = (find(10), find(1 << 22));
        assert!(all.iter().all(Proved::is_exact));
        assert!(few.iter().any(|one| !one.is_exact()));
        for (few, all) in few.iter().zip(&all) {
            assert!(few.states <= 10 + 1);
            assert!(few.collision_max <= all.collision_max && all.collision_max <= few.bound);
        }
    }
}

#[test]
fn more_failures_than_spares_have_no_worst_case() {
    for (allocation, policy) in [("2D(1,1)", "0D"), ("2D(1,1)", "1D")] {
        let job = job([3, 2], false, allocation);
        let policy = Policy::parse(policy, 2).unwrap();
        let found = worst_cases(&job, &policy, fixed(), 4, 1000, &mut |_| true).unwrap();
        let known: Vec<_> = found.iter().map(|one| (one.sequence.len(), one.is_exact())).collect();
        assert_eq!(known, [(1, true), (2, true), (0, true), (0, true)]);
        assert!(found[2..].iter().all(|one| one.bound == 0));
    }
}

#[test]
fn refuses_what_it_has_no_proof_for() {
    let refused = |torus, policy: &str, choices| {
        let job = job([5, 5], torus, "2D(2,1)");
        let policy = Policy::parse(policy, 2).unwrap();
        worst_cases(&job, &policy, choices, 2, 100, &mut |_| true).unwrap_err()
    };
    assert!(matches!(refused(false, "2D", fixed()), WorstError::Policy { .. }));
    assert!(matches!(refused(true, "1D", fixed()), WorstError::Network { .. }));
    assert_eq!(refused(false, "1D", Choices::default()), WorstError::Drawn);
    let ties = Choices { tie: Tie::Random, ..fixed() };
    assert_eq!(refused(false, "0D", ties), WorstError::Drawn);
}
