//! Grids with faults for tests.

use std::sync::Arc;

use proptest::prelude::*;

use super::shape::{Direction, Place, Shape};
use crate::ids::{LinkId, SwitchId};
use crate::machine::samples::generated;
use crate::machine::{Builder, Coordinates, Machine, Part, PartInfo, View};
use crate::rng::Seed;
use crate::units::LinkRate;

/// A small grid with random nodes, and what is broken in it.
#[derive(Clone, Debug)]
pub struct Case {
    pub radix: [u32; 3],
    pub wraps: [bool; 3],
    pub parallel: u64,
    /// Most nodes of a switch.
    pub nodes: u64,
    pub seed: u64,
    pub dead_links: usize,
    pub dead_switches: usize,
    /// Whether dead switches stand one after the other along z.
    pub in_line: bool,
    /// Whether dead cables are around the first dead switch rather than anywhere.
    pub near: bool,
}

/// Torus, mesh or mixed grids of up to 6 x 6 x 6 switches with up to 3 dead cables and 2 dead switches.
pub fn case() -> impl Strategy<Value = Case> {
    let radix = prop_oneof![Just(1u32), 2..7u32];
    (
        [radix.clone(), radix.clone(), radix],
        any::<[bool; 3]>(),
        (1..5u64, 0..4u64, any::<u64>()),
        0..4usize,
        prop_oneof![Just(0usize), 0..3usize],
        any::<[bool; 2]>(),
    )
        .prop_map(|(radix, wraps, sizes, dead_links, dead_switches, [in_line, near])| {
            let (parallel, nodes, seed) = sizes;
            Case { radix, wraps, parallel, nodes, seed, dead_links, dead_switches, in_line, near }
        })
}

impl Case {
    pub fn shape(&self) -> Shape {
        Shape::new(self.radix, self.wraps)
    }

    /// All places, x fastest.
    pub fn places(&self) -> Vec<Place> {
        let [wide, deep, high] = self.radix;
        let rows = (0..high).flat_map(|z| (0..deep).map(move |y| (y, z)));
        rows.flat_map(|(y, z)| (0..wide).map(move |x| [x, y, z])).collect()
    }

    /// The machine, its switches numbered place by place or, `shuffled`, anyhow; GUIDs go by place.
    pub fn machine(&self, shuffled: bool) -> Machine {
        let (shape, places) = (self.shape(), self.places());
        let mut order: Vec<usize> = (0..places.len()).collect();
        if shuffled {
            Seed(self.seed).stream("test.order", 0).shuffle(&mut order);
        }
        let mut builder = Builder::new("grid", true);
        let mut parts = vec![Part::Switch(SwitchId(0)); places.len()];
        for &at in &order {
            let guid = 0x1000 + at as u64;
            let name = format!("s{:?}", places[at]);
            parts[at] =
                builder.switch_part(PartInfo { name, guid, radix: 40, ..PartInfo::default() });
        }
        let index = |place: Place| places.iter().position(|&other| other == place).unwrap();
        for (at, &place) in places.iter().enumerate() {
            for dimension in 0..3 {
                let up = Direction::new(dimension, true);
                let Some(beside) = shape.beside(place, up) else { continue };
                for cable in 0..self.parallel {
                    let port = |way: Direction| (way.index() as u64 * 4 + cable + 1) as u8;
                    let far = (parts[index(beside)], port(up.opposite()));
                    builder.cable_ports((parts[at], port(up)), far, LinkRate::QDR);
                }
            }
        }
        let mut draw = Seed(self.seed).stream("test.nodes", 0);
        let mut nodes = 0;
        for &part in &parts {
            for port in 0..draw.below(self.nodes + 1) {
                let node = builder.node(format!("n{nodes}"), 1);
                nodes += 1;
                builder.cable_ports((part, 25 + port as u8), (node, 1), LinkRate::QDR);
            }
        }
        builder.coordinates(Coordinates {
            shape: self.radix.to_vec(),
            wraps: shape.wraps.to_vec(),
            of_switch: order.iter().flat_map(|&at| places[at]).collect(),
        });
        builder.build().unwrap()
    }

    /// The view with the faults, the same places and cables however switches are numbered.
    pub fn view(&self, shuffled: bool) -> View {
        let machine = self.machine(shuffled);
        let places = self.places();
        let mut draw = Seed(self.seed).stream("test.faults", 0);
        let first = places[draw.index(places.len())];
        let dead: Vec<SwitchId> = (0..self.dead_switches as u32)
            .map(|number| match self.in_line {
                true => [first[0], first[1], (first[2] + number) % self.radix[2]],
                false => places[draw.index(places.len())],
            })
            .map(|place| at(&machine, &place))
            .collect();
        let mut links: Vec<LinkId> = machine.links().collect();
        draw.shuffle(&mut links);
        if self.near {
            links.sort_by_cached_key(|&link| self.apart(&machine, link, first));
        }
        links.truncate(self.dead_links.min(links.len() / 2));
        View::intact(Arc::new(machine)).without(&links, &dead, &[])
    }
    /// Whether an end of a cable is a node or more than one step off a place in some dimension.
    fn apart(&self, machine: &Machine, link: LinkId, place: Place) -> bool {
        let coordinates = machine.coordinates().unwrap();
        machine.ends(link).iter().any(|end| match machine.as_switch(end.vertex) {
            None => true,
            Some(switch) => (0..3).any(|d| {
                let at = coordinates.position(switch.index())[d];
                self.shape().ways(d, at, place[d]).hops > 1
            }),
        })
    }
}

/// The switch at a place.
pub fn at(machine: &Machine, place: &[u32]) -> SwitchId {
    let coordinates = machine.coordinates().unwrap();
    let mut switches = machine.switches();
    switches.find(|switch| coordinates.position(switch.index()) == place).unwrap()
}

/// All cables between two switches.
pub fn cables(machine: &Machine, a: SwitchId, b: SwitchId) -> Vec<LinkId> {
    let ends = |link: &LinkId| machine.ends(*link).map(|end| machine.as_switch(end.vertex));
    let joins = |link: &LinkId| [[Some(a), Some(b)], [Some(b), Some(a)]].contains(&ends(link));
    machine.links().filter(joins).collect()
}

/// A generated 2D grid without the switches at some places and the cables between some pairs of them.
pub fn broken(text: &str, switches: &[[u32; 2]], pairs: &[[[u32; 2]; 2]]) -> View {
    let view = generated(text);
    let machine = view.machine();
    let joined = |[a, b]: &[[u32; 2]; 2]| cables(machine, at(machine, a), at(machine, b));
    let links: Vec<LinkId> = pairs.iter().flat_map(joined).collect();
    let switches: Vec<SwitchId> = switches.iter().map(|place| at(machine, place)).collect();
    view.without(&links, &switches, &[])
}
