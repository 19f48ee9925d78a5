//! What can be wrong with a wish for faults.

use super::draw::Class;
use crate::machine::NameError;
use crate::params::ParamError;

/// Why no faults could be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// No model has that name.
    #[error("there is no fault model `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// A parameter was unknown, missing or ill-formed.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Neither a count nor a per cent.
    #[error("`{0}` is no amount; write a count, as 3, or a per cent up to 100%, as 0.5%")]
    Amount(String),
    /// Not a ratio.
    #[error("`{0}` is no ratio of links to switches; write two whole numbers, as 13:1, not both 0")]
    Ratio(String),
    /// More than there are.
    #[error("{asked} {what} cannot fail, {available} are alive; ask for fewer")]
    TooMany {
        /// Which parts.
        what: String,
        /// How many were asked for.
        asked: u64,
        /// How many there are.
        available: u64,
    },
    /// `keep_connected` left too few.
    #[error(
        "{asked} {class} cannot fail while all nodes stay connected, {possible} can; ask for \
         fewer or set keep_connected to false"
    )]
    Connected {
        /// Which parts.
        class: Class,
        /// How many were asked for.
        asked: u64,
        /// How many were found.
        possible: u64,
    },
    /// The machine has no such level.
    #[error("the machine has no level `{given}`; it has {known}")]
    Level {
        /// The level given.
        given: String,
        /// The levels there are.
        known: String,
    },
    /// A name that no part has, or several have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Too many to enumerate.
    #[error(
        "there are more than {most} ways to choose {failures} of {available} {class}; take fewer \
         failures, or sample with `random`"
    )]
    Combinations {
        /// Which parts.
        class: Class,
        /// How many fail.
        failures: u64,
        /// Of how many.
        available: u64,
        /// The most that are enumerated.
        most: u64,
    },
    /// A sample past the last.
    #[error("there is no sample {sample}; there are {count}, counted from 0")]
    Sample {
        /// The sample asked for.
        sample: u64,
        /// How many there are.
        count: u64,
    },
}
