//! Every way in which so many parts fail: sample `i` is the i-th combination.
//!
//! Combinations are numbered by the combinatorial number system (Knuth, The Art of Computer Programming 4A, 7.2.1.3):
//! `i = C(c_k, k) + ... + C(c_1, 1)` with `c_k > ... > c_1 >= 0` the positions of the failed parts among those alive.
//! Refuses more than ten million combinations: that many fabrics are not compared one by one.

use super::draw::{self, Class, LinkClass};
use super::{FaultError, FaultModel, FaultSet};
use crate::machine::View;
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The exhaustive fault model.
pub struct Exhaustive;

/// The most combinations that are enumerated.
pub const MOST_COMBINATIONS: u64 = 10_000_000;

impl FaultModel for Exhaustive {
    fn name(&self) -> &'static str {
        "exhaustive"
    }

    fn summary(&self) -> &'static str {
        "every combination of so many links or switches, one a sample"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "failures",
                    doc: "`k`: how many fail at once",
                    kind: Kind::Int(0, 1_000_000),
                    default: Some("1"),
                },
                Param {
                    name: "parts",
                    doc: "what fails",
                    kind: Kind::Choice(&["links", "switches", "nodes"]),
                    default: Some("links"),
                },
                LinkClass::PARAM,
            ]
        }
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        _seed: Seed,
        sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let failures = args.int("failures");
        let class = class(args);
        let pick = |available: usize| nth(class, available as u64, failures, sample);
        let mut set = [Vec::new(), Vec::new(), Vec::new()];
        let links = draw::links(view, LinkClass::named(args.text(LinkClass::PARAM.name)));
        let (switches, nodes) = (draw::switches(view), draw::nodes(view));
        let available = [links.len(), switches.len(), nodes.len()][class as usize];
        set[class as usize] = pick(available)?;
        let [of_links, of_switches, of_nodes] = set;
        Ok(FaultSet::new(
            of_links.into_iter().map(|at| links[at]).collect(),
            of_switches.into_iter().map(|at| switches[at]).collect(),
            of_nodes.into_iter().map(|at| nodes[at]).collect(),
        ))
    }

    fn sample_count(&self, view: &View, args: &Args) -> Result<Option<u64>, FaultError> {
        let class = class(args);
        let available = match class {
            Class::Links => {
                draw::links(view, LinkClass::named(args.text(LinkClass::PARAM.name))).len()
            }
            Class::Switches => draw::switches(view).len(),
            Class::Nodes => draw::nodes(view).len(),
        };
        count(class, available as u64, args.int("failures")).map(Some)
    }
}

fn class(args: &Args) -> Class {
    match args.text("parts") {
        "switches" => Class::Switches,
        "nodes" => Class::Nodes,
        _ => Class::Links,
    }
}

/// Number of ways to choose `failures` of `available` parts.
///
/// # Errors
/// If there are fewer parts, or more than [`MOST_COMBINATIONS`] ways.
pub fn count(class: Class, available: u64, failures: u64) -> Result<u64, FaultError> {
    if failures > available {
        return Err(FaultError::TooMany { what: class.to_string(), asked: failures, available });
    }
    match choose(available, failures) {
        ways if ways <= MOST_COMBINATIONS => Ok(ways),
        _ => Err(FaultError::Combinations { class, failures, available, most: MOST_COMBINATIONS }),
    }
}

/// Positions, descending, of the parts that combination number `index` lets fail.
///
/// # Errors
/// As [`count`], and if there is no such combination.
pub fn nth(
    class: Class,
    available: u64,
    failures: u64,
    index: u64,
) -> Result<Vec<usize>, FaultError> {
    let count = count(class, available, failures)?;
    if index >= count {
        return Err(FaultError::Sample { sample: index, count });
    }
    let mut rest = index;
    let mut below = available;
    let mut positions = Vec::with_capacity(failures as usize);
    for left in (1..=failures).rev() {
        // The largest c below the last one with C(c, left) <= rest; C grows with c, so bisection finds it.
        let (mut low, mut high) = (left - 1, below);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if choose(middle, left) <= rest { low = middle } else { high = middle }
        }
        rest -= choose(low, left);
        below = low;
        positions.push(low as usize);
    }
    Ok(positions)
}

/// Binomial coefficient, or `u64::MAX` where it is larger than [`MOST_COMBINATIONS`].
fn choose(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    let mut ways = 1u64;
    for taken in 1..=k.min(n - k) {
        // Below ten million times 2^32, so the product fits; each quotient is a binomial coefficient and grows.
        ways = ways * (n - k.min(n - k) + taken) / taken;
        if ways > MOST_COMBINATIONS {
            return u64::MAX;
        }
    }
    ways
}
