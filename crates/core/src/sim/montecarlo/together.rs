//! Sequences that begin alike, run together.
//!
//! A slide of all dimensions moves half of the ranks, and there are few: by dimension, direction and where it begins.
//! Sequences whose first failures lead to the same such slides share them; their failed nodes alone differ, which stand
//! where no rank comes by. From the first other substitution on, each sequence runs on its own. Whatever order sequences run
//! in, their sum is the same.

use std::ops::Range;

use super::{Campaign, Tally};
use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choice, Job, Occupancy, Policy, Slide, Substitutes, Substitution};
use crate::rng::Stream;

/// Runs sequences of these numbers.
pub(super) fn run<L: PairLoad>(
    campaign: &Campaign,
    policy: &Policy,
    start: &Job<L>,
    sequences: Range<u64>,
) -> Tally {
    let dimensions = start.occupancy.grid().dimensions();
    let sequence = |number| Sequence {
        failures: campaign.seed.stream("node failures", number),
        ties: campaign.seed.stream("slides", number),
        substitutes: Substitutes::new(policy, campaign.choices, dimensions),
        dead: Vec::new(),
    };
    let tally = Tally::new(campaign.failures);
    let mut together =
        Together { campaign, tally, shared: vec![start.clone()], own: start.clone() };
    together.run(0, sequences.map(sequence).collect());
    together.tally
}

struct Together<'c, L: PairLoad> {
    campaign: &'c Campaign,
    tally: Tally,
    /// By number of slides shared: the job after them, with no node of a sequence dead.
    shared: Vec<Job<L>>,
    /// The job of a sequence that runs on its own.
    own: Job<L>,
}

struct Sequence<'m> {
    failures: Stream,
    ties: Stream,
    substitutes: Substitutes<'m>,
    /// Nodes that have failed.
    dead: Vec<NodeId>,
}

/// What slides have in common that move the same ranks in the same way.
type Kind = (u8, bool, u32, u32);

impl<L: PairLoad> Together<'_, L> {
    /// Runs sequences that have shared all their failures so far.
    fn run(&mut self, depth: usize, sequences: Vec<Sequence<'_>>) {
        if depth == self.campaign.failures {
            return;
        }
        let mut sharing: Vec<(Kind, Slide, Sequence<'_>)> = Vec::new();
        for mut sequence in sequences {
            let occupancy = &mut self.shared[depth].occupancy;
            sequence.dead.iter().for_each(|&node| occupancy.fail_idle(node));
            if let Some(failed) = self.campaign.victims.draw(occupancy, &mut sequence.failures) {
                let choice = sequence.substitutes.choose(occupancy, failed, &mut sequence.ties);
                match sharable(occupancy, &sequence.dead, failed, choice) {
                    Some((kind, slide)) => {
                        sequence.dead.iter().for_each(|&node| occupancy.revive(node));
                        sequence.dead.push(failed);
                        sharing.push((kind, slide, sequence));
                        continue;
                    }
                    None => {
                        self.own.restore(&self.shared[depth]);
                        self.alone(depth, failed, choice, &mut sequence);
                    }
                }
            }
            let occupancy = &mut self.shared[depth].occupancy;
            sequence.dead.iter().for_each(|&node| occupancy.revive(node));
        }
        sharing.sort_by_key(|(kind, ..)| *kind);
        let mut rest = sharing.into_iter().peekable();
        while let Some((kind, slide, first)) = rest.next() {
            let mut group = vec![first];
            while let Some((.., next)) = rest.next_if(|(next, ..)| *next == kind) {
                group.push(next);
            }
            match group.as_mut_slice() {
                [only] => self.part(depth, slide, only),
                _ => self.share(depth, slide, group),
            }
        }
    }

    /// Runs the only sequence of its kind on its own, so that its state is not copied twice.
    fn part(&mut self, depth: usize, slide: Slide, sequence: &mut Sequence<'_>) {
        let Some(failed) = sequence.dead.pop() else { return };
        self.own.restore(&self.shared[depth]);
        sequence.dead.iter().for_each(|&node| self.own.occupancy.fail_idle(node));
        self.alone(depth, failed, Choice::Slide(slide), sequence);
    }

    /// Slides for all of a group, and goes on with them.
    fn share(&mut self, depth: usize, slide: Slide, mut group: Vec<Sequence<'_>>) {
        if self.shared.len() == depth + 1 {
            self.shared.push(self.shared[depth].clone());
        }
        let (before, after) = self.shared.split_at_mut(depth + 1);
        let job = &mut after[0];
        job.restore(&before[depth]);
        let first = &mut group[0];
        if let Some(&failed) = first.dead.last() {
            job.carry_out(Choice::Slide(slide), failed, &mut first.ties);
            job.occupancy.revive(failed);
        }
        let (collision_max, count) = (job.collision_max(), group.len() as u64);
        self.tally.substituted(depth, Some(slide.degree()), collision_max, count);
        self.run(depth + 1, group);
    }

    /// Runs a sequence to its end, from the failure of a node on.
    fn alone(&mut self, depth: usize, failed: NodeId, choice: Choice, sequence: &mut Sequence<'_>) {
        let Sequence { failures, ties, substitutes, .. } = sequence;
        let (job, tally) = (&mut self.own, &mut self.tally);
        let mut done = job.carry_out(choice, failed, ties);
        for failure in depth..self.campaign.failures {
            if failure > depth {
                let Some(failed) = self.campaign.victims.draw(&job.occupancy, failures) else {
                    return;
                };
                done = job.fail(substitutes, failed, ties);
            }
            match done {
                Substitution::Slide(degree) => {
                    tally.substituted(failure, Some(degree), job.collision_max(), 1);
                }
                Substitution::Searched => {
                    tally.substituted(failure, None, job.collision_max(), 1);
                }
                Substitution::Idle => tally.idle(failure, job.collision_max()),
                Substitution::NoSpareLeft(_) => {
                    tally.unrecovered[failure] += 1;
                    return;
                }
            }
        }
    }
}

/// A slide of all dimensions that passes no dead node, if that is what was chosen.
fn sharable(
    occupancy: &Occupancy,
    dead: &[NodeId],
    failed: NodeId,
    choice: Choice,
) -> Option<(Kind, Slide)> {
    let Choice::Slide(slide) = choice else { return None };
    let along = usize::from(slide.along);
    let all = slide.degree() as usize == occupancy.grid().dimensions() && slide.degree() > 1;
    let passes = |&node: &NodeId| occupancy.line_is_used(node, along);
    let at = occupancy.grid().coordinate(failed, along);
    (all && !dead.iter().any(passes)).then_some(((slide.along, slide.up, at, slide.steps), slide))
}
