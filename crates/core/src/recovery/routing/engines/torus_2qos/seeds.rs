//! Where switches stand: from the coordinates of a generated machine, and a configuration written for it.
//!
//! Dimensions of length 1 are dropped; what is left becomes y and z, or z alone, before x: torus-2QoS goes round switches
//! missing side by side in z only, so the last dimension had better be z.

use std::collections::{BTreeSet, HashMap};

use super::conf::{NAMES, PORTGROUP_MAX_PORTS, RADIX_MAX, TorusConf, TorusDimension, TorusSeed};
use super::shape::{Direction, Place, Shape};
use crate::ids::SwitchId;
use crate::machine::{Coordinates, Machine};

/// Shape and places that `coordinates` give, unless they have more than three dimensions longer than 1.
#[must_use]
pub fn from_coordinates(coordinates: &Coordinates) -> Option<(Shape, Vec<Place>)> {
    let long = |&dimension: &usize| coordinates.shape[dimension] > 1;
    let kept: Vec<usize> = (0..coordinates.shape.len()).filter(long).collect();
    let first = 3usize.checked_sub(kept.len())?;
    let (mut radix, mut wraps) = ([1; 3], [false; 3]);
    for (to, &from) in (first..).zip(&kept) {
        (radix[to], wraps[to]) = (coordinates.shape[from], coordinates.wraps[from]);
    }
    let dimensions = coordinates.shape.len().max(1);
    let places = coordinates.of_switch.chunks(dimensions).map(|position| {
        let mut place = [0; 3];
        for (to, &from) in (first..).zip(&kept) {
            place[to] = position[from];
        }
        place
    });
    Some((Shape::new(radix, wraps), places.collect()))
}

/// Seeds that a configuration written here has at most; no two share a switch.
const MOST_SEEDS: usize = 4;

impl TorusConf {
    /// The configuration by which OpenSM finds the same grid in `machine`, if it has coordinates in up to 3 dimensions of
    /// up to 65535 switches.
    #[must_use]
    pub fn of(machine: &Machine) -> Option<TorusConf> {
        let (shape, places) = from_coordinates(machine.coordinates()?)?;
        if shape.radix.iter().any(|&radix| radix > RADIX_MAX) {
            return None;
        }
        let at: HashMap<Place, SwitchId> = places.iter().copied().zip(machine.switches()).collect();
        let ring = shape.wraps.contains(&true);
        let mut taken: BTreeSet<u64> = BTreeSet::new();
        let mut seeds = Vec::new();
        for switch in machine.switches() {
            if seeds.len() == MOST_SEEDS {
                break;
            }
            let place = places[switch.index()];
            let Some(seed) = seed_at(machine, shape, &at, &taken, switch, place) else { continue };
            let named = seed.beside.iter().flatten().flatten();
            if named.clone().next().is_some() {
                taken.extend(named.chain([&seed.switch]));
                seeds.push(seed);
            }
        }
        let dimensions = std::array::from_fn(|dimension| TorusDimension {
            radix: shape.radix[dimension],
            // Shorter ones are lines however they are called.
            wraps: shape.wraps[dimension] || (ring && shape.radix[dimension] < 3),
        });
        Some(TorusConf {
            dimensions,
            seeds,
            portgroup_max_ports: PORTGROUP_MAX_PORTS.max(largest_group(machine)),
            port_order: Vec::new(),
        })
    }
}

/// A seed at `switch`, if it and the neighbours it takes are not `taken` and cables join them.
fn seed_at(
    machine: &Machine,
    shape: Shape,
    at: &HashMap<Place, SwitchId>,
    taken: &BTreeSet<u64>,
    switch: SwitchId,
    place: Place,
) -> Option<TorusSeed> {
    let mut seed = TorusSeed { switch: machine.switch(switch).guid, ..TorusSeed::default() };
    if taken.contains(&seed.switch) {
        return None;
    }
    for dimension in (0..NAMES.len()).filter(|&dimension| shape.radix[dimension] > 1) {
        let neighbour = |up: bool| {
            let other = *at.get(&shape.beside(place, Direction::new(dimension, up))?)?;
            let mut channels = machine.channels_from(machine.switch_vertex(switch));
            let joined = |channel| machine.head(channel).vertex == machine.switch_vertex(other);
            let guid = machine.switch(other).guid;
            (!taken.contains(&guid) && channels.any(joined)).then_some(guid)
        };
        let [down, up] = [neighbour(false), neighbour(true)];
        seed.beside[dimension] = if shape.needs_both(dimension) {
            [Some(down?), Some(up?)]
        } else if up.is_some() {
            [None, up]
        } else {
            [Some(down?), None]
        };
        seed.dateline[dimension] = -(place[dimension] as i32);
    }
    Some(seed)
}

/// Most parallel cables between two switches, or node ports and port 0 of one.
fn largest_group(machine: &Machine) -> u32 {
    let mut largest = 0;
    for switch in machine.switches() {
        let channels = machine.channels_from(machine.switch_vertex(switch));
        let mut heads: Vec<Option<SwitchId>> =
            channels.map(|channel| machine.as_switch(machine.head(channel).vertex)).collect();
        heads.sort_unstable();
        for group in heads.chunk_by(|one, other| one == other) {
            let port_0 = usize::from(group[0].is_none());
            largest = largest.max(group.len() + port_0);
        }
    }
    largest as u32
}
