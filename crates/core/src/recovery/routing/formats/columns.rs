//! What the writers share: the LIDs of a plane in ascending order, and the switches whose tables are written.

use super::Export;
use crate::ids::{Lid, SwitchId};
use crate::machine::{LidOwner, NodeKind};
use crate::recovery::routing::lft::Lft;

/// One LID of a plane, as files number it.
pub(super) struct Column {
    /// The number.
    pub lid: u16,
    /// Its column in the tables.
    pub dense: Lid,
    /// Who answers to it.
    pub owner: LidOwner,
}

impl<'a> Export<'a> {
    /// The planes to write.
    pub(super) fn planes(&self) -> Vec<u32> {
        match self.plane {
            Some(plane) => vec![plane],
            None => (0..self.graph.machine().plane_count() as u32).collect(),
        }
    }

    /// The LIDs of a plane, ascending.
    ///
    /// A port may have more LIDs in its subnet than in the tables: the further ones go the ways of the first.
    pub(super) fn columns(&self, plane: u32) -> Vec<Column> {
        let lids = self.lft.lids();
        let mask = (lids.per_endpoint() - 1) as u8;
        (1..=self.wire.top(plane))
            .filter_map(|lid| {
                let (owner, offset) = self.wire.owner(plane, lid)?;
                let offset = match owner {
                    LidOwner::Endpoint(_) => offset & mask,
                    LidOwner::Switch(_) => 0,
                };
                lids.at(owner, offset).map(|dense| Column { lid, dense, owner })
            })
            .collect()
    }

    /// The living switches of a plane, by LID.
    pub(super) fn switches(&self, plane: u32) -> Vec<(u16, SwitchId)> {
        let machine = self.graph.machine();
        let mut switches: Vec<(u16, SwitchId)> = machine
            .switches()
            .filter(|&switch| machine.plane_of_switch(switch) == plane)
            .filter(|&switch| self.graph.view().switch_alive(switch))
            .map(|switch| (self.wire.first(LidOwner::Switch(switch)), switch))
            .collect();
        switches.sort_unstable();
        switches
    }

    /// A switch's port for a column, if there is one.
    pub(super) fn port(&self, switch: SwitchId, column: &Column) -> Option<u8> {
        let port = self.lft.port(switch, column.dense);
        (port != Lft::NONE).then_some(port)
    }

    /// `Channel Adapter portguid 0x0048000000000021: 'n1'`, as all tools call an owner.
    pub(super) fn label(&self, owner: LidOwner) -> String {
        let machine = self.graph.machine();
        let (sort, guid, part) = match owner {
            LidOwner::Switch(switch) => {
                let part = machine.switch(switch);
                ("Switch", part.guid, part)
            }
            LidOwner::Endpoint(end) => {
                let part = machine.part(machine.endpoint(end).vertex);
                (sort_of(part.kind), machine.endpoint_info(end).guid, part)
            }
        };
        format!("{sort} portguid 0x{guid:016x}: '{}'", clean(&part.name))
    }
}

fn sort_of(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Router => "Router",
        NodeKind::Host | NodeKind::Aggregation => "Channel Adapter",
    }
}

/// A name that stays on its line.
pub(super) fn clean(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
