//! `ibroute` and `dump_fts` (`dump_lfts`): the tables of live switches, one switch after the other.
//!
//! Reads both heads (`switch Lid 17 guid ..` and `switch DR path .. guid ..`) and the output of `-n`, which names no
//! destinations, and of `-a`, which lists empty entries. Writes what `ibroute LID` prints, switch after switch. OpenSM
//! loads it, but finds only the first LID of each port by GUID (seen with 3.3.23): where ports have several LIDs, load
//! [`super::opensm`] instead.
//!
//! Source: the manual pages of infiniband-diags, and what its programs print.

use std::fmt::Write;

use super::columns::{Column, clean};
use super::line::{self, Dialect, Line};
use super::{Export, TableFormat};
use crate::machine::LidOwner;

/// The output of `ibroute`.
pub struct Ibroute;

impl TableFormat for Ibroute {
    fn names(&self) -> &'static [&'static str] {
        &["ibroute", "dump_fts", "dump_lfts"]
    }

    fn summary(&self) -> &'static str {
        "the output of ibroute, dump_fts or dump_lfts"
    }

    fn recognises(&self, text: &str) -> bool {
        line::dialect(text) == Some(Dialect::Ibroute)
    }

    fn line(&self, text: &str) -> Line {
        line::unicast(text)
    }

    fn closes(&self) -> bool {
        true
    }

    fn write(&self, tables: &Export<'_>) -> String {
        let mut text = String::new();
        for plane in tables.planes() {
            let (columns, top) = (tables.columns(plane), tables.wire.top(plane));
            let labels: Vec<String> = columns.iter().map(|column| label(tables, column)).collect();
            for (lid, switch) in tables.switches(plane) {
                let part = tables.graph.machine().switch(switch);
                // `write!` to a `String` cannot fail.
                let _ = writeln!(
                    text,
                    "Unicast lids [0x0-0x{top:x}] of switch Lid {lid} guid 0x{:016x} ({}):\n  Lid  \
                     Out   Destination\n       Port     Info ",
                    part.guid,
                    clean(&part.name)
                );
                let mut entries = 0;
                for (column, label) in columns.iter().zip(&labels) {
                    if let Some(port) = tables.port(switch, column) {
                        entries += 1;
                        let _ = writeln!(text, "0x{:04x} {port:03} : ({label})", column.lid);
                    }
                }
                let _ = writeln!(text, "{entries} valid lids dumped ");
            }
        }
        text
    }
}

/// What a line says of its destination: only the first LID of a port comes with a name.
fn label(tables: &Export<'_>, column: &Column) -> String {
    let first = tables.wire.first(column.owner);
    match column.owner {
        LidOwner::Endpoint(end) if column.lid != first => {
            let guid = tables.graph.machine().endpoint_info(end).guid;
            let paths = 1 << tables.wire.lmc_of(column.owner);
            let path = column.lid - first + 1;
            format!("path #{path} out of {paths}: portguid 0x{guid:016x}")
        }
        owner => tables.label(owner),
    }
}
