//! Refuses machines too large to hold, before anything of them is allocated.
//!
//! Generators work their sizes out with saturating arithmetic: a size beyond 64 bits is beyond every limit here too.

use super::GeneratorError;
use crate::machine::MachineError;

/// Above this many switches a forwarding table no longer fits a workstation.
pub const MOST_SWITCHES: u64 = 1_000_000;
/// Above this many nodes it does not either.
pub const MOST_NODES: u64 = 4_000_000;
/// Bounds the cables too: each switch-switch cable takes two of these ports, each node cable one.
pub const MOST_PORTS: u64 = 32_000_000;

/// How large a machine is going to be.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of switches.
    pub switches: u64,
    /// Number of nodes.
    pub nodes: u64,
    /// Ports of all switches together.
    pub ports: u64,
}

impl Size {
    /// Checks the size of the machine called `name`.
    ///
    /// # Errors
    /// If it is over a limit of this module.
    pub fn check(self, name: &str) -> Result<(), GeneratorError> {
        let Size { switches, nodes, ports } = self;
        if switches <= MOST_SWITCHES && nodes <= MOST_NODES && ports <= MOST_PORTS {
            return Ok(());
        }
        let [switches, nodes, ports] = [switches, nodes, ports].map(in_words);
        Err(GeneratorError::Impossible(format!(
            "{name} would have {switches} switches with {ports} ports, and {nodes} nodes; at most \
             {MOST_SWITCHES} switches with {MOST_PORTS} ports, and {MOST_NODES} nodes are built: \
             take smaller parameters"
        )))
    }
}

fn in_words(amount: u64) -> String {
    if amount == u64::MAX { "2^64 or more".to_owned() } else { amount.to_string() }
}

/// The product of all factors, `u64::MAX` if it is larger.
pub fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

/// A port number that a generator worked out.
///
/// # Errors
/// If InfiniBand cannot number it.
pub fn port(number: u64) -> Result<u8, MachineError> {
    match u8::try_from(number) {
        Ok(port @ 1..=254) => Ok(port),
        _ => Err(MachineError::Radix { radix: number }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_64_bits_are_refused_in_words() {
        let switches = product([u64::MAX, 2, 3]);
        let error = Size { switches, nodes: 1, ports: 1 }.check("huge").unwrap_err().to_string();
        assert!(error.starts_with("huge would have 2^64 or more switches"), "{error}");
        assert!(Size { switches: MOST_SWITCHES, nodes: 0, ports: MOST_PORTS }.check("").is_ok());
    }

    #[test]
    fn ports_are_numbered_from_1_to_254() {
        assert_eq!(port(254), Ok(254));
        assert!(port(0).is_err() && port(255).is_err() && port(257).is_err());
    }
}
