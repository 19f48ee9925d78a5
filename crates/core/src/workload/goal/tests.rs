//! GOAL traces are read as LogGOPSim reads them, and errors show where they are.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::workload::schedule::{OpId, Progress};

const TREE: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/binary_tree_32.goal"));

fn error(text: &str) -> String {
    read("t.goal", text.as_bytes()).unwrap_err().to_string()
}

/// The operations of a block of the only rank.
fn ops(block: &str) -> Vec<Op> {
    read("t.goal", format!("num_ranks 1\nrank 0 {{\n{block}\n}}").as_bytes())
        .unwrap()
        .ops()
        .to_vec()
}

#[test]
fn the_binomial_tree_reaches_all_its_ranks() {
    let schedule = read("binary_tree_32.goal", TREE).unwrap();
    assert_eq!((schedule.ranks(), schedule.ops().len(), schedule.payload()), (32, 62, Bytes(31)));
    let mut progress = Progress::new(&schedule);
    let mut has = BTreeSet::from([Rank(0)]);
    let mut asked = 0;
    while let Some(op) = (0..32).find_map(|rank| progress.ready_send(Rank(rank))) {
        let Op::Send { target, .. } = schedule.op(op) else { panic!("{op:?} is no send") };
        assert!(has.contains(&schedule.rank_of(op)), "nobody sends what it has not");
        assert!(has.insert(target), "once each");
        progress.complete(op).unwrap();
        progress.arrived_of(op).unwrap();
        asked += 1;
    }
    assert!(progress.finished(), "{}", progress.stuck());
    assert_eq!((has.len(), asked), (32, 31));
}

#[test]
fn everything_the_grammar_has_is_read() {
    let schedule = read(
        "t.goal",
        b"/* two\n ranks */ num_ranks 2 // so many\n\nrank 0 {\r\nfirst: calc 100 cpu 2\n\
          l2: send 10b to 1 tag 3 cpu 1 nic 1\nl2 requires first; l3: calc 5\nl3 irequires l2\n\
          send 0b to 1 nic 2#end\n}\nrank 1 {recv 10b from 0 tag 3\nrecv 0b from 0 tag 0}",
    )
    .unwrap();
    let (zero, one) = (Some(Rank(0)), Rank(1));
    assert_eq!(
        schedule.ops(),
        [
            Op::Compute { time: Picos(100_000), cpu: 2 },
            Op::Send { target: one, size: Bytes(10), tag: 3 },
            Op::Compute { time: Picos(5000), cpu: 0 },
            Op::Send { target: one, size: Bytes(0), tag: 0 },
            Op::Receive { source: zero, tag: Some(3) },
            Op::Receive { source: zero, tag: Some(0) },
        ]
    );
    let mut progress = Progress::new(&schedule);
    assert_eq!(progress.ready_send(Rank(0)), Some(OpId(3)), "the other waits for the computation");
    assert_eq!(progress.ready_send(Rank(0)), None);
    assert_eq!(progress.ready_compute(Rank(0)), Some(OpId(0)));
    progress.complete(OpId(0)).unwrap();
    assert!(!progress.has_compute(Rank(0)));
    assert_eq!(progress.ready_send(Rank(0)), Some(OpId(1)));
    assert!(progress.has_compute(Rank(0)), "irequires: the send has started");
    let any = Op::Receive { source: None, tag: None };
    assert_eq!(ops("recv 1b from -1 tag -1\nsend 1b to 0")[0], any);
}

#[test]
fn a_bad_trace_is_shown_where_it_is_bad() {
    let rank = |text: &str| error(&format!("num_ranks 4\nrank 0 {{\n{text}\n}}\n"));
    assert_eq!(
        error("rank 0 {"),
        "t.goal:1: found `rank`, should be `num_ranks` and how many there are, first of all"
    );
    assert_eq!(
        error("num_ranks 0"),
        "t.goal:1: found `0`, should be a number of ranks from 1 to 4194304"
    );
    assert_eq!(error("num_ranks 4\nrank 4 {"), "t.goal:2: found `4`, should be a rank from 0 to 3");
    assert_eq!(rank("l1: jump"), "t.goal:3: found `jump`, should be `send`, `recv` or `calc`");
    assert_eq!(
        rank("\nsend 8 to 1"),
        "t.goal:4: found `8`, should be a number of bytes and `b`, as in 8b"
    );
    assert_eq!(rank("send 8b from 1"), "t.goal:3: found `from`, should be `to`");
    assert_eq!(
        rank("send 8b to"),
        "t.goal:3: found the end of the line, should be a rank from 0 to 3"
    );
    assert_eq!(
        rank("send 8b to 1 tag -1"),
        "t.goal:3: found `-1`, should be a tag from 0 to 4294967294 (-1, any, in `recv`)"
    );
    assert_eq!(
        rank("calc 5 tag 1"),
        "t.goal:3: found `tag`, should be `cpu` or `nic`, each once, or the end of the line"
    );
    assert_eq!(
        rank("l1 after l2"),
        "t.goal:3: found `after`, should be `:`, `requires` or `irequires`"
    );
    assert_eq!(
        rank("l1: calc 1\nl1 requires l9"),
        "t.goal:4: no operation of rank 0 has the label `l9`; labels hold within one rank"
    );
    assert_eq!(
        rank("l1: calc 1\nl1: calc 2"),
        "t.goal:4: label `l1` names the operation at line 3; take another"
    );
    assert_eq!(
        rank("calc 1\n}\nrank 0 {"),
        "t.goal:5: rank 0 has a block at line 2 already; write one"
    );
    assert_eq!(
        error("num_ranks 4\nrank 0 {\ncalc 1\n"),
        "t.goal:4: found the end of the file, should be `send`, `recv`, `calc`, a label or `}`"
    );
    assert_eq!(
        error("num_ranks 1 /*\n"),
        "t.goal:1: found `/*`, should be a comment that ends with `*/`"
    );
    assert_eq!(
        rank("l1: calc 1\nl2: calc 1\nl1 requires l2\nl2 irequires l1"),
        "t.goal:3: operation 0 of rank 0 requires itself, by way of others or at once"
    );
}

#[test]
fn a_message_without_a_partner_is_shown() {
    assert_eq!(
        error("num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from 0\n}"),
        "t.goal:4: rank 0 sends 2 messages to rank 1 with tag 0, which receives 1; every message \
         needs one `send` and one `recv`"
    );
    assert_eq!(
        error("num_ranks 2\nrank 1 {\nrecv 1b from 0 tag 4\n}"),
        "t.goal:3: rank 0 sends 0 messages to rank 1 with tag 4, which receives 1; every message \
         needs one `send` and one `recv`"
    );
    assert_eq!(
        error("num_ranks 2\nrank 1 {\ncalc 1\nrecv 1b from -1\n}"),
        "t.goal:4: 0 messages to rank 1 are left for its 1 receives of any source or tag; every \
         message needs one `send` and one `recv`"
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_trace_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read("t.goal", &bytes);
    }

    #[test]
    fn any_words_are_a_trace_or_an_error(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "num_ranks", "rank", "send", "recv", "calc", "to", "from", "tag", "cpu", "nic",
                "l1", "l2", ":", "{", "}", ";", "\n", "0", "1", "2", "-1", "8b", "requires",
                "irequires", "//", "/*", "*/", "#", "99999999999999999999",
                "18446744073709551615b", "\0",
            ]),
            0..40,
        ),
        glue in prop::sample::select(vec!["", " "]),
    ) {
        let _ = read("t.goal", format!("num_ranks 3\nrank 1 {{\n{}", words.join(glue)).as_bytes());
    }

    #[test]
    fn a_damaged_trace_is_a_trace_or_an_error(
        at in 0..TREE.len(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut text = TREE.to_vec();
        text[at] = byte;
        if cut {
            text.truncate(at);
        }
        let _ = read("t.goal", &text);
    }
}
