use proptest::prelude::*;

use super::*;

/// The example of the manual page, shortened.
const EXAMPLE: &str = "
# Look for a 2D (since x radix is one) 4x5 torus.
torus 1 4 5

  # y is radix-4 torus dimension, need both
yp_link 0x200000 0x200005  # sw @ y=0,z=0 -> sw @ y=1,z=0
ym_link 0x200000 0x20000f  # sw @ y=0,z=0 -> sw @ y=3,z=0
zp_link 0x200000 0x200001
next_seed
yp_link 0x20000b 0x200010
ym_link 0x20000b 0x200006
zp_link 0x20000b 0x20000c
y_dateline -2  # Move the dateline for this seed
z_dateline -1  # back to its original position.
max_changes 5
portgroup_max_ports 20
port_order 7 10 8 7 11 # the rest as it comes
";

#[test]
fn reads_the_example_of_the_manual() {
    let conf = TorusConf::parse(EXAMPLE).unwrap();
    assert_eq!(conf.dimensions.map(|dimension| dimension.radix), [1, 4, 5]);
    assert!(conf.dimensions.iter().all(|dimension| dimension.wraps));
    let first = TorusSeed {
        switch: 0x20_0000,
        beside: [[None, None], [Some(0x20_000f), Some(0x20_0005)], [None, Some(0x20_0001)]],
        dateline: [0; 3],
    };
    assert_eq!(conf.seeds[0], first);
    assert_eq!((conf.seeds.len(), conf.seeds[1].dateline), (2, [0, -2, -1]));
    assert_eq!((conf.portgroup_max_ports, conf.port_order), (20, vec![7, 10, 8, 11]));
}

#[test]
fn a_suffix_wins_over_the_keyword() {
    let dimensions = |text| TorusConf::parse(text).unwrap().dimensions;
    assert_eq!(dimensions("mesh 3T 4 5"), dimensions("torus 3 4M 5m"));
    assert_eq!(TorusConf::parse("torus 3 4m 5").unwrap().to_string(), "torus 3 4m 5\n");
}

#[test]
fn a_keyword_given_twice_takes_the_last_value_and_empty_seeds_are_passed_over() {
    let text = "next_seed\nmesh 3 3 1\nxp_link 0x1 0x2\nxp_link 1 0x3\nnext_seed\n";
    let conf = TorusConf::parse(text).unwrap();
    assert_eq!(conf.seeds.len(), 1);
    assert_eq!(conf.seeds[0].beside[0], [None, Some(3)]);
    assert_eq!(conf.portgroup_max_ports, PORTGROUP_MAX_PORTS);
}

#[test]
fn mistakes_name_the_line_what_is_there_and_what_could_be() {
    for (text, message) in [
        ("", "line 0: found nothing, where `torus` or `mesh` with three radices is allowed"),
        (
            "torus 5 5 1\nmesh 5 5 1",
            "line 2: found `mesh`, where one `torus` or `mesh` a file is allowed",
        ),
        (
            "# two\ntorus 5 5",
            "line 2: found nothing, where three radices from 1 to 65535, as in `4 5t 1m`, is allowed",
        ),
        (
            "torus 5 5q 1",
            "line 1: found `5q`, where three radices from 1 to 65535, as in `4 5t 1m`, is allowed",
        ),
        (
            "torus 5 0 1",
            "line 1: found `0`, where three radices from 1 to 65535, as in `4 5t 1m`, is allowed",
        ),
        (
            "torus 5 5 1\n\nxp_link 0x1 here",
            "line 3: found `here`, where the GUIDs of two switches, as in `0x2000 0x2001`, is allowed",
        ),
        (
            "torus 5 5 1\nxp_link 0x1 0x2\nyp_link 0x2 0x3",
            "line 3: found `0x0000000000000002`, where 0x0000000000000001, from which the other \
             links of this seed lead, is allowed",
        ),
        (
            "torus 5 5 1\nx_dateline 5\nxp_link 1 2",
            "line 2: found `x_dateline 5`, where x_dateline from -4 to 4 is allowed",
        ),
        (
            "torus 5 5 1\nx_dateline\n",
            "line 2: found nothing, where a whole number from -65534 to 65534 is allowed",
        ),
        (
            "torus 5 5 1\ny_dateline 1\nnext_seed",
            "line 2: found `a seed of datelines alone`, where a seed with links is allowed",
        ),
        (
            "torus 5 5 1\nportgroup_max_ports 0",
            "line 2: found `0`, where a whole number from 1 to 65535 is allowed",
        ),
        (
            "TORUS 5 5 1",
            "line 1: found `TORUS`, where torus, mesh, {x,y,z}{p,m}_link, {x,y,z}_dateline, \
             next_seed, portgroup_max_ports, port_order or max_changes is allowed",
        ),
    ] {
        assert_eq!(TorusConf::parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

fn seed() -> impl Strategy<Value = TorusSeed> {
    let beside = proptest::array::uniform2(proptest::option::of(any::<u64>()));
    (any::<u64>(), proptest::array::uniform3(beside), [-2i32..3, -2i32..3, -2i32..3]).prop_map(
        |(switch, mut beside, dateline)| {
            beside[0][1].get_or_insert(7);
            TorusSeed { switch, beside, dateline }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        dimensions in proptest::array::uniform3((3..9u32, any::<bool>())),
        seeds in proptest::collection::vec(seed(), 0..4),
        portgroup_max_ports in 1..99u32,
        ports in proptest::collection::btree_set(1..255u8, 0..9),
    ) {
        let conf = TorusConf {
            dimensions: dimensions.map(|(radix, wraps)| TorusDimension { radix, wraps }),
            seeds,
            portgroup_max_ports,
            port_order: ports.into_iter().rev().collect(),
        };
        prop_assert_eq!(TorusConf::parse(&conf.to_string()), Ok(conf));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "([xyz][pm]_link|torus|mesh|[0-9]{1,3}[tTm]?|next_seed|x_dateline|0x[0-9a-f]{1,17}|é|#|-1| |\n){0,30}") {
        let _ = TorusConf::parse(&text);
    }
}

#[test]
fn what_is_written_for_a_machine_is_read_back_and_seeds_share_no_switch() {
    for (text, first, seeds) in [
        ("torus(5,5)", "torus 1 5 5", 4),
        ("torus(4,5,6; 2; 2)", "torus 4 5 6", 4),
        ("mesh(4,1,3)", "mesh 1 4 3", 3),
        ("torus(2,3)", "torus 1 2 3", 2),
        ("mesh(7)", "mesh 1 1 7", 3),
        ("mesh(1)", "mesh 1 1 1", 0),
    ] {
        let machine = crate::machine::samples::generated(text).machine_shared();
        let conf = TorusConf::of(&machine).unwrap();
        let written = conf.to_string();
        assert_eq!(written.lines().next(), Some(first));
        assert_eq!(TorusConf::parse(&written), Ok(conf.clone()));
        let mut named: Vec<u64> = conf
            .seeds
            .iter()
            .flat_map(|seed| seed.beside.iter().flatten().flatten().chain([&seed.switch]))
            .copied()
            .collect();
        let count = named.len();
        named.sort_unstable();
        named.dedup();
        assert_eq!((named.len(), conf.seeds.len()), (count, seeds), "{text}");
    }
}
