//! Who sends what.
