//! Forwarding tables in and out: one format a file, one line here, as [`crate::machine::formats`] has it for fabrics.
//!
//! Stands in `routing` and not among the fabric formats because a table means nothing without its machine: [`read`]
//! takes the machine and the LIDs of its subnet ([`WireLids`]) and gives an [`Lft`] over dense LIDs, [`write()`] goes
//! back. What a reader had to guess or skip comes back as [`Warning`]s, a few of each kind and the count of the rest.
//!
//! LIDs are matched to ports by the port GUIDs that a table names; a line without one goes by [`WireLids`]. Beside the
//! tables stand the files that go with them: lanes ([`lanes_csv`]), lists of GUIDs ([`guid_list`]), and the command
//! that loads an export ([`load_command()`]).
//!
//! Source: `reference/routing-engines.md`, section 6, and files written by OpenSM 3.3.23 and infiniband-diags 2.2.
//! Limits: unicast tables alone, no private LFTs; entries of a switch for LIDs of another plane cannot be written.

use super::lft::Lft;
use crate::machine::formats::{Warning, describe};
use crate::machine::{LMC_MAX, Machine, SwitchGraph, WireLidError, WireLids};
use crate::registry::registry;

mod columns;
mod csv;
mod error;
pub mod guid_list;
pub mod lanes_csv;
mod lids;
mod line;
mod load;
mod ranges;
mod reader;
mod warnings;

pub use error::TableError;
pub use line::Line;
pub use load::{LoadCommand, load_command};

/// One way to write forwarding tables down.
pub trait TableFormat: Sync {
    /// Its names on the command line, the usual one first.
    fn names(&self) -> &'static [&'static str];
    /// One line for lists: what it is and who reads it.
    fn summary(&self) -> &'static str;
    /// Whether `text` looks like this format.
    fn recognises(&self, text: &str) -> bool;
    /// What one line says.
    fn line(&self, text: &str) -> Line;
    /// Whether a switch's table ends with a line that says so.
    fn closes(&self) -> bool;
    /// Writes the tables, ending with a newline.
    fn write(&self, tables: &Export<'_>) -> String;
}

registry! {
    /// Every format.
    TABLE_FORMATS: dyn TableFormat = [
        opensm::OpenSmDump,
        ibroute::Ibroute,
        fdbs::Fdbs,
    ]
}

/// Tables to be written: those of all living switches.
#[derive(Clone, Copy, Debug)]
pub struct Export<'a> {
    /// The usable part of the fabric.
    pub graph: &'a SwitchGraph<'a>,
    /// LIDs of its subnets.
    pub wire: &'a WireLids,
    /// The tables.
    pub lft: &'a Lft,
    /// The one plane to write; a subnet manager loads no other. `None`: all, one after the other.
    pub plane: Option<u32>,
}

/// Tables that were read, and what the reader had to guess or skip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableImport {
    /// The tables; [`Lft::lids`] has the LID mask count found.
    pub lft: Lft,
    /// The format's name.
    pub format: &'static str,
    /// Switches that have a table.
    pub switches: usize,
    /// Entries other than "no route".
    pub entries: u64,
    /// In order of lines.
    pub warnings: Vec<Warning>,
}

/// The format called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn TableFormat, TableError> {
    let wanted = name.to_ascii_lowercase();
    let format =
        TABLE_FORMATS.iter().copied().find(|format| format.names().contains(&wanted.as_str()));
    format.ok_or_else(|| TableError::Unknown { given: name.to_owned(), known: known() })
}

/// Reads forwarding tables of any format for `machine`; `label` is what messages call the file.
///
/// The LID mask count is `lmc`, or the one that most ports of the file show.
///
/// # Errors
/// If no format recognises the bytes, no switch of the fabric is in them, or their LIDs are plainly of another time.
///
/// # Complexity
/// Linear in the file; memory is one byte a switch and LID, twice.
pub fn read(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
    wire: &WireLids,
    lmc: Option<u8>,
) -> Result<TableImport, TableError> {
    if let Some(given) = lmc.filter(|&lmc| lmc > LMC_MAX) {
        return Err(WireLidError::Lmc { given: given.into() }.into());
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let Some(format) = TABLE_FORMATS.iter().find(|format| format.recognises(&text)) else {
        let multicast = text.lines().any(|line| line.trim_start().starts_with("Multicast mlids"));
        let found =
            if multicast { "found multicast tables".to_owned() } else { describe(bytes, &text) };
        return Err(TableError::Unrecognised { label: label.to_owned(), found, known: known() });
    };
    let dump = reader::read(*format, &text, label, machine)?;
    let lids::Placed { lft, switches, entries, warnings } =
        lids::place(dump, label, machine, wire, lmc)?;
    Ok(TableImport { lft, format: format.names()[0], switches, entries, warnings })
}

/// Writes tables in the format called `format`: switches and entries by LID.
///
/// # Errors
/// If there is no such format, the tables are of another machine, or the subnet's LIDs do not suffice.
pub fn write(tables: &Export<'_>, format: &str) -> Result<String, TableError> {
    let format = find(format)?;
    let (machine, lids) = (tables.graph.machine(), tables.lft.lids());
    if machine.lids().with_lmc(lids.lmc()) != lids {
        return Err(TableError::OtherMachine { lids: lids.count() });
    }
    if let Some(plane) = tables.plane.filter(|&plane| plane as usize >= machine.plane_count()) {
        return Err(TableError::NoSuchPlane { plane, planes: machine.plane_count() });
    }
    tables.wire.check(machine, lids)?;
    Ok(format.write(tables))
}

/// The formats, for messages.
fn known() -> String {
    let formats = TABLE_FORMATS.iter();
    formats
        .map(|format| format!("{} ({})", format.names()[0], format.summary()))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;
