//! One line of a table dump, taken apart without knowing its neighbours.

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing, or heads of columns.
    Empty,
    /// A switch's table begins.
    Switch {
        /// The switch's own LID, if it is told.
        lid: Option<u16>,
        /// Its GUID.
        guid: u64,
    },
    /// An entry of the table.
    Entry {
        /// The destination.
        lid: u16,
        /// The port; `None` for no route.
        port: Option<u8>,
        /// The destination's port GUID, 0 if it is not told.
        guid: u64,
    },
    /// A switch's table ends.
    End {
        /// How many entries it should have had.
        entries: Option<usize>,
    },
    /// It begins like one of these and does not go on like it; what would have been right.
    Malformed(&'static str),
    /// Anything else: messages of the tools.
    Noise,
}

const HEADER: &str = "a table begins `Unicast lids [0-43] of switch Lid 17 guid 0x<16 digits>`";
const ENTRY: &str = "an entry reads `0x0001 030`, with a LID of 4 hexadecimal digits and a port \
                     from 0 to 255";

/// Beginning of a table's first line, as OpenSM and ibroute write it.
pub(super) const UNICAST: &str = "Unicast lids [";

/// A line of `opensm-lfts.dump`, `ibroute` or `dump_fts`: they differ in what follows the port alone.
pub(super) fn unicast(text: &str) -> Line {
    let text = text.trim();
    if text.starts_with("0x") {
        return entry(text).unwrap_or(Line::Malformed(ENTRY));
    }
    if text.is_empty() || text.starts_with('#') || is_column_head(text) {
        return Line::Empty;
    }
    if let Some(rest) = text.strip_prefix(UNICAST) {
        return header(rest).unwrap_or(Line::Malformed(HEADER));
    }
    if let Some(count) = text.strip_suffix("lids dumped") {
        // OpenSM's number is the highest LID, that of `ibroute -a` counts LID 0 too.
        let (count, valid) = match count.trim().strip_suffix("valid") {
            Some(count) => (count.trim(), true),
            None => (count.trim(), false),
        };
        return match count.parse() {
            Ok(count) => Line::End { entries: valid.then_some(count) },
            Err(_) => Line::Noise,
        };
    }
    Line::Noise
}

/// `Lid  Out   Destination` and `Port     Info`.
fn is_column_head(text: &str) -> bool {
    let mut words = text.split_whitespace();
    matches!(
        (words.next(), words.next()),
        (Some("Lid"), Some("Out")) | (Some("Port"), Some("Info"))
    )
}

/// What follows `Unicast lids [` in `..0x2a] of switch Lid 17 guid 0x.. (name):`.
fn header(rest: &str) -> Option<Line> {
    let (_, of) = rest.split_once("] of switch ")?;
    let (which, after) = of.split_once("guid 0x")?;
    let (guid, _) = leading_hex(after, 16)?;
    let lid = which.trim().strip_prefix("Lid ").and_then(|lid| lid.trim().parse().ok());
    (guid != 0).then_some(Line::Switch { lid, guid })
}

/// `0x0001 030 # Channel Adapter portguid 0x..: 'name'`, `0x0001 030 : (..)`, `0x0001 030`.
fn entry(text: &str) -> Option<Line> {
    let (lid, rest) = lid(text)?;
    let (port, rest) = port(rest.strip_prefix([' ', '\t'])?.trim_start())?;
    // The name comes last, so the first GUID is the port's whatever the name holds.
    let guid = match rest.split_once("portguid 0x") {
        Some((_, after)) => leading_hex(after, 16)?.0,
        None => 0,
    };
    Some(Line::Entry { lid, port, guid })
}

/// A LID in hexadecimal digits, and what follows.
pub(super) fn lid(text: &str) -> Option<(u16, &str)> {
    let (lid, rest) = leading_hex(text.strip_prefix("0x")?, 4)?;
    Some((lid as u16, rest))
}

/// A port in decimal digits with nothing joined to it, and what follows; 255 is no route.
pub(super) fn port(text: &str) -> Option<(Option<u8>, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let port: u8 = digits.parse().ok()?;
    let apart = rest.is_empty() || rest.starts_with([' ', '\t', ':', '#']);
    apart.then_some(((port != 255).then_some(port), rest))
}

/// Up to `digits` hexadecimal digits, and what follows.
pub(super) fn leading_hex(text: &str, digits: usize) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (1..=digits).contains(&end).then(|| u64::from_str_radix(number, 16).ok().map(|n| (n, rest)))?
}

/// Who wrote a text with `Unicast lids` lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// OpenSM: `0x0001 030 # ..`.
    OpenSm,
    /// ibroute: `0x0001 030 : (..)`, or nothing after the port.
    Ibroute,
}

/// Tells the dialect of a text by its first table, if it has one.
pub(super) fn dialect(text: &str) -> Option<Dialect> {
    let mut lines = text.lines().map(str::trim);
    let header = lines.find(|line| matches!(unicast(line), Line::Switch { .. }))?;
    let hexadecimal = header.strip_prefix(UNICAST)?.starts_with("0x");
    let entry = lines
        .take_while(|line| !line.starts_with(UNICAST))
        .find(|line| matches!(unicast(line), Line::Entry { .. }));
    // Old OpenSM writes the range of LIDs as ibroute does.
    let commented = entry.is_some_and(|line| line.contains(" # "));
    Some(if commented || !hexadecimal { Dialect::OpenSm } else { Dialect::Ibroute })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_dialect_are_read() {
        let guid = 0x0048_0000_0000_0021;
        for text in [
            "0x0002 002 # Channel Adapter portguid 0x0048000000000021: 'n1'",
            "0x0002 002 : (Channel Adapter portguid 0x0048000000000021: 'a portguid 0x5')",
            "  0x2 2 : (Router portguid 0x48000000000021: '')  ",
        ] {
            assert_eq!(unicast(text), Line::Entry { lid: 2, port: Some(2), guid }, "{text}");
        }
        assert_eq!(unicast("0x0002 002 "), Line::Entry { lid: 2, port: Some(2), guid: 0 });
        let unrouted = Line::Entry { lid: 0, port: None, guid: 0 };
        assert_eq!(unicast("0x0000 255 : (path #0 - illegal port)"), unrouted);
        let guid = 0x0053_0000_0000_0001;
        for (text, lid) in [
            ("Unicast lids [0-43] of switch Lid 17 guid 0x0053000000000001 ('s0.0'):", Some(17)),
            ("Unicast lids [0x0-0xa] of switch Lid 2 guid 0x0053000000000001 (S0):", Some(2)),
            (
                "Unicast lids [0x0-0xa] of switch DR path slid 0; dlid 0; 0,1,2 guid \
                 0x0053000000000001 (S0):",
                None,
            ),
        ] {
            assert_eq!(unicast(text), Line::Switch { lid, guid }, "{text}");
        }
        assert_eq!(unicast("43 lids dumped"), Line::End { entries: None });
        assert_eq!(unicast("10 valid lids dumped \r"), Line::End { entries: Some(10) });
        for text in ["", "  Lid  Out   Destination", "       Port     Info ", "# mine"] {
            assert_eq!(unicast(text), Line::Empty, "{text}");
        }
        assert_eq!(unicast("ibwarn: [3] timed out"), Line::Noise);
    }

    #[test]
    fn lines_that_go_wrong_are_told_from_noise() {
        for text in [
            "0x",
            "0x0001",
            "0x0001 ",
            "0x0001 256",
            "0x0001 -1",
            "0x00010 001",
            "0xg 1",
            "0x1 1x",
            "0x0001 1 # Switch portguid 0x",
            "0x0001 1 # portguid 0x00000000000000001",
        ] {
            assert_eq!(unicast(text), Line::Malformed(ENTRY), "{text}");
        }
        for text in [
            "Unicast lids [0-4] of switch Lid 1",
            "Unicast lids [",
            "Unicast lids [0-4] of switch Lid 1 guid 0x0",
        ] {
            assert_eq!(unicast(text), Line::Malformed(HEADER), "{text}");
        }
    }
}
