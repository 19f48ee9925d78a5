use super::*;
use crate::ids::Lid;
use crate::machine::samples::{generated, ring};
use crate::machine::{LidOwner, View};
use crate::params::Given;
use crate::recovery::routing::engines::bind;
use crate::recovery::routing::{Outcome, RouteOptions, Routing, Verdict, check};
use crate::rng::Seed;

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tables/", $name))
    };
}

const NET: &str = data!("ring5.ibnetdiscover");
const DUMP: &str = data!("ring5.opensm-lfts.dump");

fn view_of(text: &str) -> View {
    let import = crate::machine::formats::read(text.as_bytes(), "net").unwrap();
    View::intact(std::sync::Arc::new(import.machine))
}

fn read_text(text: &str, machine: &Machine) -> Result<TableImport, TableError> {
    let wire = WireLids::of_machine(machine).unwrap();
    read(text.as_bytes(), "tables", machine, &wire, None)
}

fn told(warnings: &[Warning]) -> Vec<(usize, &str)> {
    warnings.iter().map(|warning| (warning.line, warning.text.as_str())).collect()
}

/// Tables of any ports, sparse or not; entries for LIDs of other planes are left out, as files cannot hold them.
fn random_tables(machine: &Machine, wire: &WireLids, lmc: u8, seed: u64, full: bool) -> Lft {
    let mut draw = Seed(seed).stream("test.tables", 0);
    let mut lft = Lft::empty(machine, lmc);
    let lids = lft.lids();
    for switch in machine.switches() {
        let radix = u64::from(machine.switch(switch).radix);
        for lid in (0..lids.count()).map(Lid::from_index) {
            let owner = lids.owner(lid);
            if wire.plane(owner) != machine.plane_of_switch(switch) {
                continue;
            }
            if owner == LidOwner::Switch(switch) {
                lft.set(switch, lid, 0);
            } else if full || draw.below(3) > 0 {
                lft.set(switch, lid, 1 + draw.below(radix) as u8);
            }
        }
    }
    lft
}

#[test]
fn names_of_formats_are_unique_and_found() {
    let mut names: Vec<&str> = TABLE_FORMATS.iter().flat_map(|f| f.names()).copied().collect();
    assert!(names.iter().all(|name| find(name).is_ok()));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(
        find("lft").err().unwrap().to_string(),
        "there is no table format `lft`; there are opensm (opensm-lfts.dump, which `opensm -R file \
         -U` loads), ibroute (the output of ibroute, dump_fts or dump_lfts), fdbs (opensm.fdbs, \
         with hops; names LIDs alone)"
    );
}

#[test]
fn tables_of_the_real_programs_are_read_alike() {
    let view = view_of(NET);
    let machine = view.machine();
    let dump = read_text(DUMP, machine).unwrap();
    assert_eq!((dump.format, dump.switches, dump.entries), ("opensm", 5, 50));
    assert_eq!(dump.warnings, []);
    for (format, text) in [
        ("fdbs", data!("ring5.opensm.fdbs")),
        ("fdbs", data!("ring5.loaded.fdbs")),
        ("ibroute", data!("ring5.dump_fts")),
        ("ibroute", data!("ring5.dump_fts-n")),
    ] {
        let import = read_text(text, machine).unwrap();
        assert_eq!((import.format, &import.lft, import.warnings), (format, &dump.lft, vec![]));
    }
    let one = read_text(data!("ring5.ibroute"), machine).unwrap();
    assert_eq!(one.switches, 1);
    assert_eq!(
        told(&one.warnings),
        [(0, "4 switches have no table, `S3` the first; they forward nothing")]
    );
    let graph = SwitchGraph::new(&view);
    let check = check::check(&graph, &Routing::single_lane(dump.lft));
    assert_eq!((check.verdict(), check.pairs, check.hops_max), (Verdict::Ok, 20, 3));
}

#[test]
fn tables_are_written_as_the_real_programs_write_them() {
    let view = view_of(NET);
    let graph = SwitchGraph::new(&view);
    let wire = WireLids::of_machine(view.machine()).unwrap();
    let lft = read_text(DUMP, view.machine()).unwrap().lft;
    let tables = Export { graph: &graph, wire: &wire, lft: &lft, plane: Some(0) };
    assert_eq!(write(&tables, "opensm").unwrap(), DUMP);
    assert_eq!(write(&tables, "fdbs").unwrap(), data!("ring5.loaded.fdbs"));
    let written = write(&tables, "ibroute").unwrap();
    assert!(written.starts_with(data!("ring5.ibroute")));
    assert_eq!(blocks(&written), blocks(data!("ring5.dump_fts")));
}

#[test]
fn a_trees_tables_go_in_and_out_unchanged_with_one_lid_a_port_and_with_two() {
    let view = view_of(data!("tree.ibnetdiscover"));
    let graph = SwitchGraph::new(&view);
    for (lmc, guid2lid, dump) in [
        (0, data!("tree.guid2lid"), data!("tree.opensm-lfts.dump")),
        (1, data!("tree_lmc1.guid2lid"), data!("tree_lmc1.opensm-lfts.dump")),
    ] {
        let machine = view.machine();
        let (wire, _) = WireLids::read_guid2lid(machine, guid2lid.as_bytes(), "g").unwrap();
        let import = read(dump.as_bytes(), "tables", machine, &wire, None).unwrap();
        assert_eq!((import.lft.lids().lmc(), import.warnings), (lmc, vec![]));
        let tables = Export { graph: &graph, wire: &wire, lft: &import.lft, plane: None };
        assert_eq!(write(&tables, "opensm").unwrap(), dump);
        if lmc == 0 {
            assert_eq!(write(&tables, "fdbs").unwrap(), data!("tree.opensm.fdbs"));
            let written = write(&tables, "ibroute").unwrap();
            assert_eq!(blocks(&written), blocks(data!("tree.dump_fts")));
        }
        let check = check::check(&graph, &Routing::single_lane(import.lft));
        assert_eq!((check.verdict(), check.pairs), (Verdict::Ok, 12 << lmc));
    }
}

/// The tables of a dump without what tells the way to the switch, sorted.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = text
        .split("Unicast lids ")
        .skip(1)
        .map(|block| {
            let (range, rest) = block.split_once("] of switch ").unwrap();
            format!("{range} {}", rest.split_once("guid ").unwrap().1)
        })
        .collect();
    blocks.sort_unstable();
    blocks
}

#[test]
fn several_lids_a_port_are_read_and_written_as_the_real_programs_have_them() {
    // The fabric of LMC 0, and the LIDs that OpenSM gave it for LMC 1.
    let view = view_of(NET);
    let machine = view.machine();
    let (wire, warnings) =
        WireLids::read_guid2lid(machine, data!("ring5_lmc1.guid2lid").as_bytes(), "g").unwrap();
    assert_eq!(warnings, []);
    let dump = data!("ring5_lmc1.opensm-lfts.dump");
    let import = read(dump.as_bytes(), "tables", machine, &wire, None).unwrap();
    assert_eq!((import.lft.lids().lmc(), import.warnings), (1, vec![]));
    for text in [data!("ring5_lmc1.opensm.fdbs"), data!("ring5_lmc1.dump_fts")] {
        let other = read(text.as_bytes(), "tables", machine, &wire, None).unwrap();
        assert_eq!((other.lft, other.warnings), (import.lft.clone(), vec![]));
    }
    // GUIDs tell whose LIDs they are even if the fabric has other ones.
    assert_eq!(read_text(dump, machine).unwrap().lft, import.lft);
    let graph = SwitchGraph::new(&view);
    let tables = Export { graph: &graph, wire: &wire, lft: &import.lft, plane: None };
    assert_eq!(write(&tables, "opensm").unwrap(), dump);
    assert_eq!(write(&tables, "fdbs").unwrap(), data!("ring5_lmc1.opensm.fdbs"));
    assert_eq!(blocks(&write(&tables, "ibroute").unwrap()), blocks(data!("ring5_lmc1.dump_fts")));
    let error = read_text(data!("ring5_lmc1.opensm.fdbs"), machine).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tables:6: LID 4 is switch `S0` here, but switch `S2` by the numbers of the fabric, and so \
         for 5 of 5 switches; lines without port GUIDs would go to the wrong ports (give the \
         guid2lid file of the same time, or tables with port GUIDs)"
    );
}

#[test]
fn planes_are_written_one_by_one_or_together() {
    let view = generated("rail-fat-tree(16; 4; 16; spines=none)");
    let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
    let wire = WireLids::with_lmc(machine, 0).unwrap();
    let lft = random_tables(machine, &wire, 0, 1, true);
    for format in TABLE_FORMATS {
        let export = |plane| {
            let tables = Export { graph: &graph, wire: &wire, lft: &lft, plane };
            write(&tables, format.names()[0]).unwrap()
        };
        let import = read_text(&export(None), machine).unwrap();
        assert_eq!(import.lft, lft);
        let one = read_text(&export(Some(1)), machine).unwrap();
        assert_eq!(one.switches, 1);
        let others: Vec<String> =
            (0..machine.plane_count()).filter(|&p| p != 1).map(|p| p.to_string()).collect();
        let text = format!("no table is of plane {}; nothing is routed there", others.join(", "));
        assert!(one.warnings.contains(&Warning { line: 0, text }), "{:?}", one.warnings);
    }
    let tables = Export { graph: &graph, wire: &wire, lft: &lft, plane: Some(99) };
    let error = write(&tables, "opensm").unwrap_err().to_string();
    assert!(error.starts_with("there is no plane 99; the machine has "), "{error}");
    let other = ring(3, 1);
    let lft = Lft::empty(other.machine(), 0);
    assert!(matches!(
        write(&Export { graph: &graph, wire: &wire, lft: &lft, plane: None }, "fdbs"),
        Err(TableError::OtherMachine { lids: 6 })
    ));
}

#[test]
fn what_is_odd_in_a_file_is_told_with_its_line() {
    let view = view_of(NET);
    let machine = view.machine();
    let text = "0x0001 003\n\
        ibwarn: something\n\
        Unicast lids [0-10] of switch Lid 2 guid 0x0000000000530001 ('S0'):\r\n\
        0x0001 003 # Channel Adapter portguid 0x0000000000480011: 'H0'  \r\n\
        0x0002 000 # Switch portguid 0x0000000000530001: 'S0'\n\
        0x0003 004 # Switch portguid 0x0000000000530002: 'S1'\n\
        0x0004 0zz # Switch portguid 0x0000000000530003: 'S2'\n\
        0x0005 001 # Switch portguid 0x0000000000990000: 'gone'\n\
        0xc001 001\n\
        0x0fff 001\n\
        0x0001 002 # Channel Adapter portguid 0x0000000000480011: 'H0'\n\
        10 lids dumped\n\
        Unicast lids [0-10] of switch Lid 9 guid 0x0000000000990001 ('?'):\n\
        0x0001 003\n\
        10 lids dumped\n\
        Unicast lids [0-10] of switch Lid 2 guid 0x0000000000530001 ('S0'):\n\
        0x0001 001\n\
        0x0002 000\n\
        3 valid lids dumped\n\
        Unicast lids [0-10] of switch Lid 3 guid 0x0000000000530002 ('S1'):\n\
        0x0002 002 # Switch portguid 0x0000000000530009: 'S0'\n";
    let import = read_text(text, machine).unwrap();
    assert_eq!((import.switches, import.entries), (2, 4));
    assert_eq!(
        told(&import.warnings),
        [
            (0, "3 switches have no table, `S3` the first; they forward nothing"),
            (
                0,
                "4 ports have LIDs to which no table has a route, `H3[1]` the first; if the fabric's \
                 LIDs are others by now, give those of the tables with guid2lid",
            ),
            (1, "the entry is skipped: no switch was named yet"),
            (2, "`ibwarn: something` is skipped: it is no part of a table"),
            (6, "port 4 of `S0` has no cable; LID 3 gets no further"),
            (
                7,
                "`0x0004 0zz # Switch portguid 0x0000000000530003: 'S2'` is skipped: an entry \
                 reads `0x0001 030`, with a LID of 4 hexadecimal digits and a port from 0 to 255"
            ),
            (8, "nobody has port GUID 0x0000000000990000; the entries for LID 5 are skipped"),
            (9, "LID 49153 is skipped: unicast LIDs are 1 to 49151"),
            (10, "nobody has LID 4095; its entries are skipped"),
            (11, "LID 1 has an entry in this table already; the later one counts"),
            (13, "the fabric has no switch 0x0000000000990001; its table is skipped"),
            (
                16,
                "`S0` has a table from line 3 on already; 1 entries differ, and the later ones \
                 count"
            ),
            (19, "the table of `S0` has 2 entries, not 3"),
            (
                21,
                "LID 2 is port GUID 0x0000000000530009 here and 0x0000000000530001 from line 3 on; \
                 taken as the latter"
            ),
            (21, "the table of `S1` from line 20 on has no closing line; it may be cut off"),
        ]
    );
}

#[test]
fn warnings_of_a_kind_are_few_and_the_rest_counted() {
    let view = view_of(NET);
    let noise = format!("{DUMP}{}", "what?\n".repeat(1000));
    let import = read_text(&noise, view.machine()).unwrap();
    assert_eq!(import.warnings.len(), 4);
    assert_eq!(
        import.warnings[0],
        Warning {
            line: 0,
            text: "997 more lines that are no part of a table are not listed".into()
        }
    );
}

#[test]
fn files_of_which_nothing_can_be_used_are_errors() {
    let view = view_of(NET);
    let sentence = |text: &str| read_text(text, view.machine()).unwrap_err().to_string();
    let known = known();
    assert_eq!(sentence(""), format!("tables: found an empty file; forwarding tables are {known}"));
    assert_eq!(
        sentence("Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x1:\n"),
        format!("tables: found multicast tables; forwarding tables are {known}")
    );
    assert_eq!(
        sentence(&DUMP.replace("0x00000000005", "0x00000000006")),
        "tables: none of its 5 tables is of a switch of this fabric, 0x0000000000630001 the first \
         (take the fabric file and the tables from the same subnet)"
    );
    let strangers = DUMP.replace("portguid 0x0000", "portguid 0x1000");
    assert_eq!(
        sentence(&strangers),
        "tables: none of the entries of its 5 tables leads to a known port (take the fabric file \
         and the tables from the same subnet, or give the guid2lid file)"
    );
    let wire = WireLids::of_machine(view.machine()).unwrap();
    let error = read(DUMP.as_bytes(), "tables", view.machine(), &wire, Some(8)).unwrap_err();
    assert_eq!(error.to_string(), "a LID mask count is 0 to 7, got 8");
}

#[test]
fn numbers_of_ports_that_moved_are_worth_nothing() {
    let view = view_of(NET);
    // OpenSM's name for a LID that nobody has; in the fabric file it is H3's.
    let (wire, _) = WireLids::read_guid2lid(
        view.machine(),
        data!("ring5_lmc1.guid2lid").as_bytes(),
        "guid2lid",
    )
    .unwrap();
    let text = DUMP.replace("\n0x0009 ", "\n0x000c ");
    let text = text.replace("0x0007 001 #", "0x0009 002 # unknown node and type\n0x0007 001 #");
    let import = read(text.as_bytes(), "f", view.machine(), &wire, None).unwrap();
    assert_eq!(told(&import.warnings), [(8, "nobody has LID 9; its entries are skipped")]);
    let import = read_text(&text, view.machine()).unwrap();
    assert_eq!(told(&import.warnings), [(8, "nobody has LID 9; its entries are skipped")]);
}

#[test]
fn numbers_made_up_here_are_used_with_a_warning() {
    let view = ring(4, 2);
    let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
    let wire = WireLids::of_machine(machine).unwrap();
    let Outcome::Routed(routing) =
        bind("minhop", &Given::new()).unwrap().route(&graph, &RouteOptions::default())
    else {
        panic!("refused")
    };
    let tables = Export { graph: &graph, wire: &wire, lft: &routing.lft, plane: None };
    let import = read_text(&write(&tables, "fdbs").unwrap(), machine).unwrap();
    assert_eq!(import.lft, routing.lft);
    assert_eq!(
        told(&import.warnings),
        [(
            0,
            "8 LIDs without port GUIDs are matched by numbers that runflat made up, since the \
             fabric file gives none; right only for tables that runflat wrote (else give the \
             guid2lid file)"
        )]
    );
}

#[test]
#[ignore = "a timing: run with --release --nocapture"]
fn a_large_fat_trees_tables_are_written_and_read() {
    let view = generated("fat-tree(36; 3)");
    let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
    let engine = bind("minhop", &Given::new()).unwrap();
    let Outcome::Routed(routing) = engine.route(&graph, &RouteOptions::default()) else {
        panic!("refused")
    };
    let wire = WireLids::of_machine(machine).unwrap();
    for format in TABLE_FORMATS {
        let tables = Export { graph: &graph, wire: &wire, lft: &routing.lft, plane: None };
        let start = std::time::Instant::now();
        let text = write(&tables, format.names()[0]).unwrap();
        let written = start.elapsed();
        let import = read_text(&text, machine).unwrap();
        println!(
            "{}: {} MB, written in {written:?}, read in {:?}",
            format.names()[0],
            text.len() >> 20,
            start.elapsed() - written
        );
        assert!(import.lft == routing.lft);
    }
}

mod random;
