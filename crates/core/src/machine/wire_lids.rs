//! The LID numbers of a real subnet: what a subnet manager gives out, and forwarding tables in files are indexed by.
//!
//! Planning uses dense LIDs ([`Lids`]); real ones leave holes, repeat between planes, and start at a multiple of 2^lmc.
//! [`WireLids`] holds both ways of the translation. The numbers are those of the fabric file, or of a subnet manager's
//! `guid2lid` file, or chosen for a LID mask count; parts that have none get free ones around them.
//!
//! Source: InfiniBand Architecture Specification 1.3, 4.1.3 (LIDs) and 7.11.1 (LID mask); OpenSM's manual for `guid2lid`.
//! Limits: of two parts of a plane that a file gives the same LID, the first (endpoints, then switches) answers to it;
//! [`WireLids::check`] tells.

mod assign;
mod guid2lid;

use super::graph::Machine;
use super::lids::{LMC_MAX, LidOwner, Lids, UNICAST_LIDS};
use super::names::Names;
use crate::ids::{EndpointId, Lid, SwitchId};
use assign::Wanted;

/// The LIDs of every endpoint and switch, plane by plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireLids {
    endpoint: Vec<Run>,
    switch: Vec<Run>,
    endpoint_plane: Vec<u32>,
    switch_plane: Vec<u32>,
    /// By plane, then LID: 0 for nobody, else one more than the place among endpoints, then switches.
    owner: Vec<Vec<u32>>,
}

/// 2^lmc LIDs in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    first: u16,
    lmc: u8,
    /// Whether a file gave it, rather than this program.
    given: bool,
}

/// LIDs that cannot be given out, read or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireLidError {
    /// A plane needs more LIDs than there are.
    #[error(
        "{owners} ports and switches of plane {plane} need LIDs, a subnet has {UNICAST_LIDS} \
         (take a smaller LID mask count or a smaller machine; planning has no such limit)"
    )]
    TooMany {
        /// The plane.
        plane: usize,
        /// Its ports and switches.
        owners: usize,
    },
    /// A LID mask count beyond 3 bits.
    #[error("a LID mask count is 0 to {LMC_MAX}, got {given}")]
    Lmc {
        /// The one given.
        given: u64,
    },
    /// A port has fewer LIDs than the tables.
    #[error(
        "the tables have 2^{tables} LIDs a port, `{part}` has 2^{lids} in its subnet (number the \
         LIDs anew with a LID mask count of {tables})"
    )]
    TooFew {
        /// The port's part.
        part: String,
        /// LID mask count of the tables.
        tables: u8,
        /// LID mask count of the port.
        lids: u8,
    },
    /// Two parts answer to one LID.
    #[error(
        "LID {lid} belongs to `{one}` and to `{other}`, which are in one plane (the numbers are of \
         different times; read LIDs that a subnet manager gave out, or number them anew)"
    )]
    Shared {
        /// The LID.
        lid: u16,
        /// Who answers to it.
        one: String,
        /// Who should, too.
        other: String,
    },
    /// A line that cannot stand there.
    #[error("{label}:{line}: {found}; {allowed} ({advice})")]
    Line {
        /// The file.
        label: String,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// Two lines that cannot both be true.
    #[error("{label}:{line}: {found}, but line {earlier} {said} ({advice})")]
    Contradiction {
        /// The file.
        label: String,
        /// The later line, from 1.
        line: usize,
        /// The earlier line, from 1.
        earlier: usize,
        /// What the later line says.
        found: String,
        /// What the earlier line says.
        said: String,
        /// What to do.
        advice: &'static str,
    },
    /// A file of another fabric.
    #[error(
        "{label}: of {count} GUIDs in it none belongs to this fabric (give the guid2lid file of \
         its subnet manager, one GUID, first and last LID a line)"
    )]
    NobodyKnown {
        /// The file.
        label: String,
        /// How many GUIDs it has.
        count: usize,
    },
}

impl WireLids {
    /// The LIDs that the fabric file gave, and free ones for who has none: endpoints by number, then switches.
    ///
    /// # Errors
    /// If a plane needs more than an InfiniBand subnet has.
    pub fn of_machine(machine: &Machine) -> Result<Self, WireLidError> {
        Self::assigned(machine, |_, file| match file.first {
            0 => Wanted::Any(file.lmc),
            // JSON may hold any number.
            first if usize::from(first) + (1 << file.lmc) > UNICAST_LIDS + 1 => {
                Wanted::Any(file.lmc)
            }
            _ => Wanted::Fixed(file),
        })
    }

    /// 2^lmc LIDs for every endpoint, starting at a multiple of that; numbers of the fabric file are kept where they fit.
    ///
    /// # Errors
    /// If `lmc` is above [`LMC_MAX`], or a plane needs more than an InfiniBand subnet has.
    pub fn with_lmc(machine: &Machine, lmc: u8) -> Result<Self, WireLidError> {
        if lmc > LMC_MAX {
            return Err(WireLidError::Lmc { given: lmc.into() });
        }
        Self::assigned(machine, |owner, file| match owner {
            LidOwner::Endpoint(_) => Wanted::Preferred(Run { lmc, ..file }),
            LidOwner::Switch(_) => Wanted::Preferred(file),
        })
    }

    /// Gives out LIDs as `wanted(owner, what the fabric file says)` asks.
    fn assigned(
        machine: &Machine,
        mut wanted: impl FnMut(LidOwner, Run) -> Wanted,
    ) -> Result<Self, WireLidError> {
        let mut ask = |owner, first: u16, lmc: u8| {
            wanted(owner, Run { first, lmc: lmc.min(LMC_MAX), given: first != 0 })
        };
        let mut planes: Vec<Vec<(LidOwner, Wanted)>> = vec![Vec::new(); machine.plane_count()];
        for endpoint in machine.endpoints() {
            let (info, owner) = (machine.endpoint_info(endpoint), LidOwner::Endpoint(endpoint));
            planes[machine.plane_of_endpoint(endpoint) as usize]
                .push((owner, ask(owner, info.lid, info.lmc)));
        }
        for switch in machine.switches() {
            let (info, owner) = (machine.switch(switch), LidOwner::Switch(switch));
            planes[machine.plane_of_switch(switch) as usize]
                .push((owner, ask(owner, info.lid, info.lmc)));
        }
        let mut lids = WireLids {
            endpoint: vec![Run::default(); machine.endpoint_count()],
            switch: vec![Run::default(); machine.switch_count()],
            endpoint_plane: machine.endpoints().map(|e| machine.plane_of_endpoint(e)).collect(),
            switch_plane: machine.switches().map(|s| machine.plane_of_switch(s)).collect(),
            owner: vec![Vec::new(); machine.plane_count()],
        };
        let mut taken = assign::Taken::new();
        for (plane, owners) in planes.iter().enumerate() {
            let runs = taken.give(owners.iter().map(|&(_, wanted)| wanted));
            let Some(runs) = runs else {
                return Err(WireLidError::TooMany { plane, owners: owners.len() });
            };
            for (&(owner, _), run) in owners.iter().zip(runs) {
                *lids.run_mut(owner) = run;
                lids.enter(plane, owner, run);
            }
        }
        Ok(lids)
    }

    fn run_mut(&mut self, owner: LidOwner) -> &mut Run {
        match owner {
            LidOwner::Endpoint(endpoint) => &mut self.endpoint[endpoint.index()],
            LidOwner::Switch(switch) => &mut self.switch[switch.index()],
        }
    }

    /// Notes who answers to the LIDs of `run`, unless somebody does already.
    fn enter(&mut self, plane: usize, owner: LidOwner, run: Run) {
        let place = match owner {
            LidOwner::Endpoint(endpoint) => endpoint.0,
            LidOwner::Switch(switch) => self.endpoint.len() as u32 + switch.0,
        };
        let first = usize::from(run.first);
        let end = (first + (1 << run.lmc)).min(UNICAST_LIDS + 1);
        let row = &mut self.owner[plane];
        if row.len() < end {
            row.resize(end, 0);
        }
        for slot in row[first.min(end)..end].iter_mut().filter(|slot| **slot == 0) {
            *slot = place + 1;
        }
    }

    fn run(&self, owner: LidOwner) -> Run {
        match owner {
            LidOwner::Endpoint(endpoint) => self.endpoint[endpoint.index()],
            LidOwner::Switch(switch) => self.switch[switch.index()],
        }
    }

    /// The first LID of a part.
    #[must_use]
    pub fn first(&self, owner: LidOwner) -> u16 {
        self.run(owner).first
    }

    /// The LID mask count of a part; 0 for nearly all switches.
    #[must_use]
    pub fn lmc_of(&self, owner: LidOwner) -> u8 {
        self.run(owner).lmc
    }

    /// Whether a file gave the LID of a part; else the number is made up.
    #[must_use]
    pub fn is_given(&self, owner: LidOwner) -> bool {
        self.run(owner).given
    }

    /// The LID mask count that most endpoints have; of equally many the larger.
    #[must_use]
    pub fn lmc(&self) -> u8 {
        most_common(self.endpoint.iter().map(|run| run.lmc))
    }

    /// The plane of a part.
    #[must_use]
    pub fn plane(&self, owner: LidOwner) -> u32 {
        match owner {
            LidOwner::Endpoint(endpoint) => self.endpoint_plane[endpoint.index()],
            LidOwner::Switch(switch) => self.switch_plane[switch.index()],
        }
    }

    /// The highest LID in use in a plane, 0 if there is none.
    #[must_use]
    pub fn top(&self, plane: u32) -> u16 {
        self.owner.get(plane as usize).map_or(0, |row| row.len().saturating_sub(1) as u16)
    }

    /// Who answers to a LID in a plane, and which of his LIDs it is.
    #[inline]
    #[must_use]
    pub fn owner(&self, plane: u32, lid: u16) -> Option<(LidOwner, u8)> {
        let place = self.owner.get(plane as usize)?.get(usize::from(lid))?.checked_sub(1)?;
        let owner = match place.checked_sub(self.endpoint.len() as u32) {
            None => LidOwner::Endpoint(EndpointId(place)),
            Some(switch) => LidOwner::Switch(SwitchId(switch)),
        };
        Some((owner, (lid - self.run(owner).first) as u8))
    }

    /// The number in its subnet of a dense LID, if its owner has that many LIDs.
    #[inline]
    #[must_use]
    pub fn of(&self, lids: Lids, lid: Lid) -> Option<u16> {
        let (run, offset) = match lids.owner(lid) {
            LidOwner::Endpoint(endpoint) => {
                (self.endpoint[endpoint.index()], lid.0 - lids.of_endpoint(endpoint).0)
            }
            LidOwner::Switch(switch) => (self.switch[switch.index()], 0),
        };
        (offset >> run.lmc == 0).then(|| run.first + offset as u16)
    }

    /// The dense LID of a number in a plane, if the tables have a column for it.
    #[inline]
    #[must_use]
    pub fn dense(&self, lids: Lids, plane: u32, lid: u16) -> Option<Lid> {
        let (owner, offset) = self.owner(plane, lid)?;
        lids.at(owner, offset)
    }

    /// Checks that every LID of `lids` has one number of its own.
    ///
    /// # Errors
    /// If a port has fewer LIDs than the tables, or two parts of a plane share one.
    pub fn check(&self, machine: &Machine, lids: Lids) -> Result<(), WireLidError> {
        let part = |owner| match owner {
            LidOwner::Endpoint(endpoint) => {
                Names::new(machine).part(machine.endpoint(endpoint).vertex)
            }
            LidOwner::Switch(switch) => Names::new(machine).switch(switch),
        };
        for lid in (0..lids.count()).map(Lid::from_index) {
            let owner = lids.owner(lid);
            let Some(wire) = self.of(lids, lid) else {
                let (tables, lids) = (lids.lmc(), self.lmc_of(owner));
                return Err(WireLidError::TooFew { part: part(owner), tables, lids });
            };
            if let Some((found, _)) = self.owner(self.plane(owner), wire)
                && found != owner
            {
                let (one, other) = (part(found), part(owner));
                return Err(WireLidError::Shared { lid: wire, one, other });
            }
        }
        Ok(())
    }
}

/// The value that occurs most often among LID mask counts, of several the largest; 0 if there are none.
pub(crate) fn most_common(values: impl Iterator<Item = u8>) -> u8 {
    let mut count = [0usize; LMC_MAX as usize + 1];
    values.for_each(|value| count[usize::from(value.min(LMC_MAX))] += 1);
    (0..=LMC_MAX).max_by_key(|&value| (count[usize::from(value)], value)).map_or(0, |most| {
        // Without any endpoint all counts are equal.
        if count[usize::from(most)] == 0 { 0 } else { most }
    })
}

#[cfg(test)]
mod tests;
