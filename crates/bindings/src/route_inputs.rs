//! What a routing engine is given, from names to ids.

use pyo3::prelude::*;
use runflat_core::machine::{LMC_MAX, Machine, Names};
use runflat_core::recovery::routing::engines::torus_2qos::TorusConf;
use runflat_core::recovery::routing::{Compat, RouteOptions};

use crate::errors::RoutingError;
use crate::raise;

/// The dictionary of inputs; see `runflat.Machine.route`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct RouteInputs {
    roots: Vec<String>,
    compute_nodes: Vec<String>,
    io_nodes: Vec<String>,
    routing_order: Vec<String>,
    lmc: i64,
    max_vl: i64,
    compat: Option<String>,
    torus_conf: Option<String>,
}

impl RouteInputs {
    /// The same by ids.
    pub fn options(&self, machine: &Machine) -> PyResult<RouteOptions> {
        let lmc = u8::try_from(self.lmc).ok().filter(|&lmc| lmc <= LMC_MAX);
        let Some(lmc) = lmc else {
            let wrong = format!("`lmc` is a whole number from 0 to {LMC_MAX}, got {}", self.lmc);
            return Err(raise::<RoutingError>(wrong));
        };
        let max_vl = u8::try_from(self.max_vl).ok().filter(|lanes| (1..=15).contains(lanes));
        let Some(max_vl) = max_vl else {
            let wrong = format!("`max_vl` is a whole number from 1 to 15, got {}", self.max_vl);
            return Err(raise::<RoutingError>(wrong));
        };
        let compat = match self.compat.as_deref() {
            None => Compat::Plain,
            Some("opensm") => Compat::OpenSm,
            Some(other) => {
                let wrong = format!("`compat` is opensm or nothing, got `{other}`");
                return Err(raise::<RoutingError>(wrong));
            }
        };
        let torus_conf = self.torus_conf.as_deref().map(TorusConf::parse).transpose();
        let mut options = RouteOptions {
            torus_conf: torus_conf.map_err(raise::<RoutingError>)?,
            lmc,
            max_vl,
            compat,
            ..RouteOptions::default()
        };
        let listed = [&self.roots, &self.compute_nodes, &self.io_nodes, &self.routing_order];
        if listed.iter().all(|list| list.is_empty()) {
            return Ok(options);
        }
        let names = Names::new(machine);
        options.roots = found(&self.roots, |text| names.find_switch(text).map(|root| vec![root]))?;
        options.compute_nodes = found(&self.compute_nodes, |text| names.find_endpoints(text))?;
        options.io_nodes = found(&self.io_nodes, |text| names.find_endpoints(text))?;
        options.routing_order = found(&self.routing_order, |text| names.find_lid_owners(text))?;
        Ok(options)
    }
}

fn found<T, E: std::fmt::Display>(
    texts: &[String],
    find: impl Fn(&str) -> Result<Vec<T>, E>,
) -> PyResult<Vec<T>> {
    let mut all = Vec::new();
    for text in texts {
        all.extend(find(text).map_err(raise::<RoutingError>)?);
    }
    Ok(all)
}
