//! `opensm-lfts.dump`: the tables that OpenSM writes with log flag 0x40 and loads with `-R file -U FILE`.
//!
//! Reads the dialect of older versions too (`[0x0-0x2a]`). When OpenSM loads such a file it finds ports by GUID, or by
//! LID where nobody has the GUID, so tables stay right if LIDs change.
//!
//! Source: files written by OpenSM 3.3.23. The number in the closing line is the highest LID, not a count.

use std::fmt::Write;

use super::line::{self, Dialect, Line};
use super::{Export, TableFormat, columns::clean};

/// OpenSM's dump.
pub struct OpenSmDump;

impl TableFormat for OpenSmDump {
    fn names(&self) -> &'static [&'static str] {
        &["opensm", "opensm-lfts.dump", "lfts"]
    }

    fn summary(&self) -> &'static str {
        "opensm-lfts.dump, which `opensm -R file -U` loads"
    }

    fn recognises(&self, text: &str) -> bool {
        line::dialect(text) == Some(Dialect::OpenSm)
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
            let labels: Vec<String> =
                columns.iter().map(|column| tables.label(column.owner)).collect();
            for (lid, switch) in tables.switches(plane) {
                let part = tables.graph.machine().switch(switch);
                // `write!` to a `String` cannot fail.
                let _ = writeln!(
                    text,
                    "Unicast lids [0-{top}] of switch Lid {lid} guid 0x{:016x} ('{}'):",
                    part.guid,
                    clean(&part.name)
                );
                for (column, label) in columns.iter().zip(&labels) {
                    if let Some(port) = tables.port(switch, column) {
                        let _ = writeln!(text, "0x{:04x} {port:03} # {label}", column.lid);
                    }
                }
                let _ = writeln!(text, "{top} lids dumped");
            }
        }
        text
    }
}
