//! `opensm.fdbs`: tables with hop counts, as OpenSM and ibdiagnet write them and ibdmchk reads them.
//!
//! Lines name LIDs alone, so reading needs the LIDs of the same subnet at the same time. Hops and optimality are written
//! as OpenSM works them out: the shortest way on from the neighbour behind the port, plus the cable to it; they are not
//! read. Numbers of hops that OpenSM could not know (no way on) are written as 255. OpenSM cannot load it: `-R file -U`
//! takes it without a word and routes nothing (seen with 3.3.23).
//!
//! Source: files written by OpenSM 3.3.23. Limits: tables of further private LFTs (ibdiagnet) are not told apart.

use std::fmt::Write;

use super::line::{self, Line};
use super::{Export, TableFormat, columns::Column};
use crate::ids::SwitchId;
use crate::machine::LidOwner;
use crate::recovery::routing::hops::HopMatrix;

/// OpenSM's tables with hops.
pub struct Fdbs;

/// What a switch's table begins with, after `osm_ucast_mgr_` in older versions.
const HEADER: &str = "dump_ucast_routes: Switch 0x";
const HEAD: &str = "a table begins `dump_ucast_routes: Switch 0x<16 digits>`";
const ENTRY: &str = "an entry reads `0x0001 : 030  : 02   : yes` or `0x0001 : UNREACHABLE`";

impl TableFormat for Fdbs {
    fn names(&self) -> &'static [&'static str] {
        &["fdbs", "opensm.fdbs"]
    }

    fn summary(&self) -> &'static str {
        "opensm.fdbs, with hops; names LIDs alone"
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|text| matches!(self.line(text), Line::Switch { .. }))
    }

    fn line(&self, text: &str) -> Line {
        let text = text.trim();
        if text.starts_with("0x") {
            return entry(text).unwrap_or(Line::Malformed(ENTRY));
        }
        if text.is_empty() || text.starts_with('#') || text.starts_with("LID ") {
            return Line::Empty;
        }
        match text.strip_prefix("osm_ucast_mgr_").unwrap_or(text).strip_prefix(HEADER) {
            None => Line::Noise,
            Some(guid) => match line::leading_hex(guid, 16) {
                Some((guid, rest)) if rest.trim().is_empty() && guid != 0 => {
                    Line::Switch { lid: None, guid }
                }
                _ => Line::Malformed(HEAD),
            },
        }
    }

    fn closes(&self) -> bool {
        false
    }

    fn write(&self, tables: &Export<'_>) -> String {
        let hops = HopMatrix::shortest(tables.graph);
        let mut text = String::new();
        for plane in tables.planes() {
            let columns = tables.columns(plane);
            for (_, switch) in tables.switches(plane) {
                let guid = tables.graph.machine().switch(switch).guid;
                // `write!` to a `String` cannot fail.
                let _ = writeln!(text, "{HEADER}{guid:016x}\nLID    : Port : Hops : Optimal");
                let mut columns = columns.iter().peekable();
                for lid in 1..=tables.wire.top(plane) {
                    let column = columns.next_if(|column| column.lid == lid);
                    let port =
                        column.and_then(|column| Some((column, tables.port(switch, column)?)));
                    let Some((column, port)) = port else {
                        let _ = writeln!(text, "0x{lid:04X} : UNREACHABLE");
                        continue;
                    };
                    let way = Way::of(tables, &hops, switch, column, port);
                    let _ = write!(text, "0x{lid:04X} : {port:03}  : {:02}   : ", way.hops);
                    let _ = match way.better {
                        None => writeln!(text, "yes"),
                        Some((hops, port)) => {
                            writeln!(text, "No {hops} hop path possible via port {port}!")
                        }
                    };
                }
            }
        }
        text
    }
}

/// `0x0001 : 030  : 02   : yes`, `0x0001 : UNREACHABLE`.
fn entry(text: &str) -> Option<Line> {
    let (lid, rest) = line::lid(text)?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let port = match rest {
        "UNREACHABLE" => None,
        _ => line::port(rest)?.0,
    };
    Some(Line::Entry { lid, port, guid: 0 })
}

/// How far a port leads, and whether another leads there sooner.
struct Way {
    hops: u16,
    better: Option<(u16, u8)>,
}

/// Where OpenSM has no number.
const NO_WAY: u16 = 255;

impl Way {
    fn of(
        tables: &Export<'_>,
        hops: &HopMatrix,
        switch: SwitchId,
        column: &Column,
        port: u8,
    ) -> Way {
        let (graph, machine) = (tables.graph, tables.graph.machine());
        let (target, last) = match column.owner {
            LidOwner::Switch(target) => (Some(target), 0),
            LidOwner::Endpoint(end) => (graph.switch_of(end), 1),
        };
        let far = |from: SwitchId| match target.map(|target| hops.row(from)[target.index()]) {
            None | Some(HopMatrix::FAR) => NO_WAY,
            Some(hops) => (hops + last).min(NO_WAY),
        };
        let least = far(switch);
        let own = machine.channel_at(machine.switch_vertex(switch), port).map_or(NO_WAY, |out| {
            let head = machine.head(out);
            match (machine.as_switch(head.vertex), column.owner) {
                _ if !graph.view().usable(out) => NO_WAY,
                (Some(next), _) => (far(next) + 1).min(NO_WAY),
                (None, LidOwner::Endpoint(end)) if machine.endpoint(end) == head => 1,
                (None, _) => NO_WAY,
            }
        });
        let own = if port == 0 && column.owner == LidOwner::Switch(switch) { 0 } else { own };
        let better = || {
            let mut ways = graph.neighbours(switch);
            let way = ways.find(|&(_, head)| far(head) + 1 == least)?;
            Some((least, machine.tail(way.0).port))
        };
        Way { hops: own, better: if least < own { better() } else { None } }
    }
}
