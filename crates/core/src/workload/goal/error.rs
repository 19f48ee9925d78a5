//! What can be wrong with a GOAL trace.

use std::fmt;

use crate::workload::schedule::{ScheduleError, Unmatched};

/// Why a text is no GOAL trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// A word that cannot stand where it does.
    #[error("{file}:{line}: found {found}, should be {allowed}")]
    Syntax {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: u32,
        /// What stands there.
        found: String,
        /// What could stand there.
        allowed: String,
    },
    /// Two blocks of one rank.
    #[error("{file}:{line}: rank {rank} has a block at line {first_line} already; write one")]
    RankTwice {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: u32,
        /// The rank.
        rank: u32,
        /// Line of the first.
        first_line: u32,
    },
    /// One label of two operations.
    #[error(
        "{file}:{line}: label `{label}` names the operation at line {first_line}; take another"
    )]
    LabelTwice {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: u32,
        /// The label.
        label: String,
        /// Line of the first.
        first_line: u32,
    },
    /// A label of no operation.
    #[error(
        "{file}:{line}: no operation of rank {rank} has the label `{label}`; labels hold within \
         one rank"
    )]
    NoLabel {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: u32,
        /// The label.
        label: String,
        /// The rank whose block it is.
        rank: u32,
    },
    /// The operations make no schedule.
    #[error("{file}:{line}: {error}")]
    Schedule {
        /// What the text is called.
        file: String,
        /// Line, from 1; 0 where no line can be named.
        line: u32,
        /// Why.
        error: ScheduleError,
    },
    /// A send without a receive or the other way around.
    #[error("{file}:{line}: {unmatched}; every message needs one `send` and one `recv`")]
    Unmatched {
        /// What the text is called.
        file: String,
        /// Line of one that has no partner.
        line: u32,
        /// Which.
        unmatched: Unmatched,
    },
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmatched { target, source, tag, sends, receives } = self;
        let target = target.0;
        match (source, tag) {
            (Some(source), Some(tag)) => write!(
                f,
                "rank {} sends {sends} messages to rank {target} with tag {tag}, which receives \
                 {receives}",
                source.0
            ),
            _ => write!(
                f,
                "{sends} messages to rank {target} are left for its {receives} receives of any \
                 source or tag"
            ),
        }
    }
}
