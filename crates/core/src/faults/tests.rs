//! What every fault model promises, on small random machines against naive versions.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::exhaustive::{MOST_COMBINATIONS, count, nth};
use super::*;
use crate::ids::{LinkId, NodeId, SwitchId};
use crate::machine::{Builder, cut_nodes, generators};
use crate::units::LinkRate;

fn given(pairs: &[(&str, &str)]) -> Given {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn draw(view: &View, text: &str, pairs: &[(&str, &str)]) -> Result<FaultSet, FaultError> {
    bind(text, &given(pairs))?.draw(view, Seed(1), 0)
}

fn generated(text: &str) -> View {
    View::intact(Arc::new(generators::make(text, &Given::new(), Seed(1)).unwrap()))
}

/// Any machine of up to 8 switches, 12 switch links and 8 nodes with up to two ports; some nodes back to back.
fn machines() -> impl Strategy<Value = View> {
    let links = prop::collection::vec((0usize..8, 0usize..8), 0..12);
    let nodes = prop::collection::vec(prop::collection::vec(0usize..10, 0..3), 0..8);
    (1usize..=8, links, nodes).prop_map(|(switch_count, links, nodes)| {
        let mut builder = Builder::new("any", true);
        let switches: Vec<_> =
            (0..switch_count).map(|at| builder.switch(format!("s{at}"), 60).unwrap()).collect();
        for (a, b) in links.into_iter().map(|(a, b)| (a % switch_count, b % switch_count)) {
            if a != b {
                builder.cable(switches[a], switches[b], LinkRate::EDR);
            }
        }
        let parts: Vec<_> = (0..nodes.len()).map(|at| builder.node(format!("n{at}"), 9)).collect();
        for (at, ports) in nodes.iter().enumerate() {
            for &port in ports {
                if port < switch_count {
                    builder.cable(parts[at], switches[port], LinkRate::EDR);
                } else if at > 0 && ports.len() == 1 {
                    builder.cable(parts[at], parts[at - 1], LinkRate::EDR);
                }
            }
        }
        View::intact(Arc::new(builder.build().unwrap()))
    })
}

/// The nodes that `node` reaches, by flooding; nodes do not forward.
fn naive_reach(view: &View, node: NodeId) -> BTreeSet<NodeId> {
    let machine = view.machine();
    let mut reached = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![machine.node_vertex(node)];
    while let Some(vertex) = stack.pop() {
        for channel in view.channels_from(vertex) {
            let head = machine.head(channel).vertex;
            match machine.as_node(head) {
                Some(other) => {
                    reached.insert(other);
                }
                None if seen.insert(head) => stack.push(head),
                None => {}
            }
        }
    }
    reached.remove(&node);
    reached
}

/// Whether every pair of nodes joined in `before` and alive in `after` is joined there, and none lost its last cable.
fn naive_keeps(before: &View, after: &View) -> bool {
    let nodes = || after.machine().nodes().filter(|&node| after.node_alive(node));
    let cables = |view: &View, node| view.channels_from(view.machine().node_vertex(node)).count();
    nodes().all(|node| {
        let (old, new) = (naive_reach(before, node), naive_reach(after, node));
        let kept = |other: &NodeId| !after.node_alive(*other) || new.contains(other);
        old.iter().all(kept) && (cables(before, node) == 0 || cables(after, node) > 0)
    })
}

/// The keep-connected rule part by part: each in its random order, tried against the naive check.
fn naive_draw(view: &View, sample: u64, [switches, links, nodes]: [usize; 3]) -> Option<FaultSet> {
    let machine = view.machine();
    let mut broken = view.clone();
    let mut failed = (Vec::new(), Vec::new(), Vec::new());
    let mut order: Vec<SwitchId> = machine.switches().collect();
    Seed(1).stream("faults.switches", sample).shuffle(&mut order);
    for part in order {
        let next = broken.without(&[], &[part], &[]);
        if failed.1.len() < switches && naive_keeps(&broken, &next) {
            (broken, _) = (next, failed.1.push(part));
        }
    }
    let mut order: Vec<LinkId> = machine.links().collect();
    Seed(1).stream("faults.links", sample).shuffle(&mut order);
    for part in order {
        let next = broken.without(&[part], &[], &[]);
        if failed.0.len() < links && naive_keeps(&broken, &next) {
            (broken, _) = (next, failed.0.push(part));
        }
    }
    let mut order: Vec<NodeId> = machine.nodes().collect();
    Seed(1).stream("faults.nodes", sample).shuffle(&mut order);
    for part in order {
        let next = broken.without(&[], &[], &[part]);
        if failed.2.len() < nodes && naive_keeps(&broken, &next) {
            (broken, _) = (next, failed.2.push(part));
        }
    }
    let complete = (failed.0.len(), failed.1.len(), failed.2.len()) == (links, switches, nodes);
    complete.then(|| FaultSet::new(failed.0, failed.1, failed.2))
}

proptest! {
    #[test]
    fn kept_connected_draws_are_those_of_the_naive_rule(
        view in machines(),
        counts in [0usize..4, 0usize..6, 0usize..3],
        sample in 0u64..100,
    ) {
        let [switches, links, nodes] = counts.map(|count| count.to_string());
        let model = bind("random", &given(&[
            ("switches", &switches), ("links", &links), ("nodes", &nodes),
            ("link_class", "all"), ("keep_connected", "true"),
        ])).unwrap();
        match model.draw(&view, Seed(1), sample) {
            Ok(set) => {
                prop_assert_eq!(Some(set.clone()), naive_draw(&view, sample, counts));
                prop_assert!(naive_keeps(&view, &set.apply(&view)));
            }
            Err(FaultError::Connected { .. } | FaultError::TooMany { .. }) => {
                prop_assert_eq!(None, naive_draw(&view, sample, counts));
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }

    #[test]
    fn draws_are_nested_and_repeat(view in machines(), sample in 0u64..50, kept in any::<bool>()) {
        let links = view.machine().switch_links().count();
        let draw = |count: usize| bind("random", &given(&[
            ("links", &count.to_string()), ("keep_connected", &kept.to_string()),
        ])).unwrap().draw(&view, Seed(1), sample);
        let mut last = FaultSet::default();
        for count in 0..=links {
            let Ok(set) = draw(count) else { prop_assert!(kept); break };
            prop_assert_eq!(set.count(), count);
            prop_assert!(last.is_subset(&set));
            prop_assert_eq!(Ok(set.clone()), draw(count));
            last = set;
        }
    }

    #[test]
    fn lives_are_nested_in_years(
        years in 1u64..12,
        poisson in any::<bool>(),
        kept in any::<bool>(),
        sample in 0u64..20,
    ) {
        let view = generated("kary-ntree(4;3)");
        let draw = |years: u64| bind("lifetime", &given(&[
            ("years", &years.to_string()), ("count", if poisson { "poisson" } else { "expected" }),
            ("link_rate", "0.03"), ("switch_rate", "0.01"), ("node_rate", "0.02"),
            ("keep_connected", &kept.to_string()),
        ])).unwrap().draw(&view, Seed(3), sample);
        let (short, long) = (draw(years - 1), draw(years));
        if let (Ok(short), Ok(long)) = (short, long) {
            prop_assert!(short.is_subset(&long));
            if !poisson {
                let expected = |parts: usize, rate: usize| parts * rate * years as usize / 100;
                prop_assert_eq!(long.links().len(), expected(128, 3));
                prop_assert_eq!(long.switches().len(), expected(48, 1));
                prop_assert_eq!(long.nodes().len(), expected(64, 2));
            }
        } else {
            prop_assert!(kept);
        }
    }

    #[test]
    fn combinations_are_each_enumerated_once(available in 0u64..9, failures in 0u64..9) {
        match count(Class::Links, available, failures) {
            Ok(count) => {
                let all: BTreeSet<Vec<usize>> = (0..count)
                    .map(|at| nth(Class::Links, available, failures, at).unwrap())
                    .collect();
                prop_assert_eq!(all.len() as u64, count);
                for chosen in &all {
                    prop_assert_eq!(chosen.len() as u64, failures);
                    prop_assert!(chosen.windows(2).all(|pair| pair[0] > pair[1]));
                    prop_assert!(chosen.iter().all(|&at| (at as u64) < available));
                }
                let past = nth(Class::Links, available, failures, count);
                prop_assert_eq!(past, Err(FaultError::Sample { sample: count, count }));
            }
            Err(_) => prop_assert!(failures > available),
        }
    }
}

#[test]
fn one_per_cent_of_the_studys_tree_is_two_links() {
    let view = generated("16-ary 2-tree");
    let set = draw(&view, "random(1%)", &[]).unwrap();
    assert_eq!((set.links().len(), set.switches().len(), set.nodes().len()), (2, 0, 0));
    assert!(set.links().iter().all(|&link| view.machine().is_switch_link(link)));
    let nodes = draw(&view, "random(1%)", &[("link_class", "node")]).unwrap();
    assert!(nodes.links().iter().all(|&link| !view.machine().is_switch_link(link)));
}

#[test]
fn says_how_many_can_fail_with_all_nodes_connected() {
    let view = generated("kary-ntree(2;2)");
    let error = draw(&view, "random(7)", &[("keep_connected", "true")]).unwrap_err();
    assert_eq!(error, FaultError::TooMany { what: "links".to_owned(), asked: 7, available: 4 });
    let error = draw(&view, "random(4)", &[("keep_connected", "true")]).unwrap_err();
    let FaultError::Connected { class: Class::Links, asked: 4, possible } = error else {
        panic!("{error}");
    };
    assert!((1..=2).contains(&possible), "a tree needs two or three of its four links");
}

#[test]
fn keeping_a_large_tree_connected_is_no_work() {
    let view = generated("kary-ntree(18;3)");
    let set = draw(&view, "random(1%)", &[("keep_connected", "true")]).unwrap();
    assert_eq!(set.links().len(), 116);
    assert_eq!(cut_nodes(&set.apply(&view)), []);
}

#[test]
fn a_failed_leaf_is_passed_over_but_a_failed_spine_is_not() {
    let view = generated("kary-ntree(4;2)");
    let set = draw(&view, "random", &[("switches", "3"), ("keep_connected", "true")]).unwrap();
    assert!(set.switches().iter().all(|switch| switch.0 >= 4), "{set:?}");
    assert!(draw(&view, "random", &[("switches", "4"), ("keep_connected", "true")]).is_err());
}

#[test]
fn groups_fail_whole() {
    let mut builder = Builder::new("racks", true);
    let switch = builder.switch("s", 8).unwrap();
    for at in 0..6 {
        let node = builder.node(format!("n{at}"), 1);
        builder.cable(node, switch, LinkRate::EDR);
        builder.group("rack", &format!("r{}", at / 2), node);
    }
    let view = View::intact(Arc::new(builder.build().unwrap()));
    let set = draw(&view, "correlated(rack; 2)", &[]).unwrap();
    let racks: BTreeSet<u32> = set.nodes().iter().map(|node| node.0 / 2).collect();
    assert_eq!((set.nodes().len(), racks.len(), set.switches().len()), (4, 2, 0));
    let few = draw(&view, "correlated(rack; 1)", &[]).unwrap();
    assert!(few.is_subset(&set));
    assert_eq!(
        draw(&view, "correlated(row)", &[]).unwrap_err().to_string(),
        "the machine has no level `row`; it has rack"
    );
    assert_eq!(
        draw(&view, "correlated(rack; 4)", &[]).unwrap_err().to_string(),
        "4 rack groups cannot fail, 3 are alive; ask for fewer"
    );
}

#[test]
fn listed_parts_go_by_name_guid_or_plug() {
    let view = generated("kary-ntree(2;2)");
    let machine = view.machine();
    let guid = format!("0x{:x}", machine.node(NodeId(3)).guid);
    let set = draw(
        &view,
        "listed",
        &[("links", "s0.0[1], s0.0[3]"), ("switches", "s1.1"), ("nodes", &format!("n0,{guid}"))],
    )
    .unwrap();
    assert_eq!(set.switches(), [SwitchId(3)]);
    assert_eq!(set.nodes(), [NodeId(0), NodeId(3)]);
    assert_eq!(set.links().len(), 2);
    let error = draw(&view, "listed", &[("switches", "s9")]).unwrap_err().to_string();
    assert!(error.starts_with("there is no switch `s9`"), "{error}");
    assert!(draw(&view, "listed", &[("links", "s0.0[9]")]).is_err());
}

#[test]
fn exhaustive_refuses_what_nobody_enumerates() {
    let view = generated("16-ary 2-tree");
    let pairs = bind("exhaustive(2)", &Given::new()).unwrap();
    assert_eq!(pairs.sample_count(&view), Ok(Some(256 * 255 / 2)));
    let last = pairs.draw(&view, Seed(1), 256 * 255 / 2 - 1).unwrap();
    let links: Vec<LinkId> = view.machine().switch_links().collect();
    assert_eq!(last.links(), &links[254..]);
    let five = bind("exhaustive(5)", &Given::new()).unwrap();
    let error = five.sample_count(&view).unwrap_err();
    assert!(matches!(error, FaultError::Combinations { most: MOST_COMBINATIONS, .. }), "{error}");
    assert!(draw(&view, "exhaustive(33; switches)", &[]).is_err());
}

#[test]
fn lifetimes_count_as_the_case_studies_do() {
    let view = generated("16-ary 2-tree");
    let counts = |pairs: &[(&str, &str)]| {
        let set = draw(&view, "lifetime", pairs).unwrap();
        (set.links().len(), set.switches().len(), set.nodes().len())
    };
    assert_eq!(counts(&[("years", "8")]), (20, 2, 0), "8 x 2.56 and 8 x 0.32");
    assert_eq!(counts(&[("failures", "13")]), (13, 0, 0));
    assert_eq!(counts(&[("failures", "28")]), (26, 2, 0), "TSUBAME2.0: 13 links to a switch");
    assert_eq!(counts(&[("failures", "28"), ("ratio", "2:1")]), (19, 9, 0), "Deimos");
    assert!(draw(&view, "lifetime", &[("failures", "1"), ("ratio", "0:0")]).is_err());
}

#[test]
fn poisson_years_have_the_expected_mean() {
    let view = generated("16-ary 2-tree");
    let life = bind("lifetime(10; 0.02; 0)", &given(&[("count", "poisson")])).unwrap();
    let total: usize =
        (0..400).map(|sample| life.draw(&view, Seed(1), sample).unwrap().count()).sum();
    let mean = total as f64 / 400.0;
    assert!((mean - 51.2).abs() < 1.5, "51.2 links in ten years, got {mean}");
}

#[test]
fn an_unknown_model_is_answered_with_the_known_ones() {
    let error = bind("lightning", &Given::new()).err().unwrap().to_string();
    assert_eq!(
        error,
        "there is no fault model `lightning`; there are random, correlated, listed, exhaustive, \
         lifetime"
    );
}
