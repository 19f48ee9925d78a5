use super::super::{FormatError, Import, Warning, read, write};
use crate::ids::{NodeId, SwitchId};
use crate::machine::{Builder, Machine, NodeKind, PartInfo, diff::diff};
use crate::params::Given;
use crate::rng::Seed;
use crate::units::{LinkRate, Speed};

const STAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../machines/stage_fdr_2014.ibnetdiscover"
));

macro_rules! data {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/", $name))
    };
}

fn import(text: &str) -> Import {
    read(text.as_bytes(), "fabric").unwrap_or_else(|error| panic!("{error}"))
}

fn sentence(text: &str) -> String {
    read(text.as_bytes(), "fabric").unwrap_err().to_string()
}

fn warnings(import: &Import) -> Vec<String> {
    let show = |warning: &Warning| format!("{}: {}", warning.line, warning.text);
    import.warnings.iter().map(show).collect()
}

/// Plugs, rates and everything known of parts and ports, without the numbers of cables.
fn content(machine: &Machine) -> (Vec<PartInfo>, Vec<String>, Vec<String>) {
    let parts = (0..machine.vertex_count() as u32)
        .map(|vertex| machine.part(crate::ids::VertexId(vertex)).clone())
        .collect();
    let mut cables: Vec<String> = machine
        .links()
        .map(|link| {
            let mut ends = machine.ends(link);
            ends.sort();
            format!("{ends:?} {}", machine.rate(link))
        })
        .collect();
    cables.sort();
    let ends = machine.endpoints();
    let ends = ends.map(|e| format!("{:?} {:?}", machine.endpoint(e), machine.endpoint_info(e)));
    (parts, cables, ends.collect())
}

fn assert_round_trip(machine: &Machine) {
    let text = write(machine, "ibsim").unwrap();
    let again = import(&text);
    assert_eq!(warnings(&again), Vec::<String>::new());
    assert_eq!(again.machine.name(), machine.name());
    assert_eq!(again.machine.synthetic(), machine.synthetic());
    assert!(diff(machine, &again.machine).is_empty());
    // A second turn changes nothing at all, numbers of cables included.
    let text_again = write(&again.machine, "ibsim").unwrap();
    assert_eq!(text_again, text);
    assert_eq!(import(&text_again).machine, again.machine);
}

#[test]
fn the_stage_fabric_is_read_whole_and_without_warnings() {
    let Import { machine, warnings } = import(STAGE);
    assert_eq!(warnings, []);
    assert_eq!((machine.switch_count(), machine.node_count()), (8, 144));
    assert_eq!(machine.switch_links().count(), 47);
    // `tank1` has both its ports cabled.
    assert_eq!(machine.link_count(), 47 + 145);
    assert_eq!(machine.plane_count(), 1);
    let first = machine.switch(SwitchId(0));
    assert_eq!(first.name, "MF0;ib5:SX6036/U1");
    assert_eq!((first.guid, first.lid, first.radix), (0xf452_1403_0011_65a0, 128, 36));
    assert!(first.enhanced);
    let qdr = machine.links().filter(|&link| machine.rate(link) == LinkRate::QDR).count();
    assert_eq!(qdr, 145);
    assert!(machine.levels().is_empty());
}

#[test]
fn the_stage_fabric_comes_back_equal_and_line_by_line() {
    let machine = import(STAGE).machine;
    let text = write(&machine, "ibnetdiscover").unwrap();
    let again = import(&text).machine;
    assert_eq!(content(&again), content(&machine));
    assert!(diff(&machine, &again).is_empty());
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(lines(&text), lines(STAGE));
}

#[test]
fn generated_machines_come_back() {
    for notation in ["2-ary 3-tree", "kary-ntree(4;2;19)", "kary-ntree(2;1)"] {
        let machine = crate::machine::generators::make(notation, &Given::new(), Seed(1)).unwrap();
        assert_round_trip(&machine);
        // Generated machines get consecutive LIDs, ports first.
        let again = import(&write(&machine, "ibsim").unwrap()).machine;
        let lids: Vec<u16> = again
            .endpoints()
            .map(|end| again.endpoint_info(end).lid)
            .chain(again.switches().map(|switch| again.switch(switch).lid))
            .collect();
        let count = lids.len() as u16;
        assert_eq!(lids, (1..=count).collect::<Vec<_>>());
    }
}

#[test]
fn a_multigraph_of_two_planes_with_odd_names_comes_back() {
    let mut builder = Builder::new("odd; \"machine\" # 1", true);
    let names = ["", "same", "same", "a \"quoted\" name", "x=3 w=4"];
    let switches: Vec<_> = names.iter().map(|name| builder.switch(*name, 12).unwrap()).collect();
    let slow = LinkRate { lanes: 1, speed: Speed::Sdr };
    for rate in [LinkRate::EDR, slow, LinkRate::QDR] {
        builder.cable(switches[0], switches[1], rate);
        builder.cable(switches[3], switches[2], rate);
    }
    builder.cable(switches[4], switches[3], LinkRate { lanes: 12, speed: Speed::Xdr });
    for name in ["", "Aggregation Node, not", "n#\"", "n#\""] {
        let node = builder.node(name, 3);
        builder.cable_ports((node, 1), (switches[0], 6 + builder_ports(&builder, node)), slow);
        builder.cable_ports((switches[2], 6 + builder_ports(&builder, node)), (node, 3), slow);
    }
    let kinds = [NodeKind::Aggregation, NodeKind::Router];
    for (at, kind) in kinds.into_iter().enumerate() {
        let node = builder.node("special", 1);
        builder.info_mut(node).kind = kind;
        builder.cable_ports((node, 1), (switches[4], 5 + at as u8), LinkRate::EDR);
    }
    let back_to_back = [builder.node("left", 1), builder.node("right", 1)];
    builder.cable(back_to_back[0], back_to_back[1], LinkRate::EDR);
    let machine = builder.build().unwrap();
    assert_eq!(machine.plane_count(), 3);
    assert_round_trip(&machine);
}

/// A number that differs between nodes.
fn builder_ports(builder: &Builder, part: crate::machine::Part) -> u8 {
    (builder.info(part).guid / 16 % 16) as u8
}

#[test]
fn odd_parts_are_read_with_a_warning_for_each_guess() {
    let import = import(data!("odd_parts.ibnetdiscover"));
    let machine = &import.machine;
    assert_eq!((machine.switch_count(), machine.node_count(), machine.link_count()), (2, 5, 9));
    assert_eq!(machine.switch(SwitchId(0)).name, "MF0;lab \"A\" #1 [x]:MQM8700/U1");
    assert_eq!(machine.switch(SwitchId(1)).lmc, 1);
    let kinds: Vec<NodeKind> = machine.nodes().map(|node| machine.node(node).kind).collect();
    use NodeKind::{Aggregation, Host, Router};
    assert_eq!(kinds, [Host, Host, Host, Router, Aggregation]);
    // A block without a name takes the one that its neighbours give it.
    assert_eq!(machine.node(NodeId(2)).name, "gpu7 mlx5_0");
    assert_eq!(machine.node(NodeId(1)).guid, 0x0002_c903_00ab_cdef);
    let rates: Vec<String> = machine.links().map(|link| machine.rate(link).to_string()).collect();
    assert_eq!(
        rates,
        ["4xHDR", "1xEDR", "4xDDR", "4xNDR", "4xHDR", "4xHDR", "4xHDR", "4xHDR", "4xHDR"]
    );
    assert_eq!(
        warnings(&import),
        [
            "14: `???` is no known width and speed (1 cable, the first here): 4xHDR assumed, the \
             most common rate of the file",
            "16: port 6 of `MF0;lab \"A\" #1 [x]:MQM8700/U1` is listed again, as on line 15",
            "17: a cable from port 7 of `MF0;lab \"A\" #1 [x]:MQM8700/U1` to its own port 8 is \
             left out",
            "19: `4xWARP` is no known width and speed (1 cable, the first here): 4xHDR assumed, \
             the most common rate of the file",
            "26: LID 65535 is taken as unknown: unicast LIDs end at 49151",
            "26: no width and speed given (1 cable, the first here): 4xHDR assumed, the most \
             common rate of the file",
        ]
    );
    assert_round_trip(machine);
}

#[test]
fn dumps_of_two_planes_share_their_nodes() {
    let import = import(data!("two_planes.ibnetdiscover"));
    let machine = &import.machine;
    assert_eq!((machine.switch_count(), machine.node_count(), machine.plane_count()), (2, 3, 2));
    assert_eq!(machine.endpoints_of(NodeId(0)).len(), 2);
    let lids: Vec<u16> = machine.endpoints().map(|end| machine.endpoint_info(end).lid).collect();
    assert_eq!(lids, [2, 2, 3, 3]);
    let hosts = machine.level("host").unwrap();
    assert_eq!(hosts.groups, ["gpu01", "gpu02"]);
    assert_eq!(hosts.of_vertex[2..], [0, 1, 1]);
    assert_eq!(warnings(&import), Vec::<String>::new());
    assert_round_trip(machine);
}

#[test]
fn grouped_output_gives_the_level_chassis() {
    let import = import(data!("grouped.ibnetdiscover"));
    let level = import.machine.level("chassis").unwrap();
    assert_eq!(level.groups, ["chassis 1"]);
    assert_eq!(level.of_vertex, [0, 0, u32::MAX]);
    assert_eq!(warnings(&import), Vec::<String>::new());
}

#[test]
fn chips_with_one_system_guid_share_a_chassis_named_by_the_system() {
    let mut builder = Builder::new("director", false);
    for chip in 1..=3u64 {
        builder.switch_part(PartInfo {
            name: format!("MF0;dir1:IS5600/L0{chip}/U1"),
            guid: chip,
            system_guid: if chip < 3 { 77 } else { 78 },
            radix: 4,
            ..PartInfo::default()
        });
    }
    let parts: Vec<_> = (0..3).map(|chip| crate::machine::Part::Switch(SwitchId(chip))).collect();
    builder.cable(parts[0], parts[1], LinkRate::EDR);
    builder.cable(parts[1], parts[2], LinkRate::EDR);
    let text = write(&builder.build().unwrap(), "ibnetdiscover").unwrap();
    let machine = import(&text).machine;
    let level = machine.level("chassis").unwrap();
    assert_eq!((level.groups[0].as_str(), &level.of_vertex[..]), ("dir1", &[0, 0, u32::MAX][..]));
}

#[test]
fn messages_of_the_tools_are_skipped_and_said() {
    let import = import(data!("noise.ibnetdiscover"));
    assert_eq!(import.machine.link_count(), 1);
    let lines: Vec<usize> = import.warnings.iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [2, 7, 13, 14]);
    assert_eq!(
        import.warnings[1].text,
        "skipped `ibwarn: [4711] _do_madrpc: recv failed: Connection timed out`: no part of the \
         format"
    );
}

#[test]
fn ibsim_files_with_free_ids_are_read() {
    let import = import(data!("free_ids.net"));
    let machine = &import.machine;
    assert_eq!((machine.switch_count(), machine.node_count(), machine.link_count()), (2, 2, 4));
    assert_eq!(machine.node(NodeId(0)).name, "host a");
    let rates: Vec<String> = machine.links().map(|link| machine.rate(link).to_string()).collect();
    assert_eq!(rates, ["1xEDR", "4xEDR", "12xEDR", "4xEDR"]);
    assert_eq!(import.warnings.len(), 2);
    assert_round_trip(machine);
}

#[test]
fn line_ends_padding_and_bytes_outside_utf8_do_not_matter() {
    let crlf = STAGE.replace('\n', "\r\n");
    assert_eq!(import(&crlf).machine, import(STAGE).machine);
    let mut bytes = STAGE.as_bytes().to_vec();
    let at = STAGE.find("stage114").unwrap();
    bytes[at] = 0xff;
    let import = read(&bytes, "fabric").unwrap();
    assert_eq!(
        warnings(&import),
        ["11: bytes that are no UTF-8 are read as U+FFFD, from this line \
                                    on"]
    );
    let short = STAGE.replace("S-f4521403001165a0", "Sf4521403001165A0");
    assert_eq!(self::import(&short).machine, self::import(STAGE).machine);
}

#[test]
fn a_cable_listed_by_one_end_is_kept_with_a_warning() {
    let line = "[2]\t\"H-24be05ffff982d50\"[1](24be05ffff982d51) \t\t# \"stage112 mlx4_0\" lid \
        113 4xQDR\n";
    let import = import(&STAGE.replacen(line, "", 1));
    assert_eq!(content(&import.machine).1, content(&self::import(STAGE).machine).1);
    assert_eq!(import.warnings.len(), 1);
    assert!(import.warnings[0].text.ends_with("is kept, but that end does not list it"));
}

#[test]
fn contradictions_name_both_lines() {
    let moved = STAGE.replacen("[3]\t\"H-24be05ffff9aaab0\"", "[3]\t\"H-24be05ffff982d50\"", 1);
    assert_eq!(
        sentence(&moved),
        "fabric:459: cables `stage112 mlx4_0`[1] to `MF0;ib5:SX6036/U1`[2], but line 13 cables \
         `MF0;ib5:SX6036/U1`[3] to `stage112 mlx4_0`[1] (a port holds one cable and both ends must \
         list the same one: correct the wrong line, or import dumps of different times one by one)"
    );
    for (lines, says) in [
        ("[1] \"b\"[1]\n[1] \"b\"[2]", "`a`[1] to `b`[2], but line 2 cables `a`[1] to `b`[1] ("),
        ("[1] \"b\"[1]\n[2] \"b\"[1]", "`a`[2] to `b`[1], but line 2 cables `a`[1] to `b`[1] ("),
        ("[1] \"a\"[2]\n[2] \"b\"[1]", "`a`[2] to `b`[1], but line 2 cables `a`[1] to `a`[2] ("),
    ] {
        let sentence = sentence(&format!("Switch 4 \"a\"\n{lines}\nSwitch 4 \"b\"\n"));
        assert!(sentence.starts_with(&format!("fabric:3: cables {says}")), "{sentence}");
    }
    let text = "Switch 4 \"a\"\nHca 4 \"a\"\n";
    assert_eq!(
        sentence(text),
        "fabric:2: `a` is a node, but line 1 declares it as a switch (give each part its own id)"
    );
}

#[test]
fn a_port_cabled_to_itself_is_left_out() {
    let text = "Switch 4 \"a\"\n[1] \"a\"[1]\n[3] \"b\"[1]\nSwitch 4 \"b\"\n[1] \"a\"[3]\n";
    let import = import(text);
    assert_eq!(import.machine.link_count(), 1);
    let text = "a cable from port 1 of `a` to its own port 1 is left out";
    assert_eq!(import.warnings[0].text, text);
}

#[test]
fn mistakes_in_a_line_are_told_with_what_is_allowed() {
    assert_eq!(
        sentence("Switch 4 \"a\"\n[1] \"b[1]\n"),
        "fabric:2: found `[1] \"b[1]`; a port line reads `[3] \"S-<guid>\"[7] # \"name\" lid 5 \
         4xEDR`, from a node `[1](<port guid>) ...` (the line is damaged or edited: correct it, or \
         run ibnetdiscover again)"
    );
    for (text, begins) in [
        ("Switch 4 \"a\"\n[5] \"b\"[1]\n", "2: found port 5 of `a`; it has ports 1 to 4 ("),
        ("Switch 4 \"a\"\n[1] \"b\"[5]\nSwitch 4 \"b\"\n", "2: found port 5 of `b`; it has"),
        ("Switch 400 \"a\"\n", "1: `a` has 400 ports; a part has 1 to 254 ports ("),
        ("[1] \"a\"[2] # \"x\"\n", "1: port 1 belongs to no part; port lines follow"),
        ("vendid=0x1ffffffff\nSwitch 4 \"a\"\n", "1: found `vendid=0x1ffffffff`; "),
    ] {
        let sentence = sentence(text);
        assert!(sentence.starts_with(&format!("fabric:{begins}")), "{sentence}");
    }
    assert_eq!(
        sentence("Switch 4 \"a\"\ninclude \"b.net\"\n"),
        "fabric:2: found `include \"b.net\"`; ibsim's include, module and @ aliases are not read \
         (load the file into ibsim and keep what ibnetdiscover prints there)"
    );
}

#[test]
fn a_dump_that_lost_blocks_is_an_error() {
    let half: String = STAGE.lines().take(900).map(|line| format!("{line}\n")).collect();
    assert_eq!(
        sentence(&half),
        "fabric:123: port 1 of `MF0;ib4:SX6036/U1` is cabled to `H-24be05ffff98cb20`, which has no \
         block; every switch and node that is named must have one (the file is cut off or lost \
         that block: run ibnetdiscover again and keep all of its output)"
    );
    let last_block = STAGE.trim_end().rsplit_once('\n').unwrap().0;
    assert_eq!(
        sentence(&format!("{last_block}\n")),
        "fabric:1299: the file is cut off: its last block, `stage1 mlx4_0`, does not list port 1, \
         which line 289 cables to `MF0;ib1:SX6036/U1`[32] (run ibnetdiscover again and keep all of \
         its output)"
    );
}

#[test]
fn every_cut_at_the_end_of_a_line_is_noticed() {
    let whole = import(STAGE).machine;
    for (end, _) in STAGE.match_indices('\n') {
        for text in [&STAGE[..end], &STAGE[..=end]] {
            match read(text.as_bytes(), "fabric") {
                Ok(import) => {
                    assert!(end + 1 == STAGE.len(), "cut after {end} bytes passed");
                    assert_eq!(import.machine, whole);
                }
                Err(FormatError::Unrecognised { .. }) => assert!(end < 60),
                Err(error) => assert!(error.line().is_some(), "{error}"),
            }
        }
    }
}

#[test]
fn every_cut_in_the_last_block_is_noticed() {
    let begin = STAGE.rfind("vendid").unwrap();
    for end in begin..STAGE.len() - 1 {
        let error = read(&STAGE.as_bytes()[..end], "fabric").unwrap_err();
        assert!(error.line().is_some(), "cut after {end} bytes: {error}");
    }
    // The rate of the last line is a known one even when half of it is lost.
    let text = STAGE.trim_end().strip_suffix("4xQDR").unwrap().to_owned() + "4x";
    assert_eq!(
        sentence(&text),
        "fabric:1300: the file is cut off: its last line has no end, and says less than line 289 \
         of the same cable (run ibnetdiscover again and keep all of its output)"
    );
}

#[test]
fn what_the_writer_counted_must_be_there() {
    let machine = import(data!("free_ids.net")).machine;
    let text = write(&machine, "ibsim").unwrap().replace("links=4", "links=5");
    assert_eq!(
        sentence(&text),
        "fabric:32: the file is cut off: it has 2 switches, 2 nodes and 4 cables, its comment \
         counts 2, 2 and 5 (export it again; if you edited it, delete the line beginning `# \
         runflat machine:`)"
    );
}

#[test]
fn refuses_more_lids_than_a_subnet_has() {
    let mut builder = Builder::new("large", true);
    let mut last = builder.switch("s", 254).unwrap();
    for node in 0..49_152 {
        let part = builder.node(format!("n{node}"), 1);
        if builder_is_full(node) {
            let next = builder.switch("s", 254).unwrap();
            builder.cable(last, next, LinkRate::EDR);
            last = next;
        }
        builder.cable(part, last, LinkRate::EDR);
    }
    let error = write(&builder.build().unwrap(), "ibsim").unwrap_err();
    assert_eq!(
        error.to_string(),
        "ibnetdiscover cannot hold this machine: 49348 ports and switches of plane 0 need LIDs, a \
         subnet has 49151 (write it as json, which keeps everything; planning has no such limit)"
    );
}

fn builder_is_full(node: u32) -> bool {
    node % 252 == 251
}

#[test]
fn lids_of_the_file_are_kept_and_free_ones_found_around_them() {
    let text = "Switch 4 \"S-a0\" # \"s\" base port 0 lid 0 lmc 0\n[1] \"H-b0\"[1] # \"x\" lid 2 \
        4xEDR\n\
                [2] \"H-c0\"[1] # \"y\" lid 0 4xEDR\nCa 1 \"H-b0\" # \"x\"\n[1] \"S-a0\"[1] # lid \
                2 lmc 0 \"s\" lid 0 4xEDR\n\
                Ca 1 \"H-c0\" # \"y\"\n[1] \"S-a0\"[2] # lid 0 lmc 2 \"s\" lid 0 4xEDR\n";
    let again = import(&write(&import(text).machine, "ibsim").unwrap()).machine;
    let lids: Vec<u16> = again.endpoints().map(|end| again.endpoint_info(end).lid).collect();
    // Four LIDs at a multiple of four for `y`, the lowest free one for the switch.
    assert_eq!((lids, again.switch(SwitchId(0)).lid), (vec![2, 4], 1));
}
