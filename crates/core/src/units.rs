//! Units as types: bytes, picoseconds, and the rate of an InfiniBand link.

use std::fmt;
use std::str::FromStr;

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A simulated time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picos(pub u64);

/// Signalling generation of one InfiniBand lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speed {
    /// 2.5 Gb/s, 8b/10b.
    Sdr,
    /// 5 Gb/s, 8b/10b.
    Ddr,
    /// 10 Gb/s, 8b/10b.
    Qdr,
    /// 10.3125 Gb/s, 64b/66b.
    Fdr10,
    /// 14.0625 Gb/s, 64b/66b.
    Fdr,
    /// 25.78125 Gb/s, 64b/66b.
    Edr,
    /// 53.125 Gb/s PAM-4, 50 Gb/s of data.
    Hdr,
    /// 106.25 Gb/s PAM-4, 100 Gb/s of data.
    Ndr,
    /// 212.5 Gb/s PAM-4, 200 Gb/s of data.
    Xdr,
}

impl Speed {
    /// Every generation with the name that `ibnetdiscover` prints, slowest first.
    pub const ALL: [(Speed, &'static str); 9] = [
        (Speed::Sdr, "SDR"),
        (Speed::Ddr, "DDR"),
        (Speed::Qdr, "QDR"),
        (Speed::Fdr10, "FDR10"),
        (Speed::Fdr, "FDR"),
        (Speed::Edr, "EDR"),
        (Speed::Hdr, "HDR"),
        (Speed::Ndr, "NDR"),
        (Speed::Xdr, "XDR"),
    ];

    /// Data rate of one lane in Gb/s, line code taken off.
    #[must_use]
    pub const fn lane_rate_gbps(self) -> f64 {
        match self {
            Speed::Sdr => 2.0,
            Speed::Ddr => 4.0,
            Speed::Qdr => 8.0,
            Speed::Fdr10 => 10.0,
            Speed::Fdr => 14.0625 * 64.0 / 66.0,
            Speed::Edr => 25.0,
            Speed::Hdr => 50.0,
            Speed::Ndr => 100.0,
            Speed::Xdr => 200.0,
        }
    }
}

/// Width and speed of a link, printed as `4xEDR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkRate {
    /// Lanes of the cable: 1, 2, 4, 8 or 12.
    pub lanes: u8,
    /// Signalling generation of each lane.
    pub speed: Speed,
}

impl LinkRate {
    /// The default of every generator: 4xEDR, 100 Gb/s.
    pub const EDR: LinkRate = LinkRate { lanes: 4, speed: Speed::Edr };
    /// 32 Gb/s, the links of the fail-in-place study.
    pub const QDR: LinkRate = LinkRate { lanes: 4, speed: Speed::Qdr };

    /// Data rate of one direction in Gb/s.
    #[must_use]
    pub fn rate_gbps(self) -> f64 {
        f64::from(self.lanes) * self.speed.lane_rate_gbps()
    }

    /// Data rate of one direction in GB/s (10^9 bytes per second).
    #[must_use]
    pub fn rate_gb_s(self) -> f64 {
        self.rate_gbps() / 8.0
    }
}

impl fmt::Display for LinkRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name =
            Speed::ALL.iter().find(|(speed, _)| *speed == self.speed).map_or("?", |(_, name)| name);
        write!(f, "{}x{name}", self.lanes)
    }
}

/// The text was no link rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no link rate; write lanes x speed, as in 4xEDR (lanes 1, 2, 4, 8, 12; speeds SDR DDR QDR FDR10 FDR EDR HDR NDR XDR)"
)]
pub struct RateError(pub String);

impl FromStr for LinkRate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || RateError(text.to_owned());
        let (lanes, speed) = text.split_once('x').ok_or_else(error)?;
        let lanes: u8 = lanes.parse().map_err(|_| error())?;
        let speed = Speed::ALL
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(speed))
            .ok_or_else(error)?
            .0;
        if matches!(lanes, 1 | 2 | 4 | 8 | 12) {
            Ok(LinkRate { lanes, speed })
        } else {
            Err(error())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_print_and_parse_alike() {
        for (speed, _) in Speed::ALL {
            let rate = LinkRate { lanes: 4, speed };
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        assert!((LinkRate::QDR.rate_gbps() - 32.0).abs() < 1e-12);
    }

    #[test]
    fn rejects_what_is_no_rate() {
        for text in ["", "x", "4x", "4xFOO", "3xEDR", "fourxEDR", "-4xEDR"] {
            assert!(text.parse::<LinkRate>().is_err(), "{text}");
        }
    }
}
