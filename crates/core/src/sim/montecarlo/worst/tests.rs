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
    let load = MovingLoad::new(partners, load, occupancy.node_of(), grid.node_count());
    Job::new(occupancy, vec![load])
}

fn fixed() -> Choices {
    Choices { pick: Pick::Fixed, ..Choices::default() }
}

#[test]
#[ignore]
fn try_out() {
    let var = |name: &str, other: &str| std::env::var(name).unwrap_or(other.into());
    let n: u32 = var("N", "10").parse().unwrap();
    let job = job([n, n], var("TORUS", "0") == "1", &var("ALLOC", "2D(1,1)"));
    let method = Method::parse(&var("METHOD", "0D"), 2).unwrap();
    let limit = var("LIMIT", "1000000").parse().unwrap();
    let start = std::time::Instant::now();
    worst_cases(&job, &method, fixed(), var("F", "8").parse().unwrap(), limit, &mut |one| {
        println!("{:?} {one:?}", start.elapsed());
        true
    })
    .unwrap();
}

/// Against every sequence: the same worst case, and a sequence that shows it.
fn agrees(lengths: [u32; 2], torus: bool, allocation: &str, method: &str, failures: usize) {
    let job = job(lengths, torus, allocation);
    let method = Method::parse(method, 2).unwrap();
    let wanted = all_sequences(&job, &method, fixed(), failures);
    let found = worst_cases(&job, &method, fixed(), failures, 1 << 22, &mut |_| true).unwrap();
    for (wanted, one) in wanted.iter().zip(&found) {
        let told = format!("{lengths:?} {torus} {allocation} {method}: {one:?} not {wanted:?}");
        assert_eq!((one.collision_max, one.bound), (wanted.collision_max, wanted.collision_max), "{told}");
        let trial = Trial { job: &job, method: &method, choices: fixed() };
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
