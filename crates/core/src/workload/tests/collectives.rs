//! Collectives do what they are for: knowledge and sums spread as they should, and bytes are the formulas'.

use super::super::allreduce::{Plan, Use};
use super::*;

fn bytes(phases: &[Traffic]) -> u64 {
    phases.iter().flat_map(|phase| &phase.messages).map(|message| message.size.0).sum()
}

/// By rank, whom it has heard of, if everybody tells all it knew at the beginning of a phase.
fn heard(phases: &[Traffic], ranks: u32) -> Vec<u128> {
    let mut known: Vec<u128> = (0..ranks).map(|rank| 1 << rank).collect();
    for phase in phases {
        let before = known.clone();
        for message in &phase.messages {
            known[message.target.index()] |= before[message.source.index()];
        }
    }
    known
}

fn everybody(ranks: u32) -> u128 {
    (1 << ranks) - 1
}

/// Largest power of two within, and its logarithm.
fn core(ranks: u32) -> (u64, u64) {
    (1 << ranks.ilog2(), u64::from(ranks.ilog2()))
}

proptest! {
    #[test]
    fn after_a_barrier_everybody_has_heard_of_everybody(ranks in 2u32..=70, size in 1u64..9) {
        let n = u64::from(ranks);
        let text = size.to_string();
        let phases_of = |name: &str| phases(name, &[("size", &text)], ranks).unwrap();
        let rounds = phases_of("barrier");
        prop_assert_eq!(rounds.len() as u32, ranks.next_power_of_two().ilog2());
        prop_assert!(heard(&rounds, ranks).iter().all(|known| *known == everybody(ranks)));
        prop_assert!(heard(&rounds[1..], ranks).iter().any(|known| *known != everybody(ranks)));
        prop_assert_eq!(bytes(&rounds), n * rounds.len() as u64 * size);
        let rounds = phases_of("barrier(recursive-doubling)");
        let (p, log) = core(ranks);
        prop_assert_eq!(rounds.len() as u64, log + if n > p { 2 } else { 0 });
        prop_assert!(heard(&rounds, ranks).iter().all(|known| *known == everybody(ranks)));
        prop_assert_eq!(bytes(&rounds), (p * log + 2 * (n - p)) * size);
    }

    #[test]
    fn an_allreduce_adds_every_rank_once_to_every_block(
        ranks in 2u32..=70,
        algorithm in prop::sample::select(vec!["ring", "recursive-doubling", "halving-doubling"]),
    ) {
        let bound = bind(&format!("allreduce({algorithm}; 64)"), &Given::new()).unwrap();
        let plan = Plan::new(ranks, &bound.args);
        let (n, blocks) = (ranks as usize, plan.block_count() as usize);
        // [rank][block]: how often each rank's own value is in its sum.
        let own = |rank| {
            let mut counts = vec![0u8; n];
            counts[rank] = 1;
            vec![counts; blocks]
        };
        let mut sums: Vec<Vec<Vec<u8>>> = (0..n).map(own).collect();
        for index in 0..plan.round_count() {
            let (then, steps) = plan.round(index);
            let before = sums.clone();
            for step in steps {
                for block in step.blocks.start as usize..step.blocks.end as usize {
                    let sent = &before[step.source as usize][block];
                    let held = &mut sums[step.target as usize][block];
                    match then {
                        Use::Add => {
                            held.iter_mut().zip(sent).for_each(|(held, sent)| *held += sent);
                        }
                        Use::Keep => held.clone_from(sent),
                    }
                }
            }
        }
        prop_assert!(sums.iter().flatten().flatten().all(|count| *count == 1));
    }

    #[test]
    fn an_allreduce_sends_the_bytes_of_its_formula(ranks in 2u32..=70, size in 1u64..5000) {
        let n = u64::from(ranks);
        let (p, log) = core(ranks);
        let (extra, fold) = (2 * (n - p) * size, if n > p { 2 } else { 0 });
        for (algorithm, rounds, sent) in [
            ("ring", 2 * (n - 1), 2 * (n - 1) * size),
            ("recursive-doubling", log + fold, p * log * size + extra),
            ("halving-doubling", 2 * log + fold, 2 * (p - 1) * size + extra),
        ] {
            let phases = phases(&format!("allreduce({algorithm}; {size})"), &[], ranks).unwrap();
            prop_assert_eq!(phases.len() as u64, rounds, "{}", algorithm);
            prop_assert_eq!(bytes(&phases), sent, "{}", algorithm);
            prop_assert!(heard(&phases, ranks).iter().all(|known| *known == everybody(ranks)));
        }
    }

    #[test]
    fn in_an_alltoall_every_pair_exchanges_once(ranks in 2u32..=70) {
        let rounds = phases("alltoall(100)", &[], ranks).unwrap();
        let n = u64::from(ranks);
        prop_assert_eq!(bytes(&rounds), n * (n - 1) * 100);
        let sent: Vec<(u32, u32)> = rounds.iter().flat_map(pairs).collect();
        let each: BTreeSet<(u32, u32)> = sent.iter().copied().collect();
        prop_assert_eq!((sent.len() as u64, each.len() as u64), (n * (n - 1), n * (n - 1)));
        prop_assert!(each.iter().all(|(source, target)| source != target));
        for round in &rounds {
            let targets: BTreeSet<u32> = pairs(round).iter().map(|pair| pair.1).collect();
            prop_assert_eq!(targets.len() as u32, ranks, "everybody receives once a round");
        }
    }

    #[test]
    fn a_broadcast_reaches_everybody_once_from_its_root(
        (ranks, root) in (2u32..=70).prop_flat_map(|ranks| (Just(ranks), 0..ranks)),
    ) {
        let rounds = phases(&format!("bcast(100; {root})"), &[], ranks).unwrap();
        prop_assert_eq!(rounds.len() as u32, ranks.next_power_of_two().ilog2());
        prop_assert_eq!(bytes(&rounds), u64::from(ranks - 1) * 100);
        let mut has = BTreeSet::from([root]);
        for round in &rounds {
            let sent = pairs(round);
            prop_assert!(sent.iter().all(|(source, _)| has.contains(source)), "sends what it has");
            prop_assert!(sent.iter().all(|&(_, target)| has.insert(target)), "once each");
        }
        prop_assert_eq!(has.len() as u32, ranks);
    }
}

#[test]
fn collectives_are_written_like_other_workloads() {
    let barrier = bind("barrier(recursive-doubling; 8)", &Given::new()).unwrap();
    assert!(!barrier.steady());
    assert_eq!(barrier.phase(4, 0, Seed(1)).unwrap().messages[1], message(1, 0, Bytes(8)));
    assert_eq!(phases("barrier", &[], 4).unwrap()[0].messages[0].size, Bytes(1));
    assert_eq!(
        error("allreduce(tree)", &[], 4),
        "allreduce: `algorithm` is one of ring, recursive-doubling, halving-doubling, got `tree`"
    );
    assert_eq!(error("bcast(100; 9)", &[], 9), "`root` is a rank from 0 to 8 (of 9 ranks), got 9");
    assert_eq!(error("alltoall", &[], 1), "alltoall needs at least 2 ranks, got 1");
}

#[test]
fn rabenseifners_messages_halve_with_distance() {
    let phases = phases("allreduce(halving-doubling; 800)", &[], 8).unwrap();
    let first: Vec<(u32, u64)> =
        phases.iter().map(|phase| (phase.messages[0].target.0, phase.messages[0].size.0)).collect();
    assert_eq!(first, [(1, 400), (2, 200), (4, 100), (4, 100), (2, 200), (1, 400)]);
}
