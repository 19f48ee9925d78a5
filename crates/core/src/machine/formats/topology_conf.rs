//! Slurm's topology.conf as lines of `Key=value`, and the errors that its tree and block readers share.

use super::{FormatError, hostlist};

/// One line, with continuations joined and the comment taken off.
pub(super) struct Record {
    /// Line of the file it begins on, from 1.
    pub line: usize,
    /// Keys in lower case, values as written.
    pub fields: Vec<(String, String)>,
}

impl Record {
    /// The value of `key`.
    pub(super) fn field(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The names in the hostlist of `key`, none if it is not given.
    pub(super) fn names(&self, key: &str, label: &str) -> Result<Vec<String>, FormatError> {
        let Some(text) = self.field(key) else { return Ok(Vec::new()) };
        hostlist::expand(text).map_err(|error| {
            wrong(label, self.line, error.to_string(), "names read as in `node[0-3,12],login1`")
        })
    }
}

/// Whether a line of the file begins with `key=`.
pub(super) fn mentions(text: &str, key: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key))
            && line[key.len()..].starts_with('=')
    })
}

/// All records of a file; every key must be one of `allowed` (lower case).
pub(super) fn records(
    text: &str,
    label: &str,
    allowed: &[&str],
) -> Result<Vec<Record>, FormatError> {
    let mut records = Vec::new();
    let mut joined = String::new();
    let mut first = 0;
    for (index, line) in text.lines().enumerate() {
        if joined.is_empty() {
            first = index + 1;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(begun) = line.strip_suffix('\\') {
            joined.push_str(begun);
            joined.push(' ');
            continue;
        }
        joined.push_str(line);
        if let Some(record) = record(&std::mem::take(&mut joined), first, label, allowed)? {
            records.push(record);
        }
    }
    records.extend(record(&joined, first, label, allowed)?);
    Ok(records)
}

fn record(
    text: &str,
    line: usize,
    label: &str,
    allowed: &[&str],
) -> Result<Option<Record>, FormatError> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let key = key.to_ascii_lowercase();
        if !allowed.contains(&key.as_str()) {
            let keys = allowed.join(", ");
            return Err(wrong(label, line, format!("found `{word}`"), &format!("keys are {keys}")));
        }
        if value.is_empty() || fields.iter().any(|(known, _)| *known == key) {
            let found = if value.is_empty() { "no value" } else { "a second value" };
            return Err(wrong(
                label,
                line,
                format!("found {found} for `{key}`"),
                "every key of a line has one value, without spaces",
            ));
        }
        fields.push((key, value.to_owned()));
    }
    Ok((!fields.is_empty()).then_some(Record { line, fields }))
}

pub(super) fn wrong(label: &str, line: usize, found: String, allowed: &str) -> FormatError {
    FormatError::Line {
        label: label.to_owned(),
        line,
        found,
        allowed: allowed.to_owned(),
        advice: "correct the line as `man topology.conf` shows".to_owned(),
    }
}

/// Something named twice that may be named once.
pub(super) fn twice(
    label: &str,
    line: usize,
    earlier: usize,
    name: &str,
    role: &str,
) -> FormatError {
    FormatError::Contradiction {
        label: label.to_owned(),
        line,
        earlier,
        found: format!("`{name}` {role}"),
        said: "says so of it too".to_owned(),
        advice: "name it once".to_owned(),
    }
}
