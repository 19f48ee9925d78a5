//! Schedules of workloads by phases.
//!
//! A rank begins with its messages of a phase when its own of the phases before have left it and all that those phases send
//! to it have arrived; it waits for no other rank. The tag of a message is the number of its phase. What a rank must have
//! behind it is a computation of no time between two of its phases.

use super::{Builder, Op, Schedule, ScheduleError};
use crate::ids::Rank;
use crate::traffic::Traffic;
use crate::units::Picos;
use crate::workload::WorkloadError;

impl Schedule {
    /// The schedule of phases that follow each other.
    ///
    /// # Errors
    /// The first error among the phases, a message of no such rank, or more than are held.
    ///
    /// # Examples
    /// ```
    /// use runflat_core::params::Given;
    /// use runflat_core::rng::Seed;
    /// use runflat_core::workload;
    ///
    /// let ring = workload::bind("allreduce(ring; 4096)", &Given::new()).unwrap();
    /// let schedule = ring.schedule(8, Seed(1)).unwrap();
    /// assert_eq!(schedule.payload().0, 2 * 7 * 4096);
    /// ```
    pub fn from_phases(
        ranks: u32,
        phases: impl IntoIterator<Item = Result<Traffic, WorkloadError>>,
    ) -> Result<Schedule, ScheduleError> {
        let mut builder = Builder::new(ranks);
        // By rank: what stands between its last phase and the next, and the operations of the present one.
        let mut joins: Vec<Option<u32>> = vec![None; ranks as usize];
        let mut present: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
        let mut busy: Vec<Rank> = Vec::new();
        for (number, phase) in phases.into_iter().enumerate() {
            let tag = u32::try_from(number).map_err(|_| ScheduleError::TooLarge {
                count: number as u64,
                what: "phases",
                most: u64::from(u32::MAX),
            })?;
            for rank in busy.drain(..) {
                let join = builder.add(rank, Op::Compute { time: Picos(0), cpu: 0 })?;
                for op in present[rank.index()].drain(..) {
                    builder.requires(rank, join, op)?;
                }
                joins[rank.index()] = Some(join);
            }
            for message in phase?.messages {
                let send = Op::Send { target: message.target, size: message.size, tag };
                let receive = Op::Receive { source: Some(message.source), tag: Some(tag) };
                for (rank, op) in [(message.source, send), (message.target, receive)] {
                    let op = builder.add(rank, op)?;
                    if let Some(join) = joins[rank.index()] {
                        builder.requires(rank, op, join)?;
                    }
                    if present[rank.index()].is_empty() {
                        busy.push(rank);
                    }
                    present[rank.index()].push(op);
                }
            }
        }
        builder.build()
    }
}
