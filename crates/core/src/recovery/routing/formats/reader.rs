//! From the lines of a dump to rows of ports by the file's own LIDs, and what the file says about those LIDs.
//!
//! Nothing is matched to the fabric yet but the switches, whose GUIDs every format gives: which port a LID belongs to is
//! settled once a LID, not once a line, when all of the file has been seen ([`super::lids`]).

use std::collections::HashMap;

use super::line::Line;
use super::warnings::{Kind, Warnings};
use super::{TableError, TableFormat};
use crate::ids::SwitchId;
use crate::machine::{Machine, Names, UNICAST_LIDS};
use crate::recovery::routing::lft::Lft;

/// What a file says, by its own LIDs.
pub(super) struct Dump {
    /// Ports by LID for each switch that has a table.
    pub rows: Vec<Option<Vec<u8>>>,
    /// For each plane, what is said of each LID.
    pub planes: Vec<Vec<Said>>,
    /// What was odd so far.
    pub warnings: Warnings,
}

/// What a file says of one LID in one plane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// First line that has it, 0 if none does.
    pub line: u32,
    /// Port GUID, 0 if no line names it.
    pub guid: u64,
    /// The switch that has it for its own: by the head of its table, or since it keeps what is sent there.
    pub own: Option<(SwitchId, u32)>,
}

/// The table being read.
struct Block {
    switch: SwitchId,
    line: usize,
    entries: usize,
    /// Entries of an earlier table of this switch that this one changes.
    changed: usize,
    repeated: bool,
}

/// Where in the file we are.
enum At {
    /// Before the first table.
    Start,
    /// In a table.
    Block(Block),
    /// In a table that does not count, or between tables.
    Nowhere,
}

struct Reader<'a> {
    machine: &'a Machine,
    names: Names<'a>,
    format: &'a dyn TableFormat,
    by_guid: HashMap<u64, SwitchId>,
    /// For each switch and LID of its row, the last table that had an entry for it.
    stamp: Vec<u32>,
    tables: u32,
    /// Line of each switch's first table.
    first_line: Vec<usize>,
    unknown: Option<u64>,
    dump: Dump,
    at: At,
}

/// Reads the lines of `text`.
///
/// # Errors
/// If no table in it is of a switch of `machine`.
pub(super) fn read(
    format: &dyn TableFormat,
    text: &str,
    label: &str,
    machine: &Machine,
) -> Result<Dump, TableError> {
    let mut reader = Reader {
        machine,
        names: Names::new(machine),
        format,
        by_guid: machine.switches().map(|switch| (machine.switch(switch).guid, switch)).collect(),
        stamp: Vec::new(),
        tables: 0,
        first_line: vec![0; machine.switch_count()],
        unknown: None,
        dump: Dump {
            rows: vec![None; machine.switch_count()],
            planes: vec![Vec::new(); machine.plane_count()],
            warnings: Warnings::default(),
        },
        at: At::Start,
    };
    for (number, line) in (1..).zip(text.lines()) {
        reader.line(number, line);
    }
    reader.close(text.lines().count(), None);
    if reader.dump.rows.iter().all(Option::is_none) {
        let found = match reader.unknown {
            None => "no table in it has a head that can be read".to_owned(),
            Some(guid) => format!(
                "none of its {} tables is of a switch of this fabric, 0x{guid:016x} the first",
                reader.tables
            ),
        };
        return Err(TableError::NothingUseful {
            label: label.to_owned(),
            found,
            advice: "take the fabric file and the tables from the same subnet",
        });
    }
    Ok(reader.dump)
}

impl Reader<'_> {
    fn line(&mut self, number: usize, text: &str) {
        let warnings = &mut self.dump.warnings;
        match self.format.line(text) {
            Line::Empty => {}
            Line::Switch { lid, guid } => {
                self.close(number, None);
                self.open(number, lid, guid);
            }
            Line::Entry { lid, port, guid } => self.entry(number, lid, port, guid),
            Line::End { entries } => self.close(number, Some(entries)),
            Line::Malformed(allowed) => {
                // Entries after a head that cannot be read must not go to the switch before.
                if !text.trim_start().starts_with("0x") {
                    self.close(number, None);
                    self.at = At::Nowhere;
                }
                let shown = shown(text);
                self.dump
                    .warnings
                    .add(Kind::Malformed, number, || format!("`{shown}` is skipped: {allowed}"));
            }
            Line::Noise => warnings.add(Kind::Noise, number, || {
                format!("`{}` is skipped: it is no part of a table", shown(text))
            }),
        }
    }

    fn open(&mut self, number: usize, lid: Option<u16>, guid: u64) {
        self.tables += 1;
        let Some(&switch) = self.by_guid.get(&guid) else {
            self.unknown = self.unknown.or(Some(guid));
            self.at = At::Nowhere;
            self.dump.warnings.add(Kind::UnknownSwitch, number, || {
                format!("the fabric has no switch 0x{guid:016x}; its table is skipped")
            });
            return;
        };
        let row = &mut self.dump.rows[switch.index()];
        let repeated = row.is_some();
        row.get_or_insert_default();
        if !repeated {
            self.first_line[switch.index()] = number;
        }
        if let Some(lid) = lid.filter(|&lid| is_unicast(lid)) {
            self.said(switch, lid, number).own.get_or_insert((switch, number as u32));
        }
        self.at = At::Block(Block { switch, line: number, entries: 0, changed: 0, repeated });
    }

    fn entry(&mut self, number: usize, lid: u16, port: Option<u8>, guid: u64) {
        let block = match &mut self.at {
            At::Block(block) => block,
            At::Nowhere => return,
            At::Start => {
                self.dump.warnings.add(Kind::Orphan, number, || {
                    "the entry is skipped: no switch was named yet".to_owned()
                });
                return;
            }
        };
        block.entries += 1;
        if !is_unicast(lid) {
            if port.is_some() {
                self.dump.warnings.add(Kind::NoUnicast, number, || {
                    format!("LID {lid} is skipped: unicast LIDs are 1 to {UNICAST_LIDS}")
                });
            }
            return;
        }
        let switch = block.switch;
        self.set(number, lid, port.unwrap_or(Lft::NONE));
        // OpenSM lists LIDs that nobody has as unreachable.
        let Some(port) = port else { return };
        let machine = self.machine;
        let vertex = machine.switch_vertex(switch);
        if port != 0 && machine.channel_at(vertex, port).is_none() {
            let name = &self.names;
            self.dump.warnings.add(Kind::Uncabled, number, || {
                let of = name.switch(switch);
                format!("port {port} of `{of}` has no cable; LID {lid} gets no further")
            });
        }
        let said = self.said(switch, lid, number);
        if port == 0 {
            said.own.get_or_insert((switch, number as u32));
        }
        if said.guid == 0 {
            said.guid = guid;
        } else if guid != 0 && said.guid != guid {
            let (line, earlier) = (said.line, said.guid);
            self.dump.warnings.add(Kind::OtherName, number, || {
                format!(
                    "LID {lid} is port GUID 0x{guid:016x} here and 0x{earlier:016x} from line \
                     {line} on; taken as the latter"
                )
            });
        }
    }

    /// Writes one entry of the current table.
    fn set(&mut self, number: usize, lid: u16, port: u8) {
        let At::Block(block) = &mut self.at else { return };
        let Some(row) = &mut self.dump.rows[block.switch.index()] else { return };
        let at = usize::from(lid);
        if row.len() <= at {
            row.resize(at + 1, Lft::NONE);
        }
        if self.stamp.len() <= at {
            self.stamp.resize(at + 1, 0);
        }
        let doubled = std::mem::replace(&mut self.stamp[at], self.tables) == self.tables;
        let before = std::mem::replace(&mut row[at], port);
        if before == port {
            return;
        }
        if doubled {
            self.dump.warnings.add(Kind::Doubled, number, || {
                format!("LID {lid} has an entry in this table already; the later one counts")
            });
        } else if block.repeated {
            block.changed += 1;
        }
    }

    /// What is said of a LID in the plane of `switch`.
    fn said(&mut self, switch: SwitchId, lid: u16, number: usize) -> &mut Said {
        let plane = &mut self.dump.planes[self.machine.plane_of_switch(switch) as usize];
        if plane.len() <= usize::from(lid) {
            plane.resize(usize::from(lid) + 1, Said::default());
        }
        let said = &mut plane[usize::from(lid)];
        if said.line == 0 {
            said.line = number as u32;
        }
        said
    }

    /// Ends the current table, if there is one; `closing` is what its last line says.
    fn close(&mut self, number: usize, closing: Option<Option<usize>>) {
        if !matches!(self.at, At::Block(_)) {
            return;
        }
        let At::Block(block) = std::mem::replace(&mut self.at, At::Nowhere) else { return };
        let (names, warnings) = (&self.names, &mut self.dump.warnings);
        match closing {
            None if self.format.closes() => warnings.add(Kind::NotClosed, number, || {
                let of = names.switch(block.switch);
                format!(
                    "the table of `{of}` from line {} on has no closing line; it may be cut off",
                    block.line
                )
            }),
            Some(Some(said)) if said != block.entries => {
                warnings.add(Kind::WrongCount, number, || {
                    let of = names.switch(block.switch);
                    format!("the table of `{of}` has {} entries, not {said}", block.entries)
                });
            }
            _ => {}
        }
        if block.repeated {
            warnings.add(Kind::Repeated, block.line, || {
                format!(
                    "`{}` has a table from line {} on already; {} entries differ, and the later \
                     ones count",
                    names.switch(block.switch),
                    self.first_line[block.switch.index()],
                    block.changed
                )
            });
        }
    }
}

fn is_unicast(lid: u16) -> bool {
    lid != 0 && usize::from(lid) <= UNICAST_LIDS
}

/// The beginning of a line, for messages.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 60;
    text.trim().chars().filter(|character| !character.is_control()).take(SHOWN).collect()
}
