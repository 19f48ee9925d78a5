//! The blocks of a file: parts as declared, port lines as listed, nothing joined yet.

use std::collections::HashMap;

use super::super::{FormatError, Warning};
use super::line::{self, Header, Key, Line, Port, Summary};
use crate::machine::NodeKind;
use crate::machine::UNICAST_LIDS;

/// How a file calls a part: `S-`, `H-`, `R-` and a GUID however padded, or any text an ibsim file makes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id<'a> {
    Guid(u8, u64),
    Free(&'a str),
}

impl<'a> Id<'a> {
    pub(super) fn read(text: &'a str) -> Self {
        /// Without a dash only what is about as long as a GUID is one: `S1` is a name.
        const DIGITS_WITHOUT_DASH: usize = 10;
        let text = text.trim();
        let letter = text.bytes().next().unwrap_or(0).to_ascii_uppercase();
        let guid = if matches!(letter, b'S' | b'H' | b'R') {
            let digits = &text[1..];
            match digits.strip_prefix('-') {
                Some(digits) => line::hex(digits),
                None => line::hex(digits).filter(|_| digits.len() >= DIGITS_WITHOUT_DASH),
            }
        } else {
            None
        };
        guid.map_or(Id::Free(text), |guid| Id::Guid(letter, guid))
    }
}

/// A part as its blocks declare it.
#[derive(Debug)]
pub(super) struct PartDraft<'a> {
    pub id: Id<'a>,
    /// `None` for a switch.
    pub kind: Option<NodeKind>,
    pub radix: u8,
    pub name: String,
    /// The block gives no name, not even an empty one.
    pub unnamed: bool,
    pub guid: Option<u64>,
    pub system_guid: u64,
    pub vendor: u32,
    pub device: u32,
    pub lid: u16,
    pub lmc: u8,
    pub enhanced: bool,
    pub chassis: Option<u32>,
    pub line: usize,
}

/// A port line of a block.
#[derive(Debug)]
pub(super) struct PortDraft<'a> {
    pub part: usize,
    pub port: u8,
    pub far_id: Id<'a>,
    pub far_port: u32,
    pub guid: Option<u64>,
    pub far_guid: Option<u64>,
    pub far_name: Option<&'a str>,
    pub lid: Option<u16>,
    pub lmc: Option<u8>,
    pub far_lid: Option<u16>,
    pub rate: Option<&'a str>,
    pub width: Option<u8>,
    pub line: usize,
}

/// Everything a file says, in the order it says it.
pub(super) struct Blocks<'a> {
    pub label: &'a str,
    pub parts: Vec<PartDraft<'a>>,
    pub ports: Vec<PortDraft<'a>>,
    pub by_id: HashMap<Id<'a>, usize>,
    pub warnings: Vec<Warning>,
    /// What our writer counted, if the file has one such comment.
    pub summary: Option<Summary<'a>>,
    /// Whether the file ends with a newline, as every complete dump does.
    pub ends_whole: bool,
    pub last_line: usize,
    /// The part whose block is the last of the file.
    pub current: Option<usize>,
    summaries: usize,
    pending: Pending,
    section: Option<u32>,
    noise: usize,
}

/// Attributes that wait for their block.
#[derive(Default)]
struct Pending {
    vendor: Option<u64>,
    device: Option<u64>,
    system: Option<u64>,
    guid: Option<u64>,
    chassis: Option<u32>,
    kind: Option<NodeKind>,
    any: bool,
}

/// Lines of no meaning that get a warning each; the others are counted.
const NOISE_SHOWN: usize = 20;

impl<'a> Blocks<'a> {
    /// Collects the blocks of `text`.
    pub(super) fn collect(text: &'a str, label: &'a str) -> Result<Self, FormatError> {
        let mut blocks = Blocks {
            label,
            parts: Vec::new(),
            ports: Vec::new(),
            by_id: HashMap::new(),
            warnings: Vec::new(),
            summary: None,
            ends_whole: text.ends_with('\n'),
            last_line: text.lines().count(),
            current: None,
            summaries: 0,
            pending: Pending::default(),
            section: None,
            noise: 0,
        };
        for (index, text) in text.lines().enumerate() {
            blocks.line(index + 1, text)?;
        }
        if blocks.pending.any {
            let found = "attributes stand at its end without their block";
            return Err(blocks.cut_off(found.to_owned()));
        }
        if blocks.noise > NOISE_SHOWN {
            let more = blocks.noise - NOISE_SHOWN;
            blocks.warn(0, format!("{more} more lines are no part of the format and were skipped"));
        }
        if blocks.summaries > 1 {
            // Several exports in one file: each counts only its own.
            blocks.summary = None;
        }
        blocks.name_from_far_ends();
        Ok(blocks)
    }

    /// A block without a name gets the one that the far end of a cable gives it.
    fn name_from_far_ends(&mut self) {
        for port in &self.ports {
            let (Some(name), Some(&far)) = (port.far_name, self.by_id.get(&port.far_id)) else {
                continue;
            };
            let part = &mut self.parts[far];
            if part.unnamed {
                part.unnamed = false;
                part.name = clean(name);
                if part.kind == Some(NodeKind::Host) && reads_as_aggregation(name) {
                    part.kind = Some(NodeKind::Aggregation);
                }
            }
        }
    }

    pub(super) fn warn(&mut self, line: usize, text: String) {
        self.warnings.push(Warning { line, text });
    }

    pub(super) fn cut_off(&self, found: String) -> FormatError {
        FormatError::CutOff {
            label: self.label.to_owned(),
            line: self.last_line,
            found,
            advice: "run ibnetdiscover again and keep all of its output".to_owned(),
        }
    }

    pub(super) fn wrong(&self, line: usize, found: String, allowed: &str) -> FormatError {
        let advice = "the line is damaged or edited: correct it, or run ibnetdiscover again";
        FormatError::Line {
            label: self.label.to_owned(),
            line,
            found,
            allowed: allowed.to_owned(),
            advice: advice.to_owned(),
        }
    }

    /// `MF0;ib5:SX6036/U1` and its like in messages; the id where there is no name.
    pub(super) fn shown(&self, part: usize) -> String {
        let part = &self.parts[part];
        match part.id {
            _ if !part.name.is_empty() => part.name.clone(),
            Id::Guid(letter, guid) => format!("{}-{guid:016x}", char::from(letter)),
            Id::Free(id) => id.to_owned(),
        }
    }

    fn line(&mut self, number: usize, text: &'a str) -> Result<(), FormatError> {
        let line = line::classify(text).map_err(|malformed| {
            self.wrong(number, format!("found `{}`", shorten(text)), malformed.allowed)
        })?;
        match line {
            Line::Empty => {}
            Line::Attribute { key, value, chassis } => {
                let pending = &mut self.pending;
                let slot = match key {
                    Key::Vendor => &mut pending.vendor,
                    Key::Device => &mut pending.device,
                    Key::System => &mut pending.system,
                    Key::Guid => &mut pending.guid,
                };
                *slot = Some(value);
                pending.chassis = chassis.or(pending.chassis);
                pending.any = true;
            }
            Line::Kind(kind) => {
                self.pending.kind = Some(kind);
                self.pending.any = true;
            }
            Line::Header(header) => self.header(number, &header)?,
            Line::Port(port) => self.port(number, &port)?,
            Line::Chassis(section) => self.section = section,
            Line::Summary(summary) => {
                self.summaries += 1;
                self.summary = Some(summary);
            }
            Line::Unsupported => {
                return Err(FormatError::Line {
                    label: self.label.to_owned(),
                    line: number,
                    found: format!("found `{}`", shorten(text)),
                    allowed: "ibsim's include, module and @ aliases are not read".to_owned(),
                    advice: "load the file into ibsim and keep what ibnetdiscover prints there"
                        .to_owned(),
                });
            }
            Line::Noise => {
                self.noise += 1;
                if self.noise <= NOISE_SHOWN {
                    let text = format!("skipped `{}`: no part of the format", shorten(text));
                    self.warn(number, text);
                }
            }
        }
        Ok(())
    }

    fn header(&mut self, number: usize, header: &Header<'a>) -> Result<(), FormatError> {
        let pending = std::mem::take(&mut self.pending);
        let radix = match u8::try_from(header.radix) {
            Ok(radix @ 1..=254) => radix,
            _ => {
                let found = format!("`{}` has {} ports", header.id, header.radix);
                return Err(self.wrong(number, found, "a part has 1 to 254 ports"));
            }
        };
        let id = Id::read(header.id);
        let name = match (header.name, id) {
            (Some(name), _) => clean(name),
            (None, Id::Free(id)) => clean(id),
            (None, Id::Guid(..)) => String::new(),
        };
        let aggregation = header.kind == Some(NodeKind::Host) && reads_as_aggregation(&name);
        let kind = header.kind.map(|kind| match pending.kind {
            Some(kind) => kind,
            None if aggregation => NodeKind::Aggregation,
            None => kind,
        });
        let chassis = pending.chassis.or(self.section).filter(|_| kind.is_none());
        let lid = self.lid(number, header.lid).unwrap_or(0);
        let draft = PartDraft {
            id,
            kind,
            radix,
            name,
            unnamed: header.name.is_none() && matches!(id, Id::Guid(..)),
            guid: pending.guid,
            system_guid: pending.system.unwrap_or(0),
            vendor: pending.vendor.unwrap_or(0) as u32,
            device: pending.device.unwrap_or(0) as u32,
            lid,
            lmc: header.lmc.filter(|&lmc| lmc <= 7).unwrap_or(0) as u8,
            enhanced: header.enhanced,
            chassis,
            line: number,
        };
        self.declare(draft)
    }

    /// Adds a part, or what a further block of it says: dumps of several planes repeat the nodes they share.
    fn declare(&mut self, draft: PartDraft<'a>) -> Result<(), FormatError> {
        let Some(&known) = self.by_id.get(&draft.id) else {
            self.by_id.insert(draft.id, self.parts.len());
            self.current = Some(self.parts.len());
            self.parts.push(draft);
            return Ok(());
        };
        self.current = Some(known);
        let shown = self.shown(known);
        let part = &mut self.parts[known];
        let word = |kind: Option<NodeKind>| if kind.is_none() { "a switch" } else { "a node" };
        let guid_changes = draft.guid.is_some() && part.guid.is_some() && draft.guid != part.guid;
        if part.kind.is_none() != draft.kind.is_none() || guid_changes {
            let (now, before) = if guid_changes {
                let guid = |guid: Option<u64>| format!("GUID 0x{:016x}", guid.unwrap_or(0));
                (guid(draft.guid), guid(part.guid))
            } else {
                (word(draft.kind).to_owned(), word(part.kind).to_owned())
            };
            return Err(FormatError::Contradiction {
                label: self.label.to_owned(),
                line: draft.line,
                earlier: part.line,
                found: format!("`{shown}` is {now}"),
                said: format!("declares it as {before}"),
                advice: "give each part its own id".to_owned(),
            });
        }
        let mut changes = Vec::new();
        if draft.radix != part.radix {
            let ports = format!("{} ports, not {}", draft.radix, part.radix);
            changes.push(format!("{ports}: the larger number holds"));
            part.radix = part.radix.max(draft.radix);
        }
        if draft.name != part.name {
            changes.push(format!("the name `{}`: the first one holds", draft.name));
        }
        part.guid = part.guid.or(draft.guid);
        for (kept, new) in [(&mut part.vendor, draft.vendor), (&mut part.device, draft.device)] {
            *kept = if *kept == 0 { new } else { *kept };
        }
        part.system_guid = if part.system_guid == 0 { draft.system_guid } else { part.system_guid };
        part.lid = if part.lid == 0 { draft.lid } else { part.lid };
        part.chassis = part.chassis.or(draft.chassis);
        for change in changes {
            self.warn(draft.line, format!("`{shown}` is declared again, with {change}"));
        }
        Ok(())
    }

    fn port(&mut self, number: usize, port: &Port<'a>) -> Result<(), FormatError> {
        let Some(part) = self.current else {
            let found = format!("port {} belongs to no part", port.port);
            return Err(self.wrong(number, found, "port lines follow a Switch, Ca or Rt line"));
        };
        let radix = self.parts[part].radix;
        let Some(own) = u8::try_from(port.port).ok().filter(|own| (1..=radix).contains(own)) else {
            let found = format!("found port {} of `{}`", port.port, self.shown(part));
            return Err(self.wrong(number, found, &format!("it has ports 1 to {radix}")));
        };
        let (lid, far_lid) = (self.lid(number, port.lid), self.lid(number, port.far_lid));
        self.ports.push(PortDraft {
            part,
            port: own,
            far_id: Id::read(port.far_id),
            far_port: port.far_port,
            guid: port.guid,
            far_guid: port.far_guid,
            far_name: port.far_name,
            lid,
            lmc: port.lmc.filter(|&lmc| lmc <= 7).map(|lmc| lmc as u8),
            far_lid,
            rate: port.rate,
            width: port.width,
            line: number,
        });
        Ok(())
    }

    fn lid(&mut self, number: usize, lid: Option<u64>) -> Option<u16> {
        match lid? {
            lid if lid <= UNICAST_LIDS as u64 => Some(lid as u16),
            lid => {
                let known = format!("unicast LIDs end at {UNICAST_LIDS}");
                self.warn(number, format!("LID {lid} is taken as unknown: {known}"));
                None
            }
        }
    }
}

/// Whether a name is what SHARP's in-switch adapters call themselves.
pub(super) fn reads_as_aggregation(name: &str) -> bool {
    name.contains("Aggregation Node")
}

/// A name without control characters, as ibnetdiscover prints it.
pub(super) fn clean(name: &str) -> String {
    name.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The beginning of a line, for messages.
pub(super) fn shorten(text: &str) -> String {
    const SHOWN: usize = 70;
    let text = clean(text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
