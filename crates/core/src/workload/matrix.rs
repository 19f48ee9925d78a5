//! Matrix: recorded bytes from every rank to every other, as one phase.
//!
//! The text is comma-separated: line `i` holds what rank `i` sent to rank 0, 1, ... Empty lines and lines that start
//! with `#` are skipped. What a rank sent to itself is left out, it crosses no network; pairs without bytes have no
//! message. Every rank begins with the rank behind it, so that not all send to one at a time. Fewer ranks than there are may
//! take part; they are the first ones.

use super::{FILE, TEXT, Workload, WorkloadError, check_phase, message};
use crate::params::{Args, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The matrix workload.
pub struct Matrix;

impl Workload for Matrix {
    fn name(&self) -> &'static str {
        "matrix"
    }

    fn summary(&self) -> &'static str {
        "recorded bytes from rank to rank"
    }

    fn params(&self) -> &'static [Param] {
        const { &[FILE, TEXT] }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        self.phase(ranks, args, 0, Seed::default()).map(|_| 1)
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, 1)?;
        ByteMatrix::read(args.text(FILE.name), args.text(TEXT.name))?.traffic(ranks)
    }
}

/// Bytes from every rank to every other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteMatrix {
    file: String,
    ranks: usize,
    bytes: Vec<u64>,
}

impl ByteMatrix {
    /// Reads comma-separated text; `file` is what errors call it.
    ///
    /// # Errors
    /// No rows, rows of another length than there are rows, or cells that are no whole numbers, by line and column.
    pub fn read(file: &str, text: &str) -> Result<Self, WorkloadError> {
        let rows: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .map(|(at, row)| (at + 1, row.trim()))
            .filter(|(_, row)| !row.is_empty() && !row.starts_with('#'))
            .collect();
        if rows.is_empty() {
            return Err(WorkloadError::EmptyMatrix { file: file.to_owned() });
        }
        let ranks = rows.len();
        let mut bytes = Vec::new();
        for (line, row) in rows {
            let before = bytes.len();
            for (at, cell) in row.split(',').map(str::trim).enumerate() {
                bytes.push(cell.parse().map_err(|_| WorkloadError::Cell {
                    file: file.to_owned(),
                    line,
                    column: at + 1,
                    given: cell.to_owned(),
                })?);
            }
            let columns = bytes.len() - before;
            if columns != ranks {
                let file = file.to_owned();
                return Err(WorkloadError::Row { file, line, columns, rows: ranks });
            }
        }
        Ok(ByteMatrix { file: file.to_owned(), ranks, bytes })
    }

    /// Number of ranks that take part.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// What rank `source` sends to rank `target`.
    #[must_use]
    pub fn bytes(&self, source: usize, target: usize) -> Bytes {
        Bytes(self.bytes[source * self.ranks + target])
    }

    /// The messages among the first of `ranks` ranks: by sender, each beginning with the rank behind it.
    ///
    /// # Errors
    /// If the matrix has more ranks.
    pub fn traffic(&self, ranks: u32) -> Result<Traffic, WorkloadError> {
        if self.ranks > ranks as usize {
            let file = self.file.clone();
            return Err(WorkloadError::TraceRanks { file, rows: self.ranks, ranks });
        }
        let own = self.ranks as u32;
        let others = move |source| (1..own).map(move |ahead| (source, (source + ahead) % own));
        let messages = (0..own)
            .flat_map(others)
            .map(|(source, target)| {
                message(source, target, self.bytes(source as usize, target as usize))
            })
            .filter(|message| message.size > Bytes(0))
            .collect();
        Ok(Traffic { ranks, messages })
    }
}
