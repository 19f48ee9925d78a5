//! One line of a dump, taken apart without knowing its neighbours.

use super::super::super::graph::NodeKind;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// Nothing, or a comment.
    Empty,
    /// `vendid=0x2c9` and its like: said of the block that follows.
    Attribute { key: Key, value: u64, chassis: Option<u32> },
    /// The first line of a block.
    Header(Header<'a>),
    /// A cabled port of the block.
    Port(Port<'a>),
    /// `Chassis 1 (guid 0x..)`, `Non-Chassis Nodes`: which box the blocks that follow stand in.
    Chassis(Option<u32>),
    /// The comment that our writer leaves.
    Summary(Summary<'a>),
    /// The comment that our writer leaves before a node that is no host.
    Kind(NodeKind),
    /// What ibsim understands and we do not; leaving it out would change the fabric.
    Unsupported,
    /// Anything else: messages of the tools.
    Noise,
}

/// What an attribute line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    Vendor,
    Device,
    System,
    Guid,
}

/// `Switch 36 "S-.." # "name" enhanced port 0 lid 1 lmc 0`.
#[derive(Debug, PartialEq)]
pub(super) struct Header<'a> {
    /// `None` for a switch.
    pub kind: Option<NodeKind>,
    pub radix: u32,
    pub id: &'a str,
    pub name: Option<&'a str>,
    pub lid: Option<u64>,
    pub lmc: Option<u64>,
    pub enhanced: bool,
}

/// `[1](guid) "S-.."[3] # lid 4 lmc 0 "name" lid 5 4xQDR`.
#[derive(Debug, PartialEq)]
pub(super) struct Port<'a> {
    pub port: u32,
    pub guid: Option<u64>,
    pub far_id: &'a str,
    pub far_port: u32,
    pub far_guid: Option<u64>,
    pub lid: Option<u64>,
    pub lmc: Option<u64>,
    pub far_name: Option<&'a str>,
    pub far_lid: Option<u64>,
    pub rate: Option<&'a str>,
    /// Lanes, as ibsim's `w=` option gives them.
    pub width: Option<u8>,
}

/// What the writer counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary<'a> {
    pub switches: usize,
    pub nodes: usize,
    pub links: usize,
    pub synthetic: bool,
    pub name: &'a str,
}

/// A line that begins like a known one and does not go on like it.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed {
    pub allowed: &'static str,
}

const HEADER: Malformed =
    Malformed { allowed: "a block begins `Switch 36 \"S-<guid>\" # \"name\" ... lid 1 lmc 0`" };
const PORT: Malformed = Malformed {
    allowed: "a port line reads `[3] \"S-<guid>\"[7] # \"name\" lid 5 4xEDR`, from a node \
              `[1](<port guid>) ...`",
};
const ATTRIBUTE: Malformed = Malformed {
    allowed: "an attribute line reads `vendid=0x2c9` with at most 16 hexadecimal digits (8 for \
              vendid and devid)",
};

/// First words of the comments that our writer leaves.
pub(super) const SUMMARY: &str = "# runflat machine:";
pub(super) const KIND: &str = "# runflat node kind:";

/// Node kinds by the word in a [`KIND`] comment.
pub(super) const KINDS: [(NodeKind, &str); 3] = [
    (NodeKind::Host, "host"),
    (NodeKind::Aggregation, "aggregation"),
    (NodeKind::Router, "router"),
];

/// Whether a line is enough to know the format by.
pub(super) fn tells_the_format(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("# Topology file:")
        || text.starts_with(SUMMARY)
        || text.starts_with("switchguid=")
        || text.starts_with("caguid=")
        || (text.starts_with('[') && matches!(port(text), Ok(Line::Port(_))))
        || matches!(header(text), Some(Ok(_)))
}

/// Takes a line apart.
pub(super) fn classify(text: &str) -> Result<Line<'_>, Malformed> {
    let text = text.trim();
    match text.as_bytes().first() {
        None => Ok(Line::Empty),
        Some(b'#') => Ok(comment(text)),
        Some(b'[') => port(text),
        Some(b'@') => Ok(Line::Unsupported),
        Some(_) => word(text),
    }
}

fn comment(text: &str) -> Line<'_> {
    if let Some(rest) = text.strip_prefix(SUMMARY) {
        summary(rest).map_or(Line::Empty, Line::Summary)
    } else if let Some(rest) = text.strip_prefix(KIND) {
        let kind = KINDS.iter().find(|(_, word)| *word == rest.trim());
        kind.map_or(Line::Empty, |&(kind, _)| Line::Kind(kind))
    } else {
        Line::Empty
    }
}

fn summary(text: &str) -> Option<Summary<'_>> {
    let mut fields = text.trim_start().splitn(5, ' ');
    let mut field = |key| fields.next()?.strip_prefix(key)?.strip_prefix('=');
    Some(Summary {
        switches: field("switches")?.parse().ok()?,
        nodes: field("nodes")?.parse().ok()?,
        links: field("links")?.parse().ok()?,
        synthetic: field("synthetic")?.parse().ok()?,
        name: field("name")?,
    })
}

fn word(text: &str) -> Result<Line<'_>, Malformed> {
    if let Some(header) = header(text) {
        return header.map(Line::Header);
    }
    if let Some((key, value)) = text.split_once('=') {
        let (key, bits) = match key.trim() {
            "vendid" => (Key::Vendor, 32),
            "devid" => (Key::Device, 32),
            "sysimgguid" => (Key::System, 64),
            "switchguid" | "caguid" | "hcaguid" | "rtguid" => (Key::Guid, 64),
            _ => return Ok(Line::Noise),
        };
        let number = value.trim_start().split(['(', '#', ' ', '\t']).next().unwrap_or_default();
        let value_read = hex(number).filter(|&value| bits == 64 || value <= u32::MAX.into());
        let value_read = value_read.ok_or(ATTRIBUTE)?;
        let chassis = value.split_once("# Chassis ").and_then(|(_, rest)| leading_number(rest));
        return Ok(Line::Attribute { key, value: value_read, chassis });
    }
    let mut words = text.split_whitespace();
    Ok(match (words.next(), words.next()) {
        (Some("Spine" | "Line"), Some("Nodes")) => Line::Empty,
        (Some("Chassis"), Some("Switches")) => Line::Empty,
        (Some("Chassis"), Some(number)) => match number.parse() {
            Ok(number) => Line::Chassis(Some(number)),
            Err(_) => Line::Noise,
        },
        (Some("Non-Chassis"), Some("Nodes")) => Line::Chassis(None),
        (Some("include" | "module"), Some(_)) => Line::Unsupported,
        _ => Line::Noise,
    })
}

/// `None` if the line does not begin like a header.
fn header(text: &str) -> Option<Result<Header<'_>, Malformed>> {
    let (first, rest) = text.split_once([' ', '\t'])?;
    let kind = match first.to_ascii_lowercase().as_str() {
        "switch" => None,
        "ca" | "hca" => Some(NodeKind::Host),
        "rt" | "router" => Some(NodeKind::Router),
        _ => return None,
    };
    let rest = rest.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    // "Switch lost power" is somebody's message.
    let radix = rest[..digits].parse().ok()?;
    let Some((id, rest)) = quoted(rest[digits..].trim_start()) else {
        return Some(Err(HEADER));
    };
    let (name, after) = match comment_parts(rest) {
        Ok((before, None, _)) => (None, before.trim_start_matches(['#', ' ', '\t'])),
        Ok((_, name, after)) => (name, after),
        Err(()) => return Some(Err(HEADER)),
    };
    let numbers = numbers(after);
    let enhanced = after.split_whitespace().next() == Some("enhanced");
    Some(Ok(Header { kind, radix, id, name, lid: numbers.lid, lmc: numbers.lmc, enhanced }))
}

fn port(text: &str) -> Result<Line<'_>, Malformed> {
    let (port, rest) = bracketed(text).ok_or(PORT)?;
    let (guid, rest) = parenthesised(external(rest)).ok_or(PORT)?;
    let (far_id, rest) = quoted(rest.trim_start()).ok_or(PORT)?;
    // ibsim takes port 1 where none is given.
    let (far_port, rest) = if rest.starts_with('[') {
        bracketed(rest).ok_or(PORT)?
    } else if rest.is_empty() || rest.starts_with([' ', '\t', '#']) {
        (1, rest)
    } else {
        return Err(PORT);
    };
    let (far_guid, rest) = parenthesised(external(rest)).ok_or(PORT)?;
    let (before, name, after) = comment_parts(rest).map_err(|()| PORT)?;
    let own = numbers(before);
    let far = numbers(after);
    // Without a name, `lid 4 lmc 0` is the port's own and a lone `lid 5` the far end's.
    let unnamed = name.is_none() && own.lmc.is_none();
    let named = (own.lid, far.lid.or(own.second_lid));
    let (lid, far_lid) = if unnamed { (None, own.lid) } else { named };
    Ok(Line::Port(Port {
        port,
        guid,
        far_id,
        far_port,
        far_guid,
        lid,
        lmc: own.lmc,
        far_name: name,
        far_lid,
        rate: far.rate.or(own.rate),
        width: far.width.or(own.width),
    }))
}

type CommentParts<'a> = (&'a str, Option<&'a str>, &'a str);

/// What stands before, in and after the quoted name of a comment; `Err` if the closing quote is missing.
///
/// A name may hold quotes itself: it ends at the last one.
fn comment_parts(text: &str) -> Result<CommentParts<'_>, ()> {
    let Some(at) = text.find('"') else { return Ok((text, None, "")) };
    let end = text.rfind('"').filter(|&end| end > at).ok_or(())?;
    Ok((&text[..at], Some(&text[at + 1..end]), &text[end + 1..]))
}

#[derive(Default)]
struct Numbers<'a> {
    lid: Option<u64>,
    second_lid: Option<u64>,
    lmc: Option<u64>,
    rate: Option<&'a str>,
    width: Option<u8>,
}

/// The `lid`, `lmc`, width and rate among the words of a comment.
fn numbers(text: &str) -> Numbers<'_> {
    let mut numbers = Numbers::default();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "lid" => {
                let lid = words.next().and_then(|word| word.parse().ok());
                if numbers.lid.is_none() {
                    numbers.lid = lid;
                } else {
                    numbers.second_lid = lid;
                }
            }
            "lmc" => numbers.lmc = words.next().and_then(|word| word.parse().ok()),
            "#" | "port" | "enhanced" | "base" => {}
            _ => {
                if let Some(width) = word.strip_prefix("w=") {
                    // `ibnetdiscover -f` prints a code after the rate, ibsim takes the lanes instead of one.
                    numbers.width =
                        width.parse().ok().filter(|lanes| matches!(lanes, 1 | 4 | 8 | 12));
                } else if !word.contains('=') && numbers.rate.is_none() && looks_like_rate(word) {
                    numbers.rate = Some(word);
                }
            }
        }
    }
    numbers
}

/// `4xQDR`, `???`, `4x???`, `4xWhatever`: read later, so that what it was can be said.
fn looks_like_rate(word: &str) -> bool {
    word.contains('?')
        || (word.contains(['x', 'X']) && word.starts_with(|c: char| c.is_ascii_digit()))
}

/// `[12]` and what follows.
fn bracketed(text: &str) -> Option<(u32, &str)> {
    let (number, rest) = text.strip_prefix('[')?.split_once(']')?;
    let number = number.trim();
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    // A number beyond 32 bits is beyond any switch too.
    plain.then(|| (number.parse().unwrap_or(u32::MAX), rest))
}

/// Skips `[ext 5]`, the number printed on the box.
fn external(text: &str) -> &str {
    let inner = text.trim_start();
    if !inner.starts_with("[ext") {
        return text;
    }
    inner.split_once(']').map_or(inner, |(_, rest)| rest)
}

/// `(0002c903...)` if there is one, and what follows; `None` if it is ill-formed.
fn parenthesised(text: &str) -> Option<(Option<u64>, &str)> {
    let Some(inner) = text.trim_start().strip_prefix('(') else { return Some((None, text)) };
    let (number, rest) = inner.split_once(')')?;
    Some((Some(hex(number.trim())?), rest))
}

/// `"id"` and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"').filter(|(id, _)| !id.trim().is_empty())
}

/// Up to 16 hexadecimal digits, with or without `0x`.
pub(super) fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

fn leading_number(text: &str) -> Option<u32> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
