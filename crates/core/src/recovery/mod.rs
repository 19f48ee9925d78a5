//! What is done about a failure: so far, new routes around it.

pub mod routing;
