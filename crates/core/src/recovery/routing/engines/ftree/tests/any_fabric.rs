use proptest::prelude::*;

use super::*;

fn broken_tree() -> impl Strategy<Value = (View, RouteOptions)> {
    let machines = [
        "4-ary 2-tree",
        "3-ary 3-tree",
        "2-ary 4-tree",
        "XGFT(3; 2,3,2; 1,2,3)",
        "XGFT(2; 4,4; 1,2)",
    ];
    (0..machines.len(), 0usize..40, any::<u64>(), any::<bool>()).prop_map(
        move |(machine, percent, seed, dead_switch)| {
            let whole = generated(machines[machine]);
            let view = broken(&whole, percent, seed);
            let dead = SwitchId((seed % whole.machine().switch_count() as u64) as u32);
            let dead: &[SwitchId] = if dead_switch { &[dead] } else { &[] };
            (view.without(&[], dead, &[]), roots(&whole))
        },
    )
}

/// Levels of switches with random cables between neighbouring ones, and within a level if `beside`; nodes at the bottom
/// alone; some cables dead.
fn layered(seed: u64, beside: bool) -> (View, RouteOptions) {
    let mut draw = Seed(seed).stream("test.ftree", 1);
    let mut builder = Builder::new(format!("levels {seed}"), true);
    let mut levels: Vec<Vec<Part>> = Vec::new();
    for level in 0..2 + draw.index(3) {
        let size = 1 + draw.index(5);
        let mut switches: Vec<Part> = Vec::new();
        for at in 0..size {
            let switch = builder.switch(format!("s{level}.{at}"), 120).unwrap();
            if let Some(above) = levels.last() {
                for _ in 0..1 + draw.index(4) {
                    builder.cable(above[draw.index(above.len())], switch, LinkRate::QDR);
                }
            }
            if beside && at > 0 && draw.index(2) == 0 {
                builder.cable(switches[draw.index(at)], switch, LinkRate::QDR);
            }
            switches.push(switch);
        }
        levels.push(switches);
    }
    for &leaf in levels.last().unwrap() {
        for _ in 0..draw.index(4) {
            let node = builder.node("n", 1);
            builder.cable(leaf, node, LinkRate::QDR);
        }
    }
    let roots = (0..levels[0].len() as u32).map(SwitchId).collect();
    let view = View::intact(Arc::new(builder.build().unwrap()));
    let mut links: Vec<LinkId> = view.machine().links().collect();
    draw.shuffle(&mut links);
    links.truncate(draw.index(3));
    (view.without(&links, &[], &[]), with_roots(roots))
}

/// Whether some node pair of a common part has no way up and then down.
fn lacks_a_way(graph: &SwitchGraph<'_>, tree: &Tree<'_>) -> bool {
    tree.parts.iter().any(|part| {
        let ends = part.switches.iter().filter(|target| !graph.attached(**target).is_empty());
        ends.into_iter().any(|&target| {
            let reaches = up_then_down(graph, &tree.rank, target);
            part.switches.iter().any(|s| graph.sources(*s) > 0 && !reaches[s.index()])
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn trees_with_failures_are_complete_and_free_of_cycles_or_refused(
        (view, options) in broken_tree(), seed in any::<u64>(),
    ) {
        for (view, options) in [(view, options), layered(seed, false)] {
            let graph = SwitchGraph::new(&view);
            match attempt("ftree", &view, &options) {
                Ok((_, check)) => {
                    prop_assert_eq!(check.unreachable_pairs, check.cut_pairs);
                    prop_assert!(check.cycle.is_none());
                }
                Err(refusal) => {
                    prop_assert!(refusal.switch.is_some_and(|at| view.switch_alive(at)));
                    // A second look: ranks are right, so a way up and down is what is lacking.
                    let Ok(tree) = Tree::new(&graph, &options) else { continue };
                    prop_assert!(lacks_a_way(&graph, &tree), "{}", refusal.reason);
                    let (_, check) = attempt("ftree(keep)", &view, &options).unwrap();
                    let lost = format!("{} of ", check.unreachable_pairs - check.cut_pairs);
                    prop_assert!(refusal.reason.starts_with(&lost), "{}", refusal.reason);
                    prop_assert!(check.cycle.is_none() && check.looping_pairs == 0);
                }
            }
        }
    }

    #[test]
    fn any_fabric_is_complete_or_refused_and_never_circles(
        view in broken_machine(2), seed in any::<u64>(), reverse_hops in 0u8..3, io in 0u32..6,
    ) {
        let root = SwitchId((seed % view.machine().switch_count() as u64) as u32);
        for (view, options) in [(view, with_roots(vec![root])), layered(seed, true)] {
            let ends = view.machine().endpoints();
            let io_nodes: Vec<EndpointId> = ends.filter(|end| end.0 % 6 < io).collect();
            let with_io = RouteOptions { io_nodes: io_nodes.clone(), ..options.clone() };
            let no_roots = RouteOptions { io_nodes, ..RouteOptions::default() };
            for options in [options, with_io, no_roots] {
                let engine = format!("ftree(max_reverse_hops={reverse_hops})");
                match attempt(&engine, &view, &options) {
                    Ok((_, check)) => prop_assert_eq!(check.unreachable_pairs, check.cut_pairs),
                    Err(refusal) => {
                        prop_assert!(refusal.switch.is_none_or(|at| view.switch_alive(at)));
                    }
                }
                if let Ok((_, check)) = attempt(&format!("ftree(keep; {reverse_hops})"), &view, &options) {
                    prop_assert_eq!(check.looping_pairs, 0);
                }
            }
        }
    }

    #[test]
    fn a_fabric_numbered_anew_gets_the_same_verdict(
        (view, _) in broken_tree(), other in broken_machine(1), seed in any::<u64>(),
    ) {
        for view in [view, other, layered(seed, true).0] {
            let again = shuffled(&view, seed);
            let outcome = |view: &View| {
                let check = plain(view).ok()?;
                Some((check.pairs, check.unreachable_pairs, check.cut_pairs))
            };
            prop_assert_eq!(outcome(&view), outcome(&again));
        }
    }
}
