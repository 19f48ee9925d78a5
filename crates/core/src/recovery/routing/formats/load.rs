//! The OpenSM command that loads an export, and what gets lost on the way.
//!
//! Source: OpenSM's manual (`-R`, `-U`, `-x`, `-l`, `-Q`), tried with 3.3.23 on ibsim.

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
/// `cache` is the folder in which `guid2lid` was written, if LIDs are to be as in the export; tables name port GUIDs, so
/// they fit without it (`-x` keeps them even when this subnet manager takes over from another). `engine` is the engine that made the tables, under OpenSM's name if it is one of OpenSM's.
#[must_use]
pub fn load_command(
    routing: &Routing,
    file: &str,
    cache: Option<&str>,
    engine: Option<&str>,
) -> LoadCommand {
    let cache = cache.map_or(String::new(), |folder| format!("OSM_CACHE_DIR={} ", quote(folder)));
    let honor = if cache.is_empty() { "" } else { " -x" };
    let command = format!(
        "{cache}opensm{honor} -R file,no_fallback -U {} -l {}",
        quote(file),
        routing.lft.lids().lmc()
    );
    let mut notes = Vec::new();
    let lanes = routing.lanes.count();
    if routing.layers > 1 {
        let engine = engine.filter(|engine| LANED.contains(engine)).unwrap_or("dfsssp");
        notes.push(format!(
            "not free from deadlock when loaded like this: the routes need {} lanes, and OpenSM's \
             file engine puts them all on service level 0, in one lane; have OpenSM work out \
             tables and lanes itself instead: opensm -Q -R {engine},no_fallback",
            routing.layers
        ));
    } else if lanes > 1 {
        notes.push(format!(
            "the lane map cannot be carried along: OpenSM's file engine puts all routes on service \
             level 0, so the {lanes} lanes that spread load here become one; one is enough for \
             freedom from deadlock"
        ));
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
    use crate::machine::samples::ring;
    use crate::recovery::routing::{Lanes, Lft};

    #[test]
    fn commands_say_what_lanes_become() {
        let view = ring(3, 1);
        let machine = view.machine();
        let mut routing = Routing::single_lane(Lft::empty(machine, 1));
        let load = load_command(&routing, "a b'.dump", None, None);
        assert_eq!(load.command, r"opensm -R file,no_fallback -U 'a b'\''.dump' -l 1");
        assert_eq!(load.notes.len(), 1);
        let pairs = machine.switch_count() * routing.lft.lids().count();
        routing.lanes = Lanes::PerPair((0..pairs).map(|pair| (pair % 3) as u8).collect());
        let load = load_command(&routing, "t.dump", Some("cache"), Some("lash"));
        assert_eq!(
            load.command,
            "OSM_CACHE_DIR=cache opensm -x -R file,no_fallback -U t.dump -l 1"
        );
        assert!(load.notes[0].contains("the 3 lanes that spread load here become one"));
        routing.layers = 2;
        let grave = |engine| load_command(&routing, "t.dump", None, engine).notes[0].clone();
        assert!(grave(Some("lash")).ends_with("opensm -Q -R lash,no_fallback"));
        assert_eq!(
            grave(Some("mine")),
            "not free from deadlock when loaded like this: the routes need 2 lanes, and OpenSM's \
             file engine puts them all on service level 0, in one lane; have OpenSM work out \
             tables and lanes itself instead: opensm -Q -R dfsssp,no_fallback"
        );
    }
}
