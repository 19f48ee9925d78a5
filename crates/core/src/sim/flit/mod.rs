//! Simulation of every flit under InfiniBand's flow control: what is left of a routing under congestion, and whether it
//! deadlocks.
//!
//! [`Network`] is the fabric with its routes, [`FlitOptions`] what hosts, switches and cables are like, a
//! [`Source`](source::Source) says who sends what next. [`simulate`] runs them until a [`StopRule`] is met. Two engines
//! compute the same picoseconds: [`mod@reference`] flit by flit, [`fast`] by packets. `docs/models.md` has the model in words.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14, and the public InfiniBand model for OMNeT++ that it used (Gran and Reinemo 2011),
//! from the description in `reference/infiniband-flit-model.md`. Departures stand in `docs/models.md`.
//! Limits: static routes, no congestion control, no acknowledgements, no bit errors; one packet size limit for all.

pub mod deadlock;
pub mod fast;
mod lane_arbiter;
mod latency;
pub mod network;
pub mod options;
mod parameters;
mod profile;
pub mod reference;
mod run;
pub mod source;
pub mod sources;
mod stop;
mod watch;

pub use latency::Latencies;
pub use network::{Network, NetworkError};
pub use options::{FlitOptions, PRESETS};
pub use parameters::{PARAMETERS, ParameterError};
pub use run::{FlitOutcome, FlitRun, StopRule, memory_bound, simulate};

#[cfg(test)]
mod tests;
