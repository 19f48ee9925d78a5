use super::*;
use crate::machine::{Builder, Machine, PartInfo};

/// What is built differently.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    None,
    SwapPlugs,
    Unplug,
    Slow,
    ReplaceSwitch,
    RenameNode,
    LoseNode,
    MovePort,
}

fn fabric(change: Change) -> Machine {
    let mut builder = Builder::new("fabric", false);
    let mut switches = Vec::new();
    for index in 0..3u64 {
        let replaced = change == Change::ReplaceSwitch && index == 2;
        let guid = if replaced { 99 } else { index + 1 };
        let name = format!("s{index}");
        switches.push(builder.switch_part(PartInfo {
            name,
            guid,
            radix: 8,
            ..PartInfo::default()
        }));
    }
    let mut nodes = Vec::new();
    let count = if change == Change::LoseNode { 3 } else { 4 };
    for index in 0..count {
        let renamed = change == Change::RenameNode && index == 1;
        let name = if renamed { "spare".to_owned() } else { format!("n{index}") };
        nodes.push(builder.node_part(PartInfo {
            name,
            guid: 16 * (index + 1),
            radix: 1,
            ..PartInfo::default()
        }));
    }
    let (mut first, mut second) = ((switches[0], 1), (switches[1], 1));
    if change == Change::SwapPlugs {
        std::mem::swap(&mut first, &mut second);
    }
    builder.cable_ports((nodes[0], 1), first, LinkRate::EDR);
    builder.cable_ports((nodes[1], 1), second, LinkRate::EDR);
    builder.cable_ports((nodes[2], 1), (switches[0], 2), LinkRate::EDR);
    if let Some(&node) = nodes.get(3) {
        builder.cable_ports((node, 1), (switches[1], 2), LinkRate::EDR);
    }
    let rate = if change == Change::Slow { LinkRate::QDR } else { LinkRate::EDR };
    builder.cable_ports((switches[0], 3), (switches[2], 1), rate);
    let ports = if change == Change::MovePort { (4, 3) } else { (3, 2) };
    if change != Change::Unplug {
        builder.cable_ports((switches[1], ports.0), (switches[2], ports.1), LinkRate::EDR);
    }
    builder.build().unwrap()
}

fn sentences(change: Change) -> Vec<String> {
    let (expected, found) = (fabric(Change::None), fabric(change));
    diff(&expected, &found).sentences(&expected, &found)
}

#[test]
fn a_fabric_does_not_differ_from_itself() {
    let fabric = fabric(Change::None);
    assert!(diff(&fabric, &fabric).is_empty());
    assert_eq!(sentences(Change::None), Vec::<String>::new());
}

#[test]
fn each_change_is_one_sentence() {
    let wrong = [
        "wrong cable n1[1] <-> s0[1], should be n0[1] <-> s0[1]",
        "wrong cable n0[1] <-> s1[1], should be n1[1] <-> s1[1]",
    ];
    let mut swapped = sentences(Change::SwapPlugs);
    swapped.sort_by_key(|sentence| !sentence.contains("n0[1] <-> s0"));
    // Which of the two is held to be the other does not matter; both are wrong, none is missing or extra.
    assert_eq!(swapped.len(), wrong.len());
    assert!(swapped.iter().all(|sentence| sentence.starts_with("wrong cable")), "{swapped:?}");
    assert_eq!(sentences(Change::Unplug), ["missing cable s1[3] <-> s2[2]"]);
    assert_eq!(sentences(Change::Slow), ["changed rate s0[3] <-> s2[1]: 4xQDR, should be 4xEDR"]);
    assert_eq!(
        sentences(Change::ReplaceSwitch),
        ["replaced switch s2: GUID 0x0000000000000063, was 0x0000000000000003"]
    );
    assert_eq!(sentences(Change::RenameNode), ["renamed node n1: now spare"]);
    assert_eq!(sentences(Change::LoseNode), ["missing node n3", "missing cable n3[1] <-> s1[2]"]);
    assert_eq!(
        sentences(Change::MovePort),
        ["wrong cable s1[4] <-> s2[3], should be s1[3] <-> s2[2]"]
    );
}

#[test]
fn what_is_missing_one_way_is_extra_the_other_way() {
    let (expected, found) = (fabric(Change::LoseNode), fabric(Change::None));
    let diff = diff(&expected, &found);
    assert_eq!(diff.sentences(&expected, &found), ["extra node n3", "extra cable n3[1] <-> s1[2]"]);
}

#[test]
fn a_design_with_made_up_guids_is_matched_by_names() {
    let mut builder = Builder::new("design", true);
    let a = builder.switch("s0", 8).unwrap();
    let b = builder.switch("s2", 8).unwrap();
    builder.cable_ports((a, 3), (b, 1), LinkRate::EDR);
    let (expected, found) = (builder.build().unwrap(), fabric(Change::None));
    let diff = diff(&expected, &found);
    assert_eq!((diff.missing_links.len(), diff.wrong_links.len()), (0, 0));
    assert_eq!(diff.replaced_parts.len(), 2);
}
