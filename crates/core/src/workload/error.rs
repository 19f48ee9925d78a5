//! What can be wrong with a wish for messages.

use super::goal::GoalError;
use crate::params::ParamError;

/// Why a workload has no such messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// No workload has that name.
    #[error("there is no workload `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// A parameter was unknown, missing or ill-formed.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// Nobody to send to.
    #[error("{name} needs at least 2 ranks, got {ranks}")]
    TooFewRanks {
        /// The workload.
        name: &'static str,
        /// The ranks given.
        ranks: u32,
    },
    /// More messages than fit in memory.
    #[error(
        "{ranks} ranks would send {messages} messages in one phase, at most {most} are held; take \
         fewer ranks or a sparser workload, as permutation"
    )]
    TooManyMessages {
        /// The ranks given.
        ranks: u32,
        /// Messages of the phase.
        messages: u64,
        /// The most that are held.
        most: u64,
    },
    /// A phase past the last.
    #[error("there is no phase {index}; there are {count}, counted from 0")]
    Phase {
        /// The phase asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// More hot ranks than ranks.
    #[error("there are only {ranks} ranks, `targets` is at most that, got {targets}")]
    Targets {
        /// The hot ranks wanted.
        targets: u32,
        /// The ranks given.
        ranks: u32,
    },
    /// A root that is no rank.
    #[error("`root` is a rank from 0 to {most} (of {ranks} ranks), got {root}")]
    Root {
        /// The root given.
        root: u32,
        /// The last rank.
        most: u32,
        /// The ranks given.
        ranks: u32,
    },
    /// A shift that is none among so many ranks.
    #[error("`shift` is `all` or a number from 1 to {most} (half of {ranks} ranks), got `{given}`")]
    Shift {
        /// The text given.
        given: String,
        /// The largest shift.
        most: u32,
        /// The ranks given.
        ranks: u32,
    },
    /// A grid that does not hold the ranks.
    #[error("a {shape} grid has {cells} cells, one a rank, but there are {ranks} ranks")]
    Shape {
        /// The shape as `4x4`.
        shape: String,
        /// Its number of cells.
        cells: u128,
        /// The ranks given.
        ranks: u32,
    },
    /// A stencil of another number of dimensions.
    #[error(
        "a {points}-point stencil has {needs} dimensions, the shape {shape} has {dimensions}; \
         `star` and `box` fit any"
    )]
    Points {
        /// The points given.
        points: String,
        /// Dimensions that stencil has.
        needs: usize,
        /// The shape as `4x4`.
        shape: String,
        /// Its number of dimensions.
        dimensions: usize,
    },
    /// A grid of more dimensions than stencils are made for.
    #[error("a stencil has at most {most} dimensions, got {dimensions}")]
    Dimensions {
        /// The dimensions given.
        dimensions: usize,
        /// The most there may be.
        most: usize,
    },
    /// A cell of a matrix that is no number of bytes.
    #[error("{file}:{line}: column {column} is `{given}`, should be a whole number of bytes")]
    Cell {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The text of the cell.
        given: String,
    },
    /// A row of another length than there are rows.
    #[error(
        "{file}:{line}: {columns} columns, should be {rows}: a row and a column for every rank"
    )]
    Row {
        /// What the text is called.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Its number of columns.
        columns: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// A matrix without rows.
    #[error("{file}: no rows; write one line a sender, bytes to every rank separated by commas")]
    EmptyMatrix {
        /// What the text is called.
        file: String,
    },
    /// A matrix or trace of more ranks than there are.
    #[error("{file} has {rows} ranks, but there are only {ranks}; take a larger machine")]
    TraceRanks {
        /// What the text is called.
        file: String,
        /// Ranks in it.
        rows: usize,
        /// The ranks given.
        ranks: u32,
    },
    /// A schedule where phases are needed.
    #[error(
        "{name} is a schedule of messages that wait for each other and has no phases; take the flit mode"
    )]
    NoPhases {
        /// The workload.
        name: &'static str,
    },
    /// A text that is no trace.
    #[error(transparent)]
    Goal(#[from] Box<GoalError>),
}
