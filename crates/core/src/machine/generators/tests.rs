//! What the tests of every generator share, and properties that all generators have.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::{GENERATORS, GeneratorError, make};
use crate::ids::SwitchId;
use crate::machine::Machine;
use crate::params::{Given, Kind, Param};
use crate::rng::Seed;

/// The machine that `text` writes.
pub(super) fn built(text: &str) -> Machine {
    make(text, &Given::new(), Seed(1)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Why there is no machine that `text` writes.
pub(super) fn refused(text: &str) -> String {
    make(text, &Given::new(), Seed(1)).unwrap_err().to_string()
}

/// Switches, nodes, switch-switch links.
pub(super) fn sizes(machine: &Machine) -> (usize, usize, usize) {
    (machine.switch_count(), machine.node_count(), machine.switch_links().count())
}

/// Largest distance between two switches of one plane, in links.
pub(super) fn diameter(machine: &Machine) -> usize {
    let farthest = |start: SwitchId| {
        let mut distance = vec![usize::MAX; machine.switch_count()];
        let mut queue = VecDeque::from([start]);
        distance[start.index()] = 0;
        let mut last = 0;
        while let Some(switch) = queue.pop_front() {
            last = distance[switch.index()];
            for channel in machine.channels_from(machine.switch_vertex(switch)) {
                if let Some(next) = machine.as_switch(machine.head(channel).vertex)
                    && distance[next.index()] == usize::MAX
                {
                    distance[next.index()] = last + 1;
                    queue.push_back(next);
                }
            }
        }
        last
    };
    machine.switches().map(farthest).max().unwrap_or(0)
}

/// A text for a parameter: small, mostly of its kind, sometimes one too many.
fn value(kind: Kind) -> BoxedStrategy<String> {
    match kind {
        Kind::Int(low, high) => {
            (low..=high.min(low + 6)).prop_map(|value| value.to_string()).boxed()
        }
        Kind::Ints(low, high) => prop::collection::vec(low..=high.min(low + 3), 1..4)
            .prop_map(|all| all.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            .boxed(),
        Kind::Real(low, high) => (low..=high).prop_map(|value| value.to_string()).boxed(),
        Kind::Text => prop::sample::select(vec!["1:1", "2:1", "1.5", "0.5", "3", "x"])
            .prop_map(str::to_owned)
            .boxed(),
        Kind::Choice(words) => prop::sample::select(words).prop_map(str::to_owned).boxed(),
        Kind::Flag => any::<bool>().prop_map(|flag| flag.to_string()).boxed(),
    }
}

/// A generator's name and small parameters; those that have a default are left out half of the time.
fn machines() -> impl Strategy<Value = (&'static str, Given)> {
    let given = |param: &'static Param| {
        let required = param.default.is_none();
        (value(param.kind), any::<bool>())
            .prop_map(move |(text, keep)| (required || keep).then(|| (param.name.to_owned(), text)))
    };
    (0..GENERATORS.len()).prop_flat_map(move |index| {
        let generator = GENERATORS[index];
        let all: Vec<_> = generator.params().iter().map(given).collect();
        all.prop_map(move |pairs| (generator.name(), pairs.into_iter().flatten().collect()))
    })
}

/// How many planes a generator says it makes of `given`.
fn stated_planes(name: &str, given: &Given) -> usize {
    let number =
        |name: &str, default: usize| given.get(name).map_or(default, |text| text.parse().unwrap());
    match name {
        "xgft" => given["parents"].split(',').next().unwrap().parse().unwrap(),
        "tsubame2" => number("rails", 2),
        "rail-fat-tree" if given.get("spines").is_some_and(|spines| spines != "all") => {
            number("rails", 8)
        }
        _ => 1,
    }
}

fn check_invariants(name: &str, given: &Given, machine: &Machine) {
    assert_eq!(machine.plane_count(), stated_planes(name, given));
    if let Some(nodes) = given.get("nodes").filter(|nodes| *nodes != "0") {
        assert_eq!(machine.node_count().to_string(), *nodes);
    }
    for endpoint in machine.endpoints() {
        assert!(machine.as_switch(machine.head(machine.injection(endpoint)).vertex).is_some());
    }
    assert!(machine.nodes().all(|node| machine.endpoints_of(node).len() > 0));
    assert!(machine.synthetic() && machine.name().starts_with(name));
    for link in machine.links() {
        let [one, other] = machine.ends(link);
        assert_ne!(one.vertex, other.vertex, "a cable from a part to itself");
    }
    if let Some(coordinates) = machine.coordinates() {
        let dimensions = coordinates.shape.len();
        assert_eq!(coordinates.of_switch.len(), dimensions * machine.switch_count());
        for position in coordinates.of_switch.chunks(dimensions) {
            assert!(position.iter().zip(&coordinates.shape).all(|(at, length)| at < length));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn small_parameters_make_a_sound_machine_or_a_sentence((name, given) in machines()) {
        match make(name, &given, Seed(1)) {
            Ok(machine) => {
                check_invariants(name, &given, &machine);
                prop_assert_eq!(machine, make(name, &given, Seed(1)).unwrap());
            }
            Err(GeneratorError::Impossible(sentence)) => prop_assert!(sentence.len() > 20),
            Err(GeneratorError::Machine(_)) => {}
            Err(other) => prop_assert!(false, "{}: {}", name, other),
        }
    }
}

/// The extreme text of a parameter, every number at one end of its bounds.
fn extreme(param: &Param, largest: bool, items: usize) -> String {
    match param.kind {
        Kind::Int(low, high) => if largest { high } else { low }.to_string(),
        Kind::Ints(low, high) => {
            vec![if largest { high } else { low }.to_string(); items].join(",")
        }
        Kind::Real(low, high) => if largest { high } else { low }.to_string(),
        Kind::Text => if largest { "1000:0.001" } else { "0.001:1000" }.to_owned(),
        Kind::Choice(words) => words[if largest { words.len() - 1 } else { 0 }].to_owned(),
        Kind::Flag => largest.to_string(),
    }
}

/// Makes every generator with its first five parameters at the ends of their bounds that `ends` has a bit for, those
/// that are not `named` at their defaults.
fn make_at_bounds(ends: impl Fn(usize) -> std::ops::Range<u32>, named: impl Fn(&str) -> bool) {
    for &generator in GENERATORS {
        let params: Vec<&Param> =
            generator.params().iter().filter(|param| named(param.name)).take(5).collect();
        for end in ends(params.len()) {
            for items in [2, 16, 300] {
                let bound = |(index, param): (usize, &&Param)| {
                    (param.name.to_owned(), extreme(param, end >> index & 1 == 1, items))
                };
                let given = params.iter().enumerate().map(bound).collect();
                let _ = make(generator.name(), &given, Seed(1));
            }
        }
    }
}

#[test]
fn the_smallest_and_largest_parameters_never_panic_or_fill_the_memory() {
    // Four million nodes at the limit of memory are left to the test below.
    let named = |name: &str| name != "nodes";
    make_at_bounds(|_| 0..1, named);
    make_at_bounds(|count| (1 << count) - 1..1 << count, named);
}

#[test]
#[ignore = "builds machines at the limits: minutes and gigabytes"]
fn parameters_at_any_of_their_bounds_never_panic() {
    make_at_bounds(|count| 0..1 << count, |_| true);
}

#[test]
fn names_are_unique_and_parameters_documented() {
    for (index, generator) in GENERATORS.iter().enumerate() {
        assert!(GENERATORS[..index].iter().all(|other| other.name() != generator.name()));
        assert!(generator.summary().len() > 20);
        assert!(generator.params().iter().all(|param| param.doc.len() > 10));
    }
}
