//! Small random grids with random faults.

use proptest::prelude::*;

use super::*;
use crate::machine::samples::broken_machine;
use crate::recovery::routing::engines::torus_2qos::samples::{Case, case};

/// Whether switches of the line through `switch` along `dimension` are in pieces, found by walking from one of them.
fn line_is_cut(view: &View, switch: SwitchId, dimension: usize) -> bool {
    let machine = view.machine();
    let graph = SwitchGraph::new(view);
    let coordinates = machine.coordinates().unwrap();
    let mates = |one: SwitchId, other: SwitchId| {
        (0..3).all(|d| {
            let same = |s: SwitchId| coordinates.position(s.index())[d];
            d == dimension || same(one) == same(other)
        })
    };
    let mut seen = vec![switch];
    let mut front = 0;
    while let Some(&here) = seen.get(front) {
        front += 1;
        for &head in graph.heads(here) {
            if mates(here, head) && !seen.contains(&head) {
                seen.push(head);
            }
        }
    }
    let parts = graph.joined_switches();
    let part = parts.iter().find(|part| part.contains(&switch)).unwrap();
    part.iter().filter(|&&other| mates(switch, other)).count() > seen.len()
}

/// Whether the reason of a refusal holds, found without the engine's arrays.
fn is_confirmed(view: &View, case: &Case, refusal: &Refusal) -> bool {
    let shape_xyz = case.shape();
    let graph = SwitchGraph::new(view);
    let reason = &refusal.reason;
    let Some(switch) = refusal.switch else { return false };
    if reason.contains("in pieces") {
        return (0..3).any(|dimension| line_is_cut(view, switch, dimension));
    }
    if reason.contains("side by side") {
        // The last dimension longer than 1 is z.
        let last = (0..3).rfind(|&d| shape_xyz.radix[d] > 1).unwrap();
        let parts = graph.joined_switches();
        let part = parts.iter().find(|part| part.contains(&switch)).unwrap();
        let coordinates = view.machine().coordinates().unwrap();
        let there: Vec<&[u32]> = part.iter().map(|s| coordinates.position(s.index())).collect();
        let mut lines: Vec<Place> =
            case.places().into_iter().filter(|place| !there.contains(&&place[..])).collect();
        lines.iter_mut().for_each(|place| place[last] = 0);
        lines.dedup();
        lines.sort_unstable();
        lines.dedup();
        return lines.len() > 1;
    }
    if reason.contains("credit loop") {
        return unproven(view).cycle.is_some();
    }
    let found = unproven(view);
    found.looping_pairs > 0 || found.unreachable_pairs > found.cut_pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_routed_is_complete_and_without_credit_loops_and_what_is_refused_for_a_reason(
        case in case(),
    ) {
        let view = case.view(false);
        match plain(&view) {
            Ok((_, found)) => {
                prop_assert_eq!(found.unreachable_pairs, found.cut_pairs);
                prop_assert_eq!(found.looping_pairs, 0);
                prop_assert!(found.cycle.is_none());
                prop_assert!(found.vls <= 4);
            }
            Err(refusal) => prop_assert!(is_confirmed(&view, &case, &refusal), "{:?}", refusal),
        }
    }

    #[test]
    fn however_switches_are_numbered_the_configuration_leads_to_an_equivalent_verdict(
        case in case(),
    ) {
        let (view, shuffled) = (case.view(false), case.view(true));
        let torus_conf = TorusConf::of(shuffled.machine());
        let options = RouteOptions { torus_conf, ..RouteOptions::default() };
        match (plain(&view), route(&shuffled, &options)) {
            (Ok((_, one)), Ok((_, other))) => {
                let numbers = |check: &Check| {
                    (check.pairs, check.unreachable_pairs, check.routes_by_hops.clone(), check.vls)
                };
                prop_assert_eq!(numbers(&one), numbers(&other));
                prop_assert!(other.cycle.is_none());
            }
            (Err(_), Err(_)) => {}
            (Err(refusal), Ok(_)) => prop_assert!(false, "{:?}", refusal),
            // Cables that are left need not tell a place that coordinates tell, and a dead switch may be in every seed.
            (Ok(_), Err(refusal)) => prop_assert!(
                refusal.reason.starts_with("the cables left do not tell")
                    || refusal.reason.starts_with("no seed of the configuration"),
                "{:?}", refusal
            ),
        }
    }

    #[test]
    fn faults_change_no_service_level(case in case()) {
        let view = case.view(false);
        let intact = View::intact(view.machine_shared());
        if let (Ok((before, _)), Ok((after, _))) = (plain(&intact), plain(&view)) {
            prop_assert_eq!(before.lanes, after.lanes);
        }
        // Discovered places are the same too, wherever both ends of a pair are alive.
        let torus_conf = TorusConf::of(view.machine());
        let options = RouteOptions { torus_conf, ..RouteOptions::default() };
        if let (Ok((before, _)), Ok((after, _))) = (route(&intact, &options), route(&view, &options)) {
            let graph = SwitchGraph::new(&view);
            for part in graph.joined_switches().iter().filter(|part| part.len() > 1) {
                for (&from, &to) in part.iter().flat_map(|a| part.iter().map(move |b| (a, b))) {
                    let lid = view.machine().lids().of_switch(to);
                    prop_assert_eq!(before.sl(from, lid), after.sl(from, lid));
                }
            }
        }
    }

    #[test]
    fn machines_without_coordinates_are_refused(view in broken_machine(2)) {
        let alive = view.machine().switches().any(|switch| view.switch_alive(switch));
        match plain(&view) {
            Ok(_) => prop_assert!(!alive),
            Err(refusal) => prop_assert!(refusal.reason.contains("no coordinates")),
        }
    }
}
