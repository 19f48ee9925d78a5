//! The routing engines: one file each, one line here.

use super::{Engine, Outcome, RouteOptions};
use crate::machine::SwitchGraph;
use crate::params::{Args, Given, ParamError, read_notation};
use crate::registry::registry;

registry! {
    /// Every engine, in the order tables list them.
    ENGINES: dyn Engine = [
        minhop::MinHop,
        updn::UpDown,
        dor::Dor,
        torus_2qos::Torus2Qos,
        sssp::Sssp,
        dfsssp::Dfsssp,
        lash::Lash,
        ftree::FatTree,
        nue::Nue,
    ]
}

/// No such engine, or parameters it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// No engine has that name.
    #[error("there is no routing engine `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// A parameter is unknown or ill-formed.
    #[error(transparent)]
    Param(#[from] ParamError),
}

/// An engine with its parameters.
#[derive(Clone)]
pub struct BoundEngine {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Its checked parameters.
    pub args: Args,
}

impl BoundEngine {
    /// See [`Engine::route`].
    #[must_use]
    pub fn route(&self, graph: &SwitchGraph<'_>, options: &RouteOptions) -> Outcome {
        self.engine.route(graph, options, &self.args)
    }
}

/// The engine called `name`, or titled so, in upper or lower case.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn Engine, EngineError> {
    let named = |engine: &&dyn Engine| {
        engine.name().eq_ignore_ascii_case(name) || engine.title().eq_ignore_ascii_case(name)
    };
    ENGINES.iter().copied().find(named).ok_or_else(|| {
        let known = ENGINES.iter().map(|engine| engine.name()).collect::<Vec<_>>().join(", ");
        EngineError::Unknown { given: name.to_owned(), known }
    })
}

/// Reads an engine's name or notation, as `lash(switches=all)`; parameters in `given` are added to those of the notation.
///
/// # Errors
/// An unknown engine, or a parameter that is unknown or ill-formed.
pub fn bind(text: &str, given: &Given) -> Result<BoundEngine, EngineError> {
    let name = text.split('(').next().unwrap_or_default().trim();
    let engine = find(name)?;
    let (_, mut all) = read_notation(text, engine.params())?;
    all.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(BoundEngine { engine, args: Args::bind(engine.name(), engine.params(), &all)? })
}
