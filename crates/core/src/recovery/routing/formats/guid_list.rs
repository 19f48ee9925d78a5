//! Lists of GUIDs: OpenSM's root, compute-node, I/O-node and routing-order files.
//!
//! One GUID a line, with or without `0x`, or a name as the fabric file has it (OpenSM itself takes GUIDs alone); `#`
//! begins a comment, and what follows a GUID on its line is skipped. Nobody's GUIDs are told and skipped, as OpenSM does
//! after a part was taken out; nobody's names are an error. Of parts named twice the first time counts.
//!
//! Source: OpenSM's manual (`-a`, `-u`, `-G`, `-X`).

use super::TableError;
use super::reader::shown;
use super::warnings::{Kind, Warnings};
use crate::ids::{EndpointId, SwitchId};
use crate::machine::formats::Warning;
use crate::machine::names::read_guid;
use crate::machine::{LidOwner, Machine, NameError, Names};

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The line, from 1.
    pub line: usize,
    /// What stands there, without comments.
    pub text: String,
    /// The GUID, if it can be one; a name of hexadecimal digits can be both.
    pub guid: Option<u64>,
}

/// Reads the lines of a list, without looking for anybody.
///
/// # Errors
/// If a line begins like a GUID and is none, or there are no lines.
pub fn read(bytes: &[u8], label: &str) -> Result<Vec<Listed>, TableError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let mut list = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = without_comment(text).trim();
        let Some(first) = text.split_whitespace().next() else { continue };
        let marked = first.starts_with("0x") || first.starts_with("0X");
        let plain = first == text && first.bytes().all(|byte| byte.is_ascii_hexdigit());
        let guid = read_guid(first)
            .or_else(|| plain.then(|| u64::from_str_radix(first, 16).ok()).flatten())
            .filter(|&guid| guid != 0);
        if marked && guid.is_none() {
            return Err(TableError::Line {
                label: label.to_owned(),
                line,
                found: format!("`{}` is no GUID", shown(first)),
                allowed: "a line has one GUID, 0x and up to 16 hexadecimal digits, or a name",
                advice: "a comment begins with #",
            });
        }
        list.push(Listed { line, text: text.to_owned(), guid });
    }
    if list.is_empty() {
        return Err(TableError::NothingUseful {
            label: label.to_owned(),
            found: "there is no GUID in it".to_owned(),
            advice: "write one GUID a line, or leave the file out",
        });
    }
    Ok(list)
}

/// The switches of a list: root switches.
///
/// # Errors
/// As [`read`], or if a name is nobody's or a node's, or nobody at all is found.
pub fn switches(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
) -> Result<(Vec<SwitchId>, Vec<Warning>), TableError> {
    let names = Names::new(machine);
    resolve(bytes, label, |text| names.find_switch(text).map(|switch| vec![switch]))
}

/// The node ports of a list: compute or I/O nodes. A node's own GUID or name stands for all its ports.
///
/// # Errors
/// As [`read`], or if a name is nobody's or a switch's, or nobody at all is found.
pub fn endpoints(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
) -> Result<(Vec<EndpointId>, Vec<Warning>), TableError> {
    let names = Names::new(machine);
    resolve(bytes, label, |text| names.find_endpoints(text))
}

/// The node ports and switches of a list: an order of destinations.
///
/// # Errors
/// As [`read`], or if a name is nobody's, or nobody at all is found.
pub fn owners(
    bytes: &[u8],
    label: &str,
    machine: &Machine,
) -> Result<(Vec<LidOwner>, Vec<Warning>), TableError> {
    let names = Names::new(machine);
    resolve(bytes, label, |text| names.find_lid_owners(text))
}

/// Looks everybody up; each once.
fn resolve<T: Copy + Eq + std::hash::Hash>(
    bytes: &[u8],
    label: &str,
    find: impl Fn(&str) -> Result<Vec<T>, NameError>,
) -> Result<(Vec<T>, Vec<Warning>), TableError> {
    let mut warnings = Warnings::default();
    let (mut found, mut seen) = (Vec::new(), std::collections::HashSet::new());
    let list = read(bytes, label)?;
    for Listed { line, text, guid } in &list {
        // A name counts before digits that could be a GUID, unless they are marked as one.
        let by_guid = |guid: &u64| find(&format!("0x{guid:016x}"));
        let parts = match guid {
            Some(guid) if read_guid(text).is_some() || text.contains(char::is_whitespace) => {
                by_guid(guid)
            }
            Some(guid) => find(text).or_else(|_| by_guid(guid)),
            None => find(text),
        };
        match parts {
            Ok(parts) => found.extend(parts.into_iter().filter(|&part| seen.insert(part))),
            Err(NameError::NoSuchPart { .. }) if guid.is_some() => {
                warnings.add(Kind::UnknownGuid, *line, || {
                    format!("nobody has GUID `{text}`; the line is skipped")
                });
            }
            Err(source) => {
                return Err(TableError::Name { label: label.to_owned(), line: *line, source });
            }
        }
    }
    if found.is_empty() {
        return Err(TableError::NothingUseful {
            label: label.to_owned(),
            found: format!("none of its {} GUIDs is of this fabric", list.len()),
            advice: "take the list that belongs to the fabric file",
        });
    }
    Ok((found, warnings.finish()))
}

/// A line up to a `#` that begins a word; a name may hold one.
fn without_comment(text: &str) -> &str {
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        if character == '#' && before.is_whitespace() {
            return &text[..at];
        }
        before = character;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::samples::ring;

    fn told(warnings: &[Warning]) -> Vec<(usize, &str)> {
        warnings.iter().map(|warning| (warning.line, warning.text.as_str())).collect()
    }

    #[test]
    fn lists_of_guids_and_names_are_read() {
        let view = ring(4, 2);
        let machine = view.machine();
        let text =
            b"# roots\r\n\n0x0053000000000002  # s1\r\n 0053000000000003\ns0\n53000000000004\n\
                     0x53000000000002 again\n0x99\n";
        let (roots, warnings) = switches(text, "roots", machine).unwrap();
        assert_eq!(roots, [1, 2, 0, 3].map(SwitchId));
        assert_eq!(told(&warnings), [(8, "nobody has GUID `0x99`; the line is skipped")]);
        let (ends, warnings) = endpoints(b"0x0048000000000021\nn0\n", "cn", machine).unwrap();
        assert_eq!((ends, warnings.len()), ([1, 0].map(EndpointId).to_vec(), 0));
        let (order, _) =
            owners(b"0x0048000000000021\n0x53000000000002\nn0", "order", machine).unwrap();
        let [a, b] = [1, 0].map(|end| LidOwner::Endpoint(EndpointId(end)));
        assert_eq!(order, [a, LidOwner::Switch(SwitchId(1)), b]);
    }

    #[test]
    fn lists_that_cannot_be_meant_are_told() {
        let view = ring(4, 1);
        let machine = view.machine();
        let sentence = |text: &str| switches(text.as_bytes(), "roots", machine).unwrap_err();
        assert_eq!(
            sentence("s1\n0xZZ # ?\n").to_string(),
            "roots:2: `0xZZ` is no GUID; a line has one GUID, 0x and up to 16 hexadecimal digits, \
             or a name (a comment begins with #)"
        );
        assert_eq!(sentence("0x11111111111111111\n").line(), Some(1));
        assert_eq!(
            sentence("s1\nspine7\n").to_string(),
            "roots:2: there is no switch `spine7`; give the name as the fabric file has it, or a \
             GUID as 0x..."
        );
        assert_eq!(sentence("n1").to_string(), "roots:1: `n1` is a node; a switch is wanted here");
        assert_eq!(
            sentence("# nothing\n\n").to_string(),
            "roots: there is no GUID in it (write one GUID a line, or leave the file out)"
        );
        assert_eq!(
            sentence("0x1\n0x2\n").to_string(),
            "roots: none of its 2 GUIDs is of this fabric (take the list that belongs to the \
             fabric file)"
        );
    }
}
