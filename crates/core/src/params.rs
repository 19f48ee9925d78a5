//! Parameters of registered parts: declared once, then read from options, plans and the papers' notation alike.
//!
//! A part (generator, fault model, engine, workload) declares a `&[Param]`; [`Args::bind`] checks the given texts
//! against it and names every mistake: what was given, what is allowed.

use std::collections::BTreeMap;

/// What a parameter's text must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number within the bounds (both included).
    Int(u64, u64),
    /// Whole numbers within the bounds, written `4x4x2` or `4,4,2`.
    Ints(u64, u64),
    /// A real number within the bounds (both included).
    Real(f64, f64),
    /// Any text.
    Text,
    /// One of the words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
}

/// One parameter of a part.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name in options and plans.
    pub name: &'static str,
    /// What it means, with the paper's letter.
    pub doc: &'static str,
    /// What is allowed.
    pub kind: Kind,
    /// Its value when not given; `None` makes it required.
    pub default: Option<&'static str>,
}

/// What was wrong with the given parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// A name that the part does not have.
    #[error("{part} has no parameter `{given}`; it takes {allowed}")]
    Unknown {
        /// The part's name.
        part: String,
        /// The name given.
        given: String,
        /// All names it takes.
        allowed: String,
    },
    /// A required one was not given.
    #[error("{part} needs `{name}`: {doc}")]
    Missing {
        /// The part's name.
        part: String,
        /// The missing parameter.
        name: &'static str,
        /// What it means.
        doc: &'static str,
    },
    /// The text does not fit the kind.
    #[error("{part}: `{name}` is {allowed}, got `{given}`")]
    Value {
        /// The part's name.
        part: String,
        /// The parameter.
        name: &'static str,
        /// The text given.
        given: String,
        /// What would have been right.
        allowed: String,
    },
    /// The paper's notation could not be read.
    #[error("`{given}` is not {usage}")]
    Notation {
        /// The text given.
        given: String,
        /// How the notation goes.
        usage: String,
    },
}

/// Parameters by name, as texts.
pub type Given = BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(u64),
    Ints(Vec<u64>),
    Real(f64),
    Text(String),
    Flag(bool),
}

/// Checked parameters of one part; every declared name has a value.
#[derive(Clone, Debug)]
pub struct Args {
    values: BTreeMap<&'static str, Value>,
}

impl Args {
    /// Checks `given` against the declaration of `part`.
    ///
    /// # Errors
    /// The first unknown, missing or ill-formed parameter, in the order of declaration.
    pub fn bind(part: &str, declared: &'static [Param], given: &Given) -> Result<Args, ParamError> {
        if let Some(name) =
            given.keys().find(|name| declared.iter().all(|param| param.name != name.as_str()))
        {
            let allowed = declared.iter().map(|param| param.name).collect::<Vec<_>>().join(", ");
            let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed };
            return Err(ParamError::Unknown {
                part: part.to_owned(),
                given: name.clone(),
                allowed,
            });
        }
        let mut values = BTreeMap::new();
        for param in declared {
            let text = match (given.get(param.name), param.default) {
                (Some(text), _) => text.as_str(),
                (None, Some(default)) => default,
                (None, None) => {
                    return Err(ParamError::Missing {
                        part: part.to_owned(),
                        name: param.name,
                        doc: param.doc,
                    });
                }
            };
            let value = read(param.kind, text.trim()).ok_or_else(|| ParamError::Value {
                part: part.to_owned(),
                name: param.name,
                given: text.to_owned(),
                allowed: param.kind.describe(),
            })?;
            values.insert(param.name, value);
        }
        Ok(Args { values })
    }

    /// A whole number.
    #[must_use]
    pub fn int(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(Value::Int(value)) => *value,
            other => undeclared(name, other),
        }
    }

    /// A whole number whose declared bounds fit `u32`.
    #[must_use]
    pub fn count(&self, name: &str) -> u32 {
        self.int(name) as u32
    }

    /// A list of whole numbers.
    #[must_use]
    pub fn ints(&self, name: &str) -> &[u64] {
        match self.values.get(name) {
            Some(Value::Ints(values)) => values,
            other => undeclared(name, other),
        }
    }

    /// A real number.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(Value::Real(value)) => *value,
            other => undeclared(name, other),
        }
    }

    /// A text or one of the declared words.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(Value::Text(value)) => value,
            other => undeclared(name, other),
        }
    }

    /// A yes or no.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(Value::Flag(value)) => *value,
            other => undeclared(name, other),
        }
    }
}

fn undeclared(name: &str, found: Option<&Value>) -> ! {
    // INVARIANT: `bind` gives every declared parameter a value of its kind, and parts ask for their own alone.
    panic!("parameter `{name}` is not declared with this kind (found {found:?})")
}

impl Kind {
    /// In words, for messages and help.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Kind::Int(low, high) => format!("a whole number from {low} to {high}"),
            Kind::Ints(low, high) => {
                format!("whole numbers from {low} to {high}, as in 4x4x2 or 4,4,2")
            }
            Kind::Real(low, high) => format!("a number from {low} to {high}"),
            Kind::Text => "a text".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Flag => "true or false".to_owned(),
        }
    }
}

fn read(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Int(low, high) => {
            let value = text.parse().ok()?;
            (low..=high).contains(&value).then_some(Value::Int(value))
        }
        Kind::Ints(low, high) => {
            let values: Option<Vec<u64>> =
                text.split(['x', ',']).map(|item| item.trim().parse().ok()).collect();
            values
                .filter(|all| all.iter().all(|value| (low..=high).contains(value)))
                .map(Value::Ints)
        }
        Kind::Real(low, high) => {
            let value: f64 = text.parse().ok()?;
            (low..=high).contains(&value).then_some(Value::Real(value))
        }
        Kind::Text => Some(Value::Text(text.to_owned())),
        Kind::Choice(words) => words.contains(&text).then(|| Value::Text(text.to_owned())),
        Kind::Flag => text.parse().ok().map(Value::Flag),
    }
}

/// Reads `name(a,b,c)` or `name(a; b,c; d)`: arguments go to the declared parameters in order, then `key=value` pairs.
///
/// Arguments are separated by `;` where the text has one, else by `,`. Without a `;`, bare numbers belong to the first
/// parameter if that is a list: `torus(4,4)` is `torus(4,4;)`.
///
/// # Errors
/// If brackets do not close or there are more arguments than parameters.
pub fn read_notation(text: &str, declared: &[Param]) -> Result<(String, Given), ParamError> {
    let usage = || {
        let names = declared.iter().map(|param| param.name).collect::<Vec<_>>().join("; ");
        ParamError::Notation {
            given: text.to_owned(),
            usage: format!("a name with arguments in brackets: name({names})"),
        }
    };
    let Some((name, rest)) = text.split_once('(') else {
        return Ok((text.trim().to_owned(), Given::new()));
    };
    let inside = rest.trim_end().strip_suffix(')').ok_or_else(usage)?;
    let separator = if inside.contains(';') { ';' } else { ',' };
    let is_list = matches!(declared.first(), Some(Param { kind: Kind::Ints(..), .. }));
    let is_numbers = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',' || byte.is_ascii_whitespace())
    };
    let separator = if is_list && is_numbers(inside) { ';' } else { separator };
    let mut given = Given::new();
    let mut position = 0;
    for argument in inside.split(separator).map(str::trim).filter(|argument| !argument.is_empty()) {
        if let Some((key, value)) = argument.split_once('=') {
            given.insert(key.trim().to_owned(), value.trim().to_owned());
        } else {
            let param = declared.get(position).ok_or_else(usage)?;
            given.insert(param.name.to_owned(), argument.to_owned());
            position += 1;
        }
    }
    Ok((name.trim().to_owned(), given))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Param] = &[
        Param {
            name: "shape",
            doc: "size of each dimension",
            kind: Kind::Ints(1, 9),
            default: None,
        },
        Param {
            name: "parallel",
            doc: "`r`, cables per neighbour",
            kind: Kind::Int(1, 8),
            default: Some("1"),
        },
    ];

    fn given(pairs: &[(&str, &str)]) -> Given {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn binds_given_values_and_defaults() {
        let args = Args::bind("torus", DECLARED, &given(&[("shape", "4x3,2")])).unwrap();
        assert_eq!(args.ints("shape"), [4, 3, 2]);
        assert_eq!(args.int("parallel"), 1);
    }

    #[test]
    fn says_what_was_given_and_what_is_allowed() {
        let error = |pairs| Args::bind("torus", DECLARED, &given(pairs)).unwrap_err().to_string();
        assert_eq!(
            error(&[("shap", "4")]),
            "torus has no parameter `shap`; it takes shape, parallel"
        );
        assert_eq!(error(&[]), "torus needs `shape`: size of each dimension");
        assert_eq!(
            error(&[("shape", "4"), ("parallel", "9")]),
            "torus: `parallel` is a whole number from 1 to 8, got `9`"
        );
    }

    #[test]
    fn reads_the_papers_notation() {
        let (name, arguments) = read_notation("torus(4,4; 2)", DECLARED).unwrap();
        assert_eq!(name, "torus");
        assert_eq!(arguments, given(&[("shape", "4,4"), ("parallel", "2")]));
        let (_, arguments) = read_notation("torus(4, 4)", DECLARED).unwrap();
        assert_eq!(arguments, given(&[("shape", "4, 4")]));
        let (_, arguments) = read_notation("torus(4x4, 2)", DECLARED).unwrap();
        assert_eq!(arguments, given(&[("shape", "4x4"), ("parallel", "2")]));
        assert!(read_notation("torus(4,4", DECLARED).is_err());
        assert!(read_notation("torus(1;2;3)", DECLARED).is_err());
    }
}
