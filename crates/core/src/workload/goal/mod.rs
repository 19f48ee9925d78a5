//! GOAL: schedules as text traces of LogGOPSim and Schedgen.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//! l1: calc 100 cpu 1          // nanoseconds
//! l2: send 8b to 1 tag 3
//! l2 requires l1              /* starts when l1 is complete; `irequires`: when l1 has started */
//! }
//! rank 1 { recv 8b from 0 tag 3; }
//! ```
//!
//! An operation or dependency ends with the line or a `;`. Labels hold within a rank and are optional; `tag` (0 if not
//! given), `cpu` and `nic` follow in any order. `recv ... from -1` takes any sender, `tag -1` any tag. `calc` is in
//! nanoseconds, as are all times of LogGOPSim. Comments are `//` and `#` to the end of the line and `/* */`.
//! A rank without a block does nothing.
//!
//! Source: Hoefler, Siebert, Lumsdaine, "Group Operation Assembly Language", ICPP 2009; the grammar is that of LogGOPSim's
//! `txt2bin` (Hoefler, Schneider, Lumsdaine, "LogGOPSim", HPDC 2010).
//! Departs from it: a label may be used before the line that defines it; `;` and `#` are additions; a label defined twice
//! and a send without a receive are errors.
//! Limits: `nic` and the size of a `recv` are read and forgotten; no binary traces.

mod error;
mod words;
mod workload;

pub use error::GoalError;
pub use workload::Goal;

use std::collections::BTreeMap;

use self::words::{Token, Words};
use super::schedule::{Builder, Op, Schedule, ScheduleError};
use crate::ids::Rank;
use crate::units::{Bytes, Picos};

/// The most ranks of a trace.
const MOST_RANKS: u64 = 1 << 22;

/// Reads a trace; `file` is what errors call it.
///
/// # Errors
/// Text that is no GOAL, labels and ranks that do not exist, dependencies in a ring, sends and receives without partner:
/// with the line, what was found and what is allowed.
///
/// # Examples
/// ```
/// use runflat_core::workload::read_goal;
///
/// let text = b"num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n";
/// assert_eq!(read_goal("pair.goal", text).unwrap().ops().len(), 2);
/// ```
pub fn read(file: &str, text: &[u8]) -> Result<Schedule, GoalError> {
    let mut reader = Reader::new(file, text)?;
    while reader.rank_block()? {}
    reader.finish()
}

struct Reader<'t> {
    words: Words<'t>,
    /// Allowed are ranks below this.
    ranks: u32,
    builder: Builder,
    /// Line of every rank's block, and of every operation in it.
    blocks: Vec<Option<(u32, Vec<u32>)>>,
}

/// A dependency whose labels are looked up at the end of the block.
struct Dependency<'t> {
    line: u32,
    op: &'t [u8],
    on: &'t [u8],
    on_start: bool,
}

/// What may follow an operation.
#[derive(Default)]
struct Fields {
    tag: Option<u32>,
    any_tag: bool,
    cpu: Option<u32>,
    nic: Option<u32>,
}

impl<'t> Reader<'t> {
    fn new(file: &'t str, text: &'t [u8]) -> Result<Self, GoalError> {
        let mut words = Words::new(file, text)?;
        words.skip_ends()?;
        words.take_word("num_ranks", "`num_ranks` and how many there are, first of all")?;
        let allowed = "a number of ranks from 1 to 4194304";
        let ranks = words.take_number(1..=MOST_RANKS, allowed)? as u32;
        let blocks = vec![None; ranks as usize];
        Ok(Reader { words, ranks, builder: Builder::new(ranks), blocks })
    }

    /// Reads the block of a rank; false at the end of the text.
    fn rank_block(&mut self) -> Result<bool, GoalError> {
        self.words.skip_ends()?;
        if self.words.token() == Token::EndOfText {
            return Ok(false);
        }
        let line = self.words.line();
        self.words.take_word("rank", "`rank` or the end of the file")?;
        let rank = Rank(self.rank_number()?);
        if let Some((first_line, _)) = &self.blocks[rank.index()] {
            let (file, first_line) = (self.words.file().to_owned(), *first_line);
            return Err(GoalError::RankTwice { file, line, rank: rank.0, first_line });
        }
        self.blocks[rank.index()] = Some((line, Vec::new()));
        self.words.skip_ends()?;
        self.words.take(Token::Open, "`{`")?;
        let mut labels: BTreeMap<&'t [u8], (u32, u32)> = BTreeMap::new();
        let mut dependencies = Vec::new();
        loop {
            self.words.skip_ends()?;
            if self.words.token() == Token::Close {
                self.words.advance()?;
                break;
            }
            self.statement(rank, &mut labels, &mut dependencies)?;
            if self.words.token() != Token::Close {
                self.words.take(Token::End, "the end of the line, `;` or `}`")?;
            }
        }
        self.resolve(rank, &labels, &dependencies)?;
        Ok(true)
    }

    fn statement(
        &mut self,
        rank: Rank,
        labels: &mut BTreeMap<&'t [u8], (u32, u32)>,
        dependencies: &mut Vec<Dependency<'t>>,
    ) -> Result<(), GoalError> {
        let line = self.words.line();
        let allowed = "`send`, `recv`, `calc`, a label or `}`";
        let first = self.words.take_any(allowed)?;
        if OPERATIONS.contains(&first) {
            return self.operation(rank, first, line);
        }
        if !is_label(first) {
            return Err(self.words.expected_at(line, first, allowed));
        }
        if self.words.token() == Token::Colon {
            self.words.advance()?;
            let operation_line = self.words.line();
            let name = self.words.take_any(OPERATION)?;
            let number = self.blocks[rank.index()].as_ref().map_or(0, |block| block.1.len() as u32);
            if let Some((_, first_line)) = labels.insert(first, (number, line)) {
                let (file, label) = (self.words.file().to_owned(), shown(first));
                return Err(GoalError::LabelTwice { file, line, label, first_line });
            }
            return self.operation(rank, name, operation_line);
        }
        let allowed = "`:`, `requires` or `irequires`";
        let word_line = self.words.line();
        let on_start = match self.words.take_any(allowed)? {
            b"requires" => false,
            b"irequires" => true,
            other => return Err(self.words.expected_at(word_line, other, allowed)),
        };
        let on = self.words.take_any("a label")?;
        dependencies.push(Dependency { line, op: first, on, on_start });
        Ok(())
    }

    fn operation(&mut self, rank: Rank, name: &[u8], line: u32) -> Result<(), GoalError> {
        let op = match name {
            b"send" => {
                let size = self.words.take_bytes()?;
                self.words.take_word("to", "`to`")?;
                let target = Rank(self.rank_number()?);
                let fields = self.fields(true, false)?;
                Op::Send { target, size: Bytes(size), tag: fields.tag.unwrap_or(0) }
            }
            b"recv" => {
                self.words.take_bytes()?;
                self.words.take_word("from", "`from`")?;
                let any = self.words.token() == Token::Word(b"-1");
                let source = match any {
                    true => self.words.advance().map(|()| None)?,
                    false => Some(Rank(self.rank_number()?)),
                };
                let fields = self.fields(true, true)?;
                let tag = if fields.any_tag { None } else { Some(fields.tag.unwrap_or(0)) };
                Op::Receive { source, tag }
            }
            b"calc" => {
                let most = u64::MAX / PICOS_PER_NANO;
                let allowed = "a number of nanoseconds from 0 to 18446744073709551";
                let time = self.words.take_number(0..=most, allowed)?;
                let fields = self.fields(false, false)?;
                let cpu = fields.cpu.unwrap_or(0) as u8;
                Op::Compute { time: Picos(time * PICOS_PER_NANO), cpu }
            }
            other => return Err(self.words.expected_at(line, other, OPERATION)),
        };
        self.builder.add(rank, op).map_err(|error| self.at(line, error))?;
        if let Some((_, lines)) = &mut self.blocks[rank.index()] {
            lines.push(line);
        }
        Ok(())
    }

    fn fields(&mut self, tagged: bool, any_tag: bool) -> Result<Fields, GoalError> {
        let mut fields = Fields::default();
        let allowed = match tagged {
            true => "`tag`, `cpu` or `nic`, each once, or the end of the line",
            false => "`cpu` or `nic`, each once, or the end of the line",
        };
        while let Token::Word(name) = self.words.token() {
            let line = self.words.line();
            self.words.advance()?;
            let is_tag = name == b"tag";
            let is_first = fields.tag.is_none() && !fields.any_tag;
            if is_tag && any_tag && is_first && self.words.token() == Token::Word(b"-1") {
                self.words.advance()?;
                fields.any_tag = true;
                continue;
            }
            let field = match name {
                b"tag" if tagged && !fields.any_tag => &mut fields.tag,
                b"cpu" => &mut fields.cpu,
                b"nic" => &mut fields.nic,
                _ => return Err(self.words.expected_at(line, name, allowed)),
            };
            if field.is_some() {
                return Err(self.words.expected_at(line, name, allowed));
            }
            let (most, what) = match is_tag {
                true => {
                    (u64::from(u32::MAX) - 1, "a tag from 0 to 4294967294 (-1, any, in `recv`)")
                }
                false => (255, "a number from 0 to 255"),
            };
            *field = Some(self.words.take_number(0..=most, what)? as u32);
        }
        Ok(fields)
    }

    fn rank_number(&mut self) -> Result<u32, GoalError> {
        let allowed = format!("a rank from 0 to {}", self.ranks - 1);
        Ok(self.words.take_number(0..=u64::from(self.ranks) - 1, &allowed)? as u32)
    }

    fn resolve(
        &mut self,
        rank: Rank,
        labels: &BTreeMap<&[u8], (u32, u32)>,
        dependencies: &[Dependency<'_>],
    ) -> Result<(), GoalError> {
        for dependency in dependencies {
            let find = |label: &[u8]| {
                labels.get(label).map(|&(op, _)| op).ok_or_else(|| GoalError::NoLabel {
                    file: self.words.file().to_owned(),
                    line: dependency.line,
                    label: shown(label),
                    rank: rank.0,
                })
            };
            let (op, on) = (find(dependency.op)?, find(dependency.on)?);
            let added = match dependency.on_start {
                true => self.builder.irequires(rank, op, on),
                false => self.builder.requires(rank, op, on),
            };
            added.map_err(|error| self.at(dependency.line, error))?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Schedule, GoalError> {
        let Reader { words, builder, blocks, .. } = self;
        let line_of = |rank: u32, op: u32| {
            blocks[rank as usize].as_ref().and_then(|block| block.1.get(op as usize)).copied()
        };
        let file = words.file().to_owned();
        let schedule = match builder.build() {
            Ok(schedule) => schedule,
            Err(error) => {
                let line = match error {
                    ScheduleError::Circular { rank, op } => line_of(rank, op),
                    _ => None,
                };
                return Err(GoalError::Schedule { file, line: line.unwrap_or(0), error });
            }
        };
        if let Some(&unmatched) = schedule.unmatched().first() {
            let line = unmatched.evidence(&schedule).and_then(|op| {
                let rank = schedule.rank_of(op);
                line_of(rank.0, op.0 - schedule.ops_of(rank).start)
            });
            let line = line.unwrap_or(0);
            return Err(GoalError::Unmatched { file, line, unmatched });
        }
        Ok(schedule)
    }

    fn at(&self, line: u32, error: ScheduleError) -> GoalError {
        GoalError::Schedule { file: self.words.file().to_owned(), line, error }
    }
}

const PICOS_PER_NANO: u64 = 1000;

const OPERATIONS: [&[u8]; 3] = [b"send", b"recv", b"calc"];

const OPERATION: &str = "`send`, `recv` or `calc`";

fn is_label(word: &[u8]) -> bool {
    let starts = word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    starts && word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// A word in a message: cut short, and with what is no text made visible.
fn shown(word: &[u8]) -> String {
    let most = 40;
    let text = word[..word.len().min(most)].escape_ascii().to_string();
    if word.len() > most { format!("{text}...") } else { text }
}

#[cfg(test)]
mod tests;
