//! Forwarding tables, lanes and GUID lists as files have them.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use runflat_core::ids::EndpointId;
use runflat_core::machine::formats::Warning;
use runflat_core::machine::{LidOwner, Machine as CoreMachine, Names, SwitchGraph, WireLids};
use runflat_core::recovery::routing::check::check;
use runflat_core::recovery::routing::formats::{
    self, Export, TABLE_FORMATS, TableError, guid_list, lanes_csv, load_command,
};
use runflat_core::recovery::routing::{Lanes, Routing as CoreRouting, SlToVl, update};

use crate::errors::{FormatError, RoutingError};
use crate::machine::Machine;
use crate::parts;
use crate::raise;
use crate::routing::Routing;
use crate::table::{Column, Table};

/// A file: what is in it and what messages call it.
type File = (Vec<u8>, String);
type Warnings = Vec<(String, usize, String)>;

fn told(warnings: Vec<Warning>, label: &str) -> Warnings {
    warnings.into_iter().map(|one| (label.to_owned(), one.line, one.text)).collect()
}

/// LIDs of the subnet: from `guid2lid`, or those of the fabric file.
fn wire_lids(
    machine: &CoreMachine,
    guid2lid: Option<&File>,
    lmc: Option<u8>,
) -> Result<(WireLids, Warnings), TableError> {
    match (guid2lid, lmc) {
        (Some((bytes, label)), _) => {
            let (lids, warnings) = WireLids::read_guid2lid(machine, bytes, label)?;
            Ok((lids, told(warnings, label)))
        }
        (None, Some(lmc)) => Ok((WireLids::with_lmc(machine, lmc)?, Vec::new())),
        (None, None) => Ok((WireLids::of_machine(machine)?, Vec::new())),
    }
}

/// Reads tables and, if given, the lanes that go with them; returns the routing, its format and warnings (file, line, text).
#[pyfunction]
#[pyo3(signature = (machine, tables, guid2lid, levels, sl_to_vl, lmc))]
pub fn read_tables(
    py: Python<'_>,
    machine: &Machine,
    tables: File,
    guid2lid: Option<File>,
    levels: Option<File>,
    sl_to_vl: Option<File>,
    lmc: Option<u8>,
) -> PyResult<(Routing, &'static str, Warnings)> {
    let view = machine.view.clone();
    let read = || -> Result<_, TableError> {
        let machine = view.machine();
        let (wire, mut warnings) = wire_lids(machine, guid2lid.as_ref(), None)?;
        let (bytes, label) = &tables;
        let import = formats::read(bytes, label, machine, &wire, lmc)?;
        warnings.extend(told(import.warnings, label));
        let mut routing = CoreRouting::single_lane(import.lft);
        if let Some((bytes, label)) = &levels {
            let lids = routing.lft.lids();
            let (levels, more) = lanes_csv::read_levels(bytes, label, machine, &wire, lids)?;
            warnings.extend(told(more, label));
            let mut mapping: Option<SlToVl> = None;
            if let Some((bytes, label)) = &sl_to_vl {
                let (found, more) = lanes_csv::read_sl_to_vl(bytes, label, machine)?;
                warnings.extend(told(more, label));
                mapping = Some(found);
            }
            let lanes = lanes_csv::lanes(levels, mapping);
            routing = CoreRouting::in_lanes(routing.lft, lanes);
        }
        Ok((routing, import.format, warnings))
    };
    let (routing, format, warnings) = py.detach(read).map_err(raise::<FormatError>)?;
    Ok((Routing::new(view, routing), format, warnings))
}

/// Finds the parts that a GUID file names: `switches`, `endpoints` or `owners`, as texts that engines take.
#[pyfunction]
pub fn read_guids(machine: &Machine, file: File, kind: &str) -> PyResult<(Vec<String>, Warnings)> {
    let machine = machine.view.machine();
    let (bytes, label) = &file;
    let switch = |guid: u64| format!("0x{guid:016x}");
    let endpoint = |end: EndpointId| format!("0x{:016x}", machine.endpoint_info(end).guid);
    let found = match kind {
        "switches" => guid_list::switches(bytes, label, machine).map(|(found, warnings)| {
            (found.into_iter().map(|s| switch(machine.switch(s).guid)).collect(), warnings)
        }),
        "endpoints" => guid_list::endpoints(bytes, label, machine).map(|(found, warnings)| {
            (found.into_iter().map(endpoint).collect::<Vec<_>>(), warnings)
        }),
        _ => guid_list::owners(bytes, label, machine).map(|(found, warnings)| {
            let text = |owner| match owner {
                LidOwner::Switch(s) => switch(machine.switch(s).guid),
                LidOwner::Endpoint(end) => endpoint(end),
            };
            (found.into_iter().map(text).collect(), warnings)
        }),
    };
    let (names, warnings) = found.map_err(raise::<FormatError>)?;
    Ok((names, told(warnings, label)))
}

/// Every table format: name and summary.
#[pyfunction]
pub fn table_formats() -> Vec<(&'static str, &'static str)> {
    TABLE_FORMATS.iter().map(|format| (format.names()[0], format.summary())).collect()
}

/// Writes tables in a format of theirs, or `sl`, `sl2vl` or `guid2lid`, which go with them.
#[pyfunction]
#[pyo3(signature = (routing, format, guid2lid, plane))]
pub fn write_tables(
    py: Python<'_>,
    routing: &Routing,
    format: &str,
    guid2lid: Option<File>,
    plane: Option<u32>,
) -> PyResult<String> {
    let (view, routing) = (&routing.view, &routing.routing);
    let machine = view.machine();
    let planes = machine.plane_count() as u32;
    if let Some(plane) = plane.filter(|&plane| plane >= planes) {
        let wrong = format!("`plane` is a number from 0 to {}, got {plane}", planes.max(1) - 1);
        return Err(raise::<RoutingError>(wrong));
    }
    let write = || -> Result<String, TableError> {
        let lids = routing.lft.lids();
        let (wire, _) = wire_lids(machine, guid2lid.as_ref(), Some(lids.lmc()))?;
        match (format, &routing.lanes) {
            ("guid2lid", _) => Ok(wire.write_guid2lid(machine, plane.unwrap_or(0))),
            ("sl", lanes) => lanes_csv::write_levels(machine, &wire, lids, lanes),
            ("sl2vl", Lanes::ByPort(_, tables)) => Ok(lanes_csv::write_sl_to_vl(machine, tables)),
            ("sl2vl", _) => Ok(String::new()),
            _ => {
                let graph = SwitchGraph::new(view);
                let export = Export { graph: &graph, wire: &wire, lft: &routing.lft, plane };
                formats::write(&export, format)
            }
        }
    };
    py.detach(write).map_err(raise::<FormatError>)
}

/// The safe order of block writes that turns tables into those of a re-routed fabric; the fields of `runflat.Update`.
#[pyfunction]
#[pyo3(signature = (old, new, guid2lid, blocks))]
pub fn plan_update<'py>(
    py: Python<'py>,
    old: &Routing,
    new: &Routing,
    guid2lid: Option<File>,
    blocks: bool,
) -> PyResult<Bound<'py, PyDict>> {
    old.same_machine(new)?;
    let view = &new.view;
    let lmc = new.routing.lft.lids().lmc();
    let plan = || -> Result<_, String> {
        let graph = SwitchGraph::new(view);
        let (wire, _) = wire_lids(view.machine(), guid2lid.as_ref(), Some(lmc))
            .map_err(|error| error.to_string())?;
        let update = update::plan(&graph, &wire, &old.routing.lft, &new.routing.lft)
            .map_err(|error| error.to_string())?;
        let cycle = update::credit_cycle(&graph, &old.routing, &new.routing)
            .map_err(|error| error.to_string())?;
        let alive = |switch| view.switch_alive(switch);
        let mut tables = old.routing.lft.clone();
        let contents: Vec<String> = update
            .writes
            .iter()
            .filter(|_| blocks)
            .map(|write| {
                write.apply(&graph, &wire, &mut tables, &new.routing.lft);
                hex(&write.ports(&graph, &wire, &tables))
            })
            .collect();
        Ok((update, cycle, old.routing.changed_levels(&new.routing, alive), contents))
    };
    let (update, cycle, changed_levels, contents) =
        py.detach(plan).map_err(raise::<RoutingError>)?;
    let machine = view.machine();
    let names = Names::new(machine);
    let cycle = cycle.map(|cycle| {
        let channels = cycle.channels.iter();
        channels.map(|&channel| parts::channel(machine, &names, channel)).collect::<Vec<_>>()
    });
    let switch_names: Vec<String> = machine.switches().map(|s| names.switch(s)).collect();
    let writes = &update.writes;
    let mut columns = vec![
        ("round", Column::int(writes.iter().map(|write| u64::from(write.round)))),
        ("switch", Column::text(writes.iter().map(|w| switch_names[w.switch.index()].clone()))),
        ("block", Column::int(writes.iter().map(|write| u64::from(write.block)))),
        ("set", Column::int(writes.iter().map(|w| u64::from(w.set.count_ones())))),
        ("clear", Column::int(writes.iter().map(|w| u64::from(w.clear.count_ones())))),
    ];
    if blocks {
        let guid =
            |write: &update::BlockWrite| format!("0x{:016x}", machine.switch(write.switch).guid);
        columns.push(("switch_guid", Column::text(writes.iter().map(guid))));
        columns.push(("ports", Column::text(contents.into_iter())));
    }
    let writes = Table::from_columns(columns)?;
    let found = PyDict::new(py);
    found.set_item("changed_entries", update.changed_entries)?;
    found.set_item("changed_levels", changed_levels)?;
    found.set_item("changed_blocks", update.changed_blocks)?;
    found.set_item("rounds", update.rounds)?;
    found.set_item("extra_writes", update.extra_writes())?;
    found.set_item("dropped_entries", update.dropped_entries)?;
    found.set_item("credit_cycle", cycle)?;
    found.set_item("writes", writes)?;
    Ok(found)
}

/// The OpenSM command that loads tables written to `file`, and what to know before running it.
#[pyfunction]
pub fn opensm_command(
    py: Python<'_>,
    routing: &Routing,
    file: &str,
    cache: Option<&str>,
    engine: Option<&str>,
) -> (String, Vec<String>) {
    // OpenSM's file engine knows no lanes: what it will run is these tables on one.
    let alone = CoreRouting::single_lane(routing.routing.lft.clone());
    let alone = py.detach(|| check(&SwitchGraph::new(&routing.view), &alone));
    let load = load_command(&routing.routing, &alone, file, cache, engine);
    (load.command, load.notes)
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
