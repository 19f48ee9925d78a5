use super::super::{read, write};
use crate::machine::{Builder, Coordinates, EndpointInfo, Machine, NodeKind, Part, PartInfo};
use crate::units::LinkRate;

/// A machine with something in every field.
fn full() -> Machine {
    let mut builder = Builder::new("full \"machine\"\n", true);
    let info = PartInfo {
        name: "s\t0".to_owned(),
        guid: u64::MAX,
        system_guid: 7,
        vendor: 0x2c9,
        device: 0xd2f0,
        lid: 12,
        lmc: 2,
        enhanced: true,
        radix: 8,
        kind: NodeKind::Host,
    };
    let switch = builder.switch_part(info);
    let other = builder.switch("s1", 4).unwrap();
    let mut nodes = Vec::new();
    for kind in [NodeKind::Host, NodeKind::Aggregation, NodeKind::Router] {
        let node = builder.node(format!("n {kind:?}"), 2);
        builder.info_mut(node).kind = kind;
        builder.cable_ports((node, 2), (switch, nodes.len() as u8 + 1), LinkRate::QDR);
        nodes.push(node);
    }
    builder.cable_ports((other, 4), (switch, 8), LinkRate::EDR);
    builder.cable_ports((switch, 7), (other, 3), LinkRate::EDR);
    if let Part::Node(node) = nodes[0] {
        builder.endpoint_info(node, 2, EndpointInfo { guid: 5, lid: 6, lmc: 1 });
    }
    builder.coordinates(Coordinates {
        shape: vec![2, 1],
        wraps: vec![true, false],
        of_switch: vec![0, 0, 1, 0],
    });
    builder.group("host", "h0", nodes[0]);
    builder.group("host", "h1", nodes[1]);
    builder.group("cabinet", "c", switch);
    builder.build().unwrap()
}

#[test]
fn everything_comes_back_exactly() {
    let machine = full();
    let text = write(&machine, "json").unwrap();
    let again = read(text.as_bytes(), "full.json").unwrap();
    assert_eq!(again.machine, machine);
    assert_eq!(again.warnings, []);
    assert_eq!(write(&again.machine, "json").unwrap(), text);
}

#[test]
fn the_text_is_one_part_a_line() {
    let mut builder = Builder::new("small", true);
    let switch = builder.switch("s", 2).unwrap();
    let node = builder.node("n", 1);
    builder.cable(node, switch, LinkRate::EDR);
    assert_eq!(
        write(&builder.build().unwrap(), "json").unwrap(),
        r#"{
"format": "runflat-machine", "version": 1,
"name": "small",
"synthetic": true,
"switches": [
{"name":"s","guid":"0x0053000000000001","ports":2}
],
"nodes": [
{"name":"n","guid":"0x0048000000000010","ports":1}
],
"links": [
{"ends":[{"node":0,"port":1},{"switch":0,"port":1}],"rate":"4xEDR"}
],
"endpoints": [
{"node":0,"port":1,"guid":"0x0048000000000011"}
],
"coordinates": null,
"levels": []
}
"#
    );
}

#[test]
fn mistakes_name_the_line_or_the_key() {
    let good = write(&full(), "json").unwrap();
    let sentence = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        read(good.replacen(from, to, 1).as_bytes(), "m.json").unwrap_err().to_string()
    };
    let wanted = "wanted is the JSON of a runflat-machine, version 1 (write any machine as json to \
                  see one)";
    assert_eq!(
        sentence("\"rate\":\"4xQDR\"", "\"rat\":\"4xQDR\""),
        format!("m.json:15: unknown field `rat`, expected `ends` or `rate`; {wanted}")
    );
    assert_eq!(
        sentence("\"4xQDR\"", "\"4xFOO\""),
        format!(
            "m.json:15: `4xFOO` is no link rate; write lanes x speed, as in 4xEDR (lanes 1, 2, 4, \
             8, 12; speeds SDR DDR QDR FDR10 FDR EDR HDR NDR XDR); {wanted}"
        )
    );
    assert_eq!(
        sentence("\"ports\":8", "\"ports\":800"),
        format!("m.json:6: invalid value: integer `800`, expected u8; {wanted}")
    );
    assert_eq!(
        sentence("\"version\": 1", "\"version\": 2"),
        "m.json: `version` is 2; this version of runflat reads version 1"
    );
    assert_eq!(
        sentence("runflat-machine", "other"),
        "m.json: `format` is `other`; of all JSON only `runflat-machine` is read"
    );
    assert_eq!(
        sentence("{\"node\":1,", "{\"node\":3,"),
        "m.json: `links[1].ends[0]` has switch none and node 3; there are 2 switches and 3 nodes, \
         from 0"
    );
    assert_eq!(sentence("\"port\":8", "\"port\":9"), "m.json: `s\t0` has ports 1 to 8, got port 9");
    assert_eq!(
        sentence("[[0,0],[1,0]]", "[[0,0],[2,0]]"),
        "m.json: `coordinates.of_switch[1]` is [2, 0]; positions are from 0 to below [2, 1]"
    );
    assert_eq!(
        sentence("\"of_node\":[0,1,null]", "\"of_node\":[0,2,null]"),
        "m.json: `levels[0].of_node` holds group 2; there are 2 groups, from 0"
    );
    assert_eq!(
        sentence("\"of_node\":[0,1,null]", "\"of_node\":[0,1]"),
        "m.json: `levels[0].of_node` has 2 entries; it has one for each of the 3 nodes"
    );
    assert_eq!(
        read(&good.as_bytes()[..good.len() / 2], "m.json").unwrap_err().line(),
        Some(good[..good.len() / 2].lines().count())
    );
    assert_eq!(
        sentence("{\"node\":0,\"port\":2,\"guid\"", "{\"node\":0,\"port\":1,\"guid\""),
        "m.json: `endpoints[0]` is port 1 of node 0; an endpoint is a node's port that has a cable"
    );
}

#[test]
fn a_file_of_version_1_stays_readable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/two_planes");
    let [json, dump] =
        ["json", "ibnetdiscover"].map(|ending| std::fs::read(format!("{path}.{ending}")).unwrap());
    let machine = read(&json, "two_planes.json").unwrap().machine;
    assert_eq!(machine, read(&dump, "two_planes.ibnetdiscover").unwrap().machine);
    assert_eq!(write(&machine, "json").unwrap().as_bytes(), json);
}
