//! How long it takes.

pub mod congestion;
pub mod flit;
pub mod montecarlo;
