//! What breaks: fault models by name and parameters, one model a file, one line here.
//!
//! A model draws a [`FaultSet`] from a seed and a sample number; the same draw whatever is done about it, so that
//! every policy compared sees the same failures. Draws are nested: more failures of the same sample contain fewer of
//! them. Does not repair, and does not say how long a repair takes.
//!
//! Source: Domke, Hoefler, Matsuoka, "Fail-in-Place Network Design", SC14: random link and switch failures that keep
//! the fabric connected, and the lifetimes of TSUBAME2.0 and Deimos.

mod amount;
mod connectivity;
mod draw;
mod error;
mod set;

pub use amount::Amount;
pub use draw::{Class, LinkClass};
pub use error::FaultError;
pub use set::FaultSet;

use crate::machine::View;
use crate::params::{Args, Given, Param, read_notation};
use crate::registry::registry;
use crate::rng::Seed;

/// A way of choosing what fails.
pub trait FaultModel: Sync {
    /// Its name on the command line and in plans.
    fn name(&self) -> &'static str;
    /// One line for lists: what it draws, and where it comes from.
    fn summary(&self) -> &'static str;
    /// Its parameters, in the order of the notation.
    fn params(&self) -> &'static [Param];
    /// What fails in sample number `sample`; of parts that are alive in `view` only.
    ///
    /// # Errors
    /// Parameters that do not fit the machine.
    fn draw(
        &self,
        view: &View,
        args: &Args,
        seed: Seed,
        sample: u64,
    ) -> Result<FaultSet, FaultError>;
    /// How many different samples there are, where there is an end to them.
    ///
    /// # Errors
    /// Parameters that do not fit the machine.
    fn sample_count(&self, _view: &View, _args: &Args) -> Result<Option<u64>, FaultError> {
        Ok(None)
    }
}

registry! {
    /// Every fault model.
    FAULT_MODELS: dyn FaultModel = [
        random::Random,
        correlated::Correlated,
        listed::Listed,
        exhaustive::Exhaustive,
        lifetime::Lifetime,
    ]
}

/// A fault model with its parameters.
#[derive(Clone)]
pub struct BoundModel {
    /// The model.
    pub model: &'static dyn FaultModel,
    /// Its checked parameters.
    pub args: Args,
}

impl BoundModel {
    /// See [`FaultModel::draw`].
    ///
    /// # Errors
    /// See [`FaultModel::draw`].
    pub fn draw(&self, view: &View, seed: Seed, sample: u64) -> Result<FaultSet, FaultError> {
        self.model.draw(view, &self.args, seed, sample)
    }

    /// See [`FaultModel::sample_count`].
    ///
    /// # Errors
    /// See [`FaultModel::sample_count`].
    pub fn sample_count(&self, view: &View) -> Result<Option<u64>, FaultError> {
        self.model.sample_count(view, &self.args)
    }
}

/// The fault model called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn FaultModel, FaultError> {
    FAULT_MODELS.iter().copied().find(|model| model.name() == name).ok_or_else(|| {
        let known = FAULT_MODELS.iter().map(|model| model.name()).collect::<Vec<_>>();
        FaultError::Unknown { given: name.to_owned(), known: known.join(", ") }
    })
}

/// Reads a model's name or its notation `random(1%; 2)`; parameters in `given` are added to those of the notation.
///
/// # Errors
/// An unknown model, or a parameter that is unknown, missing or ill-formed.
pub fn bind(text: &str, given: &Given) -> Result<BoundModel, FaultError> {
    let name = text.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
    let model = find(&name)?;
    let (_, mut all) = read_notation(text, model.params())?;
    all.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(BoundModel { model, args: Args::bind(model.name(), model.params(), &all)? })
}

#[cfg(test)]
mod tests;
