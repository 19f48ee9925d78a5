//! Service levels and SL-to-VL tables as CSV, for people, scripts and reading back: no tool has a format for them.
//!
//! Service levels: a row for each switch and level, with all destination LIDs to which nodes at that switch send on it:
//! `switch_guid,switch,sl,lids`, LIDs as `1-17 20`. A row a pair would be a gigabyte for 10,000 nodes. LIDs are those of
//! the switch's subnet ([`WireLids`]); `guid2lid`, written beside it, says whose they are.
//!
//! SL-to-VL tables: a row for each switch and set of port pairs that share a mapping:
//! `switch_guid,switch,in_ports,out_ports,vl0..vl15`; it holds for every pair of an input and an output port of the row,
//! port 0 being the switch itself.
//!
//! Limits: pairs of a switch and a LID of another plane are left out (nothing is sent there).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::columns::clean;
use super::csv::{Row, Rows, quote};
use super::reader::shown;
use super::warnings::{Kind, Warnings};
use super::{TableError, ranges};
use crate::ids::{Lid, SwitchId};
use crate::machine::formats::Warning;
use crate::machine::names::read_guid;
use crate::machine::{Lids, Machine, WireLids};
use crate::recovery::routing::lanes::{Lanes, SERVICE_LEVELS, SlToVl};

const LEVELS: &str = "the file has columns switch_guid, sl (0 to 15) and lids (as 1-17 20)";
const MAPPING: &str = "the file has columns switch_guid, in_ports and out_ports (as 1-17 20) and \
                       vl0 to vl15 (0 to 14)";

/// Writes the service level of every pair of a switch and a LID of its plane.
///
/// # Errors
/// If LIDs of the subnet do not suffice.
pub fn write_levels(
    machine: &Machine,
    wire: &WireLids,
    lids: Lids,
    lanes: &Lanes,
) -> Result<String, TableError> {
    wire.check(machine, lids)?;
    let mut text = String::from("switch_guid,switch,sl,lids\n");
    let planes: Vec<Vec<(u16, Lid)>> = (0..machine.plane_count() as u32)
        .map(|plane| {
            let numbers = 1..=wire.top(plane);
            numbers.filter_map(|lid| Some((lid, wire.dense(lids, plane, lid)?))).collect()
        })
        .collect();
    for switch in machine.switches() {
        let columns = &planes[machine.plane_of_switch(switch) as usize];
        let mut by_level: [Vec<u16>; SERVICE_LEVELS] = Default::default();
        for &(number, lid) in columns {
            by_level[usize::from(lanes.sl(lids, switch, lid)) % SERVICE_LEVELS].push(number);
        }
        for (level, numbers) in by_level.iter().enumerate().filter(|(_, lids)| !lids.is_empty()) {
            begin(&mut text, machine, switch);
            // `write!` to a `String` cannot fail.
            let _ = writeln!(text, ",{level},{}", ranges::write(numbers.iter().copied()));
        }
    }
    Ok(text)
}

/// Reads service levels, `[switch][lid]`; pairs without a row are on level 0.
///
/// # Errors
/// Missing columns, ill-formed values, or no switch of this fabric.
pub fn read_levels(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
    wire: &WireLids,
    lids: Lids,
) -> Result<(Vec<u8>, Vec<Warning>), TableError> {
    let text = String::from_utf8_lossy(without_mark(bytes));
    let mut rows = Rows::new(&text, label, &["switch_guid", "sl", "lids"], LEVELS)?;
    let mut reader = Reader::new(machine);
    let mut levels = vec![UNSAID; machine.switch_count() * lids.count()];
    while let Some(row) = rows.next_row() {
        let row = row?;
        let Some(switch) = reader.switch(&rows, &row)? else { continue };
        let level = row.values[1].parse().ok().filter(|&sl: &u8| usize::from(sl) < SERVICE_LEVELS);
        let (Some(level), Some(runs)) = (level, ranges::read(&row.values[2])) else {
            let found = format!("sl `{}` for lids `{}`", row.values[1], shown(&row.values[2]));
            return Err(rows.error(row.line, found));
        };
        let plane = machine.plane_of_switch(switch);
        for number in runs.into_iter().flat_map(|run| clip(run, wire.top(plane))) {
            let Some(lid) = wire.dense(lids, plane, number) else {
                reader.warnings.add(Kind::UnknownLid, row.line, || {
                    format!("nobody has LID {number}; its service level is skipped")
                });
                continue;
            };
            let slot = &mut levels[switch.index() * lids.count() + lid.index()];
            let before = std::mem::replace(slot, level);
            if before != UNSAID && before != level {
                reader.warnings.add(Kind::Doubled, row.line, || {
                    format!("LID {number} has level {before} in an earlier row; the later counts")
                });
            }
        }
    }
    reader.nobody_is_an_error(label)?;
    let missing = fill_unsaid(machine, lids, wire, &mut levels);
    if missing > 0 {
        reader.warnings.whole(format!(
            "{missing} pairs of a switch and a LID of its plane have no row; they go on service \
             level 0"
        ));
    }
    Ok((levels, reader.warnings.finish()))
}

/// Puts pairs without a level on level 0; how many of them are of one plane.
fn fill_unsaid(machine: &Machine, lids: Lids, wire: &WireLids, levels: &mut [u8]) -> usize {
    let planes: Vec<u32> =
        (0..lids.count()).map(|lid| wire.plane(lids.owner(Lid::from_index(lid)))).collect();
    let mut missing = 0;
    for (switch, row) in machine.switches().zip(levels.chunks_exact_mut(lids.count().max(1))) {
        let plane = machine.plane_of_switch(switch);
        for (level, &other) in row.iter_mut().zip(&planes).filter(|(level, _)| **level == UNSAID) {
            *level = 0;
            missing += usize::from(plane == other);
        }
    }
    missing
}

/// Writes SL-to-VL tables.
#[must_use]
pub fn write_sl_to_vl(machine: &Machine, tables: &SlToVl) -> String {
    let mut text = String::from("switch_guid,switch,in_ports,out_ports");
    for level in 0..SERVICE_LEVELS {
        let _ = write!(text, ",vl{level}");
    }
    text.push('\n');
    for switch in machine.switches() {
        let radix = machine.switch(switch).radix;
        let lanes = |input, output| -> [u8; SERVICE_LEVELS] {
            std::array::from_fn(|level| tables.lane(switch, input, output, level as u8))
        };
        // Inputs that map alike for every output, in order of their first.
        let mut groups: Vec<(Vec<[u8; SERVICE_LEVELS]>, Vec<u16>)> = Vec::new();
        for input in 0..=radix {
            let mapping: Vec<_> = (0..=radix).map(|output| lanes(input, output)).collect();
            match groups.iter_mut().find(|(other, _)| *other == mapping) {
                Some((_, inputs)) => inputs.push(input.into()),
                None => groups.push((mapping, vec![input.into()])),
            }
        }
        for (mapping, inputs) in groups {
            let mut outputs: BTreeMap<[u8; SERVICE_LEVELS], Vec<u16>> = BTreeMap::new();
            for (output, lanes) in (0u16..).zip(mapping) {
                outputs.entry(lanes).or_default().push(output);
            }
            let mut outputs: Vec<_> = outputs.into_iter().collect();
            outputs.sort_by_key(|(_, ports)| ports[0]);
            for (lanes, ports) in outputs {
                begin(&mut text, machine, switch);
                let (inputs, ports) = (inputs.iter().copied(), ports.iter().copied());
                let _ = write!(text, ",{},{}", ranges::write(inputs), ranges::write(ports));
                lanes.iter().for_each(|lane| {
                    let _ = write!(text, ",{lane}");
                });
                text.push('\n');
            }
        }
    }
    text
}

/// Reads SL-to-VL tables; port pairs without a row map as OpenSM does by default (lane = level, level 15 to lane 7).
///
/// # Errors
/// Missing columns, ill-formed values, or no switch of this fabric.
pub fn read_sl_to_vl(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
) -> Result<(SlToVl, Vec<Warning>), TableError> {
    let text = String::from_utf8_lossy(without_mark(bytes));
    let names: Vec<String> = (0..SERVICE_LEVELS).map(|level| format!("vl{level}")).collect();
    let mut columns = vec!["switch_guid", "in_ports", "out_ports"];
    columns.extend(names.iter().map(String::as_str));
    let mut rows = Rows::new(&text, label, &columns, MAPPING)?;
    let mut reader = Reader::new(machine);
    let mut mappings = Mappings::default();
    let ports = |switch: SwitchId| usize::from(machine.switch(switch).radix) + 1;
    let mut pairs: Vec<Vec<Option<u16>>> =
        machine.switches().map(|switch| vec![None; ports(switch) * ports(switch)]).collect();
    while let Some(row) = rows.next_row() {
        let row = row?;
        let Some(switch) = reader.switch(&rows, &row)? else { continue };
        let (count, pairs) = (ports(switch), &mut pairs[switch.index()]);
        let inputs = read_ports(&rows, &row, &row.values[1], count)?;
        let outputs = read_ports(&rows, &row, &row.values[2], count)?;
        let number = mappings.number(&rows, &row)?;
        for input in inputs.into_iter().flatten() {
            for output in outputs.iter().cloned().flatten() {
                let at = usize::from(input) * count + usize::from(output);
                let before = pairs[at].replace(number);
                if before.is_some_and(|before| before != number) {
                    reader.warnings.add(Kind::Doubled, row.line, || {
                        format!("ports {input} to {output} have an earlier row; the later counts")
                    });
                }
            }
        }
    }
    reader.nobody_is_an_error(label)?;
    let missing = pairs.iter().flatten().filter(|number| number.is_none()).count();
    if missing > 0 {
        reader.warnings.whole(format!(
            "{missing} pairs of ports have no row; they map as OpenSM does by default (lane = \
             level, level 15 to lane 7)"
        ));
    }
    let tables = SlToVl::new(machine, |switch, input, output| {
        let at = usize::from(input) * ports(switch) + usize::from(output);
        pairs[switch.index()][at]
            .map_or(OPENSM_DEFAULT, |number| mappings.list[usize::from(number)])
    })?;
    Ok((tables, reader.warnings.finish()))
}

/// Different mappings, numbered as they come.
#[derive(Default)]
struct Mappings {
    list: Vec<[u8; SERVICE_LEVELS]>,
    number_of: BTreeMap<[u8; SERVICE_LEVELS], u16>,
}

impl Mappings {
    /// The number of the mapping of a row.
    fn number(&mut self, rows: &Rows<'_>, row: &Row<'_>) -> Result<u16, TableError> {
        let mut lanes = [0; SERVICE_LEVELS];
        for (lane, value) in lanes.iter_mut().zip(&row.values[3..]) {
            let data_lane = value.parse().ok().filter(|&lane| lane <= 14);
            *lane = data_lane
                .ok_or_else(|| rows.error(row.line, format!("lane `{}`", shown(value))))?;
        }
        if let Some(&number) = self.number_of.get(&lanes) {
            return Ok(number);
        }
        // One number is left for pairs without a row.
        let number = u16::try_from(self.list.len()).ok().filter(|&number| number < u16::MAX);
        let number = number
            .ok_or_else(|| rows.error(row.line, "more than 65535 different mappings".to_owned()))?;
        self.number_of.insert(lanes, number);
        self.list.push(lanes);
        Ok(number)
    }
}

/// Ports of a switch that has `count` with its own.
fn read_ports(
    rows: &Rows<'_>,
    row: &Row<'_>,
    text: &str,
    count: usize,
) -> Result<Vec<std::ops::RangeInclusive<u16>>, TableError> {
    let fit = |runs: &Vec<std::ops::RangeInclusive<u16>>| {
        runs.iter().all(|run| usize::from(*run.end()) < count)
    };
    ranges::read(text).filter(fit).ok_or_else(|| {
        let found = format!("ports `{}` of a switch with {} ports", shown(text), count - 1);
        rows.error(row.line, found)
    })
}

/// The lanes that levels and tables make together.
#[must_use]
pub fn lanes(levels: Vec<u8>, tables: Option<SlToVl>) -> Lanes {
    match tables {
        Some(tables) => Lanes::ByPort(levels, tables),
        None if levels.iter().all(|&level| level == 0) => Lanes::Single,
        None => Lanes::PerPair(levels),
    }
}

/// No row has the pair.
const UNSAID: u8 = u8::MAX;

/// Lanes of the levels in OpenSM's default `qos_sl2vl`.
const OPENSM_DEFAULT: [u8; SERVICE_LEVELS] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7];

/// What reading both files shares: whose rows they are.
struct Reader {
    by_guid: HashMap<u64, SwitchId>,
    rows: usize,
    known: usize,
    warnings: Warnings,
}

impl Reader {
    fn new(machine: &Machine) -> Self {
        let by_guid = machine.switches().map(|s| (machine.switch(s).guid, s)).collect();
        Reader { by_guid, rows: 0, known: 0, warnings: Warnings::default() }
    }

    /// The switch that a row begins with; `None` if it is another fabric's.
    fn switch(&mut self, rows: &Rows<'_>, row: &Row<'_>) -> Result<Option<SwitchId>, TableError> {
        self.rows += 1;
        let text = &row.values[0];
        let guid = read_guid(text)
            .ok_or_else(|| rows.error(row.line, format!("switch_guid `{}`", shown(text))))?;
        let switch = self.by_guid.get(&guid).copied();
        match switch {
            Some(_) => self.known += 1,
            None => self.warnings.add(Kind::UnknownSwitch, row.line, || {
                format!("the fabric has no switch 0x{guid:016x}; the row is skipped")
            }),
        }
        Ok(switch)
    }

    fn nobody_is_an_error(&self, label: &str) -> Result<(), TableError> {
        if self.known > 0 {
            return Ok(());
        }
        Err(TableError::NothingUseful {
            label: label.to_owned(),
            found: format!("none of its {} rows is of a switch of this fabric", self.rows),
            advice: "take the fabric file and the lanes of the same fabric",
        })
    }
}

/// The first two values of a row.
fn begin(text: &mut String, machine: &Machine, switch: SwitchId) {
    let part = machine.switch(switch);
    let _ = write!(text, "0x{:016x},{}", part.guid, quote(&clean(&part.name)));
}

/// The part of a run that somebody could have, and one beyond: a run to 65535 is told of once.
fn clip(run: std::ops::RangeInclusive<u16>, top: u16) -> std::ops::RangeInclusive<u16> {
    let (first, last) = run.into_inner();
    first..=last.min(top.saturating_add(1).max(first))
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

#[cfg(test)]
mod tests;
