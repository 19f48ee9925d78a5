//! From old tables to new ones, while packets are under way: how much changes, and in which order it may.
//!
//! A subnet manager sends forwarding tables in blocks of 64 consecutive LIDs of one switch. Between the first block and
//! the last, switches forward by a mixture of both tables, in which packets can run in circles or meet a switch that has
//! no route yet, though both tables are sound. [`plan`] finds an order in which neither happens: no packet runs in
//! circles at any moment (unless one of the tables sends it so), and a switch that reaches a LID by both tables, over
//! the cables alive now, reaches it all the time.
//!
//! For each LID an entry waits for others down its new way or up its old one (`moves.rs` has the rules and the proof),
//! never in a circle. Where blocks would wait for each other because of different LIDs, one is written more than once,
//! each time with the LIDs whose turn it is. Entries of tables that lead nowhere
//! (over a loop, or to a switch without a route) become "no route" first and what the table says at the very end.
//!
//! [`credit_cycle`] tells whether packets in flight can deadlock meanwhile, which no order of writes prevents.
//!
//! Source: our own; the unit is InfiniBand's (Architecture Specification 1.3, 14.2.5.6, LinearForwardingTable). The
//! problem is that of Francois and Bonaventure, "Avoiding transient loops during the convergence of link-state routing
//! protocols", 2007, without their costs. Limits: blocks are counted on living switches and of the LIDs that tables have;
//! the number of writes is small, not least.

mod credit;
mod moves;
mod order;

use rayon::prelude::*;

use super::lft::Lft;
use crate::ids::{Lid, SwitchId};
use crate::machine::{SwitchGraph, WireLidError, WireLids};

pub use credit::credit_cycle;

/// LIDs in a block.
pub const BLOCK_LIDS: u16 = 64;

/// One block of one switch, written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockWrite {
    /// When: writes of a round may go out together, in any order, once those of earlier rounds have arrived.
    pub round: u32,
    /// Whose table.
    pub switch: SwitchId,
    /// The block: LIDs `64 block` to `64 block + 63` of the switch's subnet.
    pub block: u16,
    /// LIDs of the block, a bit each, that get their new entry; others keep what they have.
    pub set: u64,
    /// LIDs of the block that become "no route" for the time being.
    pub clear: u64,
}

/// A safe way from old tables to new ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Entries of living switches, for LIDs of their plane, that differ.
    pub changed_entries: u64,
    /// Blocks with such entries: writes that an update without any order takes.
    pub changed_blocks: u64,
    /// All writes, in a safe order.
    pub writes: Vec<BlockWrite>,
    /// Rounds of writes.
    pub rounds: u32,
    /// Blocks that are written more than once because of the order.
    pub split_blocks: u64,
    /// Entries that are "no route" for a while, since the new tables lead them nowhere; both tables serve none of them.
    pub dropped_entries: u64,
}

/// Tables that one cannot turn into the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpdateError {
    /// Different LID mask counts.
    #[error(
        "the old tables have a LID mask count of {old}, the new ones of {new}; LIDs must be given \
         out anew for that, so there is no way from one to the other"
    )]
    OtherLmc {
        /// Of the old tables.
        old: u8,
        /// Of the new ones.
        new: u8,
    },
    /// Tables made for another machine.
    #[error("these tables have {lids} LIDs, which is not what this machine has; route it again")]
    OtherMachine {
        /// LIDs of the tables.
        lids: usize,
    },
    /// LIDs of the subnet.
    #[error(transparent)]
    Lids(#[from] WireLidError),
}

/// Orders the writes that turn `old` into `new` over the cables that are alive in `graph`.
///
/// # Errors
/// If the tables are of different machines or LID mask counts, or LIDs of the subnet do not suffice.
///
/// # Complexity
/// LIDs x switches, and for each block its writes times switches where blocks wait for each other. Memory: 2 MiB a
/// thread for 2,000 switches, and the writes.
pub fn plan(
    graph: &SwitchGraph<'_>,
    wire: &WireLids,
    old: &Lft,
    new: &Lft,
) -> Result<Update, UpdateError> {
    check_tables(graph, old, new)?;
    wire.check(graph.machine(), old.lids())?;
    let planes: Vec<Plane> = planes(graph);
    let blocks: Vec<(u32, u16)> = (0u32..)
        .zip(&planes)
        .filter(|(_, plane)| !plane.switches.is_empty())
        .flat_map(|(plane, _)| (0..=wire.top(plane) / BLOCK_LIDS).map(move |block| (plane, block)))
        .collect();
    let parts: Vec<Update> = blocks
        .par_iter()
        .map_init(order::Scheduler::default, |scheduler, &(plane, block)| {
            let columns = columns(wire, old, plane, block);
            let tables = PlaneTables { graph, plane: &planes[plane as usize], old, new };
            scheduler.schedule(&tables, &columns, block)
        })
        .collect();
    let mut update = Update::default();
    for part in parts {
        update.changed_entries += part.changed_entries;
        update.changed_blocks += part.changed_blocks;
        update.rounds = update.rounds.max(part.rounds);
        update.split_blocks += part.split_blocks;
        update.dropped_entries += part.dropped_entries;
        update.writes.extend(part.writes);
    }
    update.writes.sort_unstable_by_key(|write| (write.round, write.switch, write.block));
    Ok(update)
}

impl Update {
    /// Writes beyond one a changed block: the price of the order.
    #[must_use]
    pub fn extra_writes(&self) -> u64 {
        self.writes.len() as u64 - self.changed_blocks
    }
}

impl BlockWrite {
    /// Does the write to `tables`, which `new` are to become.
    pub fn apply(&self, graph: &SwitchGraph<'_>, wire: &WireLids, tables: &mut Lft, new: &Lft) {
        let plane = graph.machine().plane_of_switch(self.switch);
        let columns = columns(wire, new, plane, self.block);
        for (bit, lid) in columns.iter().enumerate() {
            let Some(lid) = *lid else { continue };
            if self.set >> bit & 1 == 1 {
                tables.set(self.switch, lid, new.port(self.switch, lid));
            } else if self.clear >> bit & 1 == 1 {
                tables.set(self.switch, lid, Lft::NONE);
            }
        }
    }
}

impl BlockWrite {
    /// The 64 ports of the block as `tables` have them: what a subnet manager sends once the write is applied.
    #[must_use]
    pub fn ports(&self, graph: &SwitchGraph<'_>, wire: &WireLids, tables: &Lft) -> Vec<u8> {
        let plane = graph.machine().plane_of_switch(self.switch);
        let columns = columns(wire, tables, plane, self.block).into_iter();
        columns.map(|lid| lid.map_or(Lft::NONE, |lid| tables.port(self.switch, lid))).collect()
    }
}

/// Checks that two tables have the same LIDs, those of the machine.
fn check_tables(graph: &SwitchGraph<'_>, old: &Lft, new: &Lft) -> Result<(), UpdateError> {
    let (machine, lids) = (graph.machine(), old.lids());
    let other = [old, new].into_iter().find(|lft| {
        machine.lids().with_lmc(lft.lids().lmc()) != lft.lids()
            || lft.ports().len() != machine.switch_count() * lft.lids().count()
    });
    if let Some(other) = other {
        return Err(UpdateError::OtherMachine { lids: other.lids().count() });
    }
    if lids.lmc() != new.lids().lmc() {
        return Err(UpdateError::OtherLmc { old: lids.lmc(), new: new.lids().lmc() });
    }
    Ok(())
}

/// The tables' LIDs of a block, by their place in it.
fn columns(wire: &WireLids, lft: &Lft, plane: u32, block: u16) -> Vec<Option<Lid>> {
    let first = block * BLOCK_LIDS;
    (first..first + BLOCK_LIDS).map(|lid| wire.dense(lft.lids(), plane, lid)).collect()
}

/// The living switches of a plane.
struct Plane {
    switches: Vec<SwitchId>,
    /// Where each of the machine's switches stands among them.
    place: Vec<u32>,
}

/// What is to change into what in a plane.
struct PlaneTables<'a> {
    graph: &'a SwitchGraph<'a>,
    plane: &'a Plane,
    old: &'a Lft,
    new: &'a Lft,
}

fn planes(graph: &SwitchGraph<'_>) -> Vec<Plane> {
    let machine = graph.machine();
    let mut planes: Vec<Plane> = (0..machine.plane_count())
        .map(|_| Plane { switches: Vec::new(), place: Vec::new() })
        .collect();
    for switch in machine.switches().filter(|&switch| graph.view().switch_alive(switch)) {
        planes[machine.plane_of_switch(switch) as usize].switches.push(switch);
    }
    for plane in &mut planes {
        plane.place = vec![u32::MAX; plane.switches.last().map_or(0, |last| last.index() + 1)];
        for (place, switch) in (0u32..).zip(&plane.switches) {
            plane.place[switch.index()] = place;
        }
    }
    planes
}

#[cfg(test)]
mod tests;
