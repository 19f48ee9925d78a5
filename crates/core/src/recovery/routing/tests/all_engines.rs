//! What holds of every engine: of those there are, and of those to come.

use proptest::prelude::*;

use super::super::check::{Check, check};
use super::super::engines::{ENGINES, bind};
use super::super::*;
use crate::machine::View;
use crate::machine::samples::{broken_machine, shuffled};
use crate::params::Given;

/// Engines whose routes never close a credit loop, whatever the fabric.
const DEADLOCK_FREE: &[&str] = &["updn", "dfsssp", "lash", "torus-2QoS", "nue"];
/// Engines that give every pair a shortest way.
const MINIMAL: &[&str] = &["minhop", "dor", "sssp", "dfsssp", "lash"];
/// Engines that route whatever cables join.
const NEVER_REFUSE: &[&str] = &["minhop", "dor", "sssp", "nue"];

fn answer(engine: &str, view: &View, options: &RouteOptions) -> Result<(Routing, Check), Refusal> {
    let graph = SwitchGraph::new(view);
    match bind(engine, &Given::new()).unwrap().route(&graph, options) {
        Outcome::Routed(routing) => {
            let check = check(&graph, &routing);
            Ok((routing, check))
        }
        Outcome::Refused(refusal) => Err(refusal),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    ENGINES.iter().map(|engine| engine.name())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn routed_outcomes_are_complete_and_as_safe_as_the_engine_promises(
        view in broken_machine(2), lmc in 0u8..3, max_vl in 1u8..9,
    ) {
        for name in names() {
            let options = RouteOptions { lmc, max_vl, ..RouteOptions::default() };
            let Ok((routing, check)) = answer(name, &view, &options) else { continue };
            prop_assert_eq!(check.unreachable_pairs, check.cut_pairs, "{}", name);
            prop_assert_eq!(check.looping_pairs, 0, "{}", name);
            prop_assert!(routing.lanes.count() <= max_vl, "{}", name);
            prop_assert!(routing.layers <= max_vl, "{}", name);
            if DEADLOCK_FREE.contains(&name) {
                prop_assert!(check.cycle.is_none(), "{}: {:?}", name, check.cycle);
            }
            if MINIMAL.contains(&name) {
                prop_assert_eq!(check.nonminimal_pairs, 0, "{}", name);
            }
        }
    }

    #[test]
    fn refusals_have_a_reason_that_a_second_look_confirms(
        view in broken_machine(2), max_vl in 1u8..4,
    ) {
        for name in names() {
            let options = RouteOptions { max_vl, ..RouteOptions::default() };
            let Err(refusal) = answer(name, &view, &options) else { continue };
            prop_assert!(!NEVER_REFUSE.contains(&name), "{}: {}", name, refusal.reason);
            prop_assert!(refusal.reason.len() > 20, "{}: {}", name, refusal.reason);
            if let Some(switch) = refusal.switch {
                prop_assert!(view.switch_alive(switch), "{}: {}", name, refusal.reason);
            }
            // Who asks for lanes takes more than it was allowed when it gets them; Torus-2QoS asks for a fixed number.
            if refusal.reason.contains("lanes") && name != "torus-2QoS" {
                let more = RouteOptions { max_vl: 15, ..RouteOptions::default() };
                if let Ok((routing, _)) = answer(name, &view, &more) {
                    prop_assert!(routing.layers > max_vl, "{}: {}", name, refusal.reason);
                }
            }
        }
    }

    #[test]
    fn a_fabric_numbered_anew_gets_an_equivalent_answer(
        view in broken_machine(2), seed in any::<u64>(),
    ) {
        let other = shuffled(&view, seed);
        let options = RouteOptions { max_vl: 15, ..RouteOptions::default() };
        for name in names() {
            match (answer(name, &view, &options), answer(name, &other, &options)) {
                (Ok((_, one)), Ok((_, other))) => {
                    prop_assert_eq!(one.pairs, other.pairs, "{}", name);
                    prop_assert_eq!(one.unreachable_pairs, other.unreachable_pairs, "{}", name);
                    if MINIMAL.contains(&name) {
                        prop_assert_eq!(one.routes_by_hops, other.routes_by_hops, "{}", name);
                    }
                }
                (Err(_), Err(_)) => {}
                (one, other) => {
                    let (one, other) = (one.err(), other.err());
                    prop_assert!(false, "{}: {:?} against {:?}", name, one, other);
                }
            }
        }
    }

    #[test]
    fn the_same_question_gets_the_same_bytes(view in broken_machine(2), opensm in any::<bool>()) {
        let compat = if opensm { Compat::OpenSm } else { Compat::Plain };
        let options = RouteOptions { compat, ..RouteOptions::default() };
        for name in names() {
            let one = answer(name, &view, &options).map(|(routing, _)| routing);
            let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let other = single.install(|| answer(name, &view, &options).map(|(routing, _)| routing));
            prop_assert_eq!(one, other, "{}", name);
        }
    }
}
