//! Any bytes as the files of a routing: tables, lanes, LIDs and lists of GUIDs are read or refused; tables and lanes that were
//! read can be checked, written and read again.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use runflat_core::machine::formats::read as read_fabric;
use runflat_core::machine::{Machine, SwitchGraph, View, WireLids};
use runflat_core::recovery::routing::check::check;
use runflat_core::recovery::routing::formats::{self, Export, TABLE_FORMATS, guid_list, lanes_csv};
use runflat_core::recovery::routing::{Lft, Routing};

/// The fabric that the samples of OpenSM and of infiniband-diags belong to.
static MACHINE: LazyLock<Arc<Machine>> = LazyLock::new(|| {
    let text = include_bytes!("../../../../tests/opensm/samples/ibnetdiscover");
    Arc::new(read_fabric(text, "samples").unwrap().machine)
});

fuzz_target!(|bytes: &[u8]| {
    let machine = &**MACHINE;
    let _ = WireLids::read_guid2lid(machine, bytes, "fuzz");
    let _ = guid_list::read(bytes, "fuzz");
    let wire = WireLids::of_machine(machine).unwrap();
    let lids = Lft::empty(machine, 0).lids();
    let levels = lanes_csv::read_levels(bytes, "fuzz", machine, &wire, lids);
    if let Ok((levels, _)) = levels {
        let lanes = lanes_csv::lanes(levels.clone(), None);
        let text = lanes_csv::write_levels(machine, &wire, lids, &lanes).unwrap();
        let again = lanes_csv::read_levels(text.as_bytes(), "again", machine, &wire, lids);
        assert_eq!(again.unwrap().0, levels);
    }
    if let Ok((tables, _)) = lanes_csv::read_sl_to_vl(bytes, "fuzz", machine) {
        let text = lanes_csv::write_sl_to_vl(machine, &tables);
        let again = lanes_csv::read_sl_to_vl(text.as_bytes(), "again", machine).unwrap();
        assert_eq!(lanes_csv::write_sl_to_vl(machine, &again.0), text);
    }
    let Ok(found) = formats::read(bytes, "fuzz", machine, &wire, None) else { return };
    let view = View::intact(MACHINE.clone());
    let graph = SwitchGraph::new(&view);
    check(&graph, &Routing::single_lane(found.lft.clone()));
    let Ok(wire) = WireLids::with_lmc(machine, found.lft.lids().lmc()) else { return };
    let tables = Export { graph: &graph, wire: &wire, lft: &found.lft, plane: None };
    for format in TABLE_FORMATS {
        let Ok(text) = formats::write(&tables, format.names()[0]) else { continue };
        let lmc = Some(found.lft.lids().lmc());
        let again = formats::read(text.as_bytes(), "again", machine, &wire, lmc);
        if format.names()[0] != "fdbs" {
            // `fdbs` names LIDs alone: of senseless tables a switch's own LID may be taken from the entry with port 0.
            assert_eq!(again.unwrap().lft, found.lft, "{}", format.names()[0]);
        }
    }
});
