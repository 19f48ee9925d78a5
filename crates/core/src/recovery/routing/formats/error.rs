//! What was wrong with a file of forwarding tables or lanes, or with writing one.

use crate::machine::{NameError, WireLidError};
use crate::recovery::routing::lanes::LaneError;

/// Why a text gives no tables, lanes or ports, or tables cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Nothing that is read here.
    #[error("{label}: {found}; forwarding tables are {known}")]
    Unrecognised {
        /// The file, as the caller calls it.
        label: String,
        /// What the bytes look like.
        found: String,
        /// All that is read.
        known: String,
    },
    /// No format has that name.
    #[error("there is no table format `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// The file is well-formed, but not of this fabric.
    #[error("{label}: {found} ({advice})")]
    NothingUseful {
        /// The file.
        label: String,
        /// What it has instead.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// The file's LIDs are not the fabric's.
    #[error(
        "{label}:{line}: LID {lid} is switch `{said}` here, but {known} by the numbers of the \
         fabric, and so for {wrong} of {checked} switches; lines without port GUIDs would go to \
         the wrong ports (give the guid2lid file of the same time, or tables with port GUIDs)"
    )]
    OtherLids {
        /// The file.
        label: String,
        /// The line, from 1.
        line: usize,
        /// The LID.
        lid: u16,
        /// Whose it is by the file.
        said: String,
        /// Whose it is by [`crate::machine::WireLids`].
        known: String,
        /// Switches for which the two differ.
        wrong: usize,
        /// Switches whose LID the file tells.
        checked: usize,
    },
    /// A line that cannot stand there.
    #[error("{label}:{line}: {found}; {allowed} ({advice})")]
    Line {
        /// The file.
        label: String,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A line names a part that is not there, or of the other sort.
    #[error("{label}:{line}: {source}")]
    Name {
        /// The file.
        label: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with the name.
        #[source]
        source: NameError,
    },
    /// Tables made for another machine or view.
    #[error("these tables have {lids} LIDs, which is not what this machine has; route it again")]
    OtherMachine {
        /// LIDs of the tables.
        lids: usize,
    },
    /// A plane that the machine does not have.
    #[error("there is no plane {plane}; the machine has {planes}, counted from 0")]
    NoSuchPlane {
        /// The one asked for.
        plane: u32,
        /// How many there are.
        planes: usize,
    },
    /// LIDs of the subnet.
    #[error(transparent)]
    Lids(#[from] WireLidError),
    /// Lanes that carry no data.
    #[error(transparent)]
    Lane(#[from] LaneError),
}

impl TableError {
    /// The line of the file that is wrong, from 1, where one is.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            TableError::Line { line, .. }
            | TableError::Name { line, .. }
            | TableError::OtherLids { line, .. } => Some(*line),
            _ => None,
        }
    }
}
