//! What every sequence of failures keeps, and that core's simulation answers the same.

use runflat_core::rng::Seed;
use runflat_core::sim::montecarlo::{Network, any_job};

use super::*;

fn open(shape: &str, torus: bool, allocation: &str, policy: &str, seed: u64) -> Roster {
    Roster::new(Launch::read(shape, torus, allocation, policy, seed).unwrap()).unwrap()
}

/// Ranks that panic when a place fails.
pub(crate) fn faulty() -> Roster {
    struct Faulty(Occupancy);
    impl Ranks for Faulty {
        fn occupancy(&self) -> &Occupancy {
            &self.0
        }
        fn occupancy_mut(&mut self) -> &mut Occupancy {
            &mut self.0
        }
        fn fail(&mut self, _: &mut Substitutes<'_>, _: NodeId, _: &mut Stream) -> Substitution {
            panic!("a fault made for a test")
        }
    }
    let launch = Launch::read("4", false, "1D(1,1)", "0D", 1).unwrap();
    let ranks = Box::new(Faulty(launch.occupancy.clone()));
    Roster { ranks, ..Roster::new(launch).unwrap() }
}

fn range(ends: std::ops::Range<u32>) -> Vec<u32> {
    ends.collect()
}

#[test]
fn the_last_of_a_line_are_spares() {
    for allocation in ["1D(1,2)", "10"] {
        let roster = open("12", false, allocation, "0D", 1);
        assert_eq!(roster.places(), range(0..10));
        assert_eq!((roster.place_count(), roster.spare_count()), (12, 2));
    }
    let without = open("12", false, "1D(1,0)", "0D", 1);
    assert_eq!((without.places().len(), without.spare_count()), (12, 0));
}

#[test]
fn the_nearest_spare_replaces() {
    let mut mesh = open("12", false, "1D(1,2)", "0D", 1);
    assert_eq!(mesh.fail(3), Ok(Answer::Substituted));
    assert_eq!(mesh.places(), [0, 1, 2, 10, 4, 5, 6, 7, 8, 9]);
    assert_eq!(mesh.spare_count(), 1);
    let mut torus = open("12", true, "1D(1,2)", "0D", 1);
    torus.fail(3).unwrap();
    assert_eq!(torus.places()[3], 11, "4 steps down around the end, 7 up");
}

/// Eight processes on hosts 0 1 2 3 0 1 2 3; hosts 0 and 2 have one switch, 1 and 3 the other.
fn on_four_hosts(policy: &str) -> Roster {
    let mut roster = open("8", false, "1D(1,4)", policy, 1);
    let path = (0..8).flat_map(|place| [place % 2, place % 4]).collect();
    roster.stand(2, path).unwrap();
    roster
}

#[test]
fn a_spare_of_the_same_host_replaces_then_one_of_the_same_switch() {
    let mut roster = on_four_hosts("0D");
    roster.fail(2).unwrap();
    assert_eq!(roster.places(), [0, 1, 6, 3], "place 4 is as near on the line");
    roster.fail(6).unwrap();
    assert_eq!(roster.places(), [0, 1, 4, 3], "the host has no spare left, its switch has");
    roster.fail(0).unwrap();
    assert_eq!(roster.places(), [5, 1, 4, 3], "any");
    let slide = |mut roster: Roster| {
        roster.fail(2).unwrap();
        roster.places().to_vec()
    };
    let blind = slide(open("8", false, "1D(1,4)", "1D", 1));
    assert_eq!(slide(on_four_hosts("1D")), blind, "slides go along the grid");
}

#[test]
fn where_all_stand_together_the_nearest_on_the_grid_replaces() {
    for place in 0..8 {
        let [mut blind, mut told] = [(); 2].map(|()| open("8", true, "1D(1,3)", "0D", 1));
        told.stand(2, vec![7; 16]).unwrap();
        assert_eq!(told.fail(place), blind.fail(place));
        assert_eq!(told.places(), blind.places());
    }
    let error = open("8", false, "1D(1,3)", "0D", 1).stand(2, vec![7; 15]).unwrap_err();
    assert_eq!(error.to_string(), "15 numbers are no paths of 2 levels for 8 nodes");
}

#[test]
fn a_slide_keeps_the_order_of_a_line() {
    let mut roster = open("12", false, "1D(1,2)", "1D", 1);
    assert_eq!(roster.fail(3), Ok(Answer::Substituted));
    assert_eq!(roster.places(), [0, 1, 2, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(roster.fail(0), Ok(Answer::Substituted));
    assert_eq!(roster.places(), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn an_idle_spare_that_fails_takes_over_from_nobody() {
    let mut roster = open("12", false, "1D(1,2)", "0D", 1);
    assert_eq!(roster.fail(10), Ok(Answer::SpareLost));
    assert_eq!(roster.places(), range(0..10));
    assert_eq!(roster.spare_count(), 1);
    assert_eq!(roster.fail(9), Ok(Answer::Substituted));
    assert_eq!(roster.places()[9], 11);
    // A spare that has taken over is a place like any other.
    assert_eq!(roster.fail(11), Ok(Answer::NoSpareLeft));
    assert_eq!(roster.places()[9], NOWHERE);
}

#[test]
fn without_a_spare_each_failure_is_answered_for_itself() {
    for policy in ["0D", "1D", "hybrid(all)", "optimal", "optimal(trials=3, moves=1)"] {
        let mut roster = open("4", false, "1D(1,1)", policy, 1);
        assert_eq!(roster.fail(1), Ok(Answer::Substituted), "{policy}");
        let before = roster.places().to_vec();
        let rank = before.iter().position(|&place| place == 2).unwrap_or(0);
        let place = before[rank];
        assert_eq!(roster.fail(place), Ok(Answer::NoSpareLeft), "{policy}");
        let mut wanted = before;
        wanted[rank] = NOWHERE;
        assert_eq!(roster.places(), wanted, "nobody else moves");
        assert_eq!(roster.fail(place), Ok(Answer::AlreadyDead));
        assert_eq!(roster.fail(1), Ok(Answer::AlreadyDead));
        assert_eq!(roster.fail(0), Ok(Answer::NoSpareLeft));
        assert_eq!(roster.fail(3), Ok(Answer::NoSpareLeft));
        assert_eq!(roster.places(), [NOWHERE; 3]);
    }
}

#[test]
fn a_line_without_a_spare_leaves_those_of_others_alone() {
    // 0 1 2 | 3
    // 4 5 6 | 7
    let mut roster = open("4x2", false, "2D(1,1)", "1D", 1);
    assert_eq!(roster.fail(0), Ok(Answer::Substituted));
    assert_eq!(roster.places(), [1, 2, 3, 4, 5, 6]);
    // A place of the second line has a spare along x only, the spare of the first line is used up.
    assert_eq!(roster.fail(2), Ok(Answer::NoSpareLeft));
    assert_eq!((roster.places(), roster.spare_count()), (&[1, NOWHERE, 3, 4, 5, 6][..], 1));
    assert_eq!(roster.fail(5), Ok(Answer::Substituted));
    assert_eq!(roster.places(), [1, NOWHERE, 3, 4, 6, 7]);
    assert_eq!(roster.spare_count(), 0);
}

#[test]
fn there_is_no_place_beyond_the_last() {
    let mut roster = open("12", false, "1D(1,2)", "0D", 1);
    let error = roster.fail(12).unwrap_err();
    assert_eq!(error.to_string(), "there is no place 12: places are numbered 0 to 11");
    assert_eq!(roster.places(), range(0..10));
}

#[test]
fn spares_between_two_jobs_serve_both() {
    let mut roster = open("5x1", false, "boundary(1)", "0D", 1);
    assert_eq!(roster.places(), [0, 1, 3, 4]);
    assert_eq!(roster.fail(4), Ok(Answer::Substituted));
    assert_eq!(roster.places(), [0, 1, 3, 2]);
}

/// Launches with every policy on meshes and tori of one to four dimensions.
fn launches(mut each: impl FnMut(&str, bool, &str, &str)) {
    let jobs = [
        ("17", "1D(1,4)"),
        ("6x5", "2D(2,1)"),
        ("7x4", "5x4"),
        ("9x3", "boundary(2)"),
        ("4x4x3", "3D(2,1)"),
        ("3x3x3x2", "4D(1,1)"),
    ];
    for (shape, allocation) in jobs {
        for torus in [false, true] {
            for policy in ["0D", "1D", "hybrid(all)", "hybrid(-0D)", "optimal(trials=20)"] {
                each(shape, torus, allocation, policy);
            }
        }
    }
}

#[test]
fn any_sequence_of_failures_leaves_each_rank_a_place_of_its_own_that_is_alive() {
    launches(|shape, torus, allocation, policy| {
        for seed in 0..8 {
            let mut roster = open(shape, torus, allocation, policy, seed);
            let mut stream = Seed(seed).stream("test", 0);
            let count = roster.place_count();
            if seed % 2 == 1 {
                let path = (0..2 * count).map(|_| stream.below(4)).collect();
                roster.stand(2, path).unwrap();
            }
            let mut dead = vec![false; count];
            // Places fail in any order, some of them twice, and for a while one is revived now and then.
            let mut revivals = count;
            while dead.contains(&false) {
                let failed = stream.index(count);
                if revivals > 0 && stream.below(5) == 0 {
                    revivals -= 1;
                    let (places, spares) = (roster.places().to_vec(), roster.spare_count());
                    assert_eq!(roster.revive(failed as u32), Ok(dead[failed]));
                    assert_eq!(roster.places(), places);
                    assert_eq!(roster.spare_count(), spares + usize::from(dead[failed]));
                    dead[failed] = false;
                    continue;
                }
                let (before, spares) = (roster.places().to_vec(), roster.spare_count());
                let rank = before.iter().position(|&place| place as usize == failed);
                let answer = roster.fail(failed as u32).unwrap();
                let after = roster.places();
                let what = format!("{shape} {torus} {allocation} {policy} {seed}: {failed}");
                match answer {
                    Answer::AlreadyDead => assert!(dead[failed] && after == before, "{what}"),
                    Answer::SpareLost => assert!(rank.is_none() && after == before, "{what}"),
                    Answer::Substituted => assert!(rank.is_some(), "{what}"),
                    Answer::NoSpareLeft => {
                        let mut wanted = before.clone();
                        wanted[rank.expect(&what)] = NOWHERE;
                        assert_eq!(after, wanted, "{what}");
                        let reaches_all = policy != "1D" && policy != "hybrid(-0D)";
                        assert!(spares == 0 || !reaches_all, "{what}");
                    }
                }
                let used = matches!(answer, Answer::Substituted | Answer::SpareLost);
                assert_eq!(roster.spare_count() + usize::from(used), spares, "{what}");
                dead[failed] = true;
                let mut taken: Vec<_> = after.iter().filter(|&&one| one != NOWHERE).collect();
                assert!(taken.iter().all(|&&place| !dead[place as usize]), "{what}");
                taken.sort_unstable();
                assert!(taken.is_sorted_by(|one, next| one < next), "{what}");
                let alive = dead.iter().filter(|&&dead| !dead).count();
                assert_eq!(taken.len() + roster.spare_count(), alive, "{what}");
            }
            assert!(roster.places().iter().all(|&place| place == NOWHERE));
        }
    });
}

/// What `runflat spares substitute` calls, with its default traffic and choices.
#[test]
fn simulation_answers_the_same() {
    launches(|shape, torus, allocation, policy| {
        for seed in 0..4 {
            let launch = Launch::read(shape, torus, allocation, policy, seed).unwrap();
            let simulated =
                any_job(launch.occupancy.clone(), &launch.messages().unwrap(), Network::Own);
            let mut failed: Vec<_> = (0..launch.occupancy.grid().node_count() as u32).collect();
            Seed(seed).stream("test", 0).shuffle(&mut failed);
            let nodes: Vec<_> = failed.iter().copied().map(NodeId).collect();
            let mut roster = Roster::new(launch.clone()).unwrap();
            for count in 1..=nodes.len() {
                let mut slides = Seed(seed).stream("slides", 0);
                let (steps, after) = simulated.replay(
                    &launch.policy,
                    Choices::default(),
                    &nodes[..count],
                    &mut slides,
                );
                let answer = roster.fail(failed[count - 1]).unwrap();
                let wanted = match steps[count - 1].substitution {
                    Substitution::Slide(_) | Substitution::Searched => Answer::Substituted,
                    Substitution::Idle => Answer::SpareLost,
                    Substitution::NoSpareLeft(_) => Answer::NoSpareLeft,
                };
                assert_eq!(answer, wanted, "{shape} {torus} {allocation} {policy} {seed}");
                if answer == Answer::NoSpareLeft {
                    break;
                }
                let wanted: Vec<_> = after.node_of().iter().map(|node| node.0).collect();
                assert_eq!(roster.places(), wanted, "{shape} {torus} {allocation} {policy} {seed}");
            }
        }
    });
}

/// Processes that load other builds must agree on these places, which `runflat spares substitute --shape 4x4 --torus --alloc
/// "2D(2,1)" --fail 5,0,10,3 --seed 7` prints.
#[test]
fn places_are_the_same_everywhere() {
    let after = |policy| {
        let mut roster = open("4x4", true, "2D(2,1)", policy, 7);
        for place in [5, 0, 10, 3] {
            roster.fail(place).unwrap();
        }
        roster.places().to_vec()
    };
    assert_eq!(after("hybrid(1D+0D)"), [12, 1, 2, 4, 9, 6, 8, 13, 11]);
    assert_eq!(after("optimal(trials=20)"), [1, 2, 15, 4, 6, 7, 8, 9, 11]);
}
