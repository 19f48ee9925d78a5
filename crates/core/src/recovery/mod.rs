//! To come.
pub mod routing;
