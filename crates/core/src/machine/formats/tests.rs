use super::*;
use crate::machine::Builder;
use crate::machine::diff::diff;
use crate::params::Given;
use crate::rng::Seed;
use crate::units::{LinkRate, Speed};
use proptest::prelude::*;

const STAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../machines/stage_fdr_2014.ibnetdiscover"
));

#[test]
fn names_of_formats_are_unique_and_found() {
    let mut names: Vec<&str> = FORMATS.iter().flat_map(|format| format.names()).copied().collect();
    for name in &names {
        assert!(find(name).is_ok());
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(
        find("ibnet").err().map(|error| error.to_string()).unwrap_or_default(),
        "there is no format `ibnet`; there are ibnetdiscover (the output of ibnetdiscover, or a \
         net file of ibsim), json (runflat's own, which keeps everything), slurm-tree (Slurm's \
         topology.conf with SwitchName= lines), slurm-block (Slurm's topology.conf with BlockName= \
         lines), dot (Graphviz, for a picture), graphml (GraphML, for graph programs)"
    );
}

#[test]
fn every_written_format_that_is_read_is_recognised() {
    let machine = crate::machine::generators::make("4-ary 2-tree", &Given::new(), Seed(1)).unwrap();
    for format in FORMATS {
        let text = write(&machine, format.names()[0]).unwrap();
        assert!(text.ends_with('\n'));
        let recognised = FORMATS.iter().filter(|other| other.recognises(&text));
        let recognised: Vec<&str> = recognised.map(|other| other.names()[0]).collect();
        let expected = if format.reads() { vec![format.names()[0]] } else { Vec::new() };
        assert_eq!(recognised, expected);
        assert_eq!(read(text.as_bytes(), "file").is_ok(), format.reads());
    }
}

/// One machine of every family, several planes and parallel cables among them.
const FAMILIES: &[&str] = &[
    "bgq(2,2,2,2)",
    "cray-xc(2; 192; 8)",
    "deimos",
    "director-tree(144; nodes=100)",
    "dragonfly(2,4,2, nodes=70)",
    "fat-tree(36; 2; nodes=324)",
    "hypercube(4)",
    "hyperx(3,3; 2,2)",
    "kary-ntree(4; 2; 19)",
    "kautz(3,3, nodes=252)",
    "mesh(3,3; 2)",
    "rail-fat-tree(64; spines=none)",
    "random-regular(60; 2)",
    "slim-fly(5)",
    "tofu(1,1,1)",
    "torus(2,3)",
    "tsubame2",
    "xgft(2; 4,4; 1,4)",
];

#[test]
fn a_machine_of_every_generator_comes_back() {
    let made = |name: &str| {
        FAMILIES.iter().any(|text| {
            text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        })
    };
    for generator in crate::machine::generators::GENERATORS {
        assert!(made(generator.name()), "add one `{}` to FAMILIES", generator.name());
    }
    for text in FAMILIES {
        let machine = crate::machine::generators::make(text, &Given::new(), Seed(1)).unwrap();
        let json = write(&machine, "json").unwrap();
        assert_eq!(read(json.as_bytes(), "file").unwrap().machine, machine, "{text}");
        let dump = write(&machine, "ibsim").unwrap();
        let import = read(dump.as_bytes(), "file").unwrap();
        assert_eq!(import.warnings, [], "{text}");
        assert!(diff(&machine, &import.machine).is_empty(), "{text}");
        assert_eq!(import.machine.plane_count(), machine.plane_count(), "{text}");
        let tree = write(&machine, "slurm-tree").unwrap();
        assert!(read(tree.as_bytes(), "file").is_ok(), "{text}: {tree}");
    }
}

#[test]
fn what_is_no_fabric_is_told_with_all_that_is_read() {
    let sentence = |bytes: &[u8]| read(bytes, "file").unwrap_err().to_string();
    let known = "a fabric file is ibnetdiscover (the output of ibnetdiscover, or a net file of \
                 ibsim), json (runflat's own, which keeps everything), slurm-tree (Slurm's \
                 topology.conf with SwitchName= lines), slurm-block (Slurm's topology.conf with \
                 BlockName= lines)";
    assert_eq!(sentence(b" \n\n"), format!("file: found an empty file; {known}"));
    assert_eq!(sentence(b"\x7fELF\0\0"), format!("file: found binary data; {known}"));
    assert_eq!(
        sentence(b"\xff\xfeS\0w\0"),
        format!("file: found UTF-16 text (save it as UTF-8); {known}")
    );
    assert_eq!(
        sentence(b"\n  hello world\n"),
        format!("file: found text of no known format that begins `hello world`; {known}")
    );
    assert_eq!(
        sentence(b"{}"),
        "file: `format` is missing; of all JSON only `runflat-machine` is read"
    );
    assert_eq!(
        sentence(b"{\"format\": 3"),
        "file:1: invalid type: integer `3`, expected a string; wanted is the JSON of a \
         runflat-machine, version 1 (write any machine as json to see one)"
    );
}

/// Either a machine, or a sentence; with a line, where it is about the contents of a dump.
fn machine_or_line(bytes: &[u8]) -> Result<(), TestCaseError> {
    match read(bytes, "file") {
        Ok(import) => prop_assert!(import.machine.vertex_count() > 0),
        Err(FormatError::Unrecognised { .. }) => {}
        Err(error) => prop_assert!(error.line().is_some(), "{}", error),
    }
    Ok(())
}

/// Lines of the stage file that a mutation may land on: a part of it that is quick to read.
fn piece() -> Vec<&'static str> {
    let mut lines: Vec<&str> = STAGE.lines().collect();
    lines.truncate(130);
    lines
}

fn rate() -> impl Strategy<Value = LinkRate> {
    let speed = (0..Speed::ALL.len()).prop_map(|index| Speed::ALL[index].0);
    let lanes = prop_oneof![Just(1u8), Just(2), Just(4), Just(8), Just(12)];
    (lanes, speed).prop_map(|(lanes, speed)| LinkRate { lanes, speed })
}

const WORDS: &[&str] = &[
    "Switch 4 \"S-1\"",
    "Ca 2 \"H-2\"",
    "\n",
    "[1]",
    "\"S-1\"[1]",
    "\"H-2\"[1]",
    "(2)",
    "# \"",
    "\" lid 3",
    " 4xEDR",
    "caguid=0x",
    "ffffffffffffffff",
    "SwitchName=",
    "Nodes=n[0-3]",
    "BlockName=b",
    "{",
    "\"format\":",
    " ",
    "# runflat machine: switches=1 nodes=1 links=1 synthetic=true name=",
    "Chassis 1 (",
];

/// Multigraphs of up to ten parts: parallel cables, several planes, names alike, empty or odd.
fn multigraph() -> impl Strategy<Value = Machine> {
    let names = proptest::collection::vec("[a\"#;=\\[ é]{0,6}|gpu[01] mlx5_[01]", 10);
    let cables = proptest::collection::vec((0usize..10, 0usize..10, rate()), 1..24);
    (1usize..10, names, cables).prop_filter_map("no cable", |(switches, names, cables)| {
        let mut builder = Builder::new("any", true);
        let mut parts = Vec::new();
        for (index, name) in names.iter().enumerate() {
            parts.push(if index < switches {
                builder.switch(name, 60).unwrap()
            } else {
                builder.node(name, 60)
            });
        }
        for &(a, b, rate) in cables.iter().filter(|(a, b, _)| a != b) {
            builder.cable(parts[a], parts[b], rate);
        }
        builder.build().ok().filter(|machine| machine.link_count() > 0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes, "file");
    }

    #[test]
    fn words_of_the_formats_in_any_order_never_panic(
        words in proptest::collection::vec(proptest::sample::select(WORDS), 0..40),
    ) {
        let _ = read(words.concat().as_bytes(), "file");
    }

    #[test]
    fn a_damaged_dump_gives_a_machine_or_a_line(
        cut in 0usize..STAGE.len(),
        byte in any::<u8>(),
        at in 0usize..STAGE.len(),
    ) {
        let mut bytes = STAGE.as_bytes().to_vec();
        bytes[at] = byte;
        machine_or_line(&bytes)?;
        bytes.truncate(cut);
        machine_or_line(&bytes)?;
    }

    #[test]
    fn lines_in_any_order_give_a_machine_or_a_line(lines in Just(piece()).prop_shuffle()) {
        machine_or_line(lines.join("\n").as_bytes())?;
    }

    #[test]
    fn lines_lost_or_doubled_give_a_machine_or_a_line(
        lost in proptest::collection::vec(0usize..1300, 0..4),
        doubled in 0usize..1300,
    ) {
        let mut lines: Vec<&str> = STAGE.lines().collect();
        lines.insert(doubled, lines[doubled]);
        for line in lost {
            lines.remove(line % lines.len());
        }
        machine_or_line((lines.join("\n") + "\n").as_bytes())?;
    }

    #[test]
    fn any_multigraph_comes_back_from_ibsim_and_json(machine in multigraph()) {
        let json = write(&machine, "json").unwrap();
        prop_assert_eq!(&read(json.as_bytes(), "file").unwrap().machine, &machine);
        let text = write(&machine, "ibsim").unwrap();
        let import = read(text.as_bytes(), "file").unwrap();
        prop_assert_eq!(&import.warnings, &Vec::new());
        prop_assert!(diff(&machine, &import.machine).is_empty());
        prop_assert_eq!(machine.plane_count(), import.machine.plane_count());
        let again = write(&import.machine, "ibsim").unwrap();
        prop_assert_eq!(again, text);
    }

    #[test]
    fn hosts_stay_below_their_leaves_and_in_their_blocks(machine in multigraph()) {
        for format in ["slurm-tree", "slurm-block"] {
            if let Ok(text) = write(&machine, format) {
                let import = read(text.as_bytes(), "file").unwrap();
                let again = write(&import.machine, format).unwrap();
                let hosts = |text: &str| -> Vec<String> {
                    text.lines().filter(|line| line.contains("Nodes=")).map(str::to_owned).collect()
                };
                prop_assert_eq!(hosts(&again), hosts(&text));
                let planes = machine.plane_count();
                prop_assert!(import.machine.plane_count() <= planes);
            }
        }
    }
}
