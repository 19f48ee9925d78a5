//! Campaigns against sequences run one by one, and the worst of all against both.

use std::sync::Arc;

use super::*;
use crate::grid::Grid;
use crate::load::{GridLoad, MovingLoad, Partners};
use crate::recovery::spares::{Allocation, Pick, Substitutes};
use crate::workload;

fn job(lengths: [u32; 3], torus: bool) -> Job<GridLoad<3>> {
    let grid = Arc::new(Grid::new(&lengths, torus).unwrap());
    let allocation: Allocation = "3D(2,1)".parse().unwrap();
    let shape = allocation.job_shape(&grid).unwrap().iter().map(u32::to_string).collect::<Vec<_>>();
    let text = format!("stencil({})", shape.join(","));
    let occupancy = Occupancy::new(grid.clone(), &allocation).unwrap();
    let ranks = occupancy.node_of().len();
    let bound = workload::bind(&text, &Default::default()).unwrap();
    let traffic = bound.phase(ranks as u32, 0, Seed(1)).unwrap();
    let partners = Arc::new(Partners::new(&traffic));
    let load = GridLoad::<3>::new(&grid);
    let load = MovingLoad::new(partners, load, occupancy.node_of());
    Job::new(occupancy, vec![load])
}

/// Sequences one by one, each from the start.
fn one_by_one(campaign: &Campaign, start: &Job<GridLoad<3>>, sequences: u64) -> Vec<Tally> {
    let each = campaign.policies.iter().map(|policy| {
        let mut tally = Tally::new(campaign.failures);
        let mut start = start.clone();
        start.fail_all(
            policy,
            campaign.choices,
            &campaign.dead,
            &mut campaign.seed.stream("dead nodes", 0),
        );
        for sequence in 0..sequences {
            let mut job = start.clone();
            let mut failures = campaign.seed.stream("node failures", sequence);
            let mut ties = campaign.seed.stream("slides", sequence);
            let mut substitutes = Substitutes::new(policy, campaign.choices, 3);
            for failure in 0..campaign.failures {
                let Some(failed) = campaign.victims.draw(&job.occupancy, &mut failures) else {
                    break;
                };
                match job.fail(&mut substitutes, failed, &mut ties) {
                    Substitution::Slide(degree) => {
                        tally.substituted(failure, Some(degree), job.collision_max(), 1);
                    }
                    Substitution::Searched => {
                        tally.substituted(failure, None, job.collision_max(), 1);
                    }
                    Substitution::Idle => tally.idle(failure, job.collision_max()),
                    Substitution::NoSpareLeft(_) => {
                        tally.unrecovered[failure] += 1;
                        break;
                    }
                }
            }
        }
        tally
    });
    each.collect()
}

#[test]
fn sequences_run_together_are_those_run_one_by_one() {
    let policies = ["hybrid(all)", "3D", "hybrid(-2D)", "0D", "optimal(trials=3)"];
    for (lengths, torus) in [([5, 6, 4], false), ([4, 4, 4], true), ([6, 3, 5], false)] {
        let start = job(lengths, torus);
        for (pick, victims, dead) in [
            (Pick::Random, Victims::Hosts, vec![]),
            (Pick::Uneven, Victims::Alive, vec![NodeId(0), NodeId(7)]),
            (Pick::Fixed, Victims::Hosts, vec![NodeId(5)]),
        ] {
            let campaign = Campaign {
                dead,
                policies: policies.iter().map(|text| Policy::parse(text, 3).unwrap()).collect(),
                choices: Choices { pick, ..Choices::default() },
                victims,
                failures: start.occupancy.free_count() + 1,
                seed: Seed(3),
            };
            let wanted = one_by_one(&campaign, &start, 200);
            assert_eq!(campaign.run(&start, 0..200), wanted);
            let mut parts = campaign.run(&start, 0..77);
            let rest = campaign.run(&start, 77..200);
            parts.iter_mut().zip(&rest).for_each(|(sum, more)| sum.merge(more));
            assert_eq!(parts, wanted);
        }
    }
}

#[test]
fn the_worst_of_all_sequences_is_no_better_than_any_drawn() {
    let start = job([4, 4, 3], false);
    let policy = Policy::parse("hybrid(all)", 3).unwrap();
    let choices = Choices { pick: Pick::Fixed, ..Choices::default() };
    let worst = all_sequences(&start, &policy, choices, 3);
    let policies = vec![policy.clone()];
    let (dead, victims, seed) = (Vec::new(), Victims::Hosts, Seed(1));
    let campaign = Campaign { dead, policies, choices, victims, failures: 3, seed };
    let drawn = &campaign.run(&start, 0..4000)[0];
    for (one, drawn) in worst.iter().zip(&drawn.collisions) {
        assert!(drawn.len() as u32 - 1 <= one.collision_max);
        let steps =
            start.clone().fail_all(&policy, choices, &one.sequence, &mut Seed(1).stream("x", 0));
        assert_eq!(steps.last().map(Step::collision_max), Some(one.collision_max));
    }
    let ranks = start.occupancy.node_of().len() as u64;
    assert_eq!(worst[2].recovered + worst[2].unrecovered, ranks.pow(3));
}
