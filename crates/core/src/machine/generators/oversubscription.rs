//! How many ports of a leaf switch go up, given a ratio of ports down to ports up.

use super::GeneratorError;

/// An oversubscription ratio: ports down to ports up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversubscription {
    down: u64,
    up: u64,
}

impl Oversubscription {
    /// Reads `2:1`, `3:2` or `1.5`.
    ///
    /// # Errors
    /// If the text is neither, or a side is not within 0.001 and 1000.
    pub fn read(text: &str) -> Result<Self, GeneratorError> {
        let (down, up) = text.split_once(':').unwrap_or((text, "1"));
        match (millionths(down), millionths(up)) {
            (Some(down), Some(up)) => Ok(Oversubscription { down, up }),
            _ => Err(GeneratorError::Impossible(format!(
                "oversubscription is ports down to ports up, each from 0.001 to 1000, as in 2:1 or \
                 1.5; got `{text}`"
            ))),
        }
    }

    /// The least number of `ports` that must go up so that the ratio is kept or bettered.
    pub fn uplinks(self, ports: u64) -> u64 {
        (ports * self.up).div_ceil(self.down + self.up)
    }

    /// Splits the `ports` of a leaf into (down, up).
    ///
    /// # Errors
    /// If none would be left for nodes.
    pub fn split(self, ports: u64) -> Result<(u64, u64), GeneratorError> {
        let up = self.uplinks(ports);
        if up >= ports {
            return Err(GeneratorError::Impossible(format!(
                "a leaf with {ports} ports needs all of them as uplinks to keep the \
                 oversubscription; take a larger ratio of ports down to ports up, or more ports"
            )));
        }
        Ok((ports - up, up))
    }
}

/// Decimal fractions are kept exactly: 1.4 is 7:5, not the double beside it.
fn millionths(text: &str) -> Option<u64> {
    let value: f64 = text.trim().parse().ok()?;
    (0.001..=1000.0).contains(&value).then_some((value * 1e6).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, ports: u64) -> (u64, u64) {
        Oversubscription::read(text).unwrap().split(ports).unwrap()
    }

    #[test]
    fn a_leaf_is_never_more_oversubscribed_than_asked() {
        assert_eq!(split("1:1", 36), (18, 18));
        assert_eq!(split("2", 36), (24, 12));
        assert_eq!(split("1.4", 24), (14, 10));
        assert_eq!(split("4:1", 36), (28, 8));
        assert_eq!(split("1:1", 5), (2, 3));
        assert_eq!(split("1:2", 36), (12, 24));
    }

    #[test]
    fn refuses_what_is_no_ratio() {
        for text in ["", "two", "0", "2:0", "-1", "inf", "nan", "1:2:3", "1e9"] {
            assert!(Oversubscription::read(text).is_err(), "{text}");
        }
        assert!(Oversubscription::read("1:1000").unwrap().split(8).is_err());
    }
}
