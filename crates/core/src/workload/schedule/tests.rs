//! Schedules run to their end in every order that a network may choose, and say why where they cannot.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::params::Given;
use crate::rng::{Seed, Stream};
use crate::workload::bind;

fn schedule(text: &str, ranks: u32) -> Schedule {
    bind(text, &Given::new()).unwrap().schedule(ranks, Seed(1)).unwrap()
}

/// Something that may happen next.
enum Event {
    Take(Rank),
    Leave(OpId),
    Arrive(Rank, Rank),
}

/// Runs a schedule in a random order that keeps messages of a pair in theirs; messages for which `lost` are dropped.
/// Returns the sends that arrived.
fn run(progress: &mut Progress, random: &mut Stream, lost: impl Fn(OpId) -> bool) -> Vec<OpId> {
    let schedule = progress.schedule;
    let mut leaving: Vec<OpId> = Vec::new();
    let mut under_way: BTreeMap<(Rank, Rank), VecDeque<OpId>> = BTreeMap::new();
    let mut arrived = Vec::new();
    loop {
        let ranks = (0..schedule.ranks()).map(Rank);
        let may = |rank: &Rank| progress.has_send(*rank) || progress.has_compute(*rank);
        let mut events: Vec<Event> = ranks.filter(may).map(Event::Take).collect();
        events.extend(leaving.iter().map(|&op| Event::Leave(op)));
        events.extend(under_way.keys().map(|&(source, target)| Event::Arrive(source, target)));
        if events.is_empty() {
            return arrived;
        }
        match events.swap_remove(random.index(events.len())) {
            Event::Take(rank) => {
                let op =
                    progress.ready_compute(rank).or_else(|| progress.ready_send(rank)).unwrap();
                leaving.push(op);
                if let Op::Send { target, .. } = schedule.op(op)
                    && !lost(op)
                {
                    under_way.entry((rank, target)).or_default().push_back(op);
                }
            }
            Event::Leave(op) => {
                leaving.retain(|&other| other != op);
                progress.complete(op).unwrap();
                assert!(progress.complete(op).is_err(), "only once");
            }
            Event::Arrive(source, target) => {
                let queue = under_way.get_mut(&(source, target)).unwrap();
                let op = queue.pop_front().unwrap();
                if queue.is_empty() {
                    under_way.remove(&(source, target));
                }
                let Op::Send { tag, .. } = schedule.op(op) else { panic!("{op:?} is no send") };
                if random.below(2) == 0 {
                    progress.arrived(source, target, tag).unwrap();
                } else {
                    progress.arrived_of(op).unwrap();
                }
                arrived.push(op);
            }
        }
    }
}

fn send(target: u32, tag: u32) -> Op {
    Op::Send { target: Rank(target), size: Bytes(8), tag }
}

fn receive(source: impl Into<Option<u32>>, tag: impl Into<Option<u32>>) -> Op {
    Op::Receive { source: source.into().map(Rank), tag: tag.into() }
}

fn compute(time: u64, cpu: u8) -> Op {
    Op::Compute { time: Picos(time), cpu }
}

/// Ranks with these operations, and dependencies `(rank, op, on, on_start)`.
fn built(
    ranks: &[&[Op]],
    dependencies: &[(u32, u32, u32, bool)],
) -> Result<Schedule, ScheduleError> {
    let mut builder = Builder::new(ranks.len() as u32);
    for (rank, ops) in (0..).zip(ranks) {
        for op in *ops {
            builder.add(Rank(rank), *op)?;
        }
    }
    for &(rank, op, on, on_start) in dependencies {
        match on_start {
            true => builder.irequires(Rank(rank), op, on)?,
            false => builder.requires(Rank(rank), op, on)?,
        }
    }
    builder.build()
}

const COLLECTIVES: [&str; 8] = [
    "barrier",
    "barrier(recursive-doubling)",
    "allreduce(ring; 999)",
    "allreduce(recursive-doubling; 999)",
    "allreduce(halving-doubling; 999)",
    "alltoall",
    "bcast",
    "exchange",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn collectives_finish_in_every_order(
        text in prop::sample::select(COLLECTIVES.to_vec()),
        ranks in 2u32..=70,
        seed in any::<u64>(),
    ) {
        let schedule = schedule(text, ranks);
        prop_assert_eq!(schedule.unmatched(), vec![]);
        let mut progress = Progress::new(&schedule);
        let arrived = run(&mut progress, &mut Seed(seed).stream("test", 0), |_| false);
        prop_assert!(progress.finished(), "{}", progress.stuck());
        let sends = schedule.ops().iter().filter(|op| matches!(op, Op::Send { .. })).count();
        prop_assert_eq!(arrived.len(), sends);
        prop_assert_eq!(progress.stuck(), Stuck::default());
    }

    #[test]
    fn a_lost_message_is_named(ranks in 2u32..=20, seed in any::<u64>()) {
        let schedule = schedule("allreduce(halving-doubling; 64)", ranks);
        let mut random = Seed(seed).stream("test", 0);
        let sends: Vec<OpId> = (0..schedule.ops().len() as u32)
            .map(OpId)
            .filter(|&op| matches!(schedule.op(op), Op::Send { .. }))
            .collect();
        let lost = sends[random.index(sends.len())];
        let mut progress = Progress::new(&schedule);
        run(&mut progress, &mut random, |op| op == lost);
        prop_assert!(!progress.finished());
        let stuck = progress.stuck();
        let Op::Send { target, tag, .. } = schedule.op(lost) else { unreachable!() };
        let source = schedule.rank_of(lost);
        prop_assert_eq!(&stuck.under_way, &vec![Messages { source, target, tag, count: 1 }]);
        let waits_for = WaitsFor::Message { source: Some(source), tag: Some(tag) };
        let found = |wait: &Wait| (wait.rank, wait.waits_for) == (target, waits_for);
        prop_assert!(stuck.waits.iter().any(found));
        let is_receive = |wait: &Wait| matches!(wait.waits_for, WaitsFor::Message { .. });
        prop_assert!(stuck.waits.iter().all(is_receive));
    }

    #[test]
    fn receives_of_any_finish_in_every_order(
        senders in 1u32..6, each in 1u32..5, seed in any::<u64>(),
    ) {
        let mut builder = Builder::new(senders + 1);
        for number in 0..senders * each {
            builder.add(Rank(1 + number % senders), send(0, number / senders)).unwrap();
        }
        for _ in 0..senders * each {
            builder.add(Rank(0), receive(None, None)).unwrap();
        }
        let schedule = builder.build().unwrap();
        prop_assert_eq!(schedule.unmatched(), vec![]);
        let mut progress = Progress::new(&schedule);
        run(&mut progress, &mut Seed(seed).stream("test", 0), |_| false);
        prop_assert!(progress.finished());
    }
}

#[test]
fn a_rank_begins_a_phase_with_the_one_before_behind_it() {
    let schedule = schedule("barrier", 4);
    let mut progress = Progress::new(&schedule);
    let [zero, one, three] = [0, 1, 3].map(Rank);
    let first = progress.ready_send(zero).unwrap();
    assert_eq!(schedule.op(first), Op::Send { target: one, size: Bytes(1), tag: 0 });
    assert_eq!(progress.ready_send(zero), None);
    progress.complete(first).unwrap();
    assert!(!progress.has_send(zero), "the message from rank 3 has not arrived");
    assert!(progress.arrived(three, zero, 0).is_err(), "nor was it sent");
    let other = progress.ready_send(three).unwrap();
    progress.arrived(three, zero, 0).unwrap();
    assert!(progress.has_send(zero));
    progress.arrived_of(first).unwrap();
    assert!(progress.arrived_of(first).is_err());
    assert!(!progress.has_send(three), "its own message has not left it");
    progress.complete(other).unwrap();
    assert!(!progress.has_send(three), "the message from rank 2 has not arrived");
    assert!(!progress.finished_rank(zero));
}

#[test]
fn messages_wait_for_receives_and_are_told_apart_by_tag() {
    let receives = [receive(0, 7), receive(0, 5), receive(0, 7), compute(3, 0)];
    // The first receive waits for the computation; both others start at once.
    let schedule =
        built(&[&[send(1, 7), send(1, 7), send(1, 5)], &receives], &[(1, 0, 3, false)]).unwrap();
    let mut progress = Progress::new(&schedule);
    for _ in 0..3 {
        let op = progress.ready_send(Rank(0)).unwrap();
        progress.complete(op).unwrap();
        progress.arrived_of(op).unwrap();
    }
    assert!(progress.finished_rank(Rank(0)));
    assert_eq!(progress.stuck().unclaimed[0].count, 1, "one of tag 7 has no receive yet");
    let op = progress.ready_compute(Rank(1)).unwrap();
    progress.complete(op).unwrap();
    assert!(progress.finished());
}

#[test]
fn the_receive_that_started_first_takes_a_message() {
    // Operation 2 takes any and starts last; the send under 4 tells who was served.
    let ops = [receive(0, 7), receive(None, 7), receive(0, None), send(0, 1)];
    let schedule = built(
        &[&[send(1, 7), send(1, 7), send(1, 7), receive(1, 1)], &ops],
        &[(1, 3, 0, false), (1, 1, 0, true), (1, 2, 1, true)],
    )
    .unwrap();
    let mut progress = Progress::new(&schedule);
    let op = progress.ready_send(Rank(0)).unwrap();
    progress.arrived_of(op).unwrap();
    assert!(progress.has_send(Rank(1)), "the exact receive was first");
    let swapped = built(
        &[&[send(1, 7), send(1, 7), send(1, 7), receive(1, 1)], &ops],
        &[(1, 3, 0, false), (1, 0, 1, true)],
    )
    .unwrap();
    let mut progress = Progress::new(&swapped);
    for served in [false, false, true] {
        let op = progress.ready_send(Rank(0)).unwrap();
        progress.arrived_of(op).unwrap();
        assert_eq!(progress.has_send(Rank(1)), served, "the two of any were first");
    }
}

#[test]
fn irequires_waits_for_the_start_alone() {
    let schedule = built(
        &[&[send(1, 0), send(1, 1), send(1, 2)], &[receive(0, 0), receive(0, 1), receive(0, 2)]],
        &[(0, 1, 0, true), (0, 2, 1, false)],
    )
    .unwrap();
    let mut progress = Progress::new(&schedule);
    assert_eq!(progress.ready_send(Rank(0)), Some(OpId(0)));
    assert_eq!(progress.ready_send(Rank(0)), Some(OpId(1)), "the first has started, not ended");
    assert_eq!(progress.ready_send(Rank(0)), None, "the second has not ended");
    progress.complete(OpId(1)).unwrap();
    assert_eq!(progress.ready_send(Rank(0)), Some(OpId(2)));
}

#[test]
fn a_processor_computes_one_thing_at_a_time() {
    let schedule = built(&[&[compute(5, 0), compute(5, 0), compute(5, 1)]], &[]).unwrap();
    let mut progress = Progress::new(&schedule);
    assert_eq!(progress.ready_compute(Rank(0)), Some(OpId(0)));
    assert_eq!(progress.ready_compute(Rank(0)), Some(OpId(2)));
    assert_eq!(progress.ready_compute(Rank(0)), None);
    progress.complete(OpId(0)).unwrap();
    assert_eq!(progress.ready_compute(Rank(0)), Some(OpId(1)));
    assert_eq!(progress.stuck().waits.len(), 2);
    progress.complete(OpId(2)).unwrap();
    progress.complete(OpId(1)).unwrap();
    assert!(progress.finished());
}

#[test]
fn messages_to_oneself_are_there_at_once() {
    let ops = [send(0, 1), receive(0, 1), compute(0, 0)];
    let schedule = built(&[&ops], &[(0, 2, 1, false)]).unwrap();
    assert!(Progress::new(&schedule).finished());
    let schedule = built(&[&ops], &[(0, 0, 1, false)]).unwrap();
    let stuck = Progress::new(&schedule).stuck();
    assert_eq!((stuck.waits.len(), stuck.blocked), (1, 1), "{stuck}");
}

#[test]
fn rings_of_dependencies_are_refused() {
    let ops = [send(1, 0), compute(1, 0), compute(2, 0), compute(3, 0)];
    let ring = [(1, 1, 2, false), (1, 2, 3, true), (1, 3, 1, false), (1, 0, 1, false)];
    let refused = built(&[&[receive(1, 0)], &ops], &ring).unwrap_err();
    assert_eq!(refused, ScheduleError::Circular { rank: 1, op: 1 });
    assert_eq!(
        refused.to_string(),
        "operation 1 of rank 1 requires itself, by way of others or at once"
    );
    let itself = built(&[&[compute(1, 0)]], &[(0, 0, 0, true)]).unwrap_err();
    assert_eq!(itself, ScheduleError::Circular { rank: 0, op: 0 });
    let unknown = built(&[&[compute(1, 0)]], &[(0, 0, 4, true)]).unwrap_err();
    assert_eq!(unknown.to_string(), "rank 0 has no operation 4; it has 1, counted from 0");
    let nobody = built(&[&[send(9, 0)]], &[]).unwrap_err();
    assert_eq!(nobody.to_string(), "there is no rank 9; there are 1, counted from 0");
}

#[test]
fn what_has_no_partner_is_counted() {
    let unmatched = |ranks: &[&[Op]]| built(ranks, &[]).unwrap().unmatched();
    let counts = |ranks: &[&[Op]]| -> Vec<(u64, u64)> {
        unmatched(ranks).iter().map(|found| (found.sends, found.receives)).collect()
    };
    assert_eq!(counts(&[&[send(1, 3), send(1, 3)], &[receive(0, 3)]]), [(2, 1)]);
    assert_eq!(counts(&[&[send(1, 3)], &[receive(0, 4)]]), [(1, 0), (0, 1)]);
    assert_eq!(counts(&[&[send(1, 3), send(1, 4)], &[receive(0, 4), receive(None, 3)]]), []);
    assert_eq!(counts(&[&[send(1, 3)], &[receive(None, 4)]]), [(1, 0)]);
    assert_eq!(counts(&[&[send(1, 3)], &[receive(None, 3), receive(0, None)]]), [(1, 2)]);
}

#[test]
fn steady_workloads_have_no_schedule() {
    let uniform = bind("uniform", &Given::new()).unwrap();
    assert_eq!(
        uniform.schedule(4, Seed(1)).unwrap_err().to_string(),
        "uniform goes on for ever and has no schedule; take a finite workload"
    );
}
