//! Worst cases with proof: a sequence of failures that shows the worst, and a bound that no sequence exceeds.
//!
//! Goes down from a bound that holds without a search: is there a sequence after which some channel carries that many
//! messages? Each *no* lowers the bound by one, the first *yes* is the worst case. A search ends early at its limit of states;
//! then the bound and the worst sequence found are apart, and what they leave open is said.
//!
//! What the searches have in common: one channel is looked at, and a part of a sequence is given up when the messages on that
//! channel, and the most that the failures still to come can add to it, stay below what is asked for. How the most is bounded,
//! and why that is never too low, is said in [`nearest`] for 0D sliding and in [`slides`] for 1D sliding. Each sequence
//! reported is run by the [`Job`] itself first.
//!
//! Source: Hori et al. 2016, Figure 8, which gives formulas; what is proved here is where they hold.

mod nearest;
mod slides;

use crate::ids::NodeId;
use crate::load::PairLoad;
use crate::recovery::spares::{Choices, Job, Pick, Policy, Step, Substitution, Tie};
use crate::rng::Seed;

/// The worst case of so many failures, between what was found and what was proved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proved {
    /// Failures of a sequence.
    pub failures: usize,
    /// The largest collision after `sequence`; 0 if no sequence was found that has a spare for every failure.
    pub collision_max: u32,
    /// No sequence has a larger one. The worst case is exact where both are equal.
    pub bound: u32,
    /// Nodes in the order of failure.
    pub sequence: Vec<NodeId>,
    /// States that searches went through.
    pub states: u64,
}

/// What no search is for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorstError {
    /// Slides of two or more dimensions.
    #[error("worst cases are proved for 0D and 1D, got {policy}; `all sequences` takes any policy")]
    Policy {
        /// The policy given.
        policy: Policy,
    },
    /// Slides on something else than a mesh.
    #[error(
        "worst cases of {policy} are proved for messages on the mesh itself, not on a torus, a folded or a routed network; give 0D"
    )]
    Network {
        /// The policy given.
        policy: Policy,
    },
    /// A sequence has more than one outcome.
    #[error(
        "a worst case is proved only if nothing is drawn: give a fixed pick, and no random tie"
    )]
    Drawn,
    /// Too many spares for masks.
    #[error("worst cases of 0D are proved for at most {most} spares, got {given}", most = nearest::SPARES_MAX)]
    Spares {
        /// Spares of the job.
        given: usize,
    },
}

impl Proved {
    /// Whether the worst case is known.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.collision_max == self.bound
    }
}

/// Looks for the worst sequences of 1 to `failures` failures, each in at most `limit` states; tells `report` of each as it is
/// known, which says whether to go on.
///
/// # Errors
/// If there is no search for the policy on this network, or outcomes are drawn.
///
/// # Complexity
/// Exponential in failures, the less so the tighter the bounds: see the modules `nearest` and `slides`.
pub fn worst_cases<L: PairLoad>(
    job: &Job<L>,
    policy: &Policy,
    choices: Choices,
    failures: usize,
    limit: u64,
    report: &mut dyn FnMut(&Proved) -> bool,
) -> Result<Vec<Proved>, WorstError> {
    if choices.pick != Pick::Fixed && policy.degrees() != [0] || choices.tie == Tie::Random {
        return Err(WorstError::Drawn);
    }
    let trial = Trial { job, policy, choices };
    let mut search: Box<dyn Search + '_> = match policy.degrees() {
        [0] => Box::new(nearest::Nearest::new(trial)?),
        [1] => Box::new(slides::Slides::new(trial)?),
        _ => return Err(WorstError::Policy { policy: policy.clone() }),
    };
    let mut found: Vec<Proved> = Vec::new();
    for failures in 1..=failures {
        if failures > job.occupancy.free_count() {
            // Each failure takes a free node, and none becomes free.
            found.push(Proved { failures, ..Proved::default() });
            continue;
        }
        let before =
            found.last().map(|one| &one.sequence[..]).filter(|one| one.len() + 1 == failures);
        let start =
            trial.extended(if failures == 1 { &[] } else { before.unwrap_or(&[]) }, failures);
        // What was proved of all but the last failure holds here too.
        let known =
            found.last().map_or(u32::MAX, |one| one.bound.saturating_add(search.adds_most()));
        let one = narrow(search.as_mut(), trial, start, known, limit);
        let goes_on = report(&one);
        found.push(one);
        if !goes_on {
            break;
        }
    }
    Ok(found)
}

/// Lowers the bound from above until a sequence reaches it.
fn narrow<L: PairLoad>(
    search: &mut dyn Search,
    trial: Trial<'_, L>,
    mut found: Proved,
    known: u32,
    limit: u64,
) -> Proved {
    let failures = found.failures;
    let mut effort = Effort { states: 0, limit: limit - limit / 4 };
    found.bound = search.bound(failures).min(known);
    assert!(found.bound >= found.collision_max, "a bound below what was found");
    while found.bound > found.collision_max && !effort.is_spent() {
        match search.find(failures, found.bound, &mut effort) {
            Answer::Sequence(sequence) => trial.take(&mut found, sequence),
            Answer::None => found.bound -= 1,
            Answer::Unknown => break,
        }
    }
    // What is left of the effort goes into worse sequences.
    if found.bound > found.collision_max {
        trial.widen(&mut found, limit);
    }
    effort.limit = limit;
    while found.bound > found.collision_max && !effort.is_spent() {
        match search.find(failures, found.collision_max + 1, &mut effort) {
            Answer::Sequence(sequence) => trial.take(&mut found, sequence),
            Answer::None => found.bound = found.collision_max,
            Answer::Unknown => break,
        }
    }
    found.states = effort.states;
    found
}

/// A search for sequences.
trait Search {
    /// A bound that no sequence of so many failures exceeds.
    fn bound(&mut self, failures: usize) -> u32;

    /// The most that one failure adds to a channel.
    fn adds_most(&self) -> u32;

    /// Looks for a sequence of so many failures, each of which finds a spare, with a largest collision of at least `wanted`.
    fn find(&mut self, failures: usize, wanted: u32, effort: &mut Effort) -> Answer;
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// There is one.
    Sequence(Vec<NodeId>),
    /// There is none.
    None,
    /// The search ended at its limit, or found something of which no sequence could be made.
    Unknown,
}

/// States gone through, and how many there may be.
#[derive(Clone, Copy, Debug)]
struct Effort {
    states: u64,
    limit: u64,
}

impl Effort {
    fn is_spent(&self) -> bool {
        self.states >= self.limit
    }
}

/// A job on which sequences are tried.
#[derive(Debug)]
struct Trial<'j, L: PairLoad> {
    job: &'j Job<L>,
    policy: &'j Policy,
    choices: Choices,
}

impl<L: PairLoad> Clone for Trial<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: PairLoad> Copy for Trial<'_, L> {}

impl<L: PairLoad> Trial<'_, L> {
    /// The largest collision after a sequence; `None` unless every failure hits a rank and finds a spare.
    fn collision(&self, sequence: &[NodeId]) -> Option<u32> {
        let mut job = self.job.clone();
        let mut stream = Seed(0).stream("nothing", 0);
        let steps = job.fail_all(self.policy, self.choices, sequence, &mut stream);
        let substituted = |step: &Step| matches!(step.substitution, Substitution::Slide(_));
        (steps.len() == sequence.len() && steps.iter().all(substituted))
            .then(|| job.collision_max())
    }

    /// Looks for a worse sequence by changing one: a node, or the order of two, kept if it is no better; anew from nodes that are
    /// near each other after some changes that made it no worse. Of changes there are no more than `limit`.
    fn widen(&self, found: &mut Proved, limit: u64) {
        let grid = self.job.occupancy.grid();
        let nodes = grid.node_count();
        let mut stream = Seed(1).stream("worst sequences", found.failures as u64);
        let (mut sequence, mut worst, mut changes) = (found.sequence.clone(), 0, CHANGES);
        for _ in 0..TRIALS.min(limit) {
            let mut next = sequence.clone();
            if changes == CHANGES {
                let middle = NodeId::from_index(stream.index(nodes));
                let near = |node: &NodeId| grid.hops(middle, *node) <= found.failures as u32;
                let mut some: Vec<_> = (0..nodes).map(NodeId::from_index).filter(near).collect();
                let start = stream.index(found.sequence.len() + 1);
                next = found.sequence[..start].to_vec();
                while next.len() < found.failures && !some.is_empty() {
                    let node = some.swap_remove(stream.index(some.len()));
                    next.extend(Some(node).filter(|node| !next.contains(node)));
                }
                (worst, changes) = (0, 0);
            } else if stream.below(3) == 0 {
                let (one, other) = (stream.index(next.len()), stream.index(next.len()));
                next.swap(one, other);
            } else {
                let node = NodeId::from_index(stream.index(nodes));
                let at = stream.index(next.len());
                if !next.contains(&node) {
                    next[at] = node;
                }
            }
            changes += 1;
            let collision = self.collision(&next).filter(|_| next.len() == found.failures);
            if collision.is_some_and(|collision| collision >= worst) {
                changes = if collision > Some(worst) { 1 } else { changes };
                (sequence, worst) = (next, collision.unwrap_or(0));
                if worst > found.collision_max {
                    self.take(found, sequence.clone());
                }
            }
        }
    }

    /// Notes a worse sequence, after it has been run.
    fn take(&self, found: &mut Proved, sequence: Vec<NodeId>) {
        let collision_max = self.collision(&sequence);
        assert!(
            collision_max > Some(found.collision_max),
            "a sequence is as bad as it was said to be"
        );
        found.collision_max = collision_max.unwrap_or(0);
        found.sequence = sequence;
    }

    /// A sequence of `failures` failures that begins with `before`: each time the failure that is worst at once.
    fn extended(&self, before: &[NodeId], failures: usize) -> Proved {
        let mut sequence = before.to_vec();
        let mut collision_max = self.collision(before).unwrap_or(0);
        while sequence.len() < failures {
            let mut best: Option<(u32, NodeId)> = None;
            for node in (0..self.job.occupancy.grid().node_count()).map(NodeId::from_index) {
                if sequence.contains(&node) {
                    continue;
                }
                sequence.push(node);
                if let Some(collision) = self.collision(&sequence)
                    && best.is_none_or(|(worst, _)| collision > worst)
                {
                    best = Some((collision, node));
                }
                sequence.pop();
            }
            let Some((collision, node)) = best else {
                return Proved { failures, ..Proved::default() };
            };
            sequence.push(node);
            collision_max = collision;
        }
        Proved { failures, collision_max, sequence, ..Proved::default() }
    }
}

/// Sequences tried where no search has found the worst, and changes after which another is begun.
const TRIALS: u64 = 2_000_000;
const CHANGES: usize = 250;

#[cfg(test)]
mod tests;
