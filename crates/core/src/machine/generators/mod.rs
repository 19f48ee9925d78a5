//! Machines by name and parameters: one topology a file, one line here.
//!
//! Every generator refuses impossible parameters with a sentence and builds through [`super::Builder`]; sizes are
//! checked against each paper's formulas in the tests. [`make`] also reads the papers' notation, `XGFT(2; 16,16; 1,16)`.

use super::builder::MachineError;
use super::graph::Machine;
use crate::params::{Args, Given, Kind, Param, ParamError, read_notation};
use crate::registry::registry;
use crate::rng::Seed;
use crate::units::{LinkRate, RateError};

mod director;
mod finite_field;
mod global_links;
mod grid;
mod limits;
mod nodes;
mod oversubscription;
mod spines;
#[cfg(test)]
mod tests;

/// A family of machines.
pub trait Generator: Sync {
    /// Its name on the command line and in plans.
    fn name(&self) -> &'static str;
    /// One line for lists: what it is, and the paper it comes from.
    fn summary(&self) -> &'static str;
    /// Its parameters, in the order of the paper's notation.
    fn params(&self) -> &'static [Param];
    /// Width and speed of its cables unless another is asked for.
    fn rate(&self) -> LinkRate {
        LinkRate::EDR
    }
    /// Builds the machine. `context` holds what every generator takes.
    ///
    /// # Errors
    /// Parameters that no machine of the family has.
    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError>;
}

/// What every generator takes beside its own parameters.
#[derive(Clone, Debug)]
pub struct Context {
    /// Name of the machine: the notation with all parameters.
    pub name: String,
    /// Width and speed of each cable.
    pub rate: LinkRate,
    /// For random families.
    pub seed: Seed,
}

/// Why a machine could not be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeneratorError {
    /// No generator has that name.
    #[error("there is no generator `{given}`; there are {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// A parameter was unknown, missing or ill-formed.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// The parameters are each fine but do not go together.
    #[error("{0}")]
    Impossible(String),
    /// The parts did not make a machine.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The link rate was none.
    #[error(transparent)]
    Rate(#[from] RateError),
}

registry! {
    /// Every generator.
    GENERATORS: dyn Generator = [
        mesh::Mesh,
        torus::Torus,
        hypercube::Hypercube,
        kary_ntree::KaryNtree,
        xgft::Xgft,
        fat_tree::FatTree,
        director_tree::DirectorTree,
        rail_fat_tree::RailFatTree,
        dragonfly::Dragonfly,
        cray_xc::CrayXc,
        hyperx::Hyperx,
        slim_fly::SlimFly,
        kautz::Kautz,
        random_regular::RandomRegular,
        bgq::Bgq,
        tofu::Tofu,
        deimos::Deimos,
        tsubame2::Tsubame2,
    ]
}

/// Parameters that every generator takes beside its own.
pub const COMMON: &[Param] = &[Param {
    name: "rate",
    doc: "width and speed of every cable, as 4xQDR, 4xEDR, 4xNDR; a machine that was built \
          has its own, others 4xEDR",
    kind: Kind::Text,
    default: Some(""),
}];

/// The generator called `name`.
///
/// # Errors
/// If there is none; the message lists all.
pub fn find(name: &str) -> Result<&'static dyn Generator, GeneratorError> {
    GENERATORS.iter().copied().find(|generator| generator.name() == name).ok_or_else(|| {
        let known = GENERATORS.iter().map(|generator| generator.name()).collect::<Vec<_>>();
        GeneratorError::Unknown { given: name.to_owned(), known: known.join(", ") }
    })
}

/// A generator with its parameters.
pub struct BoundGenerator {
    generator: &'static dyn Generator,
    args: Args,
    name: String,
    rate: LinkRate,
}

impl BoundGenerator {
    /// Builds the machine.
    ///
    /// # Errors
    /// Parameters that are each fine but do not go together.
    pub fn make(self, seed: Seed) -> Result<Machine, GeneratorError> {
        let context = Context { name: self.name, rate: self.rate, seed };
        self.generator.make(&self.args, &context)
    }
}

/// Reads what machine is meant: `text` is a generator's name, or the paper's notation `name(a; b; c)`, or
/// `16-ary 2-tree`; parameters in `given` are added to those of the notation.
///
/// # Errors
/// An unknown generator, or a parameter that is unknown, missing or ill-formed.
pub fn bind(text: &str, given: &Given) -> Result<BoundGenerator, GeneratorError> {
    let text = kary_ntree::notation(text).unwrap_or_else(|| text.to_owned());
    let name = text.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
    let generator = find(&name)?;
    let (_, mut all) = read_notation(&text, generator.params())?;
    all.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
    let common: Given = COMMON
        .iter()
        .filter_map(|param| all.remove(param.name).map(|value| (param.name.to_owned(), value)))
        .collect();
    let args = Args::bind(generator.name(), generator.params(), &all)?;
    let rate = match Args::bind(generator.name(), COMMON, &common)?.text("rate") {
        "" => generator.rate(),
        text => text.parse()?,
    };
    let name = match shown(generator.params(), &all).as_slice() {
        [] => generator.name().to_owned(),
        told => format!("{}({})", generator.name(), told.join("; ")),
    };
    Ok(BoundGenerator { generator, args, name, rate })
}

/// The parameters as the notation shows them: without those at the end that have their default.
fn shown<'a>(params: &'static [Param], given: &'a Given) -> Vec<&'a str> {
    let text = |param: &Param| {
        let default = param.default.unwrap_or_default();
        given.get(param.name).map_or(default, |text| text.trim())
    };
    let told = |param: &Param| Some(text(param)) != param.default;
    let count = params.iter().rposition(told).map_or(0, |last| last + 1);
    params[..count].iter().map(text).collect()
}

/// Makes a machine; see [`bind`].
///
/// # Errors
/// See [`GeneratorError`].
pub fn make(text: &str, given: &Given, seed: Seed) -> Result<Machine, GeneratorError> {
    bind(text, given)?.make(seed)
}
