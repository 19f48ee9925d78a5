use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::ids::{ChannelId, SwitchId};
use crate::machine::SwitchGraph;
use crate::machine::samples::broken_machine;
use crate::recovery::routing::cdg::{Cdg, LaneOf};
use crate::rng::Seed;

/// Whether `from` leads to `to`, found by walking all arcs until nothing new is reached.
fn leads(arcs: &BTreeSet<(u32, u32)>, from: u32, to: u32) -> bool {
    let mut reached = BTreeSet::from([from]);
    loop {
        let more: Vec<u32> = arcs
            .iter()
            .filter(|(tail, head)| reached.contains(tail) && !reached.contains(head))
            .map(|&(_, head)| head)
            .collect();
        if more.is_empty() {
            return reached.contains(&to);
        }
        reached.extend(more);
    }
}

fn has_arcs(graph: &Acyclic, arcs: &BTreeSet<(u32, u32)>) -> bool {
    let ordered = arcs.iter().all(|&(from, to)| graph.place(from) < graph.place(to));
    let mut found: Vec<(u32, u32)> = (0..graph.vertex_count() as u32)
        .flat_map(|from| graph.successors(from).iter().map(move |&to| (from, to)))
        .collect();
    found.sort_unstable();
    let mut places: Vec<u32> =
        (0..graph.vertex_count() as u32).map(|vertex| graph.place(vertex)).collect();
    places.sort_unstable();
    ordered
        && places.iter().copied().eq(0..graph.vertex_count() as u32)
        && graph.arc_count() == arcs.len()
        && found.iter().eq(arcs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn arcs_come_and_go_as_a_naive_search_allows(
        vertices in 1u32..14, steps in 1usize..120, seed in any::<u64>(),
    ) {
        let mut draw = Seed(seed).stream("test.acyclic", 0);
        let mut vertex = || draw.below(u64::from(vertices)) as u32;
        let mut graph = Acyclic::new(vertices as usize);
        let mut arcs = BTreeSet::new();
        for step in 0..steps {
            let (from, to) = (vertex(), vertex());
            if step % 5 == 4 {
                prop_assert_eq!(graph.remove(from, to), arcs.remove(&(from, to)));
            } else {
                let closes = leads(&arcs, to, from);
                prop_assert_eq!(graph.closes_cycle(from, to), closes);
                prop_assert_eq!(graph.try_add(from, to), !closes);
                if !closes {
                    arcs.insert((from, to));
                }
            }
            prop_assert!(has_arcs(&graph, &arcs));
        }
    }

    #[test]
    fn several_arcs_are_added_together_or_not_at_all(
        vertices in 1u32..10, steps in 1usize..30, seed in any::<u64>(),
    ) {
        let mut draw = Seed(seed).stream("test.acyclic", 1);
        let mut graph = Acyclic::new(vertices as usize);
        let mut arcs = BTreeSet::new();
        for _ in 0..steps {
            let mut more: Vec<(u32, u32)> = Vec::new();
            for _ in 0..draw.below(5) {
                let mut end = || draw.below(u64::from(vertices)) as u32;
                more.push((end(), end()));
            }
            let mut all = arcs.clone();
            let first = more.iter().position(|&(from, to)| {
                let closes = leads(&all, to, from);
                all.insert((from, to));
                closes
            });
            match first {
                None => {
                    prop_assert_eq!(graph.try_add_all(&more), Ok(()));
                    arcs = all;
                }
                Some(position) => prop_assert_eq!(graph.try_add_all(&more), Err(position)),
            }
            prop_assert!(has_arcs(&graph, &arcs));
        }
    }

    #[test]
    fn dependencies_are_refused_when_the_channel_graph_has_a_cycle(
        view in broken_machine(1), seed in any::<u64>(),
    ) {
        let fabric = SwitchGraph::new(&view);
        let channels: Vec<ChannelId> = (0..fabric.switch_count() as u32)
            .flat_map(|switch| fabric.channels(SwitchId(switch)).to_vec())
            .collect();
        let mut draw = Seed(seed).stream("test.acyclic", 2);
        let mut graph = Acyclic::new(view.machine().channel_count());
        let mut cdg = Cdg::new(&fabric, 1, false);
        for _ in 0..if channels.is_empty() { 0 } else { 60 } {
            let before = channels[draw.index(channels.len())];
            let head = SwitchId(view.machine().head(before).vertex.0);
            let after = fabric.channels(head)[draw.index(fabric.channels(head).len())];
            let mut more = cdg.clone();
            let [from, to] = [before, after].map(|channel| LaneOf { channel, vl: 0 });
            more.add(&fabric, from, to);
            let open = more.cycle(&fabric).is_none();
            prop_assert_eq!(graph.try_add(before.0, after.0), open);
            if open {
                cdg = more;
            }
        }
        prop_assert_eq!(cdg.dependency_count(), graph.arc_count() as u64);
    }
}

#[test]
fn an_arc_from_a_vertex_to_itself_is_a_cycle() {
    let mut graph = Acyclic::new(1);
    assert!(!graph.try_add(0, 0) && graph.closes_cycle(0, 0));
    assert_eq!((graph.arc_count(), graph.contains(0, 0), graph.remove(0, 0)), (0, false, false));
}

#[test]
fn lists_that_grow_keep_their_items_and_reuse_what_others_left() {
    let mut rows = Rows::new(3);
    for item in 0..40 {
        rows.push(item % 3, item);
    }
    assert_eq!(rows.row(1), (0..13).map(|i| 3 * i + 1).collect::<Vec<_>>());
    assert!(rows.remove(1, 4) && !rows.remove(1, 4));
    assert_eq!(rows.row(1).len(), 12);
    // 3 lists of 16 and what they left on the way: at most twice as much.
    assert!(rows.items.len() <= 2 * 3 * 16, "{}", rows.items.len());
}
