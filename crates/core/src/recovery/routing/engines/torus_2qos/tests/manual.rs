//! The examples of torus-2QoS(8), "Unicast routing", and what it does not say.

use super::*;

const S: [u32; 2] = [1, 1];
const D: [u32; 2] = [3, 3];

#[test]
fn a_failed_cable_is_passed_the_long_way_round_its_ring() {
    let intact = plain(&generated("torus(6,5; 1; 1)")).unwrap().0;
    let view = generated("torus(6,5; 1; 1)");
    let straight = vec![vec![1, 1], vec![2, 1], vec![3, 1], vec![3, 2], vec![3, 3]];
    assert_eq!(way(&view, &intact, S, D).0, straight);
    for pair in [[[1, 1], [2, 1]], [[2, 1], [3, 1]]] {
        let view = broken("torus(6,5; 1; 1)", &[], &[pair]);
        let (routing, found) = plain(&view).unwrap();
        assert_eq!(found.verdict(), Verdict::Ok);
        let round =
            [[1, 1], [0, 1], [5, 1], [4, 1], [3, 1], [3, 2], [3, 3]].map(|place| place.to_vec());
        assert_eq!(way(&view, &routing, S, D), (round.to_vec(), vec![0; 6]));
    }
    let view = broken("torus(6,5; 1; 1)", &[], &[[[2, 1], [3, 1]], [[3, 1], [4, 1]]]);
    assert!(refused(&view, &RouteOptions::default()).contains("y ring of this switch in pieces"));
}

#[test]
fn a_missing_switch_is_passed_by_an_early_turn_and_a_lane_of_its_own_after_the_turn_back() {
    let view = broken("torus(6,5; 1; 1)", &[[3, 1]], &[]);
    let (routing, found) = plain(&view).unwrap();
    // The missing switch cut off its node and nothing else.
    assert_eq!((found.unreachable_pairs, found.looping_pairs), (found.cut_pairs, 0));
    assert!(found.cycle.is_none());
    let early = [[1, 1], [2, 1], [2, 2], [3, 2], [3, 3]].map(|place| place.to_vec());
    assert_eq!(way(&view, &routing, S, D), (early.to_vec(), vec![0, 0, 2, 0]));
    assert_eq!((found.vls, routing.layers), (3, 4));
}

#[test]
fn switches_missing_side_by_side_in_the_last_dimension_are_passed_and_in_another_refused() {
    let view = broken("torus(6,6; 1; 1)", &[[3, 1], [3, 2]], &[]);
    let (routing, found) = plain(&view).unwrap();
    assert!(found.cycle.is_none() && found.unreachable_pairs == found.cut_pairs);
    let early = [[1, 1], [2, 1], [2, 2], [2, 3], [3, 3], [3, 4]].map(|place| place.to_vec());
    assert_eq!(way(&view, &routing, S, [3, 4]), (early.to_vec(), vec![0, 0, 0, 2, 0]));
    for missing in [[[3, 1], [4, 1]], [[3, 1], [4, 2]], [[3, 1], [5, 4]]] {
        let view = broken("torus(6,6; 1; 1)", &missing, &[]);
        assert!(refused(&view, &RouteOptions::default()).contains("side by side"));
    }
}

#[test]
fn early_turns_beside_failed_cables_can_close_a_credit_loop_which_is_refused() {
    // Each side of the missing switch has a row in which the way back after the early turn leads round the whole ring, so
    // that more than its first hop is used; OpenSM 3.3.23 routes this (measured on ibsim).
    let cables = [[[2, 4], [3, 4]], [[4, 2], [3, 2]]];
    let view = broken("torus(6,6; 1; 2)", &[[3, 3]], &cables);
    let refusal = plain(&view).unwrap_err();
    assert!(refusal.reason.contains("credit loop"));
    let cycle = unproven(&view).cycle.unwrap();
    let waits = cycle.channels.iter().map(|&channel| view.machine().tail(channel).vertex);
    let named = view.machine().switch_vertex(refusal.switch.unwrap());
    assert!(waits.into_iter().any(|vertex| vertex == named));
    for cable in cables {
        let view = broken("torus(6,6; 1; 2)", &[[3, 3]], &[cable]);
        assert!(plain(&view).unwrap().1.cycle.is_none());
    }
}

#[test]
fn missing_corners_of_a_mesh_are_passed_and_other_switches_cut_it() {
    let (_, found) = plain(&broken("mesh(4,5; 1; 2)", &[[0, 0]], &[])).unwrap();
    assert!(found.cycle.is_none() && found.unreachable_pairs == found.cut_pairs);
    assert_eq!(found.vls, 3);
    for place in [[1, 0], [2, 2]] {
        let view = broken("mesh(4,5; 1; 2)", &[place], &[]);
        assert!(refused(&view, &RouteOptions::default()).contains("in pieces"));
    }
}

/// Places and lanes on the way from the node at one place of a generated 2D grid to the node at another.
fn way(view: &View, routing: &Routing, from: [u32; 2], to: [u32; 2]) -> (Vec<Vec<u32>>, Vec<u8>) {
    let machine = view.machine();
    let end_at = |place: [u32; 2]| {
        let switch = machine.switch_vertex(at(machine, &place));
        let mut ends = machine.endpoints();
        ends.find(|&end| machine.head(machine.injection(end)).vertex == switch).unwrap()
    };
    let (source, target): (EndpointId, EndpointId) = (end_at(from), end_at(to));
    let lid = routing.lft.lids().of_endpoint(target);
    let sl = routing.sl(at(machine, &from), lid);
    let Lanes::ByPort(_, tables) = &routing.lanes else { panic!("lanes by port") };
    let mut arrived = machine.head(machine.injection(source));
    let (mut places, mut lanes) = (Vec::new(), Vec::new());
    while let Some(switch) = machine.as_switch(arrived.vertex) {
        let coordinates = machine.coordinates().unwrap();
        places.push(coordinates.position(switch.index()).to_vec());
        let channel = routing.lft.channel(machine, switch, lid).unwrap();
        lanes.push(tables.lane(switch, arrived.port, machine.tail(channel).port, sl));
        arrived = machine.head(channel);
    }
    lanes.pop();
    (places, lanes)
}
