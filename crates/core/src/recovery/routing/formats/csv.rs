//! Tables of comma-separated values with a head, as spreadsheets and scripts write them.
//!
//! Columns are found by name, in any order and with others between; empty lines and lines that begin with `#` are
//! skipped. Limits: a value does not go over the end of its line.

use std::borrow::Cow;

use super::TableError;
use super::reader::shown;

/// Rows of such a table.
pub(super) struct Rows<'a> {
    lines: std::iter::Zip<std::ops::RangeFrom<usize>, std::str::Lines<'a>>,
    label: &'a str,
    usage: &'static str,
    /// Where the wanted columns stand.
    columns: Vec<usize>,
}

/// A row: its line and its wanted values, in the order asked for.
pub(super) struct Row<'a> {
    pub line: usize,
    pub values: Vec<Cow<'a, str>>,
}

impl<'a> Rows<'a> {
    /// Reads the head of `text`, which must have all of `columns`.
    ///
    /// # Errors
    /// If one is missing; `usage` says what the file should look like.
    pub(super) fn new(
        text: &'a str,
        label: &'a str,
        columns: &[&str],
        usage: &'static str,
    ) -> Result<Self, TableError> {
        let mut rows = Rows { lines: (1..).zip(text.lines()), label, usage, columns: vec![] };
        let Some((line, head)) = rows.next_line() else {
            return Err(rows.error(1, "the file is empty".to_owned()));
        };
        let names = split(head).unwrap_or_default();
        for column in columns {
            match names.iter().position(|name| name == column) {
                Some(at) => rows.columns.push(at),
                None => {
                    let found = format!("the head `{}` has no column `{column}`", shown(head));
                    return Err(rows.error(line, found));
                }
            }
        }
        Ok(rows)
    }

    fn next_line(&mut self) -> Option<(usize, &'a str)> {
        self.lines.find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    }

    /// The next row.
    ///
    /// # Errors
    /// If it has too few values or a quote is not closed.
    pub(super) fn next_row(&mut self) -> Option<Result<Row<'a>, TableError>> {
        let (line, text) = self.next_line()?;
        let Some(values) = split(text) else {
            return Some(Err(
                self.error(line, format!("a quote in `{}` is not closed", shown(text)))
            ));
        };
        let wanted: Option<Vec<_>> =
            self.columns.iter().map(|&at| values.get(at).cloned()).collect();
        Some(wanted.map(|values| Row { line, values }).ok_or_else(|| {
            self.error(line, format!("`{}` has {} values", shown(text), values.len()))
        }))
    }

    /// A mistake in a line.
    pub(super) fn error(&self, line: usize, found: String) -> TableError {
        TableError::Line {
            label: self.label.to_owned(),
            line,
            found,
            allowed: self.usage,
            advice: "write any routing's lanes to see such a file",
        }
    }
}

/// The values of a line; `None` if a quote is not closed.
fn split(line: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut values = Vec::new();
    let mut rest = line.trim_end_matches('\r');
    loop {
        let value;
        (value, rest) = match rest.trim_start().strip_prefix('"') {
            Some(quoted) => quoted_value(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim()), &rest[end..])
            }
        };
        values.push(value);
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Some(values),
        }
    }
}

/// What stands up to the closing quote, and what follows from the next comma on.
fn quoted_value(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        value.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                value.push('"');
                rest = more;
            }
            None => {
                let end = after.find(',').unwrap_or(after.len());
                return Some((Cow::Owned(value), &after[end..]));
            }
        }
    }
}

/// A value, quoted if it has to be.
pub(super) fn quote(value: &str) -> Cow<'_, str> {
    let plain = !value.contains([',', '"']) && value.trim() == value;
    if plain { Cow::Borrowed(value) } else { format!("\"{}\"", value.replace('"', "\"\"")).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_from_quotes() {
        for value in ["", "a", "a b", "a,b", "\"", "a\"b\",", " a "] {
            let line = format!("{},x,{}\r", quote(value), quote(value));
            assert_eq!(split(&line).unwrap(), [value, "x", value], "{line}");
        }
        assert_eq!(split(" a , \"b\" ,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(split("a,\"b"), None);
    }

    #[test]
    fn columns_are_found_by_name() {
        let text = "# mine\n\nb,x,a\n1,2,3\n4\n";
        let mut rows = Rows::new(text, "f", &["a", "b"], "usage").unwrap();
        let row = rows.next_row().unwrap().unwrap();
        assert_eq!((row.line, row.values), (4, vec!["3".into(), "1".into()]));
        let error = rows.next_row().unwrap().err().unwrap().to_string();
        assert!(error.starts_with("f:5: `4` has 1 values; usage"), "{error}");
        assert!(rows.next_row().is_none());
        let error = Rows::new(text, "f", &["c"], "usage").err().unwrap().to_string();
        assert!(error.starts_with("f:3: the head `b,x,a` has no column `c`; usage"), "{error}");
        assert!(Rows::new("", "f", &[], "usage").is_err());
    }
}
