//! Simulation of every flit under InfiniBand's flow control.

pub mod fast;
mod lane_arbiter;
pub mod network;
pub mod options;
mod profile;
pub mod reference;
pub mod source;

#[cfg(test)]
mod tests;
