use super::*;
use crate::ids::LinkId;
use crate::machine::View;
use crate::machine::samples::generated;
use crate::recovery::routing::engines::torus_2qos::samples::{Case, at as switch_at, cables};

const INTACT: Case = Case {
    radix: [1, 1, 1],
    wraps: [true; 3],
    parallel: 1,
    nodes: 0,
    seed: 1,
    dead_links: 0,
    dead_switches: 0,
    in_line: false,
    near: false,
};

/// Where discovery puts the switches of the largest part.
fn places(view: &View, conf: &TorusConf) -> Result<Vec<Option<Place>>, Refusal> {
    let graph = SwitchGraph::new(view);
    let mut place = vec![None; graph.switch_count()];
    seeds_suffice(conf)?;
    let members = graph.joined_switches().into_iter().max_by_key(Vec::len).unwrap();
    discover(&graph, conf, &members, &mut place)?;
    Ok(place)
}

fn coordinates(view: &View) -> Vec<Option<Place>> {
    let coordinates = view.machine().coordinates().unwrap();
    let place = |switch: usize| <[u32; 3]>::try_from(coordinates.position(switch)).unwrap();
    (0..view.machine().switch_count()).map(|switch| Some(place(switch))).collect()
}

#[test]
fn finds_the_coordinates_of_every_small_grid_again() {
    let mut found = 0;
    for (number, wraps) in (0..8u8).map(|n| (n, [n & 1 > 0, n & 2 > 0, n & 4 > 0])) {
        for radix in [[1, 1, 7], [1, 4, 5], [3, 3, 3], [2, 4, 4], [4, 4, 4], [6, 2, 3], [5, 4, 3]] {
            let case = Case { radix, wraps, seed: number.into(), ..INTACT };
            let view = case.view(true);
            let conf = TorusConf::of(view.machine()).unwrap();
            for seed in 0..conf.seeds.len() {
                let conf = TorusConf { seeds: vec![conf.seeds[seed].clone()], ..conf.clone() };
                assert_eq!(places(&view, &conf).as_ref(), Ok(&coordinates(&view)), "{case:?}");
                found += 1;
            }
        }
    }
    assert!(found > 100);
}

#[test]
fn the_next_seed_takes_over_where_a_switch_of_the_first_is_dead_and_means_the_same_places() {
    let view = Case { radix: [1, 5, 6], ..INTACT }.view(false);
    let conf = TorusConf::of(view.machine()).unwrap();
    let first = switch_at(view.machine(), &[0, 0, 0]);
    let guid = view.machine().switch(first).guid;
    assert!(
        conf.seeds[0]
            .beside
            .iter()
            .flatten()
            .flatten()
            .chain([&conf.seeds[0].switch])
            .any(|&g| g == guid)
    );
    let found = places(&view.without(&[], &[first], &[]), &conf).unwrap();
    let mut expected = coordinates(&view);
    expected[first.index()] = None;
    assert_eq!(found, expected);
    let one = TorusConf { seeds: vec![conf.seeds[0].clone()], ..conf };
    let refusal = places(&view.without(&[], &[first], &[]), &one).unwrap_err();
    assert!(refusal.reason.starts_with("no seed of the configuration"), "{refusal:?}");
}

#[test]
fn the_cable_of_a_seed_may_be_dead() {
    let view = Case { radix: [1, 5, 5], ..INTACT }.view(false);
    let conf = TorusConf::of(view.machine()).unwrap();
    let [a, b] = [[0, 0, 0], [0, 1, 0]].map(|place| switch_at(view.machine(), &place));
    let dead = cables(view.machine(), a, b);
    assert_eq!(dead.len(), 1);
    assert_eq!(places(&view.without(&dead, &[], &[]), &conf), Ok(coordinates(&view)));
}

#[test]
fn a_mesh_may_be_entered_in_the_middle_if_the_dateline_says_where_its_border_is() {
    let view = Case { radix: [1, 4, 5], wraps: [false; 3], ..INTACT }.view(false);
    let text = "mesh 1 4 5\nyp_link 0x1005 0x1006\nzp_link 0x1005 0x1009\n";
    let inside = TorusConf::parse(&format!("{text}y_dateline -1\nz_dateline -1\n")).unwrap();
    assert_eq!(places(&view, &inside), Ok(coordinates(&view)));
    let refusal = places(&view, &TorusConf::parse(text).unwrap()).unwrap_err();
    assert!(refusal.reason.contains("fit no free place"), "{refusal:?}");
    let back = "mesh 1 4 5\nym_link 0x1005 0x1004\nzp_link 0x1005 0x1009\n";
    let refusal = places(&view, &TorusConf::parse(back).unwrap()).unwrap_err();
    assert!(refusal.reason.contains("across the border of a mesh"), "{refusal:?}");
}

#[test]
fn a_ring_of_four_takes_both_neighbours_and_every_dimension_at_least_one() {
    let view = Case { radix: [1, 4, 5], ..INTACT }.view(false);
    for (text, wanted) in [
        ("torus 1 4 5\nyp_link 0x1000 0x1001\nzp_link 0x1000 0x1004", "ym_link, as y is a ring"),
        ("torus 1 4 5\nym_link 0x1000 0x1003\nzp_link 0x1000 0x1004", "yp_link, as y is a ring"),
        ("torus 1 4m 5\nyp_link 0x1000 0x1001", "zp_link or zm_link"),
    ] {
        let refusal = places(&view, &TorusConf::parse(text).unwrap()).unwrap_err();
        let start = "seed 1 of the configuration needs ";
        assert!(refusal.reason.starts_with(&format!("{start}{wanted}")), "{refusal:?}");
    }
}

#[test]
fn what_is_no_such_grid_is_refused_at_a_switch() {
    let view = Case { radix: [1, 5, 5], ..INTACT }.view(false);
    let seed = "yp_link 0x1000 0x1001\nzp_link 0x1000 0x1005\n";
    for text in ["torus 1 6 5", "torus 1 5 3", "mesh 1 5 5", "torus 5 5 5\nxp_link 0x1000 0x1004"] {
        let conf = TorusConf::parse(&format!("{text}\n{seed}")).unwrap();
        let refusal = places(&view, &conf).unwrap_err();
        assert!(refusal.switch.is_some(), "{text}: {refusal:?}");
    }
    let apart = "torus 1 5 5\nyp_link 0x1000 0x1006\nzp_link 0x1000 0x1005\n";
    let refusal = places(&view, &TorusConf::parse(apart).unwrap()).unwrap_err();
    assert!(refusal.reason.contains("fit no free place"), "{refusal:?}");
    let twice = "torus 1 5 5\nyp_link 0x1000 0x1005\nzp_link 0x1000 0x1005\n";
    let refusal = places(&view, &TorusConf::parse(twice).unwrap()).unwrap_err();
    assert!(refusal.reason.contains("this switch or its place twice"), "{refusal:?}");
}

#[test]
fn other_topologies_are_refused_whatever_the_configuration_says() {
    for text in ["6-ary 3-tree", "dragonfly(2,4,2)", "kautz(3; 3)", "random-regular(32; 8; 4)"] {
        let view = generated(text);
        let guids: Vec<u64> =
            view.machine().switches().map(|s| view.machine().switch(s).guid).collect();
        let text =
            format!("torus 6 6 1\nxp_link {} {}\nyp_link {0} {}\n", guids[0], guids[1], guids[2]);
        assert!(places(&view, &TorusConf::parse(&text).unwrap()).is_err());
    }
}

#[test]
fn a_switch_on_one_cable_beside_two_free_places_is_not_guessed() {
    let view = Case { radix: [1, 5, 5], ..INTACT }.view(false);
    let conf = TorusConf::of(view.machine()).unwrap();
    let switch = |y, z| switch_at(view.machine(), &[0, y, z]);
    let (lonely, missing) = (switch(3, 3), switch(2, 4));
    let others = [switch(4, 3), switch(3, 2), switch(3, 4)];
    let dead: Vec<LinkId> =
        others.iter().flat_map(|&other| cables(view.machine(), lonely, other)).collect();
    assert_eq!(places(&view.without(&dead, &[], &[]), &conf), Ok(coordinates(&view)));
    let refusal = places(&view.without(&dead, &[missing], &[]), &conf).unwrap_err();
    assert_eq!(refusal.switch, Some(lonely));
    assert!(refusal.reason.starts_with("the cables left do not tell"), "{refusal:?}");
}
