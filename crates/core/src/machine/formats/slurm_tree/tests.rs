use super::super::{read, write};
use crate::machine::{Builder, Machine};
use crate::params::Given;
use crate::rng::Seed;
use crate::units::LinkRate;

const STAGE: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../machines/stage_fdr_2014.ibnetdiscover"
));

fn generated(notation: &str) -> Machine {
    crate::machine::generators::make(notation, &Given::new(), Seed(1)).unwrap()
}

fn sentence(text: &str) -> String {
    read(text.as_bytes(), "topology.conf").unwrap_err().to_string()
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let text = "SwitchName=leaf1 Nodes=n[0-2]\nSwitchName=leaf2 Nodes=n[3-4],login\n\
                SwitchName=above1-leaf1 Switches=leaf[1-2]\n";
    let import = read(text.as_bytes(), "topology.conf").unwrap();
    assert_eq!((import.machine.switch_count(), import.machine.node_count()), (3, 6));
    assert_eq!(import.machine.plane_count(), 1);
    assert_eq!(import.warnings.len(), 1);
    let written = write(&import.machine, "slurm-tree").unwrap();
    assert_eq!(written, text.replace("n[3-4],login", "login,n[3-4]"));
}

#[test]
fn comments_continuations_case_and_link_speeds_are_read() {
    let text = "# a comment\nswitchname=s0 NODES=a,\\\n# not the end\nb LinkSpeed=100 # fast\n";
    assert!(sentence(text).starts_with("topology.conf:4: found `b`; "));
    let text = "switchname=s0 \\\n NODES=a,b \\\n LinkSpeed=100 # fast\nSwitchName=s1 Switches=s0";
    let machine = read(text.as_bytes(), "topology.conf").unwrap().machine;
    assert_eq!((machine.switch_count(), machine.node_count(), machine.link_count()), (2, 2, 3));
}

#[test]
fn a_tree_of_two_levels_is_one_switch_over_its_leaves() {
    assert_eq!(
        write(&generated("4-ary 2-tree"), "slurm").unwrap(),
        "SwitchName=s0.0 Nodes=n[0-3]\nSwitchName=s0.1 Nodes=n[4-7]\nSwitchName=s0.2 \
            Nodes=n[8-11]\n\
         SwitchName=s0.3 Nodes=n[12-15]\nSwitchName=above1-s0.0 Switches=s0.[0-3]\n"
    );
}

#[test]
fn a_tree_of_three_levels_has_a_switch_for_each_pod() {
    assert_eq!(
        write(&generated("2-ary 3-tree"), "slurm").unwrap(),
        "SwitchName=s0.0 Nodes=n[0-1]\nSwitchName=s0.1 Nodes=n[2-3]\nSwitchName=s0.2 Nodes=n[4-5]\n\
         SwitchName=s0.3 Nodes=n[6-7]\nSwitchName=above1-s0.0 Switches=s0.[0-1]\n\
         SwitchName=above1-s0.2 Switches=s0.[2-3]\nSwitchName=above2-s0.0 \
         Switches=above1-s0.[0,2]\n"
    );
}

#[test]
fn the_stage_fabric_is_flat_and_uses_host_and_system_names() {
    let machine = read(STAGE, "stage").unwrap().machine;
    let text = write(&machine, "slurm-tree").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("SwitchName=ib1 Nodes=stage["), "{text}");
    let last = lines.last().unwrap();
    assert_eq!(*last, "SwitchName=above1-ib1 Switches=ib[1-7]", "{text}");
    let again = read(text.as_bytes(), "topology.conf").unwrap().machine;
    // Every host once, `tank1` too though it has two cables.
    assert_eq!(again.node_count(), 144);
}

#[test]
fn a_lost_spine_does_not_change_the_file() {
    let fabric = |spines: u32| {
        let mut builder = Builder::new("fabric", true);
        let leaves: Vec<_> =
            (0..3).map(|leaf| builder.switch(format!("leaf{leaf}"), 8).unwrap()).collect();
        for (at, &leaf) in leaves.iter().enumerate() {
            let node = builder.node(format!("n{at}"), 1);
            builder.cable(node, leaf, LinkRate::EDR);
        }
        for spine in 0..spines {
            let spine = builder.switch(format!("spine{spine}"), 8).unwrap();
            leaves.iter().for_each(|&leaf| builder.cable(leaf, spine, LinkRate::EDR));
        }
        write(&builder.build().unwrap(), "slurm").unwrap()
    };
    assert_eq!(fabric(3), fabric(2));
}

#[test]
fn rails_give_one_tree_and_separate_fabrics_separate_roots() {
    let mut builder = Builder::new("rails", true);
    let rails = ["rail0", "rail1"].map(|name| builder.switch(name, 8).unwrap());
    let island = builder.switch("island", 8).unwrap();
    for host in 0..3 {
        for (rail, switch) in rails.into_iter().enumerate() {
            // The first rail has lost one host: the second serves the most.
            if (host, rail) != (1, 0) {
                let node = builder.node(format!("gpu{host} mlx5_{rail}"), 1);
                builder.cable(node, switch, LinkRate::EDR);
            }
        }
    }
    let alone = builder.node("login HCA-1", 1);
    builder.cable(alone, island, LinkRate::EDR);
    assert_eq!(
        write(&builder.build().unwrap(), "slurm").unwrap(),
        "SwitchName=island Nodes=login\nSwitchName=rail1 Nodes=gpu[0-2]\n"
    );
}

#[test]
fn adapters_of_one_host_are_told_by_the_level_or_by_names() {
    let mut builder = Builder::new("hosts", true);
    let leaf = builder.switch("leaf", 8).unwrap();
    for (name, host) in
        [("a.0", Some("a")), ("a.1", Some("a")), ("b mlx5_0", None), ("b mlx5_1", None)]
    {
        let node = builder.node(name, 1);
        builder.cable(node, leaf, LinkRate::EDR);
        if let Some(host) = host {
            builder.group("host", host, node);
        }
    }
    let text = write(&builder.build().unwrap(), "slurm").unwrap();
    assert_eq!(text, "SwitchName=leaf Nodes=a,b\n");
}

#[test]
fn two_nodes_with_one_name_are_two_hosts() {
    let mut builder = Builder::new("twins", true);
    let leaf = builder.switch("leaf", 8).unwrap();
    for _ in 0..2 {
        let node = builder.node("localhost mlx5_0", 1);
        builder.cable(node, leaf, LinkRate::EDR);
    }
    let dump = write(&builder.build().unwrap(), "ibsim").unwrap();
    let machine = read(dump.as_bytes(), "twins").unwrap().machine;
    assert!(machine.level("host").is_none());
    assert_eq!(
        write(&machine, "slurm").unwrap(),
        "SwitchName=leaf Nodes=localhost-[0048000000000010,0048000000000020]\n"
    );
}

#[test]
fn says_which_line_is_wrong() {
    assert_eq!(
        sentence("SwitchName=a Nodes=n[0-\n"),
        "topology.conf:1: `n[0-` has a bracket without its partner; names read as in \
         `node[0-3,12],login1` (correct the line as `man topology.conf` shows)"
    );
    assert_eq!(
        sentence("SwitchName=a Nodes=n0\nSwitchName=b Nodes=n0\n"),
        "topology.conf:2: `n0` is put below a switch, but line 1 says so of it too (name it once)"
    );
    for (text, begins) in [
        ("SwitchName=a Switches=b\n", "1: switch `b` stands below `a`; it needs a line"),
        (
            "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
            "1: switch `a` stands below \
            itself; ",
        ),
        ("SwitchName=a Node=n0\n", "1: found `Node=n0`; keys are switchname, nodes, "),
        (
            "SwitchName=a Nodes=n[0-299]\n",
            "1: switch `a` needs 300 ports; a switch has at most \
            254",
        ),
        ("SwitchName=a Nodes=n0\nBlockName=b Nodes=n1\n", "2: found `BlockName=b`; keys are"),
    ] {
        let sentence = sentence(text);
        assert!(sentence.starts_with(&format!("topology.conf:{begins}")), "{sentence}");
    }
}

#[test]
fn a_machine_without_hosts_below_switches_has_no_tree() {
    let mut builder = Builder::new("pair", true);
    let (a, b) = (builder.node("a", 1), builder.node("b", 1));
    builder.cable(a, b, LinkRate::EDR);
    assert_eq!(
        write(&builder.build().unwrap(), "slurm").unwrap_err().to_string(),
        "slurm-tree cannot hold this machine: no switch has a host below it (Slurm's tree begins \
         at leaf switches; write it as json or ibnetdiscover)"
    );
}
