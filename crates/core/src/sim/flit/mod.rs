//! Simulation of every flit under InfiniBand's flow control.

pub mod deadlock;
pub mod fast;
mod lane_arbiter;
pub mod network;
pub mod options;
mod parameters;
mod profile;
pub mod reference;
mod run;
pub mod source;
pub mod sources;
mod stop;

pub use network::{Network, NetworkError};
pub use options::{FlitOptions, PRESETS};
pub use parameters::{PARAMETERS, ParameterError};
pub use run::{FlitOutcome, FlitRun, StopRule, simulate};

#[cfg(test)]
mod tests;
