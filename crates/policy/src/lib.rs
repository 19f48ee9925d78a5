//! Who takes over from a failed process: core's recovery policies behind a small C ABI.
//!
//! The recovery layer for MPI loads `librunflat_policy` at run time and asks it, in every process alike, which spare takes the
//! place of a failed process. It is the code that `runflat spares` simulates with, with the same seed streams, so what was
//! simulated is what happens. Converts types and errors; decides nothing of its own but what becomes of a rank without a place.
//!
//! - [`input`]: the texts of a launch, as `runflat spares` takes them
//! - [`roster`]: ranks on places, and what a failure changes
//! - [`abi`]: the C functions, whose contract is `include/runflat_policy.h`
//!
//! Limits: failures are taken one after the other; processes agree on their order before they ask.

#![deny(unsafe_op_in_unsafe_fn)]

pub mod input;

pub mod roster;

pub mod abi;
