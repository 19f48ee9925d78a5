//! Worst cases of 1D sliding on a mesh: all channels together, over the states that failures lead to.
//!
//! A slide moves ranks along one line, each to the place of the next. On a mesh a message crosses a channel if its sender is in
//! one set of nodes and its receiver in another (see [`cut`]): the sets of a channel along a dimension end where the channel
//! crosses, and at one line or plane. Of the ranks that move, all but one stay on their side of the channel, and all but one
//! off or on that line. *So a slide brings one rank at most into either set, not one into each.*
//!
//! *Bound*: let `i` ranks come to the receivers and `j` to the senders, `i + j` slides. A message that crosses in the end and
//! does not now has one end among them. If the other end is where it is now, it counts with the one that comes: the `i` and
//! the `j` that have the most partners on the other side are no fewer. If both ends come, it is a message between `i` and `j`
//! ranks, of which there are few, as two ranks share few partners. Only ranks that slides can still bring there are looked
//! at: slides go to free nodes, and no node becomes free again.
//!
//! The search gives up a state when no channel may still carry what is asked for, and looks at no channel further that may not.
//! A message *concerns* a channel if slides can still bring its ends to the two sets. A slide that moves no end of such a message
//! leaves the channel as it was, with one slide less, so most failures far away need not be tried.
//!
//! States reached in different orders are gone through once; they are told apart by fingerprints of 128 bits (that two of
//! 10^9 states have the same by chance is less likely than 10^-20).

mod cut;
mod places;

use std::collections::HashSet;

use self::cut::{Cut, Pattern, Scratch};
use self::places::{Nodes, Places};
use super::{Answer, Effort, Search, Trial, WorstError};
use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choice, Move, Occupancy, Slide, Substitutes};
use crate::rng::{Seed, Stream};

/// A search over all states.
#[derive(Debug)]
pub(super) struct Slides<'j, L: PairLoad> {
    trial: Trial<'j, L>,
    cuts: Vec<Cut>,
    patterns: Vec<Pattern>,
}

impl<'j, L: PairLoad> Slides<'j, L> {
    pub fn new(trial: Trial<'j, L>) -> Result<Self, WorstError> {
        if !trial.job.rounds().iter().all(|round| round.load().is_mesh()) {
            return Err(WorstError::Network { policy: trial.policy.clone() });
        }
        let cuts = Cut::all(trial.job.occupancy.grid(), trial.job.rounds().len());
        let mut made = Slides { trial, cuts, patterns: Vec::new() };
        made.prepare(0);
        Ok(made)
    }

    /// Counts for so many failures.
    fn prepare(&mut self, failures: usize) {
        let rounds = self.trial.job.rounds().iter();
        self.patterns = rounds.map(|round| Pattern::new(round.partners(), failures)).collect();
    }
}

impl<L: PairLoad> Search for Slides<'_, L> {
    fn bound(&mut self, failures: usize) -> u32 {
        self.prepare(failures);
        let mut places = Places::new(self.trial.job.occupancy.grid());
        places.read(&self.trial.job.occupancy);
        let mut scratch = Scratch::default();
        let bounds = self.cuts.iter().filter_map(|cut| {
            cut.bound(&self.patterns[cut.round], &places, failures, 0, &mut scratch)
        });
        bounds.map(|most| most.all).max().unwrap_or(0)
    }

    fn adds_most(&self) -> u32 {
        // One rank comes to the senders, or to the receivers.
        self.patterns.iter().map(Pattern::degree).max().unwrap_or(u32::MAX)
    }

    fn find(&mut self, failures: usize, wanted: u32, effort: &mut Effort) -> Answer {
        let job = self.trial.job;
        let dimensions = job.occupancy.grid().dimensions();
        let mut dive = Dive {
            slides: self,
            wanted,
            states: vec![job.occupancy.clone(); failures + 1],
            substitutes: Substitutes::new(self.trial.policy, self.trial.choices, dimensions),
            places: Places::new(job.occupancy.grid()),
            seen: HashSet::new(),
            path: Vec::new(),
            moves: Vec::new(),
            scratch: Scratch::default(),
            stream: Seed(0).stream("nothing", 0),
            effort,
            unknown: false,
        };
        let all: Vec<u32> = (0..self.cuts.len() as u32).collect();
        match dive.go(&all, 0, failures) {
            true => Answer::Sequence(dive.path),
            false if dive.unknown => Answer::Unknown,
            false => Answer::None,
        }
    }
}

struct Dive<'d, 'j, L: PairLoad> {
    slides: &'d Slides<'j, L>,
    wanted: u32,
    /// By failures to come.
    states: Vec<Occupancy>,
    substitutes: Substitutes<'j>,
    places: Places,
    seen: HashSet<u128>,
    path: Vec<NodeId>,
    moves: Vec<Move>,
    scratch: Scratch,
    /// Nothing is drawn from it.
    stream: Stream,
    effort: &'d mut Effort,
    unknown: bool,
}

impl<L: PairLoad> Dive<'_, '_, L> {
    /// Whether the path leads to what is wanted, in so many more slides, on one of these channels; then it does.
    fn go(&mut self, cuts: &[u32], print: u128, slides: usize) -> bool {
        if self.effort.is_spent() {
            self.unknown = true;
            return false;
        }
        self.effort.states += 1;
        self.places.read(&self.states[slides]);
        let mut live = Vec::new();
        let mut concerned = Nodes::none(self.places.rank_on.len());
        // Whether a slide that concerns no channel may still lead to what is wanted.
        let mut any = false;
        for &cut in cuts {
            let one = &self.slides.cuts[cut as usize];
            let pattern = &self.slides.patterns[one.round];
            let (places, scratch) = (&self.places, &mut self.scratch);
            if let Some(most) = one.bound(pattern, places, slides, self.wanted, scratch) {
                live.push(cut);
                any |= most.but_one >= self.wanted;
                if !any {
                    one.add_concerned(pattern, places, slides, scratch, &mut concerned);
                }
            }
        }
        if live.is_empty() || slides == 0 {
            return !live.is_empty();
        }
        for rank in 0..self.states[slides].node_of().len() {
            let failed = self.states[slides].node_of()[rank];
            let choice = self.substitutes.choose(&self.states[slides], failed, &mut self.stream);
            let Choice::Slide(slide) = choice else { continue };
            if !any && !self.concerns(&concerned, failed, slide) {
                continue;
            }
            let [after, before] = &mut self.states[slides - 1..=slides] else { unreachable!() };
            after.restore(before);
            self.moves.clear();
            choice.carry_out(after, failed, &mut self.moves);
            let next = self.moves.iter().fold(print ^ mark(failed, DEAD), |print, one| {
                print ^ mark(one.from, one.rank.0) ^ mark(one.to, one.rank.0)
            });
            if !self.seen.insert(next) {
                continue;
            }
            self.path.push(failed);
            if self.go(&live, next, slides - 1) {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Whether a slide moves one of the ranks on some nodes.
    fn concerns(&self, nodes: &Nodes, failed: NodeId, slide: Slide) -> bool {
        let stride = self.states[0].grid().stride(usize::from(slide.along)) as usize;
        let mut moving = (0..slide.steps as usize).map(|step| match slide.up {
            true => failed.index() + step * stride,
            false => failed.index() - step * stride,
        });
        moving.any(|node| nodes.holds(node))
    }
}

const DEAD: u32 = u32::MAX;

/// The part of a fingerprint that says who is on a node.
fn mark(node: NodeId, who: u32) -> u128 {
    let mixed = |salt: u64| {
        let mut bits = (u64::from(node.0) << 32 | u64::from(who)).wrapping_add(salt);
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    };
    u128::from(mixed(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(mixed(0x3c6e_f372_fe94_f82a))
}
