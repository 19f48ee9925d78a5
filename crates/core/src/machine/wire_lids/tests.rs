use proptest::prelude::*;

use super::*;
use crate::machine::formats;
use crate::machine::samples::{generated, random_machine};
use crate::machine::{Builder, EndpointInfo, Part, PartInfo};
use crate::units::LinkRate;

const STAGE: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../machines/stage_fdr_2014.ibnetdiscover"
));

fn stage() -> Machine {
    formats::read(STAGE, "stage").unwrap().machine
}

/// Every LID of the tables has a number that leads back to it, and nobody else has it.
fn assert_sound(machine: &Machine, wire: &WireLids, lids: Lids) {
    wire.check(machine, lids).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for lid in (0..lids.count()).map(Lid::from_index) {
        let plane = wire.plane(lids.owner(lid));
        let number = wire.of(lids, lid).unwrap();
        assert!(number != 0 && usize::from(number) <= UNICAST_LIDS && number <= wire.top(plane));
        assert!(seen.insert((plane, number)));
        assert_eq!(wire.dense(lids, plane, number), Some(lid));
    }
}

#[test]
fn a_fabric_files_lids_are_kept_and_looked_up_both_ways() {
    let machine = stage();
    let wire = WireLids::of_machine(&machine).unwrap();
    assert_sound(&machine, &wire, machine.lids());
    for endpoint in machine.endpoints() {
        let (owner, given) = (LidOwner::Endpoint(endpoint), machine.endpoint_info(endpoint).lid);
        assert_eq!(wire.is_given(owner), given != 0);
        assert!(given == 0 || wire.first(owner) == given);
    }
    assert_eq!(wire.owner(0, 0), None);
    assert_eq!(wire.owner(99, 1), None);
    assert_eq!(wire.owner(0, wire.top(0).wrapping_add(1)), None);
}

#[test]
fn parts_without_lids_get_free_ones_in_order() {
    let view = generated("4-ary 2-tree");
    let machine = view.machine();
    let wire = WireLids::of_machine(machine).unwrap();
    assert_sound(machine, &wire, machine.lids());
    assert_eq!(wire.first(LidOwner::Endpoint(EndpointId(0))), 1);
    assert_eq!(wire.first(LidOwner::Switch(SwitchId(0))), 17);
    assert_eq!((wire.top(0), wire.lmc()), (24, 0));
    assert!(!wire.is_given(LidOwner::Switch(SwitchId(0))));
}

#[test]
fn a_larger_lid_mask_count_moves_who_stands_in_the_way() {
    let machine = stage();
    for lmc in 0..=LMC_MAX {
        let wire = WireLids::with_lmc(&machine, lmc).unwrap();
        assert_sound(&machine, &wire, machine.lids().with_lmc(lmc));
        assert_eq!(wire.lmc(), lmc);
        for endpoint in machine.endpoints() {
            let first = wire.first(LidOwner::Endpoint(endpoint));
            assert_eq!(first % (1 << lmc), 0);
        }
    }
    assert_eq!(WireLids::with_lmc(&machine, 0).unwrap(), WireLids::of_machine(&machine).unwrap());
    assert_eq!(
        WireLids::with_lmc(&machine, 8).unwrap_err().to_string(),
        "a LID mask count is 0 to 7, got 8"
    );
}

#[test]
fn planes_have_lids_of_their_own() {
    let view = generated("rail-fat-tree(16; 4; 16; spines=none)");
    let machine = view.machine();
    assert!(machine.plane_count() > 1);
    let wire = WireLids::of_machine(machine).unwrap();
    assert_sound(machine, &wire, machine.lids());
    assert!((0..machine.plane_count() as u32).all(|plane| wire.owner(plane, 1).is_some()));
}

#[test]
fn too_many_parts_are_told() {
    let view = generated("fat-tree(36; 2; nodes=648)");
    let error = WireLids::with_lmc(view.machine(), 7).unwrap_err();
    assert_eq!(
        error.to_string(),
        "702 ports and switches of plane 0 need LIDs, a subnet has 49151 (take a smaller LID mask \
         count or a smaller machine; planning has no such limit)"
    );
    assert!(WireLids::with_lmc(view.machine(), 6).is_ok());
}

/// A switch of LID 5 and two nodes of which one has it too.
fn doubled() -> Machine {
    let mut builder = Builder::new("doubled", false);
    let switch = builder.switch_part(PartInfo {
        name: "s".into(),
        guid: 1,
        radix: 4,
        lid: 5,
        ..PartInfo::default()
    });
    for (name, lid) in [("a", 4), ("b", 5)] {
        let node = builder.node(name, 1);
        builder.cable(switch, node, LinkRate::QDR);
        if let Part::Node(id) = node {
            let info = EndpointInfo { guid: 100 + u64::from(lid), lid, lmc: 0 };
            builder.endpoint_info(id, 1, info);
        }
    }
    builder.build().unwrap()
}

#[test]
fn a_lid_of_two_parts_or_too_few_of_them_are_told() {
    let machine = doubled();
    let wire = WireLids::of_machine(&machine).unwrap();
    assert_eq!(wire.first(LidOwner::Switch(SwitchId(0))), 5);
    assert_eq!(wire.owner(0, 5), Some((LidOwner::Endpoint(EndpointId(1)), 0)));
    assert_eq!(
        wire.check(&machine, machine.lids()).unwrap_err().to_string(),
        "LID 5 belongs to `b` and to `s`, which are in one plane (the numbers are of different \
         times; read LIDs that a subnet manager gave out, or number them anew)"
    );
    assert_eq!(
        wire.check(&machine, machine.lids().with_lmc(1)).unwrap_err().to_string(),
        "the tables have 2^1 LIDs a port, `a` has 2^0 in its subnet (number the LIDs anew with a \
         LID mask count of 1)"
    );
    let anew = WireLids::with_lmc(&machine, 1).unwrap();
    assert_sound(&machine, &anew, machine.lids().with_lmc(1));
}

fn read(machine: &Machine, text: &str) -> Result<(WireLids, Vec<formats::Warning>), String> {
    WireLids::read_guid2lid(machine, text.as_bytes(), "guid2lid").map_err(|error| error.to_string())
}

#[test]
fn guid2lid_is_read_and_what_is_odd_about_it_told() {
    let machine = doubled();
    let text = "0x0000000000000001 0x0003 0x0003\r\n\n0x0000000000000068 0x0008 0x0009  \n\n\
                0x0000000000000070 0x000a 0x000b\n";
    let (wire, warnings) = read(&machine, text).unwrap();
    assert_sound(&machine, &wire, machine.lids().with_lmc(1));
    assert_eq!(wire.owner(0, 9), Some((LidOwner::Endpoint(EndpointId(0)), 1)));
    assert_eq!(wire.first(LidOwner::Switch(SwitchId(0))), 3);
    let told: Vec<(usize, &str)> =
        warnings.iter().map(|warning| (warning.line, warning.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (
                0,
                "1 of the fabric's ports and switches have no line, `b[1]` among them; they get \
                 LIDs that are free"
            ),
            (
                5,
                "1 GUIDs are of nobody in this fabric, 0x0000000000000070 the first; their LIDs \
                 count as free"
            ),
        ]
    );
}

#[test]
fn guid2lid_that_cannot_be_right_is_an_error_with_its_line() {
    let machine = doubled();
    let advice = "take the file guid2lid from OpenSM's cache folder, /var/cache/opensm";
    for line in [
        "0x68 0x8",
        "0x68 0x9 0xa",
        "0x68 0x8 0xa",
        "0x68 0x9 0x8",
        "0x68 0 0",
        "0x68 0xc000 0xc000",
        "0x68 8 9",
        "nonsense",
        "0x0 0x1 0x1",
        "0x68 0x0 0xffff",
        "0x68 0x1 0x1 0x1",
    ] {
        assert_eq!(
            read(&machine, &format!("0x1 0x3 0x3\n{line}\n")).unwrap_err(),
            format!(
                "guid2lid:2: found `{line}`; a line is `0xGUID 0xFIRST 0xLAST`, with 1, 2, 4 ... \
                 128 LIDs from 1 to 49151 that start at a multiple of their number ({advice})"
            )
        );
    }
    assert_eq!(
        read(&machine, "0x1 0x3 0x3\n0x1 0x4 0x4\n").unwrap_err(),
        "guid2lid:2: GUID 0x0000000000000001 has LIDs 4 to 4, but line 1 gave it LIDs 3 to 3 \
         (remove the older line)"
    );
    assert_eq!(
        read(&machine, "0x1 0x3 0x3\n0x68 0x2 0x3\n").unwrap_err(),
        "guid2lid:2: GUID 0x0000000000000068 has LID 3, but line 1 gave it to 0x0000000000000001, \
         which is in the same plane (remove the older line)"
    );
    assert_eq!(
        read(&machine, "0x7 0x3 0x3\n").unwrap_err(),
        "guid2lid: of 1 GUIDs in it none belongs to this fabric (give the guid2lid file of its \
         subnet manager, one GUID, first and last LID a line)"
    );
}

proptest! {
    #[test]
    fn guid2lid_comes_back(
        switches in 1usize..8, nodes in 0usize..20, seed in any::<u64>(), lmc in 0u8..4,
    ) {
        let machine = random_machine(switches, 3, nodes, 2, seed);
        let wire = WireLids::with_lmc(&machine, lmc).unwrap();
        assert_sound(&machine, &wire, machine.lids().with_lmc(lmc));
        let text = wire.write_guid2lid(&machine, 0);
        let (again, warnings) = WireLids::read_guid2lid(&machine, text.as_bytes(), "f").unwrap();
        prop_assert_eq!(warnings, vec![]);
        prop_assert_eq!(&again.owner, &wire.owner);
        prop_assert_eq!(again.write_guid2lid(&machine, 0), text);
    }

    #[test]
    fn guid2lid_of_any_bytes_is_read_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        lines in proptest::collection::vec("0x[0-9a-f]{1,4} 0x[0-9a-f]{1,4} 0x[0-9a-f]{1,4}", 0..9),
    ) {
        let machine = doubled();
        let _ = WireLids::read_guid2lid(&machine, &bytes, "f");
        let _ = WireLids::read_guid2lid(&machine, lines.join("\n").as_bytes(), "f");
    }
}
