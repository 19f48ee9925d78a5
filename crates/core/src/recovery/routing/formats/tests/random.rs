use proptest::prelude::*;

use super::*;
use crate::machine::samples::{broken_machine, random_machine};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn random_tables_come_back_from_every_format(
        switches in 1usize..10, nodes in 0usize..20, seed in any::<u64>(), lmc in 0u8..4,
        full in any::<bool>(), crlf in any::<bool>(),
    ) {
        let machine = random_machine(switches, 8, nodes, 2, seed);
        let view = View::intact(std::sync::Arc::new(machine));
        let (machine, graph) = (view.machine(), SwitchGraph::new(&view));
        let wire = WireLids::with_lmc(machine, lmc).unwrap();
        let lft = random_tables(machine, &wire, lmc, seed, full);
        for format in TABLE_FORMATS {
            let tables = Export { graph: &graph, wire: &wire, lft: &lft, plane: None };
            let text = write(&tables, format.names()[0]).unwrap();
            let text = if crlf { text.replace('\n', " \r\n") } else { text };
            // The mask count of a few entries cannot be guessed.
            let given = (!full || nodes == 0).then_some(lmc);
            let import = read(text.as_bytes(), "f", machine, &wire, given).unwrap();
            prop_assert_eq!(import.format, format.names()[0]);
            prop_assert_eq!(&import.lft, &lft);
        }
    }

    #[test]
    fn tables_of_a_broken_fabric_come_back(view in broken_machine(2), lmc in 0u8..3) {
        let graph = SwitchGraph::new(&view);
        let options = RouteOptions { lmc, ..RouteOptions::default() };
        let engine = bind("minhop", &Given::new()).unwrap();
        let Outcome::Routed(routing) = engine.route(&graph, &options) else { panic!("refused") };
        let wire = WireLids::with_lmc(view.machine(), lmc).unwrap();
        for format in TABLE_FORMATS {
            let tables = Export { graph: &graph, wire: &wire, lft: &routing.lft, plane: None };
            let text = write(&tables, format.names()[0]).unwrap();
            match read(text.as_bytes(), "f", view.machine(), &wire, Some(lmc)) {
                Ok(import) => prop_assert_eq!(&import.lft, &routing.lft),
                // The only switch may be dead.
                Err(_) => prop_assert!(routing.lft.ports().iter().all(|&port| port == Lft::NONE)),
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        lines in proptest::collection::vec(line(), 0..30),
    ) {
        let view = view_of(NET);
        let wire = WireLids::of_machine(view.machine()).unwrap();
        let _ = read(&bytes, "f", view.machine(), &wire, None);
        let _ = read(lines.join("\n").as_bytes(), "f", view.machine(), &wire, None);
    }

    #[test]
    fn damaged_tables_are_read_without_panic(
        which in 0usize..4, seed in any::<u64>(), times in 1usize..20,
    ) {
        let view = view_of(NET);
        let texts = [
            DUMP,
            data!("ring5.opensm.fdbs"),
            data!("ring5_lmc1.dump_fts"),
            data!("ring5.dump_fts-n"),
        ];
        let mut bytes = texts[which].as_bytes().to_vec();
        let mut draw = Seed(seed).stream("test.damage", 0);
        for _ in 0..times {
            let (at, other) = (draw.index(bytes.len()), draw.index(bytes.len()));
            match draw.below(4) {
                0 => bytes[at] = draw.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => { bytes.remove(at); if bytes.is_empty() { bytes.push(b'0') } }
                _ => { let byte = bytes[other]; bytes.insert(at, byte) }
            }
        }
        let wire = WireLids::of_machine(view.machine()).unwrap();
        let _ = read(&bytes, "f", view.machine(), &wire, None);
    }
}

/// Lines that are nearly right.
fn line() -> impl Strategy<Value = String> {
    let guid = prop_oneof![
        Just("0x0000000000530001".to_owned()),
        Just("0x0000000000530002".to_owned()),
        Just("0x0000000000480011".to_owned()),
        "0x[0-9a-f]{0,18}",
    ];
    prop_oneof![
        (0u32..99999, guid.clone()).prop_map(|(lid, guid)| format!(
            "Unicast lids [0-10] of switch Lid {lid} guid {guid} ('S0'):"
        )),
        guid.clone().prop_map(|guid| format!("dump_ucast_routes: Switch {guid}")),
        ("0x[0-9a-f]{1,5}", 0u32..300, guid)
            .prop_map(|(lid, port, guid)| format!("{lid} {port:03} # Switch portguid {guid}: 'x'")),
        ("0x[0-9a-f]{1,4}", 0u32..300).prop_map(|(lid, port)| format!("{lid} : {port:03}  : 01")),
        "[0-9]{1,12}( valid)? lids dumped",
        "[ -~]{0,30}",
    ]
}
