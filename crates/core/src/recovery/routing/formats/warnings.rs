//! Warnings of a reader: the first few of each kind with their lines, then how many more there were.

use crate::machine::formats::Warning;

/// Kinds of warnings, each counted by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Noise,
    Malformed,
    Orphan,
    UnknownSwitch,
    Repeated,
    Doubled,
    NotClosed,
    WrongCount,
    NoUnicast,
    Uncabled,
    UnknownGuid,
    OtherPlane,
    UnknownLid,
    OtherName,
    OutOfRun,
    OtherLid,
}

impl Kind {
    const ALL: [(Kind, &str); 16] = [
        (Kind::Noise, "lines that are no part of a table"),
        (Kind::Malformed, "lines that are ill-formed"),
        (Kind::Orphan, "entries before the first switch"),
        (Kind::UnknownSwitch, "tables of switches that the fabric does not have"),
        (Kind::Repeated, "switches with a second table"),
        (Kind::Doubled, "LIDs with two entries in a table"),
        (Kind::NotClosed, "tables without a closing line"),
        (Kind::WrongCount, "tables with fewer or more entries than they say"),
        (Kind::NoUnicast, "entries for LIDs that are not unicast"),
        (Kind::Uncabled, "entries for ports without a cable"),
        (Kind::UnknownGuid, "LIDs of port GUIDs that nobody has"),
        (Kind::OtherPlane, "LIDs of ports in another plane"),
        (Kind::UnknownLid, "LIDs that nobody has"),
        (Kind::OtherName, "entries that name another port for a LID than earlier ones"),
        (Kind::OutOfRun, "LIDs beyond those of their port"),
        (Kind::OtherLid, "switches with another LID than the fabric's"),
    ];
}

/// Warnings collected while reading.
#[derive(Clone, Debug, Default)]
pub(super) struct Warnings {
    list: Vec<Warning>,
    count: [usize; Kind::ALL.len()],
}

impl Warnings {
    /// Notes a warning of `kind`; its text is made only if it will be shown.
    pub(super) fn add(&mut self, kind: Kind, line: usize, text: impl FnOnce() -> String) {
        let count = &mut self.count[kind as usize];
        *count += 1;
        if *count <= MOST_SHOWN {
            self.list.push(Warning { line, text: text() });
        }
    }

    /// Notes something about the whole file.
    pub(super) fn whole(&mut self, text: String) {
        self.list.push(Warning { line: 0, text });
    }

    /// All of them, in order of lines.
    pub(super) fn finish(mut self) -> Vec<Warning> {
        for (kind, what) in Kind::ALL {
            let more = self.count[kind as usize].saturating_sub(MOST_SHOWN);
            if more > 0 {
                self.whole(format!("{more} more {what} are not listed"));
            }
        }
        self.list.sort_by_key(|warning| warning.line);
        self.list
    }
}

/// Warnings of a kind that are shown.
const MOST_SHOWN: usize = 3;
