//! From a file's own LIDs to dense ones: by port GUID where a line names one, else by the numbers of the subnet.
//!
//! A port owns 2^lmc LIDs from a multiple of 2^lmc on, so the lowest LID seen of a port gives its first one. The LID mask
//! count, unless given, is the one that most ports show. LIDs without a GUID go by [`WireLids`]; since those may be of
//! another time, they are checked against the LIDs that the file gives its switches.

use std::collections::{HashMap, HashSet};

use super::TableError;
use super::reader::{Dump, Said};
use super::warnings::{Kind, Warnings};
use crate::ids::Lid;
use crate::machine::formats::Warning;
use crate::machine::wire_lids::most_common;
use crate::machine::{LidOwner, Lids, Machine, Names, WireLids};
use crate::recovery::routing::lft::Lft;

/// Tables by dense LIDs.
pub(super) struct Placed {
    pub lft: Lft,
    pub switches: usize,
    pub entries: u64,
    pub warnings: Vec<Warning>,
}

/// Brings the rows of a dump in the order of dense LIDs.
///
/// # Errors
/// If LIDs have to be matched by number and the numbers are plainly of another time, or no entry can be matched.
pub(super) fn place(
    mut dump: Dump,
    label: &str,
    machine: &Machine,
    wire: &WireLids,
    lmc: Option<u8>,
) -> Result<Placed, TableError> {
    let mut matcher = Matcher::new(machine, wire, &mut dump.warnings);
    let owners: Vec<Vec<Option<(LidOwner, u16)>>> = (0u32..)
        .zip(&dump.planes)
        .map(|(plane, said)| matcher.owners(plane, said, label))
        .collect::<Result<_, _>>()?;
    matcher.tell_made_up();
    let lmc = lmc.unwrap_or_else(|| lmc_of(&owners, machine, wire));
    let lids = machine.lids().with_lmc(lmc);
    let columns: Vec<Vec<Option<Lid>>> = (0u32..)
        .zip(owners.iter().zip(&dump.planes))
        .map(|(plane, (owners, said))| matcher.columns(plane, owners, said, lids))
        .collect();
    matcher.tell_missing(&columns, lids, &dump.rows);
    let mut lft = Lft::empty(machine, lmc);
    let (mut switches, mut entries) = (0, 0);
    for (switch, row) in machine.switches().zip(&dump.rows) {
        let Some(row) = row else { continue };
        switches += 1;
        let columns = &columns[machine.plane_of_switch(switch) as usize];
        for (&port, lid) in row.iter().zip(columns) {
            if let (Some(lid), true) = (*lid, port != Lft::NONE) {
                lft.set(switch, lid, port);
                entries += 1;
            }
        }
    }
    if entries == 0 {
        return Err(TableError::NothingUseful {
            label: label.to_owned(),
            found: format!("none of the entries of its {switches} tables leads to a known port"),
            advice: "take the fabric file and the tables from the same subnet, or give the \
                     guid2lid file",
        });
    }
    Ok(Placed { lft, switches, entries, warnings: dump.warnings.finish() })
}

/// Who owns LIDs.
struct Matcher<'a> {
    machine: &'a Machine,
    wire: &'a WireLids,
    names: Names<'a>,
    /// Ports and switches by plane and GUID.
    by_guid: HashMap<(u32, u64), LidOwner>,
    /// The plane of some port of that GUID.
    plane_of: HashMap<u64, u32>,
    warnings: &'a mut Warnings,
    /// LIDs matched by numbers that no file gave.
    made_up: usize,
}

impl<'a> Matcher<'a> {
    fn new(machine: &'a Machine, wire: &'a WireLids, warnings: &'a mut Warnings) -> Self {
        let (mut by_guid, mut plane_of) = (HashMap::new(), HashMap::new());
        let endpoints = machine
            .endpoints()
            .map(|end| (machine.endpoint_info(end).guid, LidOwner::Endpoint(end)));
        let switches = machine.switches().map(|s| (machine.switch(s).guid, LidOwner::Switch(s)));
        for (guid, owner) in endpoints.chain(switches) {
            let plane = wire.plane(owner);
            by_guid.entry((plane, guid)).or_insert(owner);
            plane_of.entry(guid).or_insert(plane);
        }
        let names = Names::new(machine);
        Matcher { machine, wire, names, by_guid, plane_of, warnings, made_up: 0 }
    }

    /// Who owns each LID of a plane, with the LID that counts as his first where numbers tell it, else 0.
    fn owners(
        &mut self,
        plane: u32,
        said: &[Said],
        label: &str,
    ) -> Result<Vec<Option<(LidOwner, u16)>>, TableError> {
        self.check_numbers(plane, said, label)?;
        let moved = self.moved(plane, said);
        let owner = |(lid, said): (u16, &Said)| {
            let line = said.line as usize;
            if said.line == 0 {
                None
            } else if said.guid != 0 {
                self.by_port_guid(plane, lid, said.guid, line).map(|owner| (owner, 0))
            } else if let Some((switch, _)) = said.own {
                Some((LidOwner::Switch(switch), 0))
            } else if let Some((owner, _)) = self.wire.owner(plane, lid)
                && !moved.contains(&owner)
            {
                self.made_up += usize::from(!self.wire.is_given(owner));
                Some((owner, self.wire.first(owner)))
            } else {
                self.warnings.add(Kind::UnknownLid, line, || {
                    format!("nobody has LID {lid}; its entries are skipped")
                });
                None
            }
        };
        Ok((0u16..).zip(said).map(owner).collect())
    }

    /// Who has other LIDs here than in the subnet, by lines with port GUIDs: his numbers there are worth nothing here.
    fn moved(&self, plane: u32, said: &[Said]) -> HashSet<LidOwner> {
        let named = (0u16..).zip(said).filter(|(_, said)| said.guid != 0);
        let owners = named.filter_map(|(lid, said)| {
            let owner = *self.by_guid.get(&(plane, said.guid))?;
            let known = self.wire.owner(plane, lid).map(|(known, _)| known);
            (known != Some(owner)).then_some(owner)
        });
        owners.collect()
    }

    fn by_port_guid(&mut self, plane: u32, lid: u16, guid: u64, line: usize) -> Option<LidOwner> {
        let owner = self.by_guid.get(&(plane, guid)).copied();
        if owner.is_none() {
            match self.plane_of.get(&guid) {
                None => self.warnings.add(Kind::UnknownGuid, line, || {
                    format!(
                        "nobody has port GUID 0x{guid:016x}; the entries for LID {lid} are skipped"
                    )
                }),
                Some(other) => self.warnings.add(Kind::OtherPlane, line, || {
                    format!(
                        "port GUID 0x{guid:016x} is in plane {other}, these tables in plane \
                         {plane}; the entries for LID {lid} are skipped"
                    )
                }),
            }
        }
        owner
    }

    /// Compares the LIDs that the file gives switches with the subnet's, where ports are matched by number.
    fn check_numbers(&mut self, plane: u32, said: &[Said], label: &str) -> Result<(), TableError> {
        let by_number = |said: &Said| said.line != 0 && said.guid == 0;
        let (mut checked, mut wrong) = (0, Vec::new());
        for (lid, said) in (0u16..).zip(said).filter(|(_, said)| by_number(said)) {
            let Some((switch, line)) = said.own else { continue };
            checked += 1;
            let known = self.wire.owner(plane, lid).map(|(owner, _)| owner);
            if known != Some(LidOwner::Switch(switch)) {
                wrong.push((lid, switch, line as usize, known));
            }
        }
        let name = |owner| match owner {
            None => "nobody's".to_owned(),
            Some(LidOwner::Switch(switch)) => format!("switch `{}`", self.names.switch(switch)),
            Some(LidOwner::Endpoint(end)) => {
                format!("port `{}`", self.names.plug(self.machine.endpoint(end)))
            }
        };
        let ports = said.iter().any(|said| by_number(said) && said.own.is_none());
        if let Some(&(lid, switch, line, known)) = wrong.first()
            && ports
            && wrong.len() * 2 > checked
        {
            return Err(TableError::OtherLids {
                label: label.to_owned(),
                line,
                lid,
                said: self.names.switch(switch),
                known: name(known),
                wrong: wrong.len(),
                checked,
            });
        }
        for (lid, switch, line, known) in wrong {
            let names = &self.names;
            self.warnings.add(Kind::OtherLid, line, || {
                let of = names.switch(switch);
                format!("LID {lid} is taken as that of `{of}`, by the fabric it is {}", name(known))
            });
        }
        Ok(())
    }

    /// The column of each LID of a plane.
    fn columns(
        &mut self,
        plane: u32,
        owners: &[Option<(LidOwner, u16)>],
        said: &[Said],
        lids: Lids,
    ) -> Vec<Option<Lid>> {
        let mut first: HashMap<LidOwner, u16> = HashMap::new();
        let mut taken = vec![false; lids.count()];
        let mut columns = vec![None; owners.len()];
        for (lid, owner) in (0u16..).zip(owners) {
            let Some((owner, number)) = *owner else { continue };
            let line = said[usize::from(lid)].line as usize;
            let first = *first.entry(owner).or_insert_with(|| match (number, owner) {
                (0, LidOwner::Endpoint(_)) => lid & !((1 << lids.lmc()) - 1),
                (0, LidOwner::Switch(_)) => lid,
                (number, _) => number,
            });
            let offset = lid.wrapping_sub(first);
            let column = u8::try_from(offset).ok().and_then(|offset| lids.at(owner, offset));
            match column.filter(|column| !taken[column.index()]) {
                Some(column) => {
                    taken[column.index()] = true;
                    columns[usize::from(lid)] = Some(column);
                }
                // Further LIDs of an enhanced port 0 lead where its first one leads.
                None if matches!(owner, LidOwner::Switch(_))
                    && self.wire.owner(plane, lid).is_some_and(|(known, _)| known == owner) => {}
                None => {
                    let part = match owner {
                        LidOwner::Endpoint(end) => self.names.plug(self.machine.endpoint(end)),
                        LidOwner::Switch(switch) => self.names.switch(switch),
                    };
                    self.warnings.add(Kind::OutOfRun, line, || {
                        format!(
                            "LID {lid} is skipped: `{part}` has {} from LID {first} on",
                            match owner {
                                LidOwner::Endpoint(_) => lids.per_endpoint(),
                                LidOwner::Switch(_) => 1,
                            }
                        )
                    });
                }
            }
        }
        columns
    }

    fn tell_made_up(&mut self) {
        if self.made_up > 0 {
            self.warnings.whole(format!(
                "{} LIDs without port GUIDs are matched by numbers that runflat made up, since the \
                 fabric file gives none; right only for tables that runflat wrote (else give the \
                 guid2lid file)",
                self.made_up
            ));
        }
    }

    /// Tells of switches without a table, and of ports that no table routes to.
    fn tell_missing(&mut self, columns: &[Vec<Option<Lid>>], lids: Lids, rows: &[Option<Vec<u8>>]) {
        let machine = self.machine;
        let has_table = |plane: u32| {
            let mut switches = machine.switches().zip(rows);
            switches.any(|(s, row)| row.is_some() && machine.plane_of_switch(s) == plane)
        };
        let planes: Vec<bool> = (0..machine.plane_count() as u32).map(has_table).collect();
        let mut known = vec![false; lids.count()];
        columns.iter().flatten().flatten().for_each(|lid| known[lid.index()] = true);
        let switches: Vec<_> = machine
            .switches()
            .zip(rows)
            .filter(|(s, row)| row.is_none() && planes[machine.plane_of_switch(*s) as usize])
            .map(|(switch, _)| switch)
            .collect();
        if let Some(&first) = switches.first() {
            let name = self.names.switch(first);
            self.warnings.whole(format!(
                "{} switches have no table, `{name}` the first; they forward nothing",
                switches.len()
            ));
        }
        let with_switches = machine.switches().map(|s| machine.plane_of_switch(s) as usize);
        let mut bare: Vec<usize> = with_switches.filter(|&plane| !planes[plane]).collect();
        bare.dedup();
        bare.sort_unstable();
        bare.dedup();
        if !bare.is_empty() {
            let bare = bare.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            self.warnings.whole(format!("no table is of plane {bare}; nothing is routed there"));
        }
        let mut ends = machine.endpoints().filter(|&end| {
            planes[machine.plane_of_endpoint(end) as usize]
                && lids.all_of_endpoint(end).any(|lid| !known[lid.index()])
        });
        if let Some(first) = ends.next() {
            let name = self.names.plug(machine.endpoint(first));
            self.warnings.whole(format!(
                "{} ports have LIDs to which no table has a route, `{name}` the first; if the \
                 fabric's LIDs are others by now, give those of the tables with guid2lid",
                ends.count() + 1
            ));
        }
    }
}

/// The LID mask count that most ports show.
fn lmc_of(owners: &[Vec<Option<(LidOwner, u16)>>], machine: &Machine, wire: &WireLids) -> u8 {
    let mut seen: Vec<Option<(u16, u16)>> = vec![None; machine.endpoint_count()];
    let mut by_number = None;
    for (lid, owner) in owners.iter().flat_map(|plane| (0u16..).zip(plane)) {
        match owner {
            Some((LidOwner::Endpoint(end), 0)) => {
                let (low, high) = seen[end.index()].get_or_insert((lid, lid));
                (*low, *high) = ((*low).min(lid), (*high).max(lid));
            }
            Some((LidOwner::Endpoint(_), _)) => by_number = Some(wire.lmc()),
            _ => {}
        }
    }
    let spans = seen.iter().flatten().map(|(low, high)| 16 - (low ^ high).leading_zeros() as u8);
    let mut spans = spans.peekable();
    match spans.peek() {
        Some(_) => most_common(spans),
        None => by_number.unwrap_or(0),
    }
}
