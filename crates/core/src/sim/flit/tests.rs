//! The packet engine against the flit engine, and known results.

use std::sync::Arc;

use super::fast::{Counts, Fast};
use super::network::Network;
use super::options::FlitOptions;
use super::reference::Reference;
use super::source::{Observer, PacketName, Send, Source};
use crate::ids::ChannelId;
use crate::machine::{Builder, Machine, Part, SwitchGraph, View};
use crate::params::Given;
use crate::recovery::placement;
use crate::recovery::routing::{Lanes, Outcome, RouteOptions, Routing, engines};
use crate::rng::{Seed, Stream};
use crate::units::{LinkRate, Picos};

/// Messages of random sizes to random targets, some only when another has arrived.
struct Drawn {
    ranks: u32,
    streams: Vec<Stream>,
    left: Vec<u32>,
    largest: u64,
    /// Every so many-th message waits until this rank has received one more.
    pause: u64,
    waiting: Vec<bool>,
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
        }
    }
}

impl Source for Drawn {
    fn next(&mut self, rank: u32, _now: Picos) -> Option<Send> {
        let at = rank as usize;
        if self.left[at] == 0 || self.waiting[at] {
            return None;
        }
        let stream = &mut self.streams[at];
        self.left[at] -= 1;
        self.waiting[at] = self.pause > 0 && stream.below(self.pause) == 0;
        let target = stream.below(u64::from(self.ranks - 1)) as u32;
        let target = target + u32::from(target >= rank);
        Some(Send { target, bytes: stream.below(self.largest + 1), tag: 0 })
    }

    fn delivered(&mut self, _source: u32, send: Send, _now: Picos, ready: &mut Vec<u32>) {
        if std::mem::take(&mut self.waiting[send.target as usize]) {
            ready.push(send.target);
        }
    }

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

/// What happened, in an order that does not depend on who is asked first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Trace {
    granted: Vec<(u64, ChannelId, PacketName)>,
    consumed: Vec<(u64, u32, PacketName, u32)>,
}

impl Observer for Trace {
    fn granted(&mut self, now: Picos, channel: ChannelId, packet: PacketName) {
        self.granted.push((now.0, channel, packet));
    }

    fn consumed(&mut self, now: Picos, target: u32, packet: PacketName, flits: u32) {
        self.consumed.push((now.0, target, packet, flits));
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

/// Runs both engines over the case of `seed`; returns what happened and how often credits, room or the input ran short.
fn compare(seed: u64, messages: u32) -> Counts {
    let mut stream = Seed(seed).stream("case", 0);
    let view = View::intact(Arc::new(drawn_machine(&mut stream)));
    let graph = SwitchGraph::new(&view);
    let routing = drawn_routing(&graph, &mut stream);
    let placement = placement::in_node_order(&view);
    let options = drawn_options(&mut stream);
    let network = Network::new(&graph, &routing, &placement, &options).unwrap();
    let ranks = placement.len() as u32;
    let largest = [64, 2048, 10_000][stream.index(3)];
    let pause = stream.below(4);
    let drawn = || Drawn::new(ranks, seed, messages, largest, pause);
    let end = Picos(2_000_000_000);
    let mut slow = Reference::new(&network, &options, drawn(), Trace::default());
    slow.run(end);
    let (_, wanted) = slow.into_parts();
    let mut fast = Fast::new(&network, &options, drawn(), Trace::default());
    fast.run(end);
    let counts = fast.counts();
    let (_, found) = fast.into_parts();
    let (found, wanted) = (found.sorted(), wanted.sorted());
    let first = found.granted.iter().zip(&wanted.granted).find(|(a, b)| a != b);
    assert_eq!(first, None, "case {seed}: a grant differs (fast, reference)");
    assert_eq!(found.granted.len(), wanted.granted.len(), "case {seed}: grants are missing");
    assert!(found == wanted, "case {seed}: consumptions differ");
    assert_eq!(counts.consumed_flits, found.consumed.iter().map(|c| u64::from(c.3)).sum::<u64>());
    counts
}

#[test]
fn packets_are_granted_and_consumed_at_the_picosecond_of_the_flits() {
    let mut consumed = 0;
    for seed in 0..seeds() {
        consumed += compare(seed, 6).consumed_flits;
    }
    assert!(consumed > 10_000);
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
    assert_eq!(text, "`mtu_flits` must be 1 to 65535, got 0");
    let text = refusal(FlitOptions { host_flit: Picos(1 << 30), ..sc14() });
    assert!(text.contains("32 flits at 1073741824 ps"), "{text}");
}

/// Messages of one packet to random targets, for ever.
struct Uniform(Vec<Stream>);

impl Source for Uniform {
    fn next(&mut self, rank: u32, _now: Picos) -> Option<Send> {
        let others = self.0.len() as u64 - 1;
        let target = self.0[rank as usize].below(others) as u32;
        Some(Send { target: target + u32::from(target >= rank), bytes: 2048, tag: 0 })
    }

    fn delivered(&mut self, _source: u32, _send: Send, _now: Picos, _ready: &mut Vec<u32>) {}

    fn unrouted(&mut self, _source: u32, _send: Send) {}
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let text = std::env::var("RUNFLAT_FABRIC").unwrap_or("16-ary 2-tree".into());
    let engine = std::env::var("RUNFLAT_ENGINE").unwrap_or("dfsssp".into());
    let micros: u64 = std::env::var("RUNFLAT_US").map_or(2000, |text| text.parse().unwrap());
    let view = crate::machine::samples::generated(&text);
    let graph = SwitchGraph::new(&view);
    let options = RouteOptions::default();
    let Outcome::Routed(routing) =
        engines::bind(&engine, &Given::new()).unwrap().route(&graph, &options)
    else {
        panic!("refused")
    };
    let placement = placement::in_node_order(&view);
    let options = FlitOptions::default();
    let network = Network::new(&graph, &routing, &placement, &options).unwrap();
    let streams = (0..placement.len() as u64).map(|rank| Seed(1).stream("uniform", rank)).collect();
    let mut fast = Fast::new(&network, &options, Uniform(streams), ());
    let started = std::time::Instant::now();
    fast.run(Picos(micros * 1_000_000));
    let seconds = started.elapsed().as_secs_f64();
    let counts = fast.counts();
    let hops = counts.flit_hops as f64;
    println!(
        "{text}: {:.1} M flit-hops in {seconds:.2} s = {:.1} M/s, {:.2} events a packet-hop, {:.1} GB/s, {} lanes",
        hops / 1e6,
        hops / 1e6 / seconds,
        counts.events as f64 / (hops / 32.0),
        counts.consumed_flits as f64 * 64.0 / (micros as f64 * 1000.0),
        network.lanes(),
    );
}
