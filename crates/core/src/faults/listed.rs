//! Listed failures: the parts a user names.
//!
//! Every sample is the same. Parts are found through [`PartNames`]; here a switch or node goes by its name or its
//! GUID (`0x...`), a link by one of its plugs, `part:port`. Parts that are dead already may be listed again.

use super::{FaultError, FaultModel, FaultSet};
use crate::ids::{LinkId, NodeId, SwitchId, VertexId};
use crate::machine::{Machine, View};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;

/// The listed fault model.
pub struct Listed;

/// Finds parts by what users call them.
pub trait PartNames {
    /// The link called `text`.
    ///
    /// # Errors
    /// If none or several are.
    fn find_link(&self, text: &str) -> Result<LinkId, FaultError>;
    /// The switch called `text`.
    ///
    /// # Errors
    /// If none or several are.
    fn find_switch(&self, text: &str) -> Result<SwitchId, FaultError>;
    /// The node called `text`.
    ///
    /// # Errors
    /// If none or several are.
    fn find_node(&self, text: &str) -> Result<NodeId, FaultError>;
}

/// Reads lists of parts: names separated by `;` where the text has one, else by `,`.
///
/// # Errors
/// The first name that no part or several parts have.
pub fn read(
    names: &dyn PartNames,
    links: &str,
    switches: &str,
    nodes: &str,
) -> Result<FaultSet, FaultError> {
    Ok(FaultSet::new(
        items(links).map(|text| names.find_link(text)).collect::<Result<_, _>>()?,
        items(switches).map(|text| names.find_switch(text)).collect::<Result<_, _>>()?,
        items(nodes).map(|text| names.find_node(text)).collect::<Result<_, _>>()?,
    ))
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    let separator = if list.contains(';') { ';' } else { ',' };
    list.split(separator).map(str::trim).filter(|item| !item.is_empty())
}

impl FaultModel for Listed {
    fn name(&self) -> &'static str {
        "listed"
    }

    fn summary(&self) -> &'static str {
        "the parts that are named"
    }

    fn params(&self) -> &'static [Param] {
        const fn list(name: &'static str, doc: &'static str) -> Param {
            Param { name, doc, kind: Kind::Text, default: Some("") }
        }
        const {
            &[
                list("links", "failed links by one plug, as `leaf3:17, leaf4:17`"),
                list("switches", "failed switches by name or GUID, as `spine1, 0x2c9020048f1a8`"),
                list("nodes", "failed nodes by name or GUID"),
            ]
        }
    }

    fn draw(
        &self,
        view: &View,
        args: &Args,
        _seed: Seed,
        _sample: u64,
    ) -> Result<FaultSet, FaultError> {
        read(view.machine(), args.text("links"), args.text("switches"), args.text("nodes"))
    }

    fn sample_count(&self, _view: &View, _args: &Args) -> Result<Option<u64>, FaultError> {
        Ok(Some(1))
    }
}

impl PartNames for Machine {
    fn find_link(&self, text: &str) -> Result<LinkId, FaultError> {
        const USAGE: &str = "a link goes by one of its plugs: part:port, as leaf3:17";
        let error = || unknown("no link is", text, USAGE);
        let (part, port) = text.rsplit_once(':').ok_or_else(error)?;
        let port: u8 = port.trim().parse().map_err(|_| error())?;
        let all = (0..self.vertex_count()).map(VertexId::from_index);
        let vertex = only(self, all, part.trim(), ["no link is", "several parts are"], USAGE)?;
        Ok(self.channel_at(vertex, port).ok_or_else(error)?.link())
    }

    fn find_switch(&self, text: &str) -> Result<SwitchId, FaultError> {
        const USAGE: &str =
            "a switch goes by its name or its GUID in hexadecimal, as 0x2c9020048f1a8";
        let all = self.switches().map(|switch| self.switch_vertex(switch));
        let vertex = only(self, all, text, ["no switch is", "several switches are"], USAGE)?;
        Ok(SwitchId(vertex.0))
    }

    fn find_node(&self, text: &str) -> Result<NodeId, FaultError> {
        const USAGE: &str =
            "a node goes by its name or its GUID in hexadecimal, as 0x2c9030048f1a8";
        let all = self.nodes().map(|node| self.node_vertex(node));
        let vertex = only(self, all, text, ["no node is", "several nodes are"], USAGE)?;
        self.as_node(vertex).ok_or_else(|| unknown("no node is", text, USAGE))
    }
}

/// The only one of `parts` that `text` names.
fn only(
    machine: &Machine,
    parts: impl Iterator<Item = VertexId>,
    text: &str,
    [none, several]: [&'static str; 2],
    usage: &'static str,
) -> Result<VertexId, FaultError> {
    let guid = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let named = |vertex: VertexId| {
        let part = machine.part(vertex);
        part.name == text || Some(part.guid) == guid
    };
    let mut found = parts.filter(|&vertex| named(vertex));
    match (found.next(), found.next()) {
        (Some(vertex), None) => Ok(vertex),
        (Some(_), Some(_)) => Err(unknown(several, text, usage)),
        (None, _) => Err(unknown(none, text, usage)),
    }
}

fn unknown(found: &'static str, given: &str, usage: &'static str) -> FaultError {
    FaultError::Name { found, given: given.to_owned(), usage }
}
