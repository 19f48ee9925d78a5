//! Who sends what: workloads by name and parameters, one a file, one line here.
//!
//! A workload is a row of phases; the messages of a phase are under way together, the next phase starts when they are
//! through. A *steady* workload has no end: its phases are alternatives, each injected for ever, of which rates are
//! reported. A finite one is over after its last phase, and its time is reported.
//! Ranks are `0..ranks`; where they run is for a placement to say. Does not know machines, routes or times.
//!
//! Collectives are finite workloads, a phase a round.
//!
//! Limits: phases know no dependencies between single messages; a [`schedule`] does, and every finite workload can be made
//! into one. What [`read_goal`] reads from traces is a schedule and has no phases.

mod error;

mod power_of_two;
pub mod schedule;

pub use error::WorkloadError;
pub use goal::{GoalError, read as read_goal};

use crate::ids::Rank;
use crate::params::{Args, Given, Kind, Param, read_notation};
use crate::registry::registry;
use crate::rng::Seed;
use crate::traffic::{Message, Traffic};
use crate::units::Bytes;
use schedule::{Schedule, ScheduleError};

/// A pattern of messages.
pub trait Workload: Sync {
    /// Its name on the command line and in plans.
    fn name(&self) -> &'static str;
    /// One line for lists: what it sends, and where it comes from.
    fn summary(&self) -> &'static str;
    /// Its parameters, in the order of the notation.
    fn params(&self) -> &'static [Param];
    /// Whether it is injected without end, so that rates matter, not times.
    fn steady(&self) -> bool;
    /// How receivers are drawn, if every message goes to one drawn at random, for ever; a simulator of single messages
    /// then draws them and needs no phases.
    fn random_targets(&self, _args: &Args) -> Option<Draw> {
        None
    }
    /// Whether a rank goes on to the next phase when it has sent its messages of this one, without waiting for those to it.
    fn free_running(&self) -> bool {
        self.steady()
    }
    /// Number of phases among `ranks` ranks.
    ///
    /// # Errors
    /// Parameters that do not fit the number of ranks.
    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError>;
    /// Whether it is a schedule and nothing else: there are no phases.
    fn schedule_only(&self) -> bool {
        false
    }
    /// Its messages with what each waits for, if it is finite.
    ///
    /// # Errors
    /// Parameters that do not fit the number of ranks, no end, or more than is held.
    fn schedule(&self, ranks: u32, args: &Args, seed: Seed) -> Result<Schedule, ScheduleError> {
        if self.steady() {
            return Err(ScheduleError::Steady { name: self.name() });
        }
        let count = self.phase_count(ranks, args)?;
        Schedule::from_phases(ranks, (0..count).map(|index| self.phase(ranks, args, index, seed)))
    }
    /// The messages of phase `index`; what is random depends on `seed` and `index` alone.
    ///
    /// # Errors
    /// Parameters that do not fit the number of ranks, or no such phase.
    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        seed: Seed,
    ) -> Result<Traffic, WorkloadError>;
}

registry! {
    /// Every workload.
    WORKLOADS: dyn Workload = [
        uniform::Uniform,
        exchange::Exchange,
        permutation::Permutation,
        bisection::Bisection,
        stencil::Stencil,
        matrix::Matrix,
        hotspot::Hotspot,
        barrier::Barrier,
        allreduce::Allreduce,
        alltoall::Alltoall,
        bcast::Bcast,
        goal::Goal,
    ]
}

/// A workload with its parameters.
#[derive(Clone)]
pub struct BoundWorkload {
    /// The workload.
    pub workload: &'static dyn Workload,
    /// Its checked parameters.
    pub args: Args,
}

impl BoundWorkload {
    /// See [`Workload::steady`].
    #[must_use]
    pub fn steady(&self) -> bool {
        self.workload.steady()
    }

    /// See [`Workload::phase_count`].
    ///
    /// # Errors
    /// See [`Workload::phase_count`].
    pub fn phase_count(&self, ranks: u32) -> Result<u64, WorkloadError> {
        self.workload.phase_count(ranks, &self.args)
    }

    /// How its messages come one by one.
    ///
    /// # Errors
    /// Parameters that do not fit the number of ranks.
    pub fn injection(&self, ranks: u32) -> Result<Injection, WorkloadError> {
        match self.workload.random_targets(&self.args) {
            Some(draw) => {
                self.phase_fits(ranks)?;
                Ok(Injection::Random(draw))
            }
            None if self.workload.free_running() => Ok(Injection::Phases(self.phase_count(ranks)?)),
            None => Ok(Injection::Schedule),
        }
    }

    /// Refuses parameters that do not fit the number of ranks; `flits`: whether single messages will be simulated.
    ///
    /// # Errors
    /// The first that does not fit.
    pub fn check(&self, ranks: u32, flits: bool) -> Result<(), ScheduleError> {
        if flits && self.workload.schedule_only() {
            return self.schedule(ranks, Seed::default()).map(drop);
        }
        if flits && self.workload.random_targets(&self.args).is_some() {
            return Ok(self.phase_fits(ranks)?);
        }
        Ok(self.phase_count(ranks).map(drop)?)
    }

    /// See [`Workload::schedule`].
    ///
    /// # Errors
    /// See [`Workload::schedule`].
    pub fn schedule(&self, ranks: u32, seed: Seed) -> Result<Schedule, ScheduleError> {
        self.workload.schedule(ranks, &self.args, seed)
    }

    /// Refuses what the parameters of drawn messages do not fit, whatever their number.
    fn phase_fits(&self, ranks: u32) -> Result<(), WorkloadError> {
        match self.phase_count(ranks) {
            Err(WorkloadError::TooManyMessages { .. }) | Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// See [`Workload::phase`].
    ///
    /// # Errors
    /// See [`Workload::phase`].
    pub fn phase(&self, ranks: u32, index: u64, seed: Seed) -> Result<Traffic, WorkloadError> {
        self.workload.phase(ranks, &self.args, index, seed)
    }
}

/// How receivers are drawn: a share of all messages goes to hot ranks, the rest to any others, all alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Payload of every message.
    pub size: Bytes,
    /// How many hot ranks there are, at equal distances; 0: none.
    pub hot: u32,
    /// What share of the messages goes to them.
    pub share: f64,
}

/// How a simulator of single messages gets them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Injection {
    /// Messages whose receivers are drawn.
    Random(Draw),
    /// The messages of so many phases, each rank's one after the other.
    Phases(u64),
    /// Those of a schedule, in which ranks wait for what others send them.
    Schedule,
}

/// The workload called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn Workload, WorkloadError> {
    WORKLOADS.iter().copied().find(|workload| workload.name() == name).ok_or_else(|| {
        let known = WORKLOADS.iter().map(|workload| workload.name()).collect::<Vec<_>>();
        WorkloadError::Unknown { given: name.to_owned(), known: known.join(", ") }
    })
}

/// Reads a workload's name or its notation `stencil(16x16; 9)`; parameters in `given` are added to those of the
/// notation.
///
/// # Errors
/// An unknown workload, or a parameter that is unknown, missing or ill-formed.
pub fn bind(text: &str, given: &Given) -> Result<BoundWorkload, WorkloadError> {
    let name = text.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
    let workload = find(&name)?;
    let (_, mut all) = read_notation(text, workload.params())?;
    all.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(BoundWorkload { workload, args: Args::bind(workload.name(), workload.params(), &all)? })
}

/// The payload of every message; one MTU (2048 bytes) as in the fail-in-place study.
const SIZE: Param = Param {
    name: "size",
    doc: "payload of a message in bytes; 2048 is one MTU",
    kind: Kind::Int(1, 1 << 40),
    default: Some("2048"),
};

/// The file that a recorded workload is read from. Whoever has a disk reads it; the core gets its [`TEXT`].
const FILE: Param = Param {
    name: "file",
    doc: "the file to read; what messages call the text",
    kind: Kind::Text,
    default: Some("text"),
};

/// What a recorded workload is read from.
const TEXT: Param = Param {
    name: "text",
    doc: "the content, where it does not come from `file`",
    kind: Kind::Text,
    default: None,
};

/// The most messages that a phase holds; with their paths they take some 5 GiB.
const MOST_MESSAGES: u64 = 1 << 26;

/// How many random phases there are.
const SAMPLES: Param = Param {
    name: "samples",
    doc: "how many patterns are drawn, each a phase of its own",
    kind: Kind::Int(1, 1_000_000),
    default: Some("1"),
};

fn message(source: u32, target: u32, size: Bytes) -> Message {
    Message { source: Rank(source), target: Rank(target), size }
}

/// Refuses fewer ranks than two: nobody could send.
fn at_least_two(name: &'static str, ranks: u32) -> Result<(), WorkloadError> {
    if ranks < 2 { Err(WorkloadError::TooFewRanks { name, ranks }) } else { Ok(()) }
}

/// Refuses a phase past the last.
fn check_phase(index: u64, count: u64) -> Result<(), WorkloadError> {
    if index < count { Ok(()) } else { Err(WorkloadError::Phase { index, count }) }
}

#[cfg(test)]
mod tests;
