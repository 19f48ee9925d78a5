//! Fabric files in and out: one format a file, one line here.
//!
//! [`read`] tells formats apart by content, never by file name; [`write()`] goes by the format's name. Readers take
//! text and a label for their messages and touch no files; what they had to guess or skip comes back as [`Warning`]s,
//! and what they cannot trust is an error with its line: a fabric is never silently smaller than its file.

use super::graph::Machine;
use crate::registry::registry;

mod error;
mod hostlist;
mod slurm_names;
mod topology_conf;

pub use error::FormatError;

/// One way to write a machine down.
pub trait Format: Sync {
    /// Its names on the command line, the usual one first.
    fn names(&self) -> &'static [&'static str];
    /// One line for lists: what it is and who reads it.
    fn summary(&self) -> &'static str;
    /// Whether `text` looks like this format; formats that are only written recognise nothing.
    fn recognises(&self, _text: &str) -> bool {
        false
    }
    /// Reads `text`; messages call it `label`.
    ///
    /// # Errors
    /// What cannot be understood or contradicts itself, with its line.
    fn read(&self, _text: &str, label: &str) -> Result<Import, FormatError> {
        Err(FormatError::WriteOnly {
            label: label.to_owned(),
            format: self.names()[0],
            known: known(|format| format.reads()),
        })
    }
    /// Whether the format can be read.
    fn reads(&self) -> bool {
        true
    }
    /// Writes `machine`, ending with a newline.
    ///
    /// # Errors
    /// If the format cannot hold it.
    fn write(&self, machine: &Machine) -> Result<String, FormatError>;
}

registry! {
    /// Every format.
    FORMATS: dyn Format = [
        ibnetdiscover::Ibnetdiscover,
        json::Json,
        slurm_tree::SlurmTree,
        slurm_block::SlurmBlock,
        dot::Dot,
        graphml::Graphml,
    ]
}

/// A machine that was read, and what the reader had to guess or skip.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The machine.
    pub machine: Machine,
    /// In order of lines.
    pub warnings: Vec<Warning>,
}

/// Something in a file that was guessed or skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line, from 1; 0 if it concerns the whole file.
    pub line: usize,
    /// What, and what was done about it.
    pub text: String,
}

/// The format called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn Format, FormatError> {
    let wanted = name.to_ascii_lowercase();
    let format = FORMATS.iter().copied().find(|format| format.names().contains(&wanted.as_str()));
    format.ok_or_else(|| FormatError::Unknown { given: name.to_owned(), known: known(|_| true) })
}

/// Reads a fabric file of any format; `label` is what messages call it, and the machine's name where the file has none.
///
/// Bytes that are no UTF-8 become U+FFFD with a warning.
///
/// # Errors
/// If no format recognises the bytes, or the one that does finds a mistake.
///
/// # Complexity
/// Linear in the size of the file.
pub fn read(bytes: &[u8], label: &str) -> Result<Import, FormatError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let Some(format) = FORMATS.iter().find(|format| format.recognises(&text)) else {
        return Err(FormatError::Unrecognised {
            label: label.to_owned(),
            found: describe(bytes, &text),
            known: known(|format| format.reads()),
        });
    };
    let mut import = format.read(&text, label)?;
    if let Err(error) = std::str::from_utf8(bytes) {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        let text = "bytes that are no UTF-8 are read as U+FFFD, from this line on".to_owned();
        import.warnings.push(Warning { line, text });
    }
    import.warnings.sort_by_key(|warning| warning.line);
    Ok(import)
}

/// Writes a machine in the format called `format`.
///
/// # Errors
/// If there is no such format, or it cannot hold the machine.
pub fn write(machine: &Machine, format: &str) -> Result<String, FormatError> {
    find(format)?.write(machine)
}

/// The formats that `wanted` picks, for messages.
fn known(wanted: impl Fn(&dyn Format) -> bool) -> String {
    let formats = FORMATS.iter().filter(|format| wanted(**format));
    formats
        .map(|format| format!("{} ({})", format.names()[0], format.summary()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What bytes look like that no format recognises.
pub(crate) fn describe(bytes: &[u8], text: &str) -> String {
    const SHOWN: usize = 60;
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return "found UTF-16 text (save it as UTF-8)".to_owned();
    }
    if bytes.contains(&0) {
        return "found binary data".to_owned();
    }
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        None => "found an empty file".to_owned(),
        Some(line) => {
            let shown: String =
                line.chars().filter(|character| !character.is_control()).take(SHOWN).collect();
            format!("found text of no known format that begins `{shown}`")
        }
    }
}

#[cfg(test)]
mod tests;
