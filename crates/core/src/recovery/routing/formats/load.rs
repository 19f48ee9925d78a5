//! The OpenSM command that loads an export, and what gets lost on the way.
//!
//! Source: OpenSM's manual (`-R`, `-U`, `-x`, `-l`, `-Q`), tried with 3.3.23 on ibsim.

use crate::recovery::routing::check::Check;
use crate::recovery::routing::lft::Routing;

/// A command line and what to know before running it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadCommand {
    /// For a shell.
    pub command: String,
    /// Sentences, the gravest first.
    pub notes: Vec<String>,
}

/// The command by which OpenSM loads tables written to `file` in the format `opensm`; others lose routes on the way.
///
/// `on_one_lane` is what the check says of the tables without their lanes, which is how OpenSM loads them. `cache` is the
/// folder in which `guid2lid` was written, if LIDs are to be as in the export; tables name port GUIDs, so they fit without
/// it (`-x` keeps them even when this subnet manager takes over from another). `engine` is the engine that made the
/// tables, under OpenSM's name if it is one of OpenSM's.
#[must_use]
pub fn load_command(
    routing: &Routing,
    on_one_lane: &Check,
    file: &str,
    cache: Option<&str>,
    engine: Option<&str>,
) -> LoadCommand {
    let lmc = routing.lft.lids().lmc();
    let cache = cache.map_or(String::new(), |folder| format!("OSM_CACHE_DIR={} ", quote(folder)));
    let honor = if cache.is_empty() { "" } else { " -x" };
    let command = format!("{cache}opensm{honor} -R file,no_fallback -U {} -l {}", quote(file), lmc);
    let mut notes = Vec::new();
    let lanes = routing.lanes.count();
    let left_out = on_one_lane.unreachable_pairs - on_one_lane.cut_pairs;
    if left_out > 0 {
        notes.push(format!("incomplete: {left_out} pairs that cables join have no route"));
    }
    if on_one_lane.cycle.is_some() && lanes == 1 {
        notes.push("not free from deadlock: the routes close a credit loop".to_owned());
    } else if on_one_lane.cycle.is_some() {
        let advice = match engine
            .and_then(|engine| LANED.iter().find(|name| name.eq_ignore_ascii_case(engine)))
        {
            Some(name) => format!(
                "have OpenSM work out tables and lanes itself, with the same inputs: opensm -Q -R \
                 {name},no_fallback{} -l {lmc} (its own way of filling lanes may need more of \
                 them)",
                if *name == "torus-2QoS" { torus_conf(file) } else { String::new() }
            ),
            None => "take an engine whose tables are safe on one lane, as `nue` with --max-vl 1, \
                     or one that OpenSM has"
                .to_owned(),
        };
        notes.push(format!(
            "not free from deadlock when loaded like this: the routes are spread over several \
             lanes, and OpenSM's file engine puts them all on service level 0, in one lane, where \
             they close a credit loop; {advice}"
        ));
    } else if lanes > 1 {
        notes.push(
            "the lane map cannot be carried along: OpenSM's file engine puts all routes on service \
             level 0, in one lane; that is still free from deadlock"
                .to_owned(),
        );
    }
    notes.push(
        "OpenSM checks nothing of what it loads; no_fallback keeps it from routing by MinHop \
         without a word if it cannot read the file"
            .to_owned(),
    );
    LoadCommand { command, notes }
}

/// Engines of OpenSM that give routes lanes.
const LANED: [&str; 4] = ["dfsssp", "lash", "torus-2QoS", "nue"];

/// The option for the coordinates, which are exported into the folder of the tables.
fn torus_conf(file: &str) -> String {
    let folder = file.rfind('/').map_or("", |slash| &file[..=slash]);
    format!(" --torus_config {}", quote(&format!("{folder}torus-2QoS.conf")))
}

/// A word for a shell.
fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SwitchGraph;
    use crate::machine::samples::ring;
    use crate::params::Given;
    use crate::recovery::routing::check::check;
    use crate::recovery::routing::engines::bind;
    use crate::recovery::routing::{Outcome, RouteOptions};

    fn notes(nodes: usize, engine: &str, max_vl: u8) -> (String, Vec<String>) {
        let view = ring(nodes, 1);
        let graph = SwitchGraph::new(&view);
        let options = RouteOptions { max_vl, ..RouteOptions::default() };
        let Outcome::Routed(routing) = bind(engine, &Given::new()).unwrap().route(&graph, &options)
        else {
            panic!("{engine} refused");
        };
        let alone = check(&graph, &Routing::single_lane(routing.lft.clone()));
        let load = load_command(&routing, &alone, "t.dump", Some("cache"), Some(engine));
        (load.command, load.notes)
    }

    #[test]
    fn commands_are_written_for_a_shell() {
        let (command, _) = notes(3, "minhop", 8);
        assert_eq!(command, "OSM_CACHE_DIR=cache opensm -x -R file,no_fallback -U t.dump -l 0");
        assert_eq!(quote("a b'.dump"), r"'a b'\''.dump'");
    }

    #[test]
    fn what_is_lost_with_the_lanes_is_found_by_the_check() {
        // A ring of five needs two lanes, one of three none.
        let (_, deadlock) = notes(5, "dfsssp", 8);
        assert!(deadlock[0].starts_with("not free from deadlock when loaded like this"));
        assert!(deadlock[0].contains("opensm -Q -R dfsssp,no_fallback"));
        let (_, unlaned) = notes(5, "minhop", 8);
        assert_eq!(unlaned[0], "not free from deadlock: the routes close a credit loop");
        let (_, harmless) = notes(3, "nue", 3);
        assert!(harmless[0].contains("that is still free from deadlock"), "{harmless:?}");
        assert_eq!(notes(3, "minhop", 8).1.len(), 1);
    }
}
