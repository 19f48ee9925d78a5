//! Torus-2QoS: dimension order on 2D and 3D tori and meshes that goes round failures without changing service levels.
//!
//! Places of switches come from the configuration in [`RouteOptions::torus_conf`] and the cables, as OpenSM finds them, or
//! else from the coordinates of a generated machine. A dateline bit a dimension in the service level, and tables that turn
//! it into lanes by input and output port, keep each ring free of credit loops with two lanes; four are enough to turn
//! early around one missing switch, or several side by side in one line along z.
//!
//! Source: the manual page torus-2QoS(8) of OpenSM 3.3.23; `reference/routing-engines.md`, section 5; its refusals measured
//! on ibsim. Departs from it: a 1D grid is routed; missing switches need four lanes, where OpenSM routes on and warns; cables
//! or switches that fit no place are refused, where OpenSM leaves them unused with a warning, and discovery places some that
//! OpenSM cannot; a part cut off from the rest is looked at by itself; a credit loop is looked for if switches are missing;
//! on a mesh OpenSM also turns early at the border opposite a missing switch; which of parallel cables comes first differs.
//! Limits: three dimensions; `qos_levels` adds the lanes of the second quality to the tables, pairs stay on the first.

mod conf;
mod discovery;
mod proof;
mod route;
#[cfg(test)]
mod samples;
mod seeds;
mod shape;
mod torus;

pub use conf::{PORTGROUP_MAX_PORTS, TorusConf, TorusConfError, TorusDimension, TorusSeed};

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::params::{Args, Kind, Param};
use crate::recovery::routing::{Engine, Lanes, Outcome, Refusal, RouteOptions, Routing};
use shape::{Place, Shape};
use torus::Torus;

/// The Torus-2QoS engine.
pub struct Torus2Qos;

impl Engine for Torus2Qos {
    fn name(&self) -> &'static str {
        "torus-2QoS"
    }

    fn title(&self) -> &'static str {
        "Torus-2QoS"
    }

    fn summary(&self) -> &'static str {
        "dimension order on 2D and 3D tori and meshes; deadlock-free, goes round failures"
    }

    fn params(&self) -> &'static [Param] {
        &[QOS_LEVELS]
    }

    fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions, args: &Args) -> Outcome {
        match attempt(graph, options, args.count("qos_levels")) {
            Ok(routing) => Outcome::Routed(routing),
            Err(refusal) => Outcome::Refused(refusal),
        }
    }
}

const QOS_LEVELS: Param = Param {
    name: "qos_levels",
    doc: "qualities of service; a second one takes service levels 8 to 15 and lanes 4 to 7",
    kind: Kind::Int(1, 2),
    default: Some("1"),
};

fn attempt(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    qualities: u32,
) -> Result<Routing, Refusal> {
    enough_lanes(options.max_vl, if qualities == 2 { 8 } else { 2 }, "")?;
    let groups = graph.joined_switches();
    let (shape, place) = places(graph, options, &groups)?;
    let torus = Torus::new(graph, shape, groups, place)?;
    if let Some(conf) = &options.torus_conf {
        within_limits(graph, &torus, conf)?;
    }
    let incomplete = torus.parts.iter().filter(|part| part.incomplete);
    for part in incomplete.clone() {
        enough_lanes(options.max_vl, 4, " with switches missing")?;
        proof::prove(graph, &torus, part)?;
    }
    let no_order = Vec::new();
    let port_order = options.torus_conf.as_ref().map_or(&no_order, |conf| &conf.port_order);
    let lft = route::tables(graph, options, &torus, port_order);
    let levels = route::levels(graph, &torus, &lft);
    let tables = route::sl_to_vl(graph, &torus, options.max_vl, qualities);
    let tables = tables.map_err(|error| reason(error.to_string()))?;
    let layers = match (incomplete.count(), torus.shape.wraps.contains(&true)) {
        (0, false) => 1,
        (0, true) => 2,
        (_, false) => 3,
        (_, true) => 4,
    };
    Ok(Routing { lft, lanes: Lanes::ByPort(levels, tables), layers })
}

fn enough_lanes(given: u8, needed: u8, why: &str) -> Result<(), Refusal> {
    if given >= needed {
        return Ok(());
    }
    Err(reason(format!("torus-2QoS needs {needed} virtual lanes{why}; {given} may be used")))
}

/// The grid, and the place in it of every switch that is not all alone.
fn places(
    graph: &SwitchGraph<'_>,
    options: &RouteOptions,
    groups: &[Vec<SwitchId>],
) -> Result<(Shape, Vec<Option<Place>>), Refusal> {
    if let Some(conf) = &options.torus_conf {
        discovery::seeds_suffice(conf)?;
        let mut place = vec![None; graph.switch_count()];
        for members in groups.iter().filter(|members| members.len() > 1) {
            discovery::discover(graph, conf, members, &mut place)?;
        }
        return Ok((discovery::shape_of(conf), place));
    }
    let any_alive = graph.machine().switches().any(|switch| graph.view().switch_alive(switch));
    match graph.machine().coordinates() {
        None if any_alive => Err(reason(
            "nothing tells where switches are in the grid: the machine has no coordinates; give a \
             torus-2QoS.conf"
                .to_owned(),
        )),
        None => Ok((Shape::new([1; 3], [false; 3]), vec![None; graph.switch_count()])),
        Some(coordinates) => match seeds::from_coordinates(coordinates) {
            Some((shape, places)) => Ok((shape, places.into_iter().map(Some).collect())),
            None => Err(reason(format!(
                "the machine has {} dimensions longer than 1; torus-2QoS routes up to 3",
                coordinates.shape.iter().filter(|&&length| length > 1).count()
            ))),
        },
    }
}

/// Whether cables and nodes keep to the numbers that a configuration allows.
fn within_limits(graph: &SwitchGraph<'_>, torus: &Torus, conf: &TorusConf) -> Result<(), Refusal> {
    let most = conf.portgroup_max_ports as usize;
    let members = torus.parts.iter().flat_map(|part| &part.members);
    for &switch in members {
        let nodes = graph.attached(switch).len() + 1;
        let reason = if torus.most_parallel(switch) > most {
            format!("more than {most} parallel cables leave this switch; raise portgroup_max_ports")
        } else if nodes > most {
            format!(
                "the nodes of this switch and its port 0 take {nodes} ports, more than \
                 portgroup_max_ports, {most}"
            )
        } else if let Some(port) = conf.port_order.iter().max()
            && *port > graph.machine().switch(switch).radix
        {
            format!("port_order names port {port}, which this switch does not have")
        } else {
            continue;
        };
        return Err(Refusal { reason, switch: Some(switch) });
    }
    Ok(())
}

fn reason(reason: String) -> Refusal {
    Refusal { reason, switch: None }
}

#[cfg(test)]
mod tests;
