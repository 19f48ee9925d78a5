use proptest::prelude::*;

use super::*;
use crate::ids::ChannelId;
use crate::machine::samples::{broken_machine, generated, ring};
use crate::machine::{LidOwner, Machine, View};
use crate::params::Given;
use crate::recovery::routing::engines::bind;
use crate::recovery::routing::{
    Lanes, Outcome, RouteOptions, RouteTree, Routing, SlToVl, Verdict, check,
};
use crate::rng::{Seed, Stream};

fn route(engine: &str, graph: &SwitchGraph<'_>, options: &RouteOptions) -> Option<Routing> {
    match bind(engine, &Given::new()).unwrap().route(graph, options) {
        Outcome::Routed(routing) => Some(routing),
        Outcome::Refused(_) => None,
    }
}

fn options(lmc: u8, root: Option<SwitchId>) -> RouteOptions {
    RouteOptions { lmc, roots: root.into_iter().collect(), ..RouteOptions::default() }
}

/// For every LID, who is served and whether anybody's packets run in circles.
fn walk(graph: &SwitchGraph<'_>, lft: &Lft) -> Vec<(Vec<bool>, bool)> {
    let mut tree = RouteTree::default();
    let switches = || (0..graph.switch_count() as u32).map(SwitchId);
    (0..lft.lids().count())
        .map(|lid| {
            tree.walk(graph, lft, Lid::from_index(lid));
            let served = switches().map(|switch| tree.hops(switch).is_some()).collect();
            (served, switches().any(|switch| tree.loops(switch)))
        })
        .collect()
}

/// Does all writes, those of a round in any order, and checks every route after each.
fn assert_safe(
    graph: &SwitchGraph<'_>,
    wire: &WireLids,
    [old, new]: [&Lft; 2],
    draw: &mut Stream,
) -> Update {
    let machine = graph.machine();
    let update = plan(graph, wire, old, new).unwrap();
    let (before, after) = (walk(graph, old), walk(graph, new));
    let mut now = old.clone();
    let mut writes = update.writes.clone();
    draw.shuffle(&mut writes);
    writes.sort_by_key(|write| write.round);
    assert_eq!(writes.last().map_or(0, |write| write.round), update.rounds);
    for write in &writes {
        write.apply(graph, wire, &mut now, new);
        for (lid, (served, circles)) in walk(graph, &now).into_iter().enumerate() {
            assert!(
                !circles || before[lid].1 || after[lid].1,
                "{write:?} sends packets for LID {lid} in circles"
            );
            for (switch, served) in served.into_iter().enumerate() {
                assert!(
                    served || !before[lid].0[switch] || !after[lid].0[switch],
                    "{write:?} loses LID {lid} at switch {switch}"
                );
            }
        }
    }
    for switch in machine.switches().filter(|&switch| graph.view().switch_alive(switch)) {
        for lid in (0..new.lids().count()).map(Lid::from_index) {
            if wire.plane(new.lids().owner(lid)) == machine.plane_of_switch(switch) {
                assert_eq!(now.port(switch, lid), new.port(switch, lid));
            }
        }
    }
    let mut blocks: Vec<_> = writes.iter().map(|write| (write.switch, write.block)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len() as u64, update.changed_blocks);
    update
}

/// For every LID a random tree towards it; some entries missing, some any port at all.
fn random_trees(graph: &SwitchGraph<'_>, lmc: u8, draw: &mut Stream, odd: bool) -> Lft {
    let machine = graph.machine();
    let mut lft = Lft::empty(machine, lmc);
    let lids = lft.lids();
    for lid in (0..lids.count()).map(Lid::from_index) {
        let root = match lids.owner(lid) {
            LidOwner::Switch(switch) => Some((switch, 0)),
            LidOwner::Endpoint(end) => graph
                .switch_of(end)
                .map(|switch| (switch, machine.head(machine.injection(end)).port)),
        };
        let Some((root, port)) = root else { continue };
        lft.set(root, lid, port);
        let mut reached = vec![root];
        let mut done = vec![false; graph.switch_count()];
        done[root.index()] = true;
        while !reached.is_empty() {
            let at = draw.index(reached.len());
            let open: Vec<_> =
                graph.neighbours(reached[at]).filter(|&(_, head)| !done[head.index()]).collect();
            if open.is_empty() {
                reached.swap_remove(at);
                continue;
            }
            let (channel, head) = open[draw.index(open.len())];
            done[head.index()] = true;
            lft.set(head, lid, machine.head(channel).port);
            reached.push(head);
        }
        for switch in machine.switches().filter(|_| odd) {
            match draw.below(12) {
                0 => lft.set(switch, lid, Lft::NONE),
                1 => lft.set(switch, lid, draw.below(16) as u8),
                _ => {}
            }
        }
    }
    lft
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn after_faults_no_packet_circles_and_no_served_pair_is_lost(
        view in broken_machine(2), lmc in 0u8..3, root in any::<u32>(), seed in any::<u64>(),
    ) {
        let intact = View::intact(view.machine_shared());
        let (before, graph) = (SwitchGraph::new(&intact), SwitchGraph::new(&view));
        let wire = WireLids::with_lmc(view.machine(), lmc).unwrap();
        let mut draw = Seed(seed).stream("test.update", 0);
        let root = SwitchId(root % graph.switch_count() as u32);
        for engine in ["minhop", "updn"] {
            let options = options(lmc, Some(root));
            let old = route(engine, &before, &options).unwrap();
            for engine in ["minhop", "updn"] {
                let Some(new) = route(engine, &graph, &options) else { continue };
                let update = assert_safe(&graph, &wire, [&old.lft, &new.lft], &mut draw);
                prop_assert_eq!(update.dropped_entries, 0);
            }
        }
    }

    #[test]
    fn from_any_trees_to_any_others_nothing_is_lost_on_the_way(
        view in broken_machine(2), lmc in 0u8..3, seed in any::<u64>(), odd in any::<bool>(),
    ) {
        let graph = SwitchGraph::new(&view);
        let wire = WireLids::with_lmc(view.machine(), lmc).unwrap();
        let mut draw = Seed(seed).stream("test.update", 0);
        let [old, new] = [0; 2].map(|_| random_trees(&graph, lmc, &mut draw, odd));
        let update = assert_safe(&graph, &wire, [&old, &new], &mut draw);
        prop_assert!(odd || update.dropped_entries == 0);
    }

    #[test]
    fn dependencies_in_flight_are_those_of_every_mixture(
        view in broken_machine(2), seed in any::<u64>(), lanes in 1u64..4, by_port in any::<bool>(),
    ) {
        let graph = SwitchGraph::new(&view);
        let mut draw = Seed(seed).stream("test.credit", 0);
        let [old, new] = [0; 2].map(|_| {
            let lft = random_trees(&graph, 0, &mut draw, true);
            let pairs = graph.switch_count() * lft.lids().count();
            let levels = (0..pairs).map(|_| draw.below(lanes) as u8).collect();
            let lanes = if by_port {
                let map = |_, input: u8, output: u8| {
                    std::array::from_fn(|sl| (sl as u8 + input + output) % 3)
                };
                Lanes::ByPort(levels, SlToVl::new(view.machine(), map).unwrap())
            } else {
                Lanes::PerPair(levels)
            };
            Routing::in_lanes(lft, lanes)
        });
        let found = credit_cycle(&graph, &old, &new).unwrap();
        prop_assert_eq!(found.is_some(), has_cycle(naive_arcs(&graph, [&old, &new])));
        if let Some(cycle) = found {
            for (at, &channel) in cycle.channels.iter().enumerate() {
                let next = cycle.channels[(at + 1) % cycle.channels.len()];
                let machine = graph.machine();
                prop_assert_eq!(machine.head(channel).vertex, machine.tail(next).vertex);
            }
        }
    }
}

type Buffer = (ChannelId, u8);

/// All dependencies of packets that take either table's entry at every switch, found packet by packet.
fn naive_arcs(
    graph: &SwitchGraph<'_>,
    tables: [&Routing; 2],
) -> std::collections::BTreeSet<(Buffer, Buffer)> {
    let machine = graph.machine();
    let mut arcs = std::collections::BTreeSet::new();
    for end in machine.endpoints().filter(|&end| graph.switch_of(end).is_some()) {
        let lid = machine.lids().of_endpoint(end);
        let sources = machine.endpoints().filter(|&source| {
            graph.injects(source) && machine.endpoint_node(source) != machine.endpoint_node(end)
        });
        for source in sources {
            let from = graph.switch_of(source).unwrap();
            for sl in tables.map(|routing| routing.sl(from, lid)) {
                let (mut seen, mut stack) = (std::collections::BTreeSet::new(), Vec::new());
                go_on(graph, tables, lid, sl, machine.injection(source), |to| stack.push(to));
                while let Some(at) = stack.pop() {
                    if !seen.insert(at) {
                        continue;
                    }
                    go_on(graph, tables, lid, sl, at.0, |to| {
                        arcs.insert((at, to));
                        stack.push(to);
                    });
                }
            }
        }
    }
    arcs
}

/// The buffers that a packet may take after it came in by a channel.
fn go_on(
    graph: &SwitchGraph<'_>,
    tables: [&Routing; 2],
    lid: Lid,
    sl: u8,
    into: ChannelId,
    mut to: impl FnMut(Buffer),
) {
    let machine = graph.machine();
    let head = machine.head(into);
    let Some(switch) = machine.as_switch(head.vertex) else { return };
    for routing in tables {
        let Some(out) = routing.lft.channel(machine, switch, lid) else { continue };
        if !graph.view().usable(out) || machine.as_switch(machine.head(out).vertex).is_none() {
            continue;
        }
        for mapping in tables {
            to((
                out,
                match &mapping.lanes {
                    Lanes::ByPort(_, map) => {
                        map.lane(switch, head.port, machine.tail(out).port, sl)
                    }
                    _ => sl,
                },
            ));
        }
    }
}

fn has_cycle(mut arcs: std::collections::BTreeSet<(Buffer, Buffer)>) -> bool {
    loop {
        let tails: std::collections::BTreeSet<Buffer> =
            arcs.iter().map(|&(from, _)| from).collect();
        let before = arcs.len();
        arcs.retain(|(_, to)| tails.contains(to));
        if arcs.len() == before {
            return before > 0;
        }
    }
}

/// Tables of a ring in which everything goes one way round.
fn one_way(machine: &Machine, port: u8) -> Lft {
    let mut lft = Lft::empty(machine, 0);
    for switch in machine.switches() {
        for lid in (0..lft.lids().count()).map(Lid::from_index) {
            lft.set(switch, lid, port);
        }
        lft.set(switch, lft.lids().of_switch(switch), 0);
    }
    for end in machine.endpoints() {
        let plug = machine.head(machine.injection(end));
        lft.set(SwitchId(plug.vertex.0), lft.lids().of_endpoint(end), plug.port);
    }
    lft
}

#[test]
fn a_ring_turns_round_switch_by_switch_with_blocks_split() {
    let view = ring(6, 1);
    let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
    let wire = WireLids::of_machine(machine).unwrap();
    let [old, new] = [1, 2].map(|port| one_way(machine, port));
    let mut draw = Seed(1).stream("test", 0);
    let update = assert_safe(&graph, &wire, [&old, &new], &mut draw);
    assert_eq!((update.changed_entries, update.changed_blocks), (60, 6));
    // For every LID the switches turn one after the other, those near it first.
    assert_eq!((update.split_blocks, update.dropped_entries), (4, 0));
    assert!(update.rounds >= 5 && update.extra_writes() > 0, "{update:?}");
    let unchanged = plan(&graph, &wire, &old, &old).unwrap();
    assert_eq!(unchanged, Update::default());
}

#[test]
fn one_write_a_block_will_do_where_blocks_do_not_wait_for_each_other() {
    let view = generated("4-ary 3-tree");
    let machine = view.machine();
    let wire = WireLids::of_machine(machine).unwrap();
    let old = route("minhop", &SwitchGraph::new(&view), &options(0, None)).unwrap();
    let link = machine.switch_links().next().unwrap();
    let broken = view.without(&[link], &[], &[]);
    let graph = SwitchGraph::new(&broken);
    let new = route("minhop", &graph, &options(0, None)).unwrap();
    let mut draw = Seed(1).stream("test", 0);
    let update = assert_safe(&graph, &wire, [&old.lft, &new.lft], &mut draw);
    assert_eq!(update.changed_entries, old.lft.changed_entries(&new.lft, |_| true));
    assert!(update.changed_blocks > 0 && update.extra_writes() == 0, "{update:?}");
}

#[test]
fn two_sound_routings_can_deadlock_together() {
    let view = ring(5, 1);
    let graph = SwitchGraph::new(&view);
    let [old, new] =
        [0, 2].map(|root| route("updn", &graph, &options(0, Some(SwitchId(root)))).unwrap());
    for routing in [&old, &new] {
        assert_eq!(check::check(&graph, routing).verdict(), Verdict::Ok);
        assert_eq!(credit_cycle(&graph, routing, routing).unwrap(), None);
    }
    let cycle = credit_cycle(&graph, &old, &new).unwrap().unwrap();
    assert!(!cycle.channels.is_empty() && cycle.vls.iter().all(|&vl| vl == 0));
    // In lanes of their own they cannot meet.
    let pairs = graph.switch_count() * new.lft.lids().count();
    let apart = Routing::in_lanes(new.lft.clone(), Lanes::PerPair(vec![1; pairs]));
    assert!(credit_cycle(&graph, &new, &apart).unwrap().is_none());
}

#[test]
fn tables_that_do_not_belong_together_are_told() {
    let view = ring(3, 1);
    let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
    let wire = WireLids::of_machine(machine).unwrap();
    let plan = |old: &Lft, new: &Lft| plan(&graph, &wire, old, new).unwrap_err().to_string();
    let lft = Lft::empty(machine, 0);
    assert_eq!(
        plan(&lft, &Lft::empty(machine, 1)),
        "the old tables have a LID mask count of 0, the new ones of 1; LIDs must be given out anew \
         for that, so there is no way from one to the other"
    );
    let other = Lft::empty(ring(4, 1).machine(), 0);
    let said = "these tables have 8 LIDs, which is not what this machine has; route it again";
    assert_eq!(plan(&lft, &other), said);
    let lft = Lft::empty(machine, 1);
    assert!(plan(&lft, &lft).starts_with("the tables have 2^1 LIDs a port, `n0` has 2^0"));
}

#[test]
#[ignore = "a timing: run with --release --nocapture"]
fn a_large_fat_tree_takes_about_a_second() {
    for (machine, faults) in
        [("fat-tree(36; 3)", 1), ("fat-tree(36; 3)", 300), ("torus(12,12,12; 2; 7)", 30)]
    {
        let view = generated(machine);
        let wire = WireLids::of_machine(view.machine()).unwrap();
        let mut links: Vec<_> = view.machine().switch_links().collect();
        Seed(1).stream("test", 0).shuffle(&mut links);
        let broken = view.without(&links[..faults], &[], &[]);
        let graph = SwitchGraph::new(&broken);
        let old = route("minhop", &SwitchGraph::new(&view), &options(0, None)).unwrap();
        let new = route("minhop", &graph, &options(0, None)).unwrap();
        let start = std::time::Instant::now();
        let mut update = plan(&graph, &wire, &old.lft, &new.lft).unwrap();
        let planned = start.elapsed();
        let cycle = credit_cycle(&graph, &old, &new).unwrap();
        println!(
            "{machine}, {faults} faults: plan {planned:?}, credit {:?}",
            start.elapsed() - planned
        );
        println!("  extra {} of {}", update.extra_writes(), update.writes.len());
        update.writes.clear();
        println!("  {update:?} cycle {}", cycle.map_or(0, |cycle| cycle.channels.len()));
    }
}
