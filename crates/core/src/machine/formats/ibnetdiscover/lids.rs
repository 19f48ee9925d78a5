//! The LIDs that a written fabric gets: those it was read with, and free ones for parts that have none.

use super::super::FormatError;
use crate::machine::{LMC_MAX, Machine, UNICAST_LIDS};

/// A LID for every switch and endpoint.
pub(super) struct ExportLids {
    pub of_switch: Vec<u16>,
    pub of_endpoint: Vec<u16>,
}

/// A switch or endpoint that owns LIDs.
#[derive(Clone, Copy)]
enum Owner {
    Switch(usize),
    Endpoint(usize),
}

/// Gives every plane its own LIDs from 1: endpoints by number, then switches, around those the machine has already.
///
/// # Errors
/// If a plane needs more than an InfiniBand subnet has.
pub(super) fn assign(machine: &Machine, format: &'static str) -> Result<ExportLids, FormatError> {
    let mut lids = ExportLids {
        of_switch: machine.switches().map(|switch| machine.switch(switch).lid).collect(),
        of_endpoint: machine.endpoints().map(|end| machine.endpoint_info(end).lid).collect(),
    };
    let mut planes: Vec<Vec<(Owner, u16, u8)>> = vec![Vec::new(); machine.plane_count()];
    for endpoint in machine.endpoints() {
        let info = machine.endpoint_info(endpoint);
        let owner = Owner::Endpoint(endpoint.index());
        planes[machine.plane_of_endpoint(endpoint) as usize].push((owner, info.lid, info.lmc));
    }
    for switch in machine.switches() {
        let info = machine.switch(switch);
        let owner = Owner::Switch(switch.index());
        planes[machine.plane_of_switch(switch) as usize].push((owner, info.lid, info.lmc));
    }
    let mut taken = vec![false; UNICAST_LIDS + 1];
    taken[0] = true;
    for (plane, owners) in planes.iter().enumerate() {
        let mut runs = Vec::new();
        for &(_, lid, lmc) in owners.iter().filter(|(_, lid, _)| *lid != 0) {
            let first = usize::from(lid).min(UNICAST_LIDS);
            runs.push(first..(first + size(lmc)).min(UNICAST_LIDS + 1));
        }
        for run in &runs {
            taken[run.clone()].fill(true);
        }
        let mut next = [1; LMC_MAX as usize + 1];
        for &(owner, _, lmc) in owners.iter().filter(|(_, lid, _)| *lid == 0) {
            let next = &mut next[usize::from(lmc.min(LMC_MAX))];
            let Some(lid) = free_run(&taken, *next, size(lmc)) else {
                return Err(too_many(format, plane, owners.len()));
            };
            *next = lid + size(lmc);
            taken[lid..*next].fill(true);
            runs.push(lid..*next);
            match owner {
                Owner::Switch(switch) => lids.of_switch[switch] = lid as u16,
                Owner::Endpoint(endpoint) => lids.of_endpoint[endpoint] = lid as u16,
            }
        }
        // Planes are many and mostly small: clear only what this one used.
        for run in runs {
            taken[run].fill(false);
        }
    }
    Ok(lids)
}

/// LIDs that a port with this LID mask count answers to.
fn size(lmc: u8) -> usize {
    1 << lmc.min(LMC_MAX)
}

/// The first free run of `size` LIDs from `start` on that begins at a multiple of `size`, as a LID mask count asks.
fn free_run(taken: &[bool], start: usize, size: usize) -> Option<usize> {
    let first = start.next_multiple_of(size);
    (first..taken.len())
        .step_by(size)
        .find(|&lid| taken.get(lid..lid + size).is_some_and(|run| run.iter().all(|taken| !taken)))
}

fn too_many(format: &'static str, plane: usize, owners: usize) -> FormatError {
    FormatError::Unwritable {
        format,
        reason: format!(
            "{owners} ports and switches of plane {plane} need LIDs, a subnet has {UNICAST_LIDS}"
        ),
        advice: "write it as json, which keeps everything; planning has no such limit".to_owned(),
    }
}
