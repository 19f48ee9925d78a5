//! How many fail: a count, or a per cent of what there is.

use std::str::FromStr;

use super::error::FaultError;

/// `3`, or `1%`, `0.5%` of what there is, rounded down.
///
/// Rounded down because the fail-in-place study calls two of 256 links "1 % link failures".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// That many.
    Count(u64),
    /// Millionths of a per cent, at most 100 %.
    PerCent(u64),
}

/// Decimals that a per cent may have.
const DECIMALS: usize = 6;
const SCALE: u64 = 1_000_000;

impl Amount {
    /// How many that is of `available`. A count may be larger than that.
    #[must_use]
    pub fn of(self, available: u64) -> u64 {
        match self {
            Amount::Count(count) => count,
            Amount::PerCent(millionths) => {
                let whole = u128::from(SCALE) * 100;
                // At most `available`, so it fits.
                (u128::from(millionths) * u128::from(available) / whole) as u64
            }
        }
    }
}

impl FromStr for Amount {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        let error = || FaultError::Amount(text.to_owned());
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let Some(number) = text.trim().strip_suffix('%') else {
            let number = text.trim();
            return match number.parse() {
                Ok(count) if digits(number) => Ok(Amount::Count(count)),
                _ => Err(error()),
            };
        };
        let (whole, decimals) = number.trim().split_once('.').unwrap_or((number.trim(), "0"));
        if whole.is_empty() || decimals.is_empty() || decimals.len() > DECIMALS {
            return Err(error());
        }
        if !digits(whole) || !digits(decimals) {
            return Err(error());
        }
        let whole: u64 = whole.parse().map_err(|_| error())?;
        let millionths: u64 = format!("{decimals:0<DECIMALS$}").parse().map_err(|_| error())?;
        match whole.checked_mul(SCALE).and_then(|whole| whole.checked_add(millionths)) {
            Some(all) if all <= 100 * SCALE => Ok(Amount::PerCent(all)),
            _ => Err(error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_per_cent_is_rounded_down_exactly() {
        let of = |text: &str, available| text.parse::<Amount>().unwrap().of(available);
        assert_eq!(of("1%", 256), 2);
        assert_eq!(of("29%", 100), 29);
        assert_eq!(of("0.5%", 199), 0);
        assert_eq!(of("0.5%", 200), 1);
        assert_eq!(of(" 100.0 %", 7), 7);
        assert_eq!(of("7", 3), 7);
    }

    #[test]
    fn rejects_what_is_no_amount() {
        for text in ["", "%", "-1", "+1", "1.5", ".5%", "1.%", "101%", "1e1%", "one", "0.0000001%"]
        {
            assert_eq!(text.parse::<Amount>(), Err(FaultError::Amount(text.to_owned())));
        }
    }
}
