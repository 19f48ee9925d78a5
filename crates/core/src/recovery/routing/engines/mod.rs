//! The routing engines: one file each, one line here.

use super::Engine;
use crate::registry::registry;

registry! {
    /// Every engine, in the order tables list them.
    ENGINES: dyn Engine = [
        minhop::MinHop,
        updn::UpDown,
    ]
}

/// No engine has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no routing engine `{given}`; there are {known}")]
pub struct UnknownEngine {
    /// The name given.
    pub given: String,
    /// The names there are.
    pub known: String,
}

/// The engine called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn Engine, UnknownEngine> {
    ENGINES.iter().copied().find(|engine| engine.name() == name).ok_or_else(|| {
        let known = ENGINES.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
        UnknownEngine { given: name.to_owned(), known }
    })
}
