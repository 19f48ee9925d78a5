//! How a part is added: one file and one line.
//!
//! `registry!` declares the module of every entry and the table that the command line, the plans and the tests walk.
//! A new generator, fault model, engine or workload is a new file beside its siblings and one line in the table.

/// Declares `pub mod`s and the table of their entries: `registry! { TABLE: dyn Trait = [file::Type, ...] }`.
macro_rules! registry {
    ($(#[$doc:meta])* $table:ident: dyn $part:ident = [$($module:ident::$entry:ident),* $(,)?]) => {
        $(pub mod $module;)*

        $(#[$doc])*
        pub static $table: &[&dyn $part] = &[$(&$module::$entry),*];
    };
}

pub(crate) use registry;
