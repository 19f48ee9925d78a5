//! What breaks.
