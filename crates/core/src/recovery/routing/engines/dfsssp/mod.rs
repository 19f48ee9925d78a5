//! DFSSSP: the tables of SSSP, with routes spread over virtual lanes until no lane can deadlock.
//!
//! All routes start in lane 0. While a lane's channel dependency graph has a cycle, the dependency of the cycle that the
//! fewest routes cause is taken out of the lane by moving those routes to the next one. Works on any topology; refuses if
//! the lanes do not suffice, which on tori of a few hundred nodes they do not.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011;
//! `reference/routing-engines.md`, section 5.
//! Departs from it: routes are held as one tree a destination, never as a list of pairs, so memory is LIDs x switches,
//! and what shares a tree moves at once; only routes between nodes are laid into lanes unless `pairs = all`.
//! Limits: memory of two bytes a (LID, switch), and four more where lanes must be broken apart.

mod arcs;
mod breaker;
mod layers;
mod online;
mod trees;

use crate::machine::SwitchGraph;
use crate::params::{Args, Kind, Param};
use crate::recovery::routing::engines::sssp;
use crate::recovery::routing::{Compat, Engine, Lanes, Outcome, RouteOptions, Routing};
use layers::Layers;
use trees::{Pairs, Trees};

/// The DFSSSP engine.
pub struct Dfsssp;

const PARAMS: &[Param] = &[
    Param {
        name: "pairs",
        doc: "routes laid into lanes: from nodes to nodes, or all, those of switches too",
        kind: Kind::Choice(&["nodes", "all"]),
        default: Some("nodes"),
    },
    Param {
        name: "layering",
        doc: "how lanes are filled: offline moves routes out of cycles as the paper does, online puts \
              each route into the first lane that stays acyclic",
        kind: Kind::Choice(&["offline", "online"]),
        default: Some("offline"),
    },
    Param {
        name: "balance",
        doc: "spread routes over spare lanes as OpenSM does; auto: with compat opensm",
        kind: Kind::Choice(&["auto", "true", "false"]),
        default: Some("auto"),
    },
];

impl Engine for Dfsssp {
    fn name(&self) -> &'static str {
        "dfsssp"
    }

    fn title(&self) -> &'static str {
        "DFSSSP"
    }

    fn summary(&self) -> &'static str {
        "SSSP made deadlock-free by virtual lanes; any topology, if the lanes suffice"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, args: &Args) -> Outcome {
        let opensm = options.compat == Compat::OpenSm;
        let pairs = if args.text("pairs") == "all" { Pairs::All } else { Pairs::Nodes };
        let balance = args.text("balance") == "true" || args.text("balance") == "auto" && opensm;
        let lft = match sssp::tables(graph, options) {
            Ok(lft) => lft,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let trees = Trees::new(graph, &lft, pairs);
        let layers = match args.text("layering") {
            "online" => Layers::online(graph, &trees, options.max_vl),
            _ => Layers::offline(graph, &trees, options.max_vl),
        };
        let layers = match layers {
            Ok(layers) => layers,
            Err(cycle) => {
                let lanes = options.max_vl;
                let reason = match args.text("layering") {
                    "online" => format!(
                        "not enough virtual lanes: some route closes a credit loop in each of \
                         {lanes}"
                    ),
                    _ => format!(
                        "not enough virtual lanes: with {lanes} of them the last still has a \
                         credit loop; layering=online may need fewer, `nue` takes what there is"
                    ),
                };
                return Outcome::refused_at(cycle, reason);
            }
        };
        let count = layers.count();
        let spread = if balance { options.max_vl } else { count };
        let lanes = match layers.lanes(&trees, spread) {
            None => Lanes::Single,
            Some(levels) => Lanes::PerPair(levels),
        };
        Outcome::Routed(Routing { lft, lanes, layers: count })
    }
}
