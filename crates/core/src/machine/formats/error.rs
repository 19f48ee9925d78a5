//! What was wrong with a fabric file, or with writing one.

use crate::machine::MachineError;

/// Why a text is no machine, or a machine cannot be written. Every sentence names the file, and the line where there is
/// one, what was found, what is allowed and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Nothing that is read here.
    #[error("{label}: {found}; a fabric file is {known}")]
    Unrecognised {
        /// The file, as the caller calls it.
        label: String,
        /// What the bytes look like.
        found: String,
        /// All that is read.
        known: String,
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
        allowed: String,
        /// What to do.
        advice: String,
    },
    /// Two lines that cannot both be true.
    #[error("{label}:{line}: {found}, but line {earlier} {said} ({advice})")]
    Contradiction {
        /// The file.
        label: String,
        /// The later line, from 1.
        line: usize,
        /// The earlier line, from 1.
        earlier: usize,
        /// What the later line says.
        found: String,
        /// What the earlier line says.
        said: String,
        /// What to do.
        advice: String,
    },
    /// The file ends before the fabric does.
    #[error("{label}:{line}: the file is cut off: {found} ({advice})")]
    CutOff {
        /// The file.
        label: String,
        /// The last line, from 1.
        line: usize,
        /// How that shows.
        found: String,
        /// What to do.
        advice: String,
    },
    /// A value in a structured file is out of range.
    #[error("{label}: `{key}` {found}; {allowed}")]
    Value {
        /// The file.
        label: String,
        /// Where, as `links[3].rate`.
        key: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: String,
    },
    /// The parts do not make a machine.
    #[error("{label}: {source}")]
    Machine {
        /// The file.
        label: String,
        /// What the builder says.
        #[source]
        source: MachineError,
    },
    /// No format has that name.
    #[error("there is no format `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// The format is only written.
    #[error("{label}: {format} is only written here; a fabric file is {known}")]
    WriteOnly {
        /// The file.
        label: String,
        /// The format's name.
        format: &'static str,
        /// All that is read.
        known: String,
    },
    /// The format cannot say what this machine is.
    #[error("{format} cannot hold this machine: {reason} ({advice})")]
    Unwritable {
        /// The format's name.
        format: &'static str,
        /// Why.
        reason: String,
        /// What to do.
        advice: String,
    },
}

impl FormatError {
    /// The line of the file that is wrong, from 1, where one is.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self {
            FormatError::Line { line, .. }
            | FormatError::Contradiction { line, .. }
            | FormatError::CutOff { line, .. } => Some(*line),
            _ => None,
        }
    }
}
