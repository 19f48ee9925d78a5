//! Closed forms and promises that hold for every workload.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::matrix::ByteMatrix;
use super::*;

mod collectives;
mod hotspot;

fn given(pairs: &[(&str, &str)]) -> Given {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn phases(text: &str, pairs: &[(&str, &str)], ranks: u32) -> Result<Vec<Traffic>, WorkloadError> {
    let bound = bind(text, &given(pairs))?;
    (0..bound.phase_count(ranks)?).map(|index| bound.phase(ranks, index, Seed(1))).collect()
}

fn pairs(traffic: &Traffic) -> Vec<(u32, u32)> {
    traffic.messages.iter().map(|message| (message.source.0, message.target.0)).collect()
}

fn error(text: &str, pairs: &[(&str, &str)], ranks: u32) -> String {
    phases(text, pairs, ranks).unwrap_err().to_string()
}

/// Messages of a stencil on a grid: for each neighbour, the cells that have it.
fn stencil_messages(shape: &[u64], full: bool, periodic: bool) -> u64 {
    let cells: u64 = shape.iter().product();
    if !full {
        let along = |&length: &u64| match (length, periodic) {
            (1, _) => 0,
            (2, true) => cells,
            (_, true) => 2 * cells,
            (_, false) => 2 * (cells - cells / length),
        };
        return shape.iter().map(along).sum();
    }
    let around = |&length: &u64| match (length, periodic) {
        (_, true) => length * length.min(3),
        (_, false) => 3 * length - 2,
    };
    shape.iter().map(around).product::<u64>() - cells
}

proptest! {
    #[test]
    fn exchange_sends_each_ordered_pair_once(ranks in 2u32..60) {
        let phases = phases("exchange", &[], ranks).unwrap();
        prop_assert_eq!(phases.len() as u32, ranks - 1);
        let all: Vec<(u32, u32)> = phases.iter().flat_map(pairs).collect();
        let each: BTreeSet<(u32, u32)> = all.iter().copied().collect();
        prop_assert_eq!(all.len() as u32, ranks * (ranks - 1));
        prop_assert_eq!(each.len(), all.len());
        let mut distances = Vec::new();
        for phase in &phases {
            let targets: BTreeSet<u32> = pairs(phase).iter().map(|pair| pair.1).collect();
            prop_assert_eq!(targets.len() as u32, ranks, "everybody receives once a phase");
            let step = (phase.messages[0].target.0 + ranks - phase.messages[0].source.0) % ranks;
            distances.push(step.min(ranks - step));
        }
        prop_assert!(distances.is_sorted(), "closest first: {:?}", distances);
    }

    #[test]
    fn one_shift_is_its_two_phases_of_all(
        (ranks, shift) in (2u32..40).prop_flat_map(|ranks| (Just(ranks), 1..=ranks / 2)),
    ) {
        let all = phases("exchange", &[], ranks).unwrap();
        let one = phases("exchange", &[("shift", &shift.to_string())], ranks).unwrap();
        let first = (shift as usize - 1) * 2;
        prop_assert_eq!(&one[..], &all[first..(first + 2).min(all.len())]);
    }

    #[test]
    fn permutations_move_everybody(ranks in 2u32..80, seed in 0u64..100) {
        let bound = bind("permutation(3)", &Given::new()).unwrap();
        for index in 0..3 {
            let traffic = bound.phase(ranks, index, Seed(seed)).unwrap();
            let targets: BTreeSet<u32> = pairs(&traffic).iter().map(|pair| pair.1).collect();
            prop_assert_eq!(targets.len() as u32, ranks);
            prop_assert!(pairs(&traffic).iter().all(|(source, target)| source != target));
            prop_assert_eq!(&traffic, &bound.phase(ranks, index, Seed(seed)).unwrap());
        }
    }

    #[test]
    fn a_bisection_matches_two_halves_both_ways(ranks in 2u32..80, seed in 0u64..100) {
        let bound = bind("bisection", &Given::new()).unwrap();
        let sent = pairs(&bound.phase(ranks, 0, Seed(seed)).unwrap());
        prop_assert_eq!(sent.len() as u32, ranks / 2 * 2);
        let partner: BTreeMap<u32, u32> = sent.iter().copied().collect();
        prop_assert_eq!(partner.len(), sent.len());
        prop_assert!(sent.iter().all(|(source, target)| partner[target] == *source));
    }

    #[test]
    fn stencils_are_symmetric_and_counted(
        shape in prop::collection::vec(1u64..6, 1..4),
        full in any::<bool>(),
        periodic in any::<bool>(),
    ) {
        let ranks = shape.iter().product::<u64>() as u32;
        let points = if full { "box" } else { "star" };
        let text = shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x");
        let closed = periodic.to_string();
        let given = [("shape", text.as_str()), ("points", points), ("periodic", &closed)];
        let traffic = &phases("stencil", &given, ranks).unwrap()[0];
        let sent = pairs(traffic);
        let each: BTreeSet<(u32, u32)> = sent.iter().copied().collect();
        prop_assert_eq!(each.len(), sent.len());
        prop_assert!(each.iter().all(|&(a, b)| a != b && each.contains(&(b, a))));
        prop_assert_eq!(sent.len() as u64, stencil_messages(&shape, full, periodic));
    }

    #[test]
    fn matrices_come_back_as_their_messages(
        rows in (1usize..7).prop_flat_map(|n| {
            prop::collection::vec(prop::collection::vec(0u64..4, n), n)
        }),
    ) {
        let line = |row: &Vec<u64>| row.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let text = rows.iter().map(line).collect::<Vec<_>>().join("\n");
        let traffic = ByteMatrix::read("m", &text).unwrap().traffic(9).unwrap();
        let mut back = vec![vec![0; rows.len()]; rows.len()];
        for message in &traffic.messages {
            back[message.source.index()][message.target.index()] = message.size.0;
        }
        let mut expected = rows.clone();
        (0..rows.len()).for_each(|at| expected[at][at] = 0);
        prop_assert_eq!(back, expected);
    }

    #[test]
    fn any_text_is_a_matrix_or_an_error(text in "[0-9,\n x#]{0,40}") {
        let _ = ByteMatrix::read("m", &text);
    }
}

#[test]
fn uniform_is_every_ordered_pair() {
    let traffic = &phases("uniform", &[], 18).unwrap()[0];
    let each: BTreeSet<(u32, u32)> = pairs(traffic).into_iter().collect();
    assert_eq!((traffic.messages.len(), each.len()), (306, 306));
    assert!(traffic.messages.iter().all(|message| message.size == Bytes(2048)));
    assert!(bind("uniform", &Given::new()).unwrap().steady());
    assert_eq!(error("uniform", &[], 1), "uniform needs at least 2 ranks, got 1");
    assert!(error("uniform", &[], 20_000).starts_with("20000 ranks would send 399980000 messages"));
}

#[test]
fn exchange_refuses_shifts_past_the_half() {
    assert_eq!(
        error("exchange", &[("shift", "5")], 9),
        "`shift` is `all` or a number from 1 to 4 (half of 9 ranks), got `5`"
    );
    assert!(error("exchange", &[("shift", "0")], 9).contains("got `0`"));
    let bound = bind("exchange", &Given::new()).unwrap();
    let past = bound.phase(9, 8, Seed(1)).unwrap_err();
    assert_eq!(past, WorkloadError::Phase { index: 8, count: 8 });
}

#[test]
fn the_papers_stencils_have_their_dimensions() {
    let sent = |text: &str, ranks| phases(text, &[], ranks).unwrap()[0].messages.len();
    assert_eq!(sent("stencil(36x36; 5)", 1296), 4 * 36 * 35);
    assert_eq!(sent("stencil(36x36; 9P)", 1296), 106 * 106 - 1296);
    assert_eq!(sent("stencil(4x4x4; 7)", 64), 6 * 16 * 3);
    assert_eq!(sent("stencil(4x4x4; 27)", 64), 1000 - 64);
    assert_eq!(
        error("stencil(4x4; 7)", &[], 16),
        "a 7-point stencil has 3 dimensions, the shape 4x4 has 2; `star` and `box` fit any"
    );
    let nine = ["1"; 9].join("x");
    assert!(error("stencil", &[("shape", &nine)], 1).contains("at most 8 dimensions"));
    assert_eq!(
        error("stencil(4x4)", &[], 17),
        "a 4x4 grid has 16 cells, one a rank, but there are 17 ranks"
    );
}

#[test]
fn recorded_matrices_are_read_without_what_ranks_send_to_themselves() {
    let cp2k = include_str!("../../tests/data/cp2k_h2o32_64ranks_bytes.csv");
    let matrix = ByteMatrix::read("cp2k", cp2k).unwrap();
    assert_eq!(
        (matrix.ranks(), matrix.bytes(0, 0), matrix.bytes(0, 1)),
        (64, Bytes(209_416), Bytes(16_163_088))
    );
    let traffic = matrix.traffic(64).unwrap();
    assert!(traffic.messages.iter().all(|message| message.source != message.target));
    let mom6 = include_str!("../../tests/data/mom6_doublegyre_16ranks_bytes.csv");
    let traffic = &phases("matrix", &[("text", mom6), ("file", "mom6.csv")], 20).unwrap()[0];
    assert_eq!(traffic.ranks, 20);
    assert_eq!(traffic.messages[0], message(0, 1, Bytes(25_780_732)));
    assert!(traffic.messages.iter().all(|message| message.source.0 < 16));
}

#[test]
fn a_bad_matrix_is_shown_where_it_is_bad() {
    let read = |text: &str| ByteMatrix::read("cp2k.csv", text).unwrap_err().to_string();
    assert_eq!(
        read("0,1\n\n2,x\n"),
        "cp2k.csv:3: column 2 is `x`, should be a whole number of bytes"
    );
    assert_eq!(
        read("0,1\n2\n"),
        "cp2k.csv:2: 1 columns, should be 2: a row and a column for every rank"
    );
    assert!(read("\n").starts_with("cp2k.csv: no rows"));
    assert_eq!(
        ByteMatrix::read("m", "0,1\n1,0").unwrap().traffic(1).unwrap_err().to_string(),
        "m has 2 ranks, but there are only 1; take a larger machine"
    );
}

#[test]
fn workloads_are_found_by_name() {
    for workload in WORKLOADS {
        assert_eq!(find(workload.name()).unwrap().name(), workload.name());
    }
    assert_eq!(
        bind("gossip", &Given::new()).err().unwrap().to_string(),
        "there is no workload `gossip`; there are uniform, exchange, permutation, bisection, \
         stencil, matrix, hotspot, barrier, allreduce, alltoall, bcast, goal"
    );
}
