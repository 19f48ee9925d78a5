//! How long it takes.

pub mod congestion;
