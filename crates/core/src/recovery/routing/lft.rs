//! Linear forwarding tables, and the lanes that go with them.

use super::lanes::Lanes;
use crate::ids::{ChannelId, Lid, SwitchId};
use crate::machine::{Lids, Machine};
use crate::parallel;

/// Linear forwarding tables of every switch: `[switch][lid] -> port`, one byte each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lft {
    lids: Lids,
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

    /// Tables without any route, for 2^lmc LIDs an endpoint.
    #[must_use]
    pub fn empty(machine: &Machine, lmc: u8) -> Self {
        let lids = machine.lids().with_lmc(lmc);
        Lft { lids, port: vec![Lft::NONE; machine.switch_count() * lids.count()] }
    }

    /// Tables from `ports`, switch after switch, for 2^lmc LIDs an endpoint.
    ///
    /// # Errors
    /// If there are not exactly switches x LIDs entries.
    pub fn from_ports(machine: &Machine, lmc: u8, ports: Vec<u8>) -> Result<Self, LftError> {
        let (switches, lids) = (machine.switch_count(), machine.lids().with_lmc(lmc));
        if ports.len() == switches * lids.count() {
            Ok(Lft { lids, port: ports })
        } else {
            Err(LftError { switches, lids: lids.count(), given: ports.len() })
        }
    }

    /// How the columns are numbered.
    #[inline]
    #[must_use]
    pub fn lids(&self) -> Lids {
        self.lids
    }

    /// Port by which `switch` forwards to `lid`: 0 is the switch itself, [`Lft::NONE`] no route.
    #[inline]
    #[must_use]
    pub fn port(&self, switch: SwitchId, lid: Lid) -> u8 {
        *self.entry(switch, lid)
    }

    /// Where that port stands.
    #[inline]
    #[must_use]
    pub fn entry(&self, switch: SwitchId, lid: Lid) -> &u8 {
        &self.port[switch.index() * self.lids.count() + lid.index()]
    }

    /// Sets one entry.
    #[inline]
    pub fn set(&mut self, switch: SwitchId, lid: Lid, port: u8) {
        self.port[switch.index() * self.lids.count() + lid.index()] = port;
    }

    /// All entries, switch after switch.
    #[must_use]
    pub fn ports(&self) -> &[u8] {
        &self.port
    }

    /// Fills the rows of all switches by `fill(switch, row)`, in parallel.
    pub fn fill_rows(&mut self, fill: impl Fn(SwitchId, &mut [u8]) + Send + Sync) {
        let (width, steps) = (self.lids.count(), self.port.len());
        parallel::rows(
            &mut self.port,
            width,
            steps,
            || (),
            |(), switch, row| fill(SwitchId::from_index(switch), row),
        );
    }

    /// Number of entries in which two tables of one machine differ, on switches that count.
    #[must_use]
    pub fn changed_entries(&self, other: &Lft, counts: impl Fn(SwitchId) -> bool) -> u64 {
        let width = self.lids.count().max(1);
        let rows = self.port.chunks_exact(width).zip(other.port.chunks_exact(width)).enumerate();
        rows.filter(|(switch, _)| counts(SwitchId::from_index(*switch)))
            .map(|(_, (a, b))| a.iter().zip(b).filter(|(a, b)| a != b).count() as u64)
            .sum()
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

/// What a routing engine hands over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routing {
    /// Forwarding tables.
    pub lft: Lft,
    /// Lanes of the routes.
    pub lanes: Lanes,
    /// Lanes that freedom from deadlock takes; what is used beyond them spreads load.
    pub layers: u8,
}

impl Routing {
    /// Tables on a single lane.
    #[must_use]
    pub fn single_lane(lft: Lft) -> Self {
        Routing { lft, lanes: Lanes::Single, layers: 1 }
    }

    /// Tables whose routes need every lane they use.
    #[must_use]
    pub fn in_lanes(lft: Lft, lanes: Lanes) -> Self {
        let layers = lanes.count();
        Routing { lft, lanes, layers }
    }

    /// Number of (source switch, LID) in which service levels differ, on switches that count; what path queries answer anew.
    #[must_use]
    pub fn changed_levels(&self, other: &Routing, counts: impl Fn(SwitchId) -> bool) -> u64 {
        if matches!((&self.lanes, &other.lanes), (Lanes::Single, Lanes::Single)) {
            return 0;
        }
        let lids = self.lft.lids.count();
        let switches = self.lft.port.len() / lids.max(1);
        (0..switches as u32)
            .map(SwitchId)
            .filter(|&switch| counts(switch))
            .flat_map(|switch| (0..lids as u32).map(move |lid| (switch, Lid(lid))))
            .filter(|&(switch, lid)| self.sl(switch, lid) != other.sl(switch, lid))
            .count() as u64
    }

    /// The service level of the routes from nodes at `switch` to `lid`.
    #[inline]
    #[must_use]
    pub fn sl(&self, switch: SwitchId, lid: Lid) -> u8 {
        self.lanes.sl(self.lft.lids, switch, lid)
    }
}
