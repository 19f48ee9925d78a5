//! runflat's core: what is connected, what breaks, what is done about it, and what it costs.
//!
//! Pure and deterministic: no files, sockets, clocks, Python, or threads of its own (rayon apart). Modules stand in the
//! order the data flows, and a module imports only earlier ones and the root files.

pub mod grid;
pub mod ids;
pub mod parallel;
pub mod params;
mod registry;
pub mod rng;
pub mod traffic;
pub mod units;

pub mod machine;

pub mod faults;

pub mod recovery;

pub mod load;

pub mod workload;

pub mod sim;

pub mod measure;
