//! What owns LIDs, by what OpenSM's GUID files say.

use super::{Found, NameError, Names, read_guid, split_plug};
use crate::ids::EndpointId;
use crate::machine::LidOwner;

impl Names<'_> {
    /// The switch or node ports that `text` names: a port GUID, a plug `node[1]`, a switch, or a node with all its ports.
    ///
    /// # Errors
    /// As [`Names::find_part`].
    pub fn find_lid_owners(&self, text: &str) -> Result<Vec<LidOwner>, NameError> {
        let machine = self.machine;
        if let Some(guid) = read_guid(text.trim())
            && let Some(&Found::One(vertex)) = self.by_port_guid.get(&guid)
            && let Some(node) = machine.as_node(vertex)
        {
            let mut ends = machine.endpoints_of(node);
            let found = ends.find(|&end| machine.endpoint_info(end).guid == guid);
            return Ok(found.into_iter().map(LidOwner::Endpoint).collect());
        }
        let vertex = match (self.find_part(text), split_plug(text)) {
            (Ok(vertex), _) => vertex,
            (Err(error), None) => return Err(error),
            (Err(_), Some((part, port))) => {
                let vertex = self.find_part(part)?;
                if let Some(node) = machine.as_node(vertex) {
                    let mut ends = machine.endpoints_of(node);
                    let found = ends.find(|&end| u32::from(machine.endpoint(end).port) == port);
                    return found.map(|end| vec![LidOwner::Endpoint(end)]).ok_or_else(|| {
                        NameError::Unplugged {
                            part: self.part(vertex),
                            port,
                            cabled: self.cabled_ports(vertex),
                        }
                    });
                }
                vertex
            }
        };
        Ok(match (machine.as_switch(vertex), machine.as_node(vertex)) {
            (Some(switch), _) => vec![LidOwner::Switch(switch)],
            (None, Some(node)) => machine.endpoints_of(node).map(LidOwner::Endpoint).collect(),
            (None, None) => Vec::new(),
        })
    }

    /// The node ports that `text` names; see [`Names::find_lid_owners`].
    ///
    /// # Errors
    /// As [`Names::find_part`], or if it is a switch.
    pub fn find_endpoints(&self, text: &str) -> Result<Vec<EndpointId>, NameError> {
        let owners = self.find_lid_owners(text)?;
        owners
            .into_iter()
            .map(|owner| match owner {
                LidOwner::Endpoint(endpoint) => Ok(endpoint),
                LidOwner::Switch(_) => Err(NameError::OtherSort {
                    given: text.to_owned(),
                    found: "switch",
                    wanted: "node",
                }),
            })
            .collect()
    }
}
