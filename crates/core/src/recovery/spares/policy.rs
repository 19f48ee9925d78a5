//! How nodes are substituted: by sliding, or by a search for the placement that costs least.

use std::fmt;

use super::method::{Method, MethodError};

/// A substitution policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The paper's slides.
    Sliding(Method),
    /// A search: `optimal`, `optimal(trials=1000, moves=30)`.
    Optimal(Effort),
}

/// How long a search looks, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Changes tried after a failure, once the failed node is substituted.
    pub trials: u32,
    /// The most ranks that move for a failure, at least 1.
    pub moves_max: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { trials: 100, moves_max: u32::MAX }
    }
}

/// A policy that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// No slide.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// No effort.
    #[error(
        "a search is written as `optimal` or `optimal(trials=1000, moves=30)`: changes tried and \
         ranks moved a failure, at least 1 of these; got `{given}`"
    )]
    Effort {
        /// The text given.
        given: String,
    },
}

impl Policy {
    /// Reads a policy for a network of `dimensions` dimensions.
    ///
    /// # Errors
    /// If it is none, or slides in more dimensions.
    pub fn parse(text: &str, dimensions: usize) -> Result<Self, PolicyError> {
        let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let Some(rest) = bare.to_lowercase().strip_prefix("optimal").map(str::to_owned) else {
            return Ok(Policy::Sliding(Method::parse(text, dimensions)?));
        };
        let wrong = || PolicyError::Effort { given: text.to_owned() };
        let mut effort = Effort::default();
        if rest.is_empty() {
            return Ok(Policy::Optimal(effort));
        }
        let inside = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        for part in inside.ok_or_else(wrong)?.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let value: u32 = value.parse().map_err(|_| wrong())?;
            match name {
                "trials" => effort.trials = value,
                "moves" if value > 0 => effort.moves_max = value,
                _ => return Err(wrong()),
            }
        }
        Ok(Policy::Optimal(effort))
    }

    /// Degrees of slides in the order they are tried; a search has none.
    #[must_use]
    pub fn degrees(&self) -> &[u32] {
        match self {
            Policy::Sliding(method) => method.degrees(),
            Policy::Optimal(_) => &[],
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effort = match self {
            Policy::Sliding(method) => return method.fmt(f),
            Policy::Optimal(effort) => effort,
        };
        let own = Effort::default();
        let trials = (effort.trials != own.trials).then(|| format!("trials={}", effort.trials));
        let moves =
            (effort.moves_max != own.moves_max).then(|| format!("moves={}", effort.moves_max));
        let words: Vec<_> = trials.into_iter().chain(moves).collect();
        if words.is_empty() {
            f.write_str("optimal")
        } else {
            write!(f, "optimal({})", words.join(", "))
        }
    }
}
