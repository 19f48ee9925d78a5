//! What does not change in a search: homes, spares, the order in which spares are taken, and who crosses which channel.

use std::collections::BTreeMap;

use super::super::{Trial, WorstError};
use super::{SPARES_MAX, Spares};
use crate::ids::{NodeId, Rank};
use crate::load::PairLoad;
use crate::recovery::spares::nearest;
use crate::rng::Seed;

/// Homes and spares of a job. A *place* is a rank's home, by rank, or a spare, counted on from there.
#[derive(Debug)]
pub(super) struct Layout {
    pub ranks: usize,
    /// By place.
    pub nodes: Vec<NodeId>,
    /// By place: spares in the order in which a rank there takes them, while they are free.
    pub order: Vec<Vec<u8>>,
    /// By place: number of its order; places with the same order have the same.
    pub alike: Vec<usize>,
    /// By round, then rank.
    pub messages: Vec<Vec<Vec<Message>>>,
}

/// A message of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub partner: u32,
    /// To the partner, not from it.
    pub sends: bool,
}

/// A channel in a round, as places see it.
#[derive(Clone, Debug)]
pub(super) struct Crossed {
    pub round: usize,
    /// Messages on it before anything fails.
    pub load: u32,
    /// Places between which messages would cross it.
    pub pairs: Vec<(u32, u32)>,
}

impl Layout {
    /// That of a job.
    pub fn new<L: PairLoad>(trial: Trial<'_, L>) -> Result<Self, WorstError> {
        let occupancy = &trial.job.occupancy;
        let free = (0..occupancy.grid().node_count()).map(NodeId::from_index);
        let spares: Vec<_> = free.filter(|&node| occupancy.is_free(node)).collect();
        if spares.len() > SPARES_MAX {
            return Err(WorstError::Spares { given: spares.len() });
        }
        let ranks = occupancy.node_of().len();
        let mut nodes = occupancy.node_of().to_vec();
        nodes.extend_from_slice(&spares);
        let mut number = BTreeMap::new();
        spares.iter().enumerate().for_each(|(at, &node)| {
            number.insert(node, at as u8);
        });
        // The order is static: what is taken next is the best of what is left.
        let (mut left, mut stream) = (occupancy.clone(), Seed(0).stream("nothing", 0));
        let mut order = Vec::with_capacity(nodes.len());
        for &node in &nodes {
            let mut row = Vec::with_capacity(spares.len());
            while let Some(spare) = nearest(&left, node, trial.choices.tie, &mut stream) {
                left.fail_idle(spare);
                row.push(number[&spare]);
            }
            spares.iter().for_each(|&spare| left.revive(spare));
            order.push(row);
        }
        let mut orders = BTreeMap::new();
        let alike = order.iter().map(|row: &Vec<u8>| {
            let next = orders.len();
            *orders.entry(row).or_insert(next)
        });
        let alike = alike.collect();
        let messages = trial.job.rounds().iter().map(|round| {
            let mut rows = vec![Vec::new(); ranks];
            for rank in 0..ranks as u32 {
                for target in round.partners().targets(Rank(rank)).filter(|target| target.0 != rank)
                {
                    rows[rank as usize].push(Message { partner: target.0, sends: true });
                    rows[target.index()].push(Message { partner: rank, sends: false });
                }
            }
            rows
        });
        let messages = messages.collect();
        Ok(Layout { ranks, nodes, order, alike, messages })
    }

    /// The place of a spare.
    #[inline]
    pub fn place(&self, spare: u8) -> u32 {
        self.ranks as u32 + u32::from(spare)
    }

    /// All spares.
    pub fn all(&self) -> Spares {
        (0..self.nodes.len() - self.ranks).map(|spare| 1 << spare).sum()
    }

    /// The spare that a rank at a place takes next.
    #[inline]
    pub fn next(&self, place: u32, free: Spares) -> Option<u8> {
        self.order[place as usize].iter().copied().find(|spare| free >> spare & 1 == 1)
    }

    /// All channels that a message crosses, or would if ranks were elsewhere.
    pub fn crossed<L: PairLoad>(&self, trial: Trial<'_, L>) -> Vec<Crossed> {
        let mut found = Vec::new();
        for (round, messages) in self.messages.iter().enumerate() {
            let load = trial.job.rounds()[round].load();
            let mut channels: BTreeMap<u32, Crossed> = BTreeMap::new();
            let mut path = Vec::new();
            let mut note = |from: u32, to: u32, messages: u32| {
                path.clear();
                load.cross(self.nodes[from as usize], self.nodes[to as usize], &mut path);
                for &channel in &path {
                    let empty = || Crossed { round, load: 0, pairs: Vec::new() };
                    let crossed = channels.entry(channel).or_insert_with(empty);
                    crossed.load += messages;
                    crossed.pairs.push((from, to));
                }
            };
            for (rank, row) in messages.iter().enumerate() {
                row.iter()
                    .filter(|message| message.sends)
                    .for_each(|message| note(rank as u32, message.partner, 1));
            }
            for spare in self.ranks as u32..self.nodes.len() as u32 {
                for place in 0..self.nodes.len() as u32 {
                    if place != spare {
                        note(spare, place, 0);
                        if (place as usize) < self.ranks {
                            note(place, spare, 0);
                        }
                    }
                }
            }
            found.extend(channels.into_values());
        }
        found
    }
}
