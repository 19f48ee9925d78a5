//! What is done about a failure: ranks keep to the nodes that are left, new routes go around the rest.

pub mod placement;
pub mod routing;
pub mod spares;
