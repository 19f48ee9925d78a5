//! A machine's lifetime without repair: parts fail at an annual rate over years, and stay failed.
//!
//! `count = expected`: after `years`, `rate x parts x years` of each class have failed, rounded down. `count =
//! poisson`: each year adds a Poisson number with mean `rate x parts`, drawn for that year alone. Either way a longer
//! life of the same sample contains a shorter one, no part fails twice, and a class in which all have failed stays
//! so. The rate applies to the parts that were there at the start, as the study's year axis does; in eight years at 1
//! % that is 3.5 % more failures than a rate on the survivors would give.
//!
//! `failures` above 0 gives the number of failed parts instead of years and rates, split between links and switches
//! by `ratio`: the case studies count TSUBAME2.0's failures at 13 links to a switch, Deimos' at 2 links to a switch
//! (the slides write switches first, 1:13 and 1:2). The switches' share is rounded down.
//!
//! With `keep_connected` parts are passed over as in [`super::random`], year by year (or failure by failure),
//! switches first; a part once passed over never fails.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14, case studies: "8 years of lifetime, about 1 % annual link/switch failure"
//! (TSUBAME2.0) and "0.2 % annual link and 1.5 % switch failure" (Deimos); Table I for the rates.

use super::draw::{Class, Draw, KEEP_CONNECTED, LinkClass};
use super::{FaultError, FaultModel, FaultSet};
use crate::machine::View;
use crate::params::{Args, Kind, Param};
use crate::rng::{Seed, Stream};

/// The lifetime fault model.
pub struct Lifetime;

impl FaultModel for Lifetime {
    fn name(&self) -> &'static str {
        "lifetime"
    }

    fn summary(&self) -> &'static str {
        "years of failures at annual rates, nothing repaired (Domke et al. 2014)"
    }

    fn params(&self) -> &'static [Param] {
        const fn rate(name: &'static str, doc: &'static str, default: &'static str) -> Param {
            Param { name, doc, kind: Kind::Real(0.0, 1.0), default: Some(default) }
        }
        const {
            &[
                Param {
                    name: "years",
                    doc: "how long the machine has run",
                    kind: Kind::Int(0, 100),
                    default: Some("1"),
                },
                rate("link_rate", "share of links that fail a year", "0.01"),
                rate("switch_rate", "share of switches that fail a year", "0.01"),
                rate("node_rate", "share of nodes that fail a year", "0"),
                Param {
                    name: "count",
                    doc: "how many fail: the expected number, or a Poisson number each year",
                    kind: Kind::Choice(&["expected", "poisson"]),
                    default: Some("expected"),
                },
                Param {
                    name: "failures",
                    doc: "failed links and switches together, instead of years; 0 takes the years",
                    kind: Kind::Int(0, 10_000_000),
                    default: Some("0"),
                },
                Param {
                    name: "ratio",
                    doc: "links to switches among `failures`",
                    kind: Kind::Text,
                    default: Some("13:1"),
                },
                LinkClass::PARAM,
                KEEP_CONNECTED,
            ]
        }
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        seed: Seed,
        sample: u64,
    ) -> Result<FaultSet, FaultError> {
        let links = LinkClass::named(args.text(LinkClass::PARAM.name));
        let mut draw = Draw::new(view, links, args.flag(KEEP_CONNECTED.name), seed, sample);
        match args.int("failures") {
            0 => fail_years(&mut draw, args, seed, sample)?,
            failures => fail_in_ratio(&mut draw, failures, ratio(args.text("ratio"))?)?,
        }
        Ok(draw.finish())
    }
}

/// Class, its rate's parameter, and the stream its Poisson numbers come from.
const RATES: [(Class, &str, &str); 3] = [
    (Class::Switches, "switch_rate", "faults.years.switches"),
    (Class::Links, "link_rate", "faults.years.links"),
    (Class::Nodes, "node_rate", "faults.years.nodes"),
];

fn fail_years(draw: &mut Draw, args: &Args, seed: Seed, sample: u64) -> Result<(), FaultError> {
    let poisson_counts = args.text("count") == "poisson";
    // One stream a class and sample, read year after year: a longer life starts as a shorter one did.
    let mut streams = RATES.map(|(.., stream)| seed.stream(stream, sample));
    let mut drawn = [0u64; 3];
    for year in 1..=args.int("years") {
        for (at, (class, rate, _)) in RATES.into_iter().enumerate() {
            let available = draw.available(class);
            let mean = args.real(rate) * available as f64;
            drawn[at] = if poisson_counts {
                drawn[at] + poisson(&mut streams[at], mean)
            } else {
                // 0.29 x 100 is 28.999999999999996 in binary; the rate that was meant is decimal.
                (mean * year as f64 + 1e-9) as u64
            };
            draw.fail(class, drawn[at].min(available))?;
        }
    }
    Ok(())
}

fn fail_in_ratio(
    draw: &mut Draw,
    failures: u64,
    (links, switches): (u64, u64),
) -> Result<(), FaultError> {
    for count in 1..=failures {
        let of_switches = count * switches / (links + switches);
        draw.fail(Class::Switches, of_switches)?;
        draw.fail(Class::Links, count - of_switches)?;
    }
    Ok(())
}

/// Reads `13:1`, links to switches.
fn ratio(text: &str) -> Result<(u64, u64), FaultError> {
    let error = || FaultError::Ratio(text.to_owned());
    let number = |part: &str| part.trim().parse::<u32>().map(u64::from).map_err(|_| error());
    let (links, switches) = text.split_once(':').ok_or_else(error)?;
    match (number(links)?, number(switches)?) {
        (0, 0) => Err(error()),
        parts => Ok(parts),
    }
}

/// A Poisson number (Knuth's product of uniforms, in steps whose `exp(-mean)` is far from underflow).
fn poisson(stream: &mut Stream, mean: f64) -> u64 {
    const STEP: f64 = 32.0;
    let mut left = mean;
    let mut count = 0;
    while left > 0.0 {
        let bound = (-left.min(STEP)).exp();
        let mut product = stream.unit();
        while product > bound {
            count += 1;
            product *= stream.unit();
        }
        left -= STEP;
    }
    count
}
