//! Finds the four added parts by name and takes them from machine to throughput.

use std::sync::Arc;

use runflat_core::faults;
use runflat_core::machine::{SwitchGraph, View, generators};
use runflat_core::params::Given;
use runflat_core::recovery::placement;
use runflat_core::recovery::routing::check::check;
use runflat_core::recovery::routing::{Outcome, RouteOptions, engines};
use runflat_core::rng::Seed;
use runflat_core::sim::congestion::{CongestionOptions, Simulation};
use runflat_core::workload;

fn main() {
    let none = Given::new();
    let machine = generators::make("ring(6)", &none, Seed(1)).expect("the generator is known");
    let whole = View::intact(Arc::new(machine));
    let drawn = faults::bind("first-links(1)", &none).expect("the fault model is known");
    let broken = drawn.draw(&whole, Seed(1), 0).expect("a cable can fail").apply(&whole);
    for view in [&whole, &broken] {
        let graph = SwitchGraph::new(view);
        let engine = engines::bind("first-port", &none).expect("the engine is known");
        let Outcome::Routed(routing) = engine.route(&graph, &RouteOptions::default()) else {
            panic!("the engine never refuses")
        };
        let found = check(&graph, &routing);
        let traffic = workload::bind("next-rank", &none).expect("the workload is known");
        let ranks = placement::in_node_order(view);
        let phase = traffic.phase(ranks.len() as u32, 0, Seed(1)).expect("there is a phase");
        let mut simulation =
            Simulation::new(&graph, &routing, &ranks, CongestionOptions::default());
        simulation.steady_phase(&phase).expect("the phase is small");
        println!(
            "{} {} {} {}",
            found.verdict().word(),
            found.hops_max,
            found.cycle.map_or(0, |cycle| cycle.channels.len()),
            simulation.finish().throughput_gb_s
        );
    }
}
