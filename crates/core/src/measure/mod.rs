//! What is reported: routes lost, lines fitted, engines compared.

pub mod lost_paths;
pub mod regression;
