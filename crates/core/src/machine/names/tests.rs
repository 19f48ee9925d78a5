use super::*;
use crate::machine::LidOwner;
use crate::machine::{Builder, PartInfo};
use crate::units::LinkRate;
use proptest::prelude::*;

/// Two switches with one name, a director chip, hosts with one and two adapters, a nameless node.
fn lab() -> Machine {
    let mut builder = Builder::new("lab", true);
    let leaf = builder.switch("leaf", 36).unwrap();
    let twin = builder.switch("leaf", 36).unwrap();
    let spine = builder.switch("MF0;spine:SX6036/U1", 36).unwrap();
    for name in ["n1 mlx5_0", "n2 mlx5_0", "n2 mlx5_1", ""] {
        let node = builder.node(name, 2);
        builder.cable(node, leaf, LinkRate::EDR);
    }
    for _ in 0..2 {
        builder.cable(leaf, spine, LinkRate::EDR);
    }
    builder.cable(twin, spine, LinkRate::EDR);
    builder.build().unwrap()
}

#[test]
fn every_part_and_cable_is_found_by_what_it_is_called() {
    let machine = lab();
    let names = Names::new(&machine);
    let called: Vec<String> = (0..7).map(|vertex| names.part(VertexId(vertex))).collect();
    assert_eq!(
        called,
        [
            "leaf (guid 0x0053000000000001)",
            "leaf (guid 0x0053000000000002)",
            "MF0;spine:SX6036/U1",
            "n1 mlx5_0",
            "n2 mlx5_0",
            "n2 mlx5_1",
            "0x0048000000000040"
        ]
    );
    for (vertex, name) in called.iter().enumerate() {
        assert_eq!(names.find_part(name), Ok(VertexId(vertex as u32)));
    }
    for link in machine.links() {
        assert_eq!(names.find_link(&names.link(link)), Ok(link));
    }
    assert_eq!(
        names.link(LinkId(6)),
        "leaf (guid 0x0053000000000002)[1] <-> MF0;spine:SX6036/U1[3]"
    );
}

#[test]
fn guids_hosts_and_plugs_are_found_in_any_usual_form() {
    let machine = lab();
    let names = Names::new(&machine);
    for text in [
        "n1 mlx5_0",
        " n1 mlx5_0 ",
        "n1",
        "0x48000000000010",
        "H-0048000000000010",
        "0048000000000010",
        "0048:0000:0000:0010",
        "0x0048000000000011",
    ] {
        assert_eq!(names.find_node(text), Ok(NodeId(0)), "{text}");
    }
    assert_eq!(names.find_switch("S-0053000000000002"), Ok(SwitchId(1)));
    for text in [
        "n1[1]",
        "n1 [1]",
        "S-0053000000000001[1]",
        "n1[1] <-> 0x53000000000001[1]",
        "n1 <-> 0x53000000000001",
    ] {
        assert_eq!(names.find_link(text), Ok(LinkId(0)), "{text}");
    }
}

#[test]
fn what_is_not_found_is_told_with_what_comes_near() {
    let machine = lab();
    let names = Names::new(&machine);
    let part = |text: &str| names.find_part(text).unwrap_err().to_string();
    let link = |text: &str| names.find_link(text).unwrap_err().to_string();
    assert_eq!(
        part("n3"),
        "there is no part `n3`; did you mean `n1 mlx5_0`, `n2 mlx5_0`, `n2 mlx5_1`"
    );
    assert_eq!(part("spine"), "there is no part `spine`; did you mean `MF0;spine:SX6036/U1`");
    assert_eq!(
        part("gpu1234"),
        "there is no part `gpu1234`; give the name as the fabric file has it, or a GUID as 0x..."
    );
    assert_eq!(part("n2"), "`n2` is the name of 2 parts (n2 mlx5_0, n2 mlx5_1); give the GUID");
    assert_eq!(
        part("leaf"),
        "`leaf` is the name of 2 parts (leaf (guid 0x0053000000000001), leaf (guid \
         0x0053000000000002)); give the GUID"
    );
    assert_eq!(
        names.find_switch("n1").unwrap_err().to_string(),
        "`n1` is a node; a switch is wanted here"
    );
    assert_eq!(
        link("n1"),
        "`n1` is no cable; write one plug, `switch[3]`, or both, `switch[3] <-> node[1]`"
    );
    assert_eq!(
        link("0x53000000000001[9]"),
        "port 9 of `leaf (guid 0x0053000000000001)` has no cable; its cabled ports are 1-6"
    );
    assert_eq!(
        link("n1[1] <-> 0x53000000000001[2]"),
        "`n1[1] <-> 0x53000000000001[2]` is not one cable; `n1 mlx5_0[1]` is cabled to `leaf (guid \
         0x0053000000000001)[1]`"
    );
    assert_eq!(
        link("0x53000000000001 <-> MF0;spine:SX6036/U1"),
        "2 cables join `leaf (guid 0x0053000000000001)` and `MF0;spine:SX6036/U1`; give a port, \
         `leaf (guid 0x0053000000000001)[3]`"
    );
}

#[test]
fn hosts_and_systems_are_read_out_of_names() {
    for (name, host) in [
        ("gpu01 mlx5_0", Some("gpu01")),
        ("gpu01 HCA-1", Some("gpu01")),
        ("gpu01 ibp12s0", Some("gpu01")),
        ("'gpu01 HCA-1'", Some("gpu01")),
        ("gpu01", Some("gpu01")),
        ("", None),
        ("MT4123 ConnectX6 Mellanox Technologies", None),
        ("Mellanox Technologies Aggregation Node", None),
    ] {
        assert_eq!(host_name(name), host, "{name}");
    }
    assert_eq!(system_name("MF0;ib5:SX6036/U1"), Some("ib5"));
    assert_eq!(system_name("s0.1"), None);
    assert_eq!(read_guid("S-xyz"), None);
    assert_eq!(read_guid("deadbeef"), None);
}

proptest! {
    #[test]
    fn names_lead_back_whatever_they_are(
        names in proptest::collection::vec("[ab0x\\[\\]<> ()-]{0,8}|0x0000000000000002|a \\(guid \
                                            0x0000000000000001\\)", 2..8),
    ) {
        let mut builder = Builder::new("names", true);
        let mut parts = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let guid = index as u64 + 1;
            let info = PartInfo { name: name.clone(), guid, radix: 2, ..PartInfo::default() };
            let switch = index % 2 == 0;
            parts.push(if switch { builder.switch_part(info) } else { builder.node_part(info) });
        }
        for pair in parts.windows(2) {
            builder.cable(pair[0], pair[1], LinkRate::EDR);
        }
        let machine = builder.build().unwrap();
        let names = Names::new(&machine);
        for vertex in (0..machine.vertex_count()).map(VertexId::from_index) {
            prop_assert_eq!(names.find_part(&names.part(vertex)), Ok(vertex));
        }
        for link in machine.links() {
            prop_assert_eq!(names.find_link(&names.link(link)), Ok(link));
        }
    }
}

#[test]
fn owners_of_lids_are_found_by_port_guid_plug_and_name() {
    let machine = Builder::from_names(
        "two rails",
        &["s".to_owned(), "t".to_owned()],
        &["n".to_owned()],
        &[("s".to_owned(), "n".to_owned()), ("t".to_owned(), "n".to_owned())],
        crate::units::LinkRate::QDR,
    )
    .unwrap();
    let names = Names::new(&machine);
    let [first, second] = [0, 1].map(|end| LidOwner::Endpoint(crate::ids::EndpointId(end)));
    let guid = machine.endpoint_info(crate::ids::EndpointId(1)).guid;
    assert_eq!(names.find_lid_owners(&format!("0x{guid:x}")).unwrap(), [second]);
    assert_eq!(names.find_lid_owners("n[1]").unwrap(), [first]);
    assert_eq!(names.find_lid_owners("n").unwrap(), [first, second]);
    assert_eq!(names.find_lid_owners("t").unwrap(), [LidOwner::Switch(SwitchId(1))]);
    assert!(names.find_endpoints("t").unwrap_err().to_string().contains("a node is wanted"));
    assert!(names.find_endpoints("n[3]").unwrap_err().to_string().contains("port 3 of `n`"));
}
