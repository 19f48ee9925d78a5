//! Traces as a workload.

use super::read;
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::workload::schedule::{Schedule, ScheduleError};
use crate::workload::{FILE, TEXT, Workload, WorkloadError};

/// The goal workload: a schedule and no phases. The ranks of the trace are the first ones there are.
pub struct Goal;

impl Workload for Goal {
    fn name(&self) -> &'static str {
        "goal"
    }

    fn summary(&self) -> &'static str {
        "a GOAL trace of sends, receives and computations (Hoefler et al. 2009)"
    }

    fn params(&self) -> &'static [Param] {
        const { &[FILE, TEXT] }
    }

    fn steady(&self) -> bool {
        false
    }

    fn schedule_only(&self) -> bool {
        true
    }

    fn phase_count(&self, _ranks: u32, _args: &Args) -> Result<u64, WorkloadError> {
        Err(WorkloadError::NoPhases { name: self.name() })
    }

    fn schedule(&self, ranks: u32, args: &Args, _seed: Seed) -> Result<Schedule, ScheduleError> {
        let file = args.text(FILE.name);
        let schedule = read(file, args.text(TEXT.name).as_bytes())
            .map_err(|error| WorkloadError::Goal(Box::new(error)))?;
        if schedule.ranks() > ranks {
            let (file, rows) = (file.to_owned(), schedule.ranks() as usize);
            return Err(WorkloadError::TraceRanks { file, rows, ranks }.into());
        }
        Ok(schedule)
    }

    fn phase(
        &self,
        _ranks: u32,
        _args: &Args,
        _index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        Err(WorkloadError::NoPhases { name: self.name() })
    }
}
