use proptest::prelude::*;

use super::*;
use crate::machine::samples::{random_machine, ring};
use crate::rng::Seed;

fn told(warnings: &[Warning]) -> Vec<(usize, &str)> {
    warnings.iter().map(|warning| (warning.line, warning.text.as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn lanes_come_back_from_csv(
        switches in 1usize..8, nodes in 0usize..15, seed in any::<u64>(), lmc in 0u8..3,
        by_port in any::<bool>(),
    ) {
        let machine = random_machine(switches, 4, nodes, 2, seed);
        let wire = WireLids::with_lmc(&machine, lmc).unwrap();
        let lids = machine.lids().with_lmc(lmc);
        let mut draw = Seed(seed).stream("test.lanes", 0);
        let most = 1 + draw.below(16);
        let levels: Vec<u8> =
            (0..machine.switch_count() * lids.count()).map(|_| draw.below(most) as u8).collect();
        let tables = by_port.then(|| {
            SlToVl::new(&machine, |_, input, output| {
                let shift = u64::from(input) / 30 + draw.below(1 + u64::from(output) / 60);
                std::array::from_fn(|level| ((level as u64 + shift) % 15) as u8)
            })
            .unwrap()
        });
        let lanes = super::lanes(levels, tables);
        let text = write_levels(&machine, &wire, lids, &lanes).unwrap();
        let (levels, warnings) =
            read_levels(text.as_bytes(), "l", &machine, &wire, lids).unwrap();
        prop_assert_eq!(warnings, vec![]);
        let tables = if let Lanes::ByPort(_, tables) = &lanes {
            let text = write_sl_to_vl(&machine, tables);
            let (again, warnings) =
                read_sl_to_vl(text.as_bytes(), "t", &machine).unwrap();
            prop_assert_eq!(warnings, vec![]);
            Some(again)
        } else {
            None
        };
        prop_assert_eq!(super::lanes(levels, tables), lanes);
    }

    #[test]
    fn any_csv_is_read_without_panic(
        lines in proptest::collection::vec("[0-9x,\" -]{0,40}", 0..10),
    ) {
        let view = ring(3, 1);
        let machine = view.machine();
        let wire = WireLids::of_machine(machine).unwrap();
        let levels = format!("switch_guid,sl,lids\n{}", lines.join("\n0x53000000000001,"));
        let _ = read_levels(levels.as_bytes(), "f", machine, &wire, machine.lids());
        let head = write_sl_to_vl(machine, &SlToVl::new(machine, |_, _, _| [0; 16]).unwrap());
        let tables = format!("{head}{}", lines.join("\n0x53000000000001,x,"));
        let _ = read_sl_to_vl(tables.as_bytes(), "f", machine);
        let _ = crate::recovery::routing::formats::guid_list::owners(
            lines.join("\n").as_bytes(), "f", machine,
        );
    }
}

#[test]
fn lanes_are_written_for_people() {
    let view = ring(3, 1);
    let machine = view.machine();
    let wire = WireLids::of_machine(machine).unwrap();
    let lids = machine.lids();
    let levels: Vec<u8> = (0..18).map(|pair| u8::from(pair % 6 == 2)).collect();
    let lanes = Lanes::PerPair(levels.clone());
    let text = write_levels(machine, &wire, lids, &lanes).unwrap();
    assert_eq!(
        text,
        "switch_guid,switch,sl,lids\n\
         0x0053000000000001,s0,0,1-2 4-6\n0x0053000000000001,s0,1,3\n\
         0x0053000000000002,s1,0,1-2 4-6\n0x0053000000000002,s1,1,3\n\
         0x0053000000000003,s2,0,1-2 4-6\n0x0053000000000003,s2,1,3\n"
    );
    let read_levels = |text: &str| read_levels(text.as_bytes(), "sl.csv", machine, &wire, lids);
    let some = "sl,lids,switch_guid\n1,3 9,0x53000000000001\n0,3,0x53000000000001\n1,1,0x99\n";
    let (read, warnings) = read_levels(some).unwrap();
    assert_eq!(read, [0; 18]);
    assert_eq!(
        told(&warnings),
        [
            (
                0,
                "17 pairs of a switch and a LID of its plane have no row; they go on service level \
                 0"
            ),
            (2, "nobody has LID 9; its service level is skipped"),
            (3, "LID 3 has level 1 in an earlier row; the later counts"),
            (4, "the fabric has no switch 0x0000000000000099; the row is skipped"),
        ]
    );
    assert_eq!(
        read_levels("switch_guid,sl,lids\n0x53000000000001,16,1\n").unwrap_err().to_string(),
        "sl.csv:2: sl `16` for lids `1`; the file has columns switch_guid, sl (0 to 15) and lids \
         (as 1-17 20) (write any routing's lanes to see such a file)"
    );
    assert_eq!(
        read_levels("switch_guid,sl,lids\n0x99,1,1\n").unwrap_err().to_string(),
        "sl.csv: none of its 1 rows is of a switch of this fabric (take the fabric file and the \
         lanes of the same fabric)"
    );
}

#[test]
fn sl_to_vl_tables_are_written_for_people() {
    let view = ring(2, 1);
    let machine = view.machine();
    let tables = SlToVl::new(machine, |switch, input, output| {
        let crossing = switch == SwitchId(0) && input == 1 && output == 2;
        std::array::from_fn(|level| if crossing { 1 } else { (level % 2) as u8 })
    })
    .unwrap();
    let text = write_sl_to_vl(machine, &tables);
    let plain = "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1";
    let head = "switch_guid,switch,in_ports,out_ports,vl0,vl1,vl2,vl3,vl4,vl5,vl6,vl7,vl8,vl9,vl10,\
                vl11,vl12,vl13,vl14,vl15\n";
    assert_eq!(
        text,
        format!(
            "{head}0x0053000000000001,s0,0 2-3,0-3,{plain}\n\
             0x0053000000000001,s0,1,0-1 3,{plain}\n\
             0x0053000000000001,s0,1,2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n\
             0x0053000000000002,s1,0-3,0-3,{plain}\n"
        )
    );
    let read = |row: &str| read_sl_to_vl(format!("{head}{row}\n").as_bytes(), "vl.csv", machine);
    let (tables, warnings) = read(&format!("0x53000000000001,,1,2,{plain}")).unwrap();
    assert_eq!(tables.lane(SwitchId(0), 1, 2, 3), 1);
    assert_eq!(tables.lane(SwitchId(1), 1, 2, 15), 7);
    assert_eq!(
        told(&warnings),
        [(
            0,
            "31 pairs of ports have no row; they map as OpenSM does by default (lane = level, \
             level 15 to lane 7)"
        )]
    );
    let usage = "the file has columns switch_guid, in_ports and out_ports (as 1-17 20) and vl0 to \
                 vl15 (0 to 14) (write any routing's lanes to see such a file)";
    for (row, found) in [
        (format!("0x53000000000001,,1,4,{plain}"), "ports `4` of a switch with 3 ports"),
        (format!("0x53000000000001,,1,2,15{}", &plain[1..]), "lane `15`"),
        (format!("1,,1,2,{plain}"), "switch_guid `1`"),
    ] {
        assert_eq!(read(&row).unwrap_err().to_string(), format!("vl.csv:2: {found}; {usage}"));
    }
}
