//! Linear forwarding tables, and the lanes that go with them.

use crate::ids::{ChannelId, Lid, SwitchId};
use crate::machine::Machine;

/// Linear forwarding tables of every switch: `[switch][lid] -> port`, one byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lft {
    lid_count: usize,
    port: Vec<u8>,
}

/// A table that does not fit the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a table for this machine has {switches} switches x {lids} LIDs, got {given} entries")]
pub struct LftError {
    /// Switches of the machine.
    pub switches: usize,
    /// LIDs of the machine.
    pub lids: usize,
    /// Entries given.
    pub given: usize,
}

impl Lft {
    /// No route: the switch drops packets for that LID.
    pub const NONE: u8 = 255;

    /// Tables without any route.
    #[must_use]
    pub fn empty(machine: &Machine) -> Self {
        let lid_count = machine.lids().count();
        Lft { lid_count, port: vec![Lft::NONE; machine.switch_count() * lid_count] }
    }

    /// Tables from `ports`, switch after switch.
    ///
    /// # Errors
    /// If there are not exactly switches x LIDs entries.
    pub fn from_ports(machine: &Machine, ports: Vec<u8>) -> Result<Self, LftError> {
        let (switches, lids) = (machine.switch_count(), machine.lids().count());
        if ports.len() == switches * lids {
            Ok(Lft { lid_count: lids, port: ports })
        } else {
            Err(LftError { switches, lids, given: ports.len() })
        }
    }

    /// Port by which `switch` forwards to `lid`: 0 is the switch itself, [`Lft::NONE`] no route.
    #[inline]
    #[must_use]
    pub fn port(&self, switch: SwitchId, lid: Lid) -> u8 {
        self.port[switch.index() * self.lid_count + lid.index()]
    }

    /// Sets one entry.
    #[inline]
    pub fn set(&mut self, switch: SwitchId, lid: Lid, port: u8) {
        self.port[switch.index() * self.lid_count + lid.index()] = port;
    }

    /// All entries, switch after switch.
    #[must_use]
    pub fn ports(&self) -> &[u8] {
        &self.port
    }

    /// The rows of all switches, for writing in parallel.
    pub fn rows_mut(&mut self) -> std::slice::ChunksExactMut<'_, u8> {
        // A machine of nodes alone has LIDs but no rows; one of bare switches has a LID for each of them.
        self.port.chunks_exact_mut(self.lid_count.max(1))
    }

    /// Number of LIDs a row has.
    #[must_use]
    pub fn lid_count(&self) -> usize {
        self.lid_count
    }

    /// Number of entries in which two tables of one machine differ.
    #[must_use]
    pub fn changed_entries(&self, other: &Lft) -> u64 {
        self.port.iter().zip(&other.port).filter(|(a, b)| a != b).count() as u64
    }

    /// The channel by which `switch` forwards to `lid`, if the entry names a cabled port.
    #[inline]
    #[must_use]
    pub fn channel(&self, machine: &Machine, switch: SwitchId, lid: Lid) -> Option<ChannelId> {
        match self.port(switch, lid) {
            Lft::NONE => None,
            port => machine.channel_at(machine.switch_vertex(switch), port),
        }
    }
}

/// The virtual lane of each route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Everything on lane 0.
    Single,
    /// A lane for each (switch at which the source injects, destination LID), `[switch][lid]`.
    PerPair(Vec<u8>),
}

/// What a routing engine hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    /// Forwarding tables.
    pub lft: Lft,
    /// Lane of each route.
    pub lanes: Lanes,
}

impl Routing {
    /// Tables on a single lane.
    #[must_use]
    pub fn single_lane(lft: Lft) -> Self {
        Routing { lft, lanes: Lanes::Single }
    }

    /// The lane of the routes from nodes at `switch` to `lid`.
    #[inline]
    #[must_use]
    pub fn lane(&self, switch: SwitchId, lid: Lid) -> u8 {
        match &self.lanes {
            Lanes::Single => 0,
            Lanes::PerPair(lanes) => lanes[switch.index() * self.lft.lid_count + lid.index()],
        }
    }

    /// Number of lanes in use: one more than the highest.
    #[must_use]
    pub fn lane_count(&self) -> u8 {
        match &self.lanes {
            Lanes::Single => 1,
            Lanes::PerPair(lanes) => lanes.iter().copied().max().map_or(1, |lane| lane + 1),
        }
    }
}
