//! `guid2lid`: the file in which OpenSM remembers the LIDs it gave out, `0xGUID 0xFIRST 0xLAST` a line.
//!
//! The GUIDs are port GUIDs, for a switch its own. A file is of one subnet, so of one plane; a text made of several is
//! read too, since GUIDs tell the planes apart, but OpenSM must be given one plane's alone: LIDs repeat between planes.
//!
//! Source: OpenSM's manual (`OSM_CACHE_DIR`), and files written by OpenSM 3.3.23.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::assign::Wanted;
use super::{Run, WireLidError, WireLids, most_common};
use crate::machine::formats::Warning;
use crate::machine::names::{Names, read_guid};
use crate::machine::{LMC_MAX, LidOwner, Machine, UNICAST_LIDS};

/// What one line says.
struct Entry {
    line: usize,
    run: Run,
}

impl WireLids {
    /// Reads the LIDs that OpenSM remembers; parts without a line keep the fabric file's number if it is free.
    ///
    /// # Errors
    /// A line of another form, two lines that exclude each other, or a file that names nobody of this fabric.
    pub fn read_guid2lid(
        machine: &Machine,
        bytes: &[u8],
        label: &str,
    ) -> Result<(Self, Vec<Warning>), WireLidError> {
        let entries = read_entries(&String::from_utf8_lossy(bytes), label)?;
        let owners = owners_by_guid(machine);
        let mut warnings = strangers(&entries, &owners);
        let found: HashMap<LidOwner, &Entry> = entries
            .iter()
            .flat_map(|(guid, entry)| owners.get(guid).map(|owners| (owners, entry)))
            .flat_map(|(owners, entry)| owners.iter().map(move |&owner| (owner, entry)))
            .collect();
        if found.is_empty() {
            return Err(WireLidError::NobodyKnown {
                label: label.to_owned(),
                count: entries.len(),
            });
        }
        check_shared(machine, &entries, &owners, label)?;
        let lmc = most_common(
            machine
                .endpoints()
                .filter_map(|end| found.get(&LidOwner::Endpoint(end)))
                .map(|entry| entry.run.lmc),
        );
        let mut missing = Vec::new();
        let lids = WireLids::assigned(machine, |owner, file| match (found.get(&owner), owner) {
            (Some(entry), _) => Wanted::Fixed(entry.run),
            (None, owner) => {
                missing.push(owner);
                let lmc = if matches!(owner, LidOwner::Switch(_)) { file.lmc } else { lmc };
                Wanted::Preferred(Run { lmc, ..file })
            }
        })?;
        if let Some(&first) = missing.first() {
            let text = format!(
                "{} of the fabric's ports and switches have no line, `{}` among them; they get \
                 LIDs that are free",
                missing.len(),
                name_of(machine, first)
            );
            warnings.push(Warning { line: 0, text });
        }
        warnings.sort_by_key(|warning| warning.line);
        Ok((lids, warnings))
    }

    /// Writes the LIDs of a plane as OpenSM remembers them, by LID; parts without a GUID are left out.
    #[must_use]
    pub fn write_guid2lid(&self, machine: &Machine, plane: u32) -> String {
        let endpoints = machine
            .endpoints()
            .map(|end| (LidOwner::Endpoint(end), machine.endpoint_info(end).guid));
        let switches = machine
            .switches()
            .map(|switch| (LidOwner::Switch(switch), machine.switch(switch).guid));
        let mut lines: Vec<(u16, u16, u64)> = endpoints
            .chain(switches)
            .filter(|&(owner, guid)| guid != 0 && self.plane(owner) == plane)
            .map(|(owner, guid)| {
                let Run { first, lmc, .. } = self.run(owner);
                (first, first + ((1 << lmc) - 1), guid)
            })
            .collect();
        lines.sort_unstable();
        let mut text = String::with_capacity(lines.len() * 34);
        for (first, last, guid) in lines {
            // `write!` to a `String` cannot fail.
            let _ = write!(text, "0x{guid:016x} 0x{first:04x} 0x{last:04x}\n\n");
        }
        text
    }
}

/// The lines of a file by GUID.
fn read_entries(text: &str, label: &str) -> Result<BTreeMap<u64, Entry>, WireLidError> {
    let mut entries: BTreeMap<u64, Entry> = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let Some((guid, run)) = read_entry(text) else {
            return Err(WireLidError::Line {
                label: label.to_owned(),
                line,
                found: format!("found `{}`", text.chars().take(SHOWN).collect::<String>()),
                allowed: "a line is `0xGUID 0xFIRST 0xLAST`, with 1, 2, 4 ... 128 LIDs from 1 to \
                          49151 that start at a multiple of their number",
                advice: "take the file guid2lid from OpenSM's cache folder, /var/cache/opensm",
            });
        };
        match entries.get(&guid) {
            Some(earlier) if earlier.run != run => {
                let range = |run: Run| {
                    format!("LIDs {} to {}", run.first, run.first + ((1 << run.lmc) - 1))
                };
                return Err(WireLidError::Contradiction {
                    label: label.to_owned(),
                    line,
                    earlier: earlier.line,
                    found: format!("GUID 0x{guid:016x} has {}", range(run)),
                    said: format!("gave it {}", range(earlier.run)),
                    advice: "remove the older line",
                });
            }
            Some(_) => {}
            None => {
                entries.insert(guid, Entry { line, run });
            }
        }
    }
    Ok(entries)
}

/// `0xGUID 0xFIRST 0xLAST`.
fn read_entry(text: &str) -> Option<(u64, Run)> {
    let mut words = text.split_whitespace();
    let guid = read_guid(words.next()?).filter(|&guid| guid != 0)?;
    let [first, last] = [words.next()?, words.next()?].map(|word| {
        let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?;
        u16::from_str_radix(digits, 16).ok()
    });
    let (first, last) = (first?, last?);
    let size = u32::from(last).checked_sub(u32::from(first))? + 1;
    let lmc = size.trailing_zeros() as u8;
    let sound = size.is_power_of_two()
        && lmc <= LMC_MAX
        && u32::from(first).is_multiple_of(size)
        && first != 0
        && usize::from(last) <= UNICAST_LIDS
        && words.next().is_none();
    sound.then_some((guid, Run { first, lmc, given: true }))
}

/// Who has which port GUID; a GUID that several ports share names them all.
fn owners_by_guid(machine: &Machine) -> HashMap<u64, Vec<LidOwner>> {
    let mut owners: HashMap<u64, Vec<LidOwner>> = HashMap::new();
    for endpoint in machine.endpoints() {
        let guid = machine.endpoint_info(endpoint).guid;
        owners.entry(guid).or_default().push(LidOwner::Endpoint(endpoint));
    }
    for switch in machine.switches() {
        owners.entry(machine.switch(switch).guid).or_default().push(LidOwner::Switch(switch));
    }
    owners.remove(&0);
    owners
}

/// Lines for GUIDs that nobody has: normal after parts were taken out, so told once.
fn strangers(entries: &BTreeMap<u64, Entry>, owners: &HashMap<u64, Vec<LidOwner>>) -> Vec<Warning> {
    let mut strangers: Vec<(usize, u64)> = entries
        .iter()
        .filter(|(guid, _)| !owners.contains_key(guid))
        .map(|(&guid, entry)| (entry.line, guid))
        .collect();
    strangers.sort_unstable();
    strangers
        .first()
        .map(|&(line, guid)| Warning {
            line,
            text: format!(
                "{} GUIDs are of nobody in this fabric, 0x{guid:016x} the first; their LIDs count \
                 as free",
                strangers.len()
            ),
        })
        .into_iter()
        .collect()
}

/// Checks that no two parts of a plane share a LID.
fn check_shared(
    machine: &Machine,
    entries: &BTreeMap<u64, Entry>,
    owners: &HashMap<u64, Vec<LidOwner>>,
    label: &str,
) -> Result<(), WireLidError> {
    let mut by_line: Vec<(&u64, &Entry)> = entries.iter().collect();
    by_line.sort_unstable_by_key(|(_, entry)| entry.line);
    let mut taken: HashMap<(u32, u16), (u64, usize)> = HashMap::new();
    for (&guid, entry) in by_line {
        let Some(owners) = owners.get(&guid) else { continue };
        let mut planes: Vec<u32> = owners.iter().map(|&owner| plane_of(machine, owner)).collect();
        planes.sort_unstable();
        planes.dedup();
        let first = entry.run.first;
        for (plane, lid) in planes
            .iter()
            .flat_map(|&plane| (first..first + (1 << entry.run.lmc)).map(move |lid| (plane, lid)))
        {
            if let Some(&(other, earlier)) = taken.get(&(plane, lid)) {
                return Err(WireLidError::Contradiction {
                    label: label.to_owned(),
                    line: entry.line,
                    earlier,
                    found: format!("GUID 0x{guid:016x} has LID {lid}"),
                    said: format!("gave it to 0x{other:016x}, which is in the same plane"),
                    advice: "remove the older line",
                });
            }
            taken.insert((plane, lid), (guid, entry.line));
        }
    }
    Ok(())
}

fn plane_of(machine: &Machine, owner: LidOwner) -> u32 {
    match owner {
        LidOwner::Endpoint(endpoint) => machine.plane_of_endpoint(endpoint),
        LidOwner::Switch(switch) => machine.plane_of_switch(switch),
    }
}

fn name_of(machine: &Machine, owner: LidOwner) -> String {
    match owner {
        LidOwner::Endpoint(endpoint) => Names::new(machine).plug(machine.endpoint(endpoint)),
        LidOwner::Switch(switch) => Names::new(machine).switch(switch),
    }
}

/// Characters of a line that a message shows.
const SHOWN: usize = 60;
