//! Figures 4 to 7 and 9 of the paper, and what holds after every substitution.

use super::*;
use crate::grid::Grid;
use crate::ids::NodeId;
use crate::load::GridLoad;
use crate::rng::Seed;

/// The 5-point stencil of a two-dimensional job, all messages at once.
fn stencil(shape: [u32; 2]) -> Vec<(usize, usize)> {
    let mut messages = Vec::new();
    for y in 0..shape[1] as usize {
        for x in 0..shape[0] as usize {
            let rank = |x: usize, y: usize| x + y * shape[0] as usize;
            if x + 1 < shape[0] as usize {
                messages.extend([(rank(x, y), rank(x + 1, y)), (rank(x + 1, y), rank(x, y))]);
            }
            if y + 1 < shape[1] as usize {
                messages.extend([(rank(x, y), rank(x, y + 1)), (rank(x, y + 1), rank(x, y))]);
            }
        }
    }
    messages
}

fn collisions(occupancy: &Occupancy<'_>, messages: &[(usize, usize)]) -> u32 {
    let mut load = GridLoad::<2>::new(occupancy.grid());
    let node_of = occupancy.node_of();
    messages.iter().for_each(|&(source, target)| load.add(node_of[source], node_of[target]));
    load.collision_max()
}

#[test]
fn worst_cases_of_two_dimensions() {
    let grid = Grid::new(&[8, 8], false).unwrap();
    for (allocation, method, failures, wanted) in [
        ("2D(1,1)", "0D", 1, vec![5]),
        ("2D(2,1)", "2D", 2, vec![1, 1]),
        ("2D(2,1)", "1D", 2, vec![3, 4]),
    ] {
        let allocation: Allocation = allocation.parse().unwrap();
        let method = Method::parse(method, 2).unwrap();
        let start = Occupancy::new(&grid, &allocation).unwrap();
        let shape: [u32; 2] = allocation.job_shape(&grid).unwrap().try_into().unwrap();
        let messages = stencil(shape);
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
                let done = substitutes.fail(&mut occupancy, failed, &mut stream, &mut moves);
                assert!(matches!(done, Substitution::Slide(_)), "{done:?}");
                *worst = collisions(&occupancy, &messages).max(*worst);
            }
        }
        assert_eq!(worst, wanted, "{method} {allocation}");
    }
    let _ = NodeId(0);
}
