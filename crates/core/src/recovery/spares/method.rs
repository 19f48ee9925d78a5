//! Which slides are tried in which order: `0D`, `1D`, ..., `hybrid(3D+1D+0D)`, `hybrid(all)`, `hybrid(-2D)`.
//!
//! Higher degrees cost fewer collisions and recover less, so a hybrid method tries them in descending order.
//!
//! Source: Hori et al. 2016, "Hybrid method".

use std::fmt;

/// A substitution method: degrees of sliding in the order they are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Descending, each once, at least one.
    degrees: Vec<u32>,
}

/// A method that is none, or that the network does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// Not the notation.
    #[error(
        "a policy is written as `0D`, `1D`, `hybrid(3D+1D+0D)`, `hybrid(all)`, `hybrid(-2D)` or `optimal`; got `{given}`"
    )]
    Notation {
        /// The text given.
        given: String,
    },
    /// A degree above the number of dimensions.
    #[error(
        "`{given}` slides in {degree} dimensions, the network has {dimensions}: give at most {dimensions}D"
    )]
    Degree {
        /// The text given.
        given: String,
        /// The degree.
        degree: u32,
        /// Dimensions of the network.
        dimensions: usize,
    },
    /// Degrees that do not descend.
    #[error("`{given}`: degrees descend, each once, as in hybrid(3D+1D+0D)")]
    Order {
        /// The text given.
        given: String,
    },
    /// Nothing is left.
    #[error("`{given}` leaves no method: {dimensions} dimensions have 0D to {dimensions}D")]
    Nothing {
        /// The text given.
        given: String,
        /// Dimensions of the network.
        dimensions: usize,
    },
}

impl Method {
    /// Reads the paper's notation for a network of `dimensions` dimensions.
    ///
    /// # Errors
    /// If it is not that, or asks for a degree above the dimensions.
    pub fn parse(text: &str, dimensions: usize) -> Result<Self, MethodError> {
        let given = || text.to_owned();
        let bare: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        let bare = bare.to_lowercase();
        let degree = |word: &str| {
            let digits = word.strip_suffix('d').filter(|digits| digits.len() == 1);
            let degree: u32 = digits
                .and_then(|digits| digits.parse().ok())
                .ok_or_else(|| MethodError::Notation { given: given() })?;
            if degree as usize > dimensions {
                return Err(MethodError::Degree { given: given(), degree, dimensions });
            }
            Ok(degree)
        };
        let inside = bare.strip_prefix("hybrid(").and_then(|rest| rest.strip_suffix(')'));
        let all = || (0..=dimensions as u32).rev();
        let degrees = match inside {
            None => vec![degree(&bare)?],
            Some("all") => all().collect(),
            Some(words) => match words.strip_prefix('-') {
                Some(words) => {
                    let without: Vec<u32> =
                        words.split('-').map(degree).collect::<Result<_, _>>()?;
                    all().filter(|degree| !without.contains(degree)).collect()
                }
                None => words.split('+').map(degree).collect::<Result<Vec<_>, _>>()?,
            },
        };
        if degrees.is_empty() {
            return Err(MethodError::Nothing { given: given(), dimensions });
        }
        if !degrees.is_sorted_by(|one, next| one > next) {
            return Err(MethodError::Order { given: given() });
        }
        Ok(Method { degrees })
    }

    /// 0D sliding alone: the nearest spare takes over.
    #[must_use]
    pub fn nearest() -> Self {
        Method { degrees: vec![0] }
    }

    /// Degrees in the order they are tried.
    #[must_use]
    pub fn degrees(&self) -> &[u32] {
        &self.degrees
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [degree] = self.degrees[..] {
            return write!(f, "{degree}D");
        }
        let words: Vec<_> = self.degrees.iter().map(|degree| format!("{degree}D")).collect();
        write!(f, "hybrid({})", words.join("+"))
    }
}
