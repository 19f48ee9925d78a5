//! Finds each switch's place in the grid from the cables alone, beginning at a seed.
//!
//! A switch with a cable to a placed one stands beside it. So its possible places are the free ones beside all its placed
//! neighbours; of several, only those count at which its other neighbours can still stand beside it. Where one place is
//! left the switch is placed, until nothing changes. That completes the unit cubes around the seed face by face, as
//! torus-2QoS does, and no missing cable or switch can make it place one wrongly; it may leave switches without a place.
//!
//! Source: torus-2QoS(8), "Torus topology discovery", for what is given and what is to be found. Departs from it: works
//! with sets of places, not with loops of four cables. OpenSM leaves cables that do not fit the grid unused; here a switch
//! whose cables fit no place ends discovery.

use std::collections::{BTreeMap, BTreeSet};

use super::conf::{NAMES, TorusConf, TorusSeed};
use super::shape::{Direction, Place, Shape};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::Refusal;

/// The shape that a configuration asks for.
#[must_use]
pub fn shape_of(conf: &TorusConf) -> Shape {
    let dimensions = conf.dimensions;
    Shape::new(dimensions.map(|dimension| dimension.radix), dimensions.map(|d| d.wraps))
}

/// Whether every seed of `conf` names the neighbours that discovery needs; else what is missing.
///
/// # Errors
/// The first seed that lacks one.
pub fn seeds_suffice(conf: &TorusConf) -> Result<(), Refusal> {
    let shape = shape_of(conf);
    for (seed, number) in conf.seeds.iter().zip(1..) {
        for (dimension, name) in NAMES.iter().enumerate() {
            let missing = match seed.beside[dimension] {
                _ if shape.radix[dimension] == 1 => continue,
                [None, None] => format!("{name}p_link or {name}m_link"),
                [Some(_), Some(_)] => continue,
                _ if !shape.needs_both(dimension) => continue,
                [None, _] => format!("{name}m_link, as {name} is a ring of 4"),
                [_, None] => format!("{name}p_link, as {name} is a ring of 4"),
            };
            let reason = format!("seed {number} of the configuration needs {missing}");
            return Err(Refusal { reason, switch: None });
        }
    }
    Ok(())
}

/// Gives the switches `members`, which cables join, their places in `place`.
///
/// Begins at the first seed of `conf` whose switches are all among them.
///
/// # Errors
/// Without such a seed, or if the cables do not form the grid asked for.
pub fn discover(
    graph: &SwitchGraph<'_>,
    conf: &TorusConf,
    members: &[SwitchId],
    place: &mut [Option<Place>],
) -> Result<(), Refusal> {
    let by_guid: BTreeMap<u64, SwitchId> =
        members.iter().map(|&switch| (graph.machine().switch(switch).guid, switch)).collect();
    let all_there = |seed: &&TorusSeed| {
        let mut beside = seed.beside.iter().flatten().flatten();
        by_guid.contains_key(&seed.switch) && beside.all(|guid| by_guid.contains_key(guid))
    };
    let Some(seed) = conf.seeds.iter().find(all_there) else {
        let reason = "no seed of the configuration has all its switches in the part of the fabric \
                      with this switch";
        return Err(Refusal { reason: reason.to_owned(), switch: members.first().copied() });
    };
    let mut discovery = Discovery {
        shape: shape_of(conf),
        beside: neighbours(graph, members),
        taken: BTreeSet::new(),
        place,
    };
    discovery.sow(seed, &by_guid)?;
    discovery.grow(members)
}

/// Neighbours of each of `members`, parallel cables counted once.
fn neighbours(graph: &SwitchGraph<'_>, members: &[SwitchId]) -> Vec<Vec<SwitchId>> {
    let mut beside = vec![Vec::new(); graph.switch_count()];
    for &switch in members {
        let heads = &mut beside[switch.index()];
        heads.extend_from_slice(graph.heads(switch));
        heads.sort_unstable();
        heads.dedup();
    }
    beside
}

struct Discovery<'a> {
    shape: Shape,
    beside: Vec<Vec<SwitchId>>,
    taken: BTreeSet<Place>,
    place: &'a mut [Option<Place>],
}

impl Discovery<'_> {
    /// Places the switches of a seed.
    fn sow(&mut self, seed: &TorusSeed, by_guid: &BTreeMap<u64, SwitchId>) -> Result<(), Refusal> {
        let shape = self.shape;
        let centre: Place = std::array::from_fn(|dimension| {
            (-seed.dateline[dimension]).rem_euclid(shape.radix[dimension] as i32) as u32
        });
        let mut named = vec![(seed.switch, Some(centre))];
        for (dimension, beside) in seed.beside.iter().enumerate() {
            for (guid, up) in beside.iter().zip([false, true]) {
                let place = if shape.radix[dimension] == 2 {
                    let mut other = centre;
                    other[dimension] = 1 - centre[dimension];
                    Some(other)
                } else {
                    shape.beside(centre, Direction::new(dimension, up))
                };
                match guid {
                    Some(guid) if shape.radix[dimension] > 1 => named.push((*guid, place)),
                    _ => {}
                }
            }
        }
        for (guid, place) in named {
            // INVARIANT: the seed was chosen because all its switches are there.
            let switch = by_guid[&guid];
            match (place, self.place[switch.index()]) {
                (Some(place), None) if !self.taken.contains(&place) => self.put(switch, place),
                (Some(place), Some(known)) if place == known => {}
                (None, _) => {
                    return Err(at(
                        switch,
                        "the seed leads to this switch across the border of a mesh; give the \
                         dateline that makes the border 0",
                    ));
                }
                _ => return Err(at(switch, "the seed gives this switch or its place twice")),
            }
        }
        Ok(())
    }

    /// Places switch after switch until all have a place.
    fn grow(&mut self, members: &[SwitchId]) -> Result<(), Refusal> {
        let mut waiting: Vec<SwitchId> = members.to_vec();
        waiting.retain(|switch| self.place[switch.index()].is_none());
        while let Some(&first) = waiting.first() {
            let before = waiting.len();
            let mut failure = None;
            waiting.retain(|&switch| {
                let Some(mut places) = self.places_of(switch) else { return true };
                if places.len() > 1 {
                    places.retain(|&place| self.others_fit(switch, place));
                }
                match places[..] {
                    [place] => self.put(switch, place),
                    [] => failure = failure.or(Some(switch)),
                    _ => return true,
                }
                false
            });
            if let Some(switch) = failure {
                return Err(at(
                    switch,
                    "the cables of this switch fit no free place of the grid that is configured",
                ));
            }
            if waiting.len() == before {
                return Err(at(
                    first,
                    "the cables left do not tell where in the grid this switch is",
                ));
            }
        }
        Ok(())
    }

    fn put(&mut self, switch: SwitchId, place: Place) {
        self.place[switch.index()] = Some(place);
        self.taken.insert(place);
    }

    /// The free places beside all placed neighbours of `switch`; none if no neighbour is placed.
    fn places_of(&self, switch: SwitchId) -> Option<Vec<Place>> {
        let shape = self.shape;
        let mut placed =
            self.beside[switch.index()].iter().filter_map(|other| self.place[other.index()]);
        let first = placed.next()?;
        let around = Direction::ALL.into_iter().filter_map(|way| shape.beside(first, way));
        let mut places: Vec<Place> = around.filter(|place| !self.taken.contains(place)).collect();
        for other in placed {
            places.retain(|&place| shape.direction(other, place).is_some());
        }
        Some(places)
    }

    /// Whether the neighbours of `switch` that have no place yet could stand beside it if it stood at `place`.
    fn others_fit(&self, switch: SwitchId, place: Place) -> bool {
        let mut waiting =
            self.beside[switch.index()].iter().filter(|other| self.place[other.index()].is_none());
        waiting.all(|&other| match self.places_of(other) {
            None => true,
            Some(places) => {
                places.iter().any(|&beside| self.shape.direction(place, beside).is_some())
            }
        })
    }
}

fn at(switch: SwitchId, reason: &str) -> Refusal {
    Refusal { reason: reason.to_owned(), switch: Some(switch) }
}

#[cfg(test)]
mod tests;
