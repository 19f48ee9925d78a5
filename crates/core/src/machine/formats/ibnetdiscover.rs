//! What `ibnetdiscover` prints and `ibsim` loads: blocks of switches and channel adapters with their cabled ports.
//!
//! Reads dumps as they are found on disks: several dumps one after the other (planes), grouped output (`-g`, `-f`),
//! stderr mixed in, CRLF, short GUIDs, free ids of hand-written ibsim files. A cable is listed at both its ends, which
//! gives the checks: both ends must agree, and every part named must be declared, so a file that was cut off does not
//! pass as a smaller fabric. Adds the level `host` where several adapters share a host's name and the level `chassis`
//! where several switch chips share a box.
//!
//! Writes text that both programs take. Names are written as they are, control characters as spaces; `ibsim` itself
//! cuts names at a quote or 63 bytes, numbers a port's GUID as node GUID + port, and knows speeds up to HDR. One
//! comment line keeps what the format has no word for: name, whether synthetic, and how many parts and cables there
//! must be.
//!
//! Source: the manual pages of infiniband-diags and ibsim's README, checked by running both.
//! Limits: levels and coordinates are not written, and cables are numbered anew in the order of the blocks:
//! [`super::json`] keeps everything. One file may hold several planes, each with at most 49,151 LIDs. ibsim's
//! `include`, `module` and `@` aliases are refused.

mod blocks;
mod cables;
mod levels;
mod line;
mod rates;
mod reader;
mod writer;

use super::{Format, FormatError, Import};
use crate::machine::Machine;

/// The ibnetdiscover and ibsim format.
pub struct Ibnetdiscover;

impl Format for Ibnetdiscover {
    fn names(&self) -> &'static [&'static str] {
        &["ibnetdiscover", "ibsim"]
    }

    fn summary(&self) -> &'static str {
        "the output of ibnetdiscover, or a net file of ibsim"
    }

    fn recognises(&self, text: &str) -> bool {
        text.lines().any(line::tells_the_format)
    }

    fn read(&self, text: &str, label: &str) -> Result<Import, FormatError> {
        reader::read(text, label)
    }

    fn write(&self, machine: &Machine) -> Result<String, FormatError> {
        writer::write(machine)
    }
}

#[cfg(test)]
mod tests;
