//! The parameters of the flit simulation by name, as plans and the command line give them.

use super::options::{FlitOptions, PRESETS};
use crate::units::Picos;

/// Every parameter with what it means.
pub const PARAMETERS: [(&str, &str); 22] = [
    ("flit_bytes", "bytes of a flit, the unit of credits"),
    ("mtu_bytes", "payload of the largest packet"),
    ("cable_gb_s", "rate of every cable in GB/s, or `own`: what the fabric file gives"),
    ("cable_ns", "propagation delay of a cable; 0 is simulated as 1 ps"),
    ("credit_bytes", "bytes of a flow-control packet"),
    ("credit_interval_ns", "time between flow-control packets of a lane"),
    ("host_flit_ns", "time in which a host makes a flit"),
    ("host_latency_ns", "from there until the host's arbiter may take it"),
    ("host_arbiter_ns", "time between flits that the host's arbiter grants"),
    ("host_output_flits", "output buffer of a host"),
    ("sink_flit_ns", "time in which a host consumes a flit"),
    ("message_gap_ns", "pause between two messages of a host"),
    ("input_latency_ns", "from a flit's arrival at a switch until it may be granted"),
    ("switch_arbiter_ns", "time between flits that a switch's arbiter grants"),
    ("output_latency_ns", "from the grant until the cable may take the flit"),
    ("switch_output_flits", "output buffer of a switch port"),
    ("input_speedup", "packets that an input port feeds to different outputs at a time"),
    ("buffer_flits", "input buffer of a port, shared out among the lanes in use"),
    ("lane_flits", "most that one lane has of it"),
    ("high_lanes", "high-priority table as lane:weight in flits, commas between"),
    ("low_lanes", "low-priority table; lanes in neither table take a packet each in turn"),
    ("high_limit_flits", "flits of the high-priority table before the other has its turn"),
];

/// A parameter or preset that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// No preset has that name.
    #[error("there is no preset `{given}`; there are {known}")]
    Preset {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// No parameter has that name.
    #[error("the flit simulation has no parameter `{given}`; it has {known}")]
    Unknown {
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// The text is not what the parameter takes.
    #[error("`{name}` is {allowed}, got `{given}`")]
    Value {
        /// The parameter.
        name: String,
        /// What is allowed.
        allowed: &'static str,
        /// The text given.
        given: String,
    },
}

impl FlitOptions {
    /// A preset with some parameters given otherwise.
    ///
    /// # Errors
    /// An unknown preset or parameter, or an ill-formed value.
    pub fn of<'t>(
        preset: &str,
        given: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<Self, ParameterError> {
        let mut options = Self::preset(preset).ok_or_else(|| ParameterError::Preset {
            given: preset.to_owned(),
            known: PRESETS.map(|(name, _)| name).join(", "),
        })?;
        for (name, text) in given {
            options.set(name, text)?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, text: &str) -> Result<(), ParameterError> {
        let wrong = |allowed| ParameterError::Value {
            name: name.to_owned(),
            allowed,
            given: text.to_owned(),
        };
        let count = || {
            let number = text.parse().ok().filter(|number| (1..=1 << 20).contains(number));
            number.ok_or_else(|| wrong("a whole number from 1 to 1048576"))
        };
        let time = || {
            let ns = text.parse().ok().filter(|ns: &f64| (0.0..=1e6).contains(ns));
            let ps = |ns: f64| Picos((ns * 1000.0).round() as u64);
            ns.map(ps).ok_or_else(|| wrong("a time in ns from 0 to 1000000"))
        };
        match name {
            "flit_bytes" => self.flit_bytes = count()?,
            "mtu_bytes" => {
                let bytes = count()?;
                self.mtu_flits = bytes.div_ceil(self.flit_bytes);
            }
            "cable_gb_s" if text == "own" => self.cable_gb_s = None,
            "cable_gb_s" => {
                let rate = text.parse().ok().filter(|rate: &f64| (0.01..=10_000.0).contains(rate));
                let allowed = "a rate in GB/s from 0.01 to 10000, or `own`";
                self.cable_gb_s = Some(rate.ok_or_else(|| wrong(allowed))?);
            }
            "cable_ns" => self.cable = time()?,
            "credit_bytes" => self.credit_bytes = count()?,
            "credit_interval_ns" => self.credit_interval = time()?,
            "host_flit_ns" => self.host_flit = time()?,
            "host_latency_ns" => self.host_latency = time()?,
            "host_arbiter_ns" => self.host_arbiter = time()?,
            "host_output_flits" => self.host_output_flits = count()?,
            "sink_flit_ns" => self.sink_flit = time()?,
            "message_gap_ns" => self.message_gap = time()?,
            "input_latency_ns" => self.input_latency = time()?,
            "switch_arbiter_ns" => self.switch_arbiter = time()?,
            "output_latency_ns" => self.output_latency = time()?,
            "switch_output_flits" => self.switch_output_flits = count()?,
            "input_speedup" => self.input_speedup = count()?,
            "buffer_flits" => self.buffer_flits = count()?,
            "lane_flits" => self.lane_flits = count()?,
            "high_lanes" => self.high_lanes = table(text).ok_or_else(|| wrong(TABLE))?,
            "low_lanes" => self.low_lanes = table(text).ok_or_else(|| wrong(TABLE))?,
            "high_limit_flits" => self.high_limit_flits = count()?,
            _ => {
                let known = PARAMETERS.map(|(name, _)| name).join(", ");
                return Err(ParameterError::Unknown { given: name.to_owned(), known });
            }
        }
        Ok(())
    }
}

const TABLE: &str = "lanes from 0 to 14 with weights in flits from 1 to 16320, as `0:64,1:32`";

fn table(text: &str) -> Option<Vec<(u8, u32)>> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (lane, weight) = entry.split_once(':')?;
            let lane = lane.trim().parse().ok().filter(|lane| *lane < 15)?;
            let weight = weight.trim().parse().ok()?;
            (1..=16_320).contains(&weight).then_some((lane, weight))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_can_be_given() {
        for (name, _) in PARAMETERS {
            let text = if name.ends_with("_lanes") { "0:3, 1:4" } else { "7" };
            let found = FlitOptions::of("sc14", [(name, text)]).unwrap();
            assert_ne!(found, FlitOptions::default(), "{name}");
            let wrong = FlitOptions::of("sc14", [(name, "x:")]).unwrap_err().to_string();
            assert!(wrong.contains(name) && wrong.contains("x:"), "{wrong}");
        }
        let own = FlitOptions::of("sc14", [("cable_gb_s", "own")]).unwrap();
        assert_eq!(own.cable_gb_s, None);
        assert!(FlitOptions::of("sc13", []).unwrap_err().to_string().contains("sc14, qdr"));
        assert!(FlitOptions::of("edr", [("speed", "1")]).unwrap_err().to_string().contains("mtu_"));
    }
}
