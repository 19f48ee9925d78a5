//! The packet engine against the flit engine, and known results.

use std::sync::Arc;

use super::deadlock;
use super::fast::Fast;
use super::network::Network;
use super::options::FlitOptions;
use super::reference::Reference;
use super::source::{Consumed, Delivery, Demand, Next, Observer, PacketName, Send, Source};
use super::sources::{Phases, RandomTargets, Scheduled};
use super::{FlitOutcome, FlitRun, StopRule, simulate};
use crate::ids::{ChannelId, Rank};
use crate::machine::samples::{generated, ring};
use crate::machine::{Builder, Machine, Part, SwitchGraph, View};
use crate::params::Given;
use crate::recovery::placement;
use crate::recovery::routing::{Lanes, Outcome, RouteOptions, Routing, engines};
use crate::rng::{Seed, Stream};
use crate::traffic::{Message, Traffic};
use crate::units::{Bytes, LinkRate, Picos};
use crate::workload::schedule::Schedule;
use crate::workload::{self, Draw};

/// Messages of random sizes to random targets, some only when another has arrived, some only after a while.
struct Drawn {
    ranks: u32,
    streams: Vec<Stream>,
    left: Vec<u32>,
    largest: u64,
    /// Every so many-th message waits until this rank has received one more.
    pause: u64,
    waiting: Vec<bool>,
    until: Vec<Picos>,
}

impl Drawn {
    fn new(ranks: u32, seed: u64, messages: u32, largest: u64, pause: u64) -> Self {
        let stream = |rank| Seed(seed).stream("messages", rank);
        Drawn {
            ranks,
            streams: (0..u64::from(ranks)).map(stream).collect(),
            left: vec![messages; ranks as usize],
            largest,
            pause,
            waiting: vec![false; ranks as usize],
            until: vec![Picos(0); ranks as usize],
        }
    }
}

impl Source for Drawn {
    fn next(&mut self, rank: u32, now: Picos) -> Next {
        let at = rank as usize;
        if self.left[at] == 0 || self.waiting[at] {
            return Next::Nothing;
        }
        if now < self.until[at] {
            return Next::At(self.until[at]);
        }
        let stream = &mut self.streams[at];
        self.left[at] -= 1;
        self.waiting[at] = self.pause > 0 && stream.below(self.pause) == 0;
        let target = stream.below(u64::from(self.ranks - 1)) as u32;
        let target = target + u32::from(target >= rank);
        if self.pause > 0 && stream.below(2 * self.pause) == 0 {
            self.until[at] = Picos(now.0 + stream.below(3_000_000));
        }
        Next::Message(Send { target, bytes: stream.below(self.largest + 1), tag: 0 })
    }

    fn delivered(&mut self, delivery: Delivery, ready: &mut Vec<u32>) {
        let target = delivery.send.target;
        if std::mem::take(&mut self.waiting[target as usize]) {
            ready.push(target);
        }
    }

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

/// What happened, in an order that does not depend on who is asked first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Trace {
    granted: Vec<(u64, ChannelId, PacketName)>,
    consumed: Vec<Consumed>,
}

impl Observer for Trace {
    fn granted(&mut self, now: Picos, channel: ChannelId, packet: PacketName) {
        self.granted.push((now.0, channel, packet));
    }

    fn consumed(&mut self, consumed: Consumed) {
        self.consumed.push(consumed);
    }
}

impl Trace {
    fn sorted(mut self) -> Self {
        self.granted.sort_unstable();
        self.consumed.sort_unstable();
        self
    }
}

/// A random multigraph with up to 16 nodes, one rate of cables or several.
fn drawn_machine(stream: &mut Stream) -> Machine {
    let (switches, nodes) = (1 + stream.index(6), 2 + stream.index(15));
    let mixed = stream.below(2) == 0;
    let mut builder = Builder::new("drawn", true);
    let rate = |stream: &mut Stream| -> LinkRate {
        const RATES: [&str; 4] = ["4xQDR", "4xFDR", "4xEDR", "1xEDR"];
        RATES[if mixed { stream.index(RATES.len()) } else { 0 }].parse().unwrap()
    };
    let parts: Vec<Part> =
        (0..switches).map(|s| builder.switch(format!("s{s}"), 40).unwrap()).collect();
    for at in 1..switches {
        let rate = rate(stream);
        builder.cable(parts[stream.index(at)], parts[at], rate);
    }
    for _ in 0..stream.index(2 * switches) {
        let (a, b) = (stream.index(switches), stream.index(switches));
        if a != b {
            let rate = rate(stream);
            builder.cable(parts[a], parts[b], rate);
        }
    }
    for node in 0..nodes {
        let part = builder.node(format!("n{node}"), 1);
        let rate = rate(stream);
        builder.cable(part, parts[stream.index(switches)], rate);
    }
    builder.build().unwrap()
}

/// Options in which every stage is the narrowest now and then.
fn drawn_options(stream: &mut Stream) -> FlitOptions {
    let mut time = |most: u64| Picos(1 + stream.below(most));
    let mut options = FlitOptions {
        cable_gb_s: None,
        cable: time(300_000),
        host_flit: time(40_000),
        host_latency: time(40_000),
        host_arbiter: time(40_000),
        sink_flit: time(30_000),
        message_gap: time(5_000),
        input_latency: time(100_000),
        switch_arbiter: time(20_000),
        output_latency: time(100_000),
        credit_interval: time(600_000),
        ..FlitOptions::default()
    };
    if stream.below(8) == 0 {
        options.cable = Picos(0);
    }
    options.mtu_flits = 1 + stream.below(32) as u32;
    options.input_speedup = 1 + stream.below(3) as u32;
    options.host_output_flits = options.mtu_flits + 1 + stream.below(40) as u32;
    options.switch_output_flits = options.mtu_flits + 1 + stream.below(60) as u32;
    options.buffer_flits = 8 * options.mtu_flits + stream.below(200) as u32;
    options.lane_flits = options.mtu_flits + stream.below(200) as u32;
    if stream.below(2) == 0 {
        options.high_lanes = vec![(0, 1 + stream.below(64) as u32), (2, 16)];
        options.low_lanes = vec![(1, 1 + stream.below(64) as u32), (0, 20)];
        options.high_limit_flits = stream.below(200) as u32;
    }
    options
}

fn drawn_routing(graph: &SwitchGraph<'_>, stream: &mut Stream) -> Routing {
    const ENGINES: [&str; 4] = ["minhop", "dfsssp", "nue", "lash"];
    let name = ENGINES[stream.index(ENGINES.len())];
    let options = RouteOptions { max_vl: 8, ..RouteOptions::default() };
    let routing = match engines::bind(name, &Given::new()).unwrap().route(graph, &options) {
        Outcome::Routed(routing) => routing,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    };
    match stream.below(3) {
        // Lanes at random: what they are for does not matter here.
        0 => {
            let count = routing.lft.ports().len();
            let lanes = 1 + stream.below(8);
            let levels = (0..count).map(|_| stream.below(lanes) as u8).collect();
            Routing::in_lanes(routing.lft, Lanes::PerPair(levels))
        }
        _ => routing,
    }
}

/// Packets of messages around a ring of steps, each rank's next when it has received the one before.
fn drawn_schedule(ranks: u32, stream: &mut Stream) -> Schedule {
    let phase = |_| {
        let ahead = 1 + stream.below(u64::from(ranks - 1)) as u32;
        let size = Bytes(stream.below(5000));
        let message = |rank| {
            let target = Rank((rank + ahead) % ranks);
            Message { source: Rank(rank), target, size }
        };
        Ok(Traffic { ranks, messages: (0..ranks).map(message).collect() })
    };
    Schedule::from_phases(ranks, (0..8).map(phase)).unwrap()
}

#[test]
fn schedules_are_run_alike() {
    for seed in 0..seeds() / 4 {
        let mut stream = Seed(seed).stream("schedule", 0);
        let view = View::intact(Arc::new(drawn_machine(&mut stream)));
        let graph = SwitchGraph::new(&view);
        let routing = drawn_routing(&graph, &mut stream);
        let placement = placement::in_node_order(&view);
        let options = drawn_options(&mut stream);
        let schedule = drawn_schedule(placement.len() as u32, &mut stream);
        let network = Network::new(&graph, &routing, &placement, &options).unwrap();
        let end = Picos(2_000_000_000);
        let mut fast = Fast::new(&network, &options, Scheduled::new(&schedule), Trace::default());
        fast.run(end);
        let mut slow =
            Reference::new(&network, &options, Scheduled::new(&schedule), Trace::default());
        slow.run(end);
        let (found, wanted) = (fast.into_parts(), slow.into_parts());
        assert!(found.1.sorted() == wanted.1.sorted(), "case {seed}");
        assert_eq!(found.0.stuck(), wanted.0.stuck(), "case {seed}");
    }
}

/// A grid routed by Torus-2QoS, whose lanes change on the way, and a switch of many ports, with cables failed.
#[test]
fn lanes_that_change_and_many_ports_and_dead_cables_are_run_alike() {
    for (fabric, engine, faults) in [
        ("torus(3,3; 1; 2)", "torus-2QoS", 0),
        ("xgft(1; 90; 1)", "minhop", 0),
        ("4-ary 2-tree", "dfsssp", 3),
    ] {
        let intact = generated(fabric);
        let links = intact.machine().links().filter(|&link| {
            let ends = [link.forward(), link.backward()].map(|c| intact.machine().tail(c).vertex);
            ends.iter().all(|&vertex| intact.machine().as_switch(vertex).is_some())
        });
        let failed: Vec<_> = links.step_by(3).take(faults).collect();
        let view = intact.without(&failed, &[], &[]);
        let graph = SwitchGraph::new(&view);
        let routing = routed(&view, engine);
        let placement = placement::in_node_order(&view);
        let options = FlitOptions { buffer_flits: 400, ..FlitOptions::default() };
        let network = Network::new(&graph, &routing, &placement, &options).unwrap();
        let end = Picos(60_000_000);
        let source = || uniform(placement.len() as u32, 5);
        let mut fast = Fast::new(&network, &options, source(), Trace::default());
        fast.run(end);
        assert_eq!(fast.held_flits(), fast.counts().flits - fast.counts().consumed_flits);
        let mut slow = Reference::new(&network, &options, source(), Trace::default());
        slow.run(end);
        let (found, wanted) = (fast.into_parts().1.sorted(), slow.into_parts().1.sorted());
        assert!(found.consumed.len() > 100, "{fabric}");
        assert!(found == wanted, "{fabric}");
    }
}

/// What a case felt: whether lifting a limit changes it.
#[derive(Clone, Copy, Debug, Default)]
struct Felt {
    credits: u32,
    room: u32,
    speedup: u32,
    lanes: u32,
    slow_cables: u32,
    consumed_flits: u64,
}

/// Runs both engines over the case of `seed` and compares them.
fn compare(seed: u64, messages: u32, felt: &mut Felt) {
    let mut stream = Seed(seed).stream("case", 0);
    let view = View::intact(Arc::new(drawn_machine(&mut stream)));
    let graph = SwitchGraph::new(&view);
    let routing = drawn_routing(&graph, &mut stream);
    let placement = placement::in_node_order(&view);
    let options = drawn_options(&mut stream);
    let ranks = placement.len() as u32;
    let largest = [64, 2048, 10_000][stream.index(3)];
    let pause = stream.below(4);
    let drawn = || Drawn::new(ranks, seed, messages, largest, pause);
    let end = Picos(500_000_000);
    let fast = |options: &FlitOptions| {
        let network = Network::new(&graph, &routing, &placement, options).unwrap();
        let mut fast = Fast::new(&network, options, drawn(), Trace::default());
        fast.run(end);
        let counts = fast.counts();
        (counts, fast.into_parts().1.sorted())
    };
    let network = Network::new(&graph, &routing, &placement, &options).unwrap();
    let mut slow = Reference::new(&network, &options, drawn(), Trace::default());
    slow.run(end);
    let wanted = slow.into_parts().1.sorted();
    let (counts, found) = fast(&options);
    let first = found.granted.iter().zip(&wanted.granted).find(|(a, b)| a != b);
    assert_eq!(first, None, "case {seed}: a grant differs (fast, reference)");
    assert_eq!(found.granted.len(), wanted.granted.len(), "case {seed}: grants are missing");
    assert!(found == wanted, "case {seed}: consumptions differ");
    assert_eq!(
        counts.consumed_flits,
        found.consumed.iter().map(|c| u64::from(c.flits)).sum::<u64>()
    );
    let differs = |other: FlitOptions| u32::from(fast(&other).1 != found);
    let much = 1 << 20;
    felt.credits +=
        differs(FlitOptions { buffer_flits: much, lane_flits: much, ..options.clone() });
    felt.room += differs(FlitOptions { switch_output_flits: much, ..options.clone() });
    felt.speedup += differs(FlitOptions { input_speedup: 4, ..options.clone() });
    felt.slow_cables += differs(FlitOptions { cable_gb_s: Some(50.0), ..options.clone() });
    felt.lanes += u32::from(network.lanes() > 1);
    felt.consumed_flits += counts.consumed_flits;
}

#[test]
fn packets_are_granted_and_consumed_at_the_picosecond_of_the_flits() {
    let mut felt = Felt::default();
    let seeds = seeds();
    for seed in 0..seeds {
        compare(seed, 6, &mut felt);
    }
    // Each limit of the model decides something in a good part of the cases.
    let often = |count: u32, share: u64| u64::from(count) * share >= seeds;
    assert!(often(felt.credits, 5) && often(felt.room, 10), "{felt:?}");
    assert!(often(felt.speedup, 10) && often(felt.lanes, 4), "{felt:?}");
    assert!(often(felt.slow_cables, 2) && felt.consumed_flits > 100 * seeds, "{felt:?}");
    println!("{felt:?}");
}

fn seeds() -> u64 {
    std::env::var("RUNFLAT_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

#[test]
fn networks_refuse_what_the_engines_cannot_count() {
    let view = crate::machine::samples::ring(3, 1);
    let graph = SwitchGraph::new(&view);
    let routing = drawn_routing(&graph, &mut Seed(1).stream("case", 0));
    let placement = placement::in_node_order(&view);
    let refusal = |options: FlitOptions| {
        let network = Network::new(&graph, &routing, &placement, &options);
        network.map(|_| ()).unwrap_err().to_string()
    };
    let sc14 = FlitOptions::default;
    let text = refusal(FlitOptions { input_speedup: 5, ..sc14() });
    assert_eq!(text, "`input_speedup` must be 1 to 4, got 5");
    let text = refusal(FlitOptions { mtu_flits: 0, ..sc14() });
    assert_eq!(text, "`mtu_bytes` must be 1 to 65535 flits, got 0");
    let text = refusal(FlitOptions { host_flit: Picos(1 << 30), ..sc14() });
    assert!(text.contains("32 flits at 1073741824 ps"), "{text}");
}

fn routed(view: &View, engine: &str) -> Routing {
    let graph = SwitchGraph::new(view);
    match engines::bind(engine, &Given::new()).unwrap().route(&graph, &RouteOptions::default()) {
        Outcome::Routed(routing) => routing,
        Outcome::Refused(refusal) => panic!("{refusal:?}"),
    }
}

/// Runs a source on the shipped parameters.
fn run<S: Source>(
    view: &View,
    engine: &str,
    options: &FlitOptions,
    source: S,
    rule: StopRule,
) -> FlitRun {
    let graph = SwitchGraph::new(view);
    let routing = routed(view, engine);
    let placement = placement::in_node_order(view);
    let network = Network::new(&graph, &routing, &placement, options).unwrap();
    let demand = Demand::of_messages(std::iter::once(Bytes(2048)), options.mtu()).endless();
    simulate(&network, options, source, demand, &rule, |_| true)
}

/// Uniform traffic of one packet a message.
fn uniform(ranks: u32, seed: u64) -> RandomTargets {
    RandomTargets::new(ranks, Draw { size: Bytes(2048), hot: 0, share: 0.0 }, Seed(seed))
}

fn finite() -> StopRule {
    StopRule { steady: false, ..StopRule::default() }
}

/// One message from rank 0 to the last rank.
fn one_message(view: &View, cable_ns: u64, bytes: u64) -> f64 {
    let ranks = placement::in_node_order(view).len() as u32;
    let traffic = move |_| {
        let (source, target) = (Rank(0), Rank(ranks - 1));
        Traffic { ranks, messages: vec![Message { source, target, size: Bytes(bytes) }] }
    };
    let options = FlitOptions { cable: Picos(cable_ns * 1000), ..FlitOptions::default() };
    let found = run(view, "minhop", &options, Phases::new(ranks, 1, false, traffic), finite());
    assert_eq!(found.outcome, FlitOutcome::Complete);
    found.time.0 as f64 / 1e6
}

#[test]
fn single_messages_take_what_the_public_model_takes() {
    let star = generated("xgft(1; 18; 1)");
    // Microseconds of the public model with its shipped parameters (reference/infiniband-flit-model.md).
    for (view, cable_ns, bytes, wanted) in [
        (&star, 43, 2048, 0.8601),
        (&star, 0, 2048, 0.7471),
        (&star, 43, 20480, 6.6103),
        (&generated("4-ary 3-tree"), 43, 2048, 1.4321),
        (&generated("mesh(5,5; 6; 11)"), 43, 2048, 2.0041),
    ] {
        let found = one_message(view, cable_ns, bytes);
        assert!((found / wanted - 1.0).abs() < 0.002, "{found} for {wanted}");
    }
}

fn exchange(view: &View, engine: &str) -> FlitRun {
    let ranks = placement::in_node_order(view).len() as u32;
    let bound = workload::bind("exchange", &Given::new()).unwrap();
    let count = bound.phase_count(ranks).unwrap();
    let source = Phases::new(ranks, count, false, |at| bound.phase(ranks, at, Seed(1)).unwrap());
    run(view, engine, &FlitOptions::default(), source, finite())
}

#[test]
fn exchanges_take_what_they_take_in_the_public_model() {
    let found = exchange(&generated("xgft(1; 18; 1)"), "minhop");
    assert_eq!(found.outcome, FlitOutcome::Complete);
    assert_eq!(found.counts.messages, 306);
    let micros = found.time.0 as f64 / 1e6;
    assert!((micros / 11.111 - 1.0).abs() < 0.01, "{micros}");
    // Over its tables, which were not OpenSM's.
    let tree = exchange(&generated("4-ary 3-tree"), "minhop");
    assert_eq!((tree.outcome, tree.counts.messages), (FlitOutcome::Complete, 64 * 63));
    let micros = tree.time.0 as f64 / 1e6;
    assert!((micros / 103.049 - 1.0).abs() < 0.01, "{micros}");
}

#[test]
fn rings_deadlock_on_one_lane_and_not_on_two() {
    let view = ring(4, 4);
    let options = FlitOptions::default();
    let found = run(&view, "minhop", &options, uniform(16, 1), StopRule::default());
    let FlitOutcome::Deadlock(cycle) = &found.outcome else { panic!("{:?}", found.outcome) };
    assert_eq!(cycle.len(), 4);
    assert_eq!(found.throughput_gb_s, None);
    let safe = run(&view, "dfsssp", &options, uniform(16, 1), StopRule::default());
    assert_eq!(safe.outcome, FlitOutcome::Steady);
    println!("{:?} {:?} {:?}", safe.throughput_gb_s, safe.half_width_gb_s, safe.time);
}

#[test]
fn rings_that_were_found_never_dissolve() {
    let view = ring(4, 4);
    let graph = SwitchGraph::new(&view);
    let routing = routed(&view, "minhop");
    let placement = placement::in_node_order(&view);
    for (lane_flits, seed) in [(800, 0), (800, 1), (96, 0), (96, 2), (64, 3), (32, 4)] {
        let options = FlitOptions { lane_flits, ..FlitOptions::default() };
        let network = Network::new(&graph, &routing, &placement, &options).unwrap();
        let mut fast = Fast::new(&network, &options, uniform(16, seed), ());
        let mut now = 0;
        while deadlock::cycle(&fast.waiting()).is_none() {
            now += 20_000;
            assert!(now < 2_000_000_000, "no deadlock");
            fast.run(Picos(now));
        }
        for _ in 0..200 {
            now += 100_000;
            fast.run(Picos(now));
            assert!(deadlock::cycle(&fast.waiting()).is_some(), "{lane_flits} {seed} at {now}");
        }
    }
}

#[test]
fn messages_longer_than_the_warm_up_are_counted_as_they_come() {
    let view = generated("4-ary 2-tree");
    let draw = Draw { size: Bytes(1 << 20), hot: 0, share: 0.0 };
    let source = RandomTargets::new(16, draw, Seed(1));
    let rule = StopRule { precision: 0.4, ..StopRule::default() };
    let found = run(&view, "minhop", &FlitOptions::default(), source, rule);
    assert_eq!(found.outcome, FlitOutcome::Steady);
    let rate = found.throughput_gb_s.unwrap();
    assert!(rate > 10.0 && rate < 16.0 * 3.2, "{rate}");
}

#[test]
fn ranks_without_a_way_stop_and_the_others_go_on() {
    let mut builder = Builder::new("islands", true);
    let rate: LinkRate = "4xQDR".parse().unwrap();
    let parts = [0, 1].map(|s| builder.switch(format!("s{s}"), 8).unwrap());
    for node in 0..5 {
        let part = builder.node(format!("n{node}"), 1);
        builder.cable(part, parts[usize::from(node == 0)], rate);
    }
    let view = View::intact(Arc::new(builder.build().unwrap()));
    let rule = StopRule { precision: 0.2, ..StopRule::default() };
    let found = run(&view, "minhop", &FlitOptions::default(), uniform(5, 1), rule);
    assert_eq!(found.outcome, FlitOutcome::Steady);
    assert_eq!(found.received_gb_s[0], 0.0);
    assert!(found.received_gb_s[1..].iter().all(|&rate| rate > 1.0), "{:?}", found.received_gb_s);
    // The same for phases, of which some messages have no route; then for nothing but such.
    let bound = workload::bind("permutation", &Given::new()).unwrap();
    let phase = |at| bound.phase(5, at, Seed(3)).unwrap();
    let phases = Phases::new(5, 1, true, phase);
    let found = run(&view, "minhop", &FlitOptions::default(), phases, rule);
    assert_eq!(found.outcome, FlitOutcome::Steady);
    assert!(found.unrouted_messages > 0 && found.throughput_gb_s.unwrap() > 1.0);
    let alone = |_| {
        let (source, target) = (Rank(0), Rank(1));
        Traffic { ranks: 5, messages: vec![Message { source, target, size: Bytes(1) }] }
    };
    let found = run(&view, "minhop", &FlitOptions::default(), Phases::new(5, 1, true, alone), rule);
    assert_eq!((found.outcome, found.throughput_gb_s), (FlitOutcome::Steady, Some(0.0)));
}

#[test]
fn no_more_is_simulated_than_allowed() {
    let rule = StopRule { most: Picos(1_000_000), ..StopRule::default() };
    let found = run(&ring(3, 1), "minhop", &FlitOptions::default(), uniform(3, 1), rule);
    assert_eq!((found.outcome, found.time), (FlitOutcome::CutShort, Picos(1_000_000)));
}

#[test]
fn hot_ranks_get_their_share() {
    let draw = Draw { size: Bytes(64), hot: 2, share: 0.5 };
    let mut source = RandomTargets::new(10, draw, Seed(1));
    let mut counts = [[0u32; 10]; 10];
    for rank in 0..10u32 {
        for _ in 0..4000 {
            let Next::Message(send) = source.next(rank, Picos(0)) else {
                panic!("nothing to send")
            };
            counts[rank as usize][send.target as usize] += 1;
        }
        assert_eq!(counts[rank as usize][rank as usize], 0);
    }
    // Half to ranks 0 and 5, and of the other half their even share.
    let hot = |rank: usize| counts[rank][0] + counts[rank][5];
    let share = f64::from(hot(3)) / 4000.0;
    assert!((share - (0.5 + 0.5 * 2.0 / 9.0)).abs() < 0.03, "{share}");
    // A hot rank sends its hot half to the other one.
    let share = f64::from(counts[0][5]) / 4000.0;
    assert!((share - (0.5 + 0.5 / 9.0)).abs() < 0.03, "{share}");
}

#[test]
fn intervals_of_repeated_runs_cover_the_mean() {
    let view = generated("mesh(2,2; 1; 3)");
    let found = |seed: u64, precision: f64| {
        let source = uniform(12, seed);
        let rule = StopRule { precision, most: Picos(1_000_000_000_000), ..StopRule::default() };
        let found = run(&view, "minhop", &FlitOptions::default(), source, rule);
        assert_eq!(found.outcome, FlitOutcome::Steady, "seed {seed}");
        (found.throughput_gb_s.unwrap(), found.half_width_gb_s.unwrap())
    };
    let (mean, sure) = found(1_000, 0.02);
    let covered = (0..30).filter(|&seed| {
        let (other, half) = found(seed, 0.1);
        (other - mean).abs() <= half + sure
    });
    assert!(covered.count() >= 28);
}
