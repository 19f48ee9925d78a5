//! What hosts, switches and cables of the flit simulation are like, and named sets of it.

use crate::units::{Bytes, Picos};

/// Parameters of the flit simulation.
///
/// Times are given per flit where a stage handles one flit after the other. The defaults are those of `sc14`.
#[derive(Clone, Debug, PartialEq)]
pub struct FlitOptions {
    /// Bytes of a flit, which is also the unit of credits.
    pub flit_bytes: u32,
    /// Largest packet, in flits.
    pub mtu_flits: u32,
    /// Rate of every cable in GB/s; `None`: the rate that the fabric has for it.
    pub cable_gb_s: Option<f64>,
    /// Propagation delay of a cable.
    pub cable: Picos,
    /// Bytes of a flow-control packet.
    pub credit_bytes: u32,
    /// Time between flow-control packets of one lane.
    pub credit_interval: Picos,
    /// Time in which a host makes a flit.
    pub host_flit: Picos,
    /// From there until the host's arbiter may take it.
    pub host_latency: Picos,
    /// Time between flits that the host's arbiter grants.
    pub host_arbiter: Picos,
    /// Flits between the host's arbiter and its cable.
    pub host_output_flits: u32,
    /// Time in which a host takes a flit out of its input buffer.
    pub sink_flit: Picos,
    /// Pause between two messages of a host.
    pub message_gap: Picos,
    /// From the arrival of a flit at a switch until an arbiter may take it.
    pub input_latency: Picos,
    /// Time between flits that a switch's arbiter grants.
    pub switch_arbiter: Picos,
    /// From the grant until the cable may take the flit.
    pub output_latency: Picos,
    /// Flits between a switch's arbiter and its cable.
    pub switch_output_flits: u32,
    /// Packets that one input port feeds to different outputs at a time.
    pub input_speedup: u32,
    /// Input buffer of a port in flits, shared out evenly among the lanes in use ...
    pub buffer_flits: u32,
    /// ... of which none gets more than this.
    pub lane_flits: u32,
    /// Lanes and weights (flits) of the high-priority table.
    pub high_lanes: Vec<(u8, u32)>,
    /// The same of the low-priority table; empty: the lanes that `high_lanes` leaves out, a packet each in turn.
    pub low_lanes: Vec<(u8, u32)>,
    /// Flits sent by the high-priority table before the other has its turn.
    pub high_limit_flits: u32,
}

impl Default for FlitOptions {
    fn default() -> Self {
        // 4X QDR: 64 bytes in 16 ns. A host moves 16 bytes in 5 ns, a switch 24 bytes in 4 ns.
        FlitOptions {
            flit_bytes: 64,
            mtu_flits: 32,
            cable_gb_s: Some(4.0),
            cable: Picos(43_000),
            credit_bytes: 8,
            credit_interval: Picos(256_000),
            host_flit: Picos(19_693),
            host_latency: Picos(16_001),
            host_arbiter: Picos(20_000),
            host_output_flits: 36,
            sink_flit: Picos(19_693),
            message_gap: Picos(1_000),
            input_latency: Picos(50_000),
            switch_arbiter: Picos(10_667),
            output_latency: Picos(50_000),
            switch_output_flits: 78,
            input_speedup: 3,
            buffer_flits: 1_000,
            lane_flits: 800,
            high_lanes: Vec::new(),
            low_lanes: Vec::new(),
            high_limit_flits: 1_024,
        }
    }
}

/// Names of the presets with one line each.
pub const PRESETS: [(&str, &str); 5] = [
    (
        "sc14",
        "the public InfiniBand model of the fail-in-place study: 4X QDR, 43 ns cables, tuned hosts",
    ),
    ("qdr", "4X QDR at 4 GB/s with hosts that keep up with the cable"),
    ("edr", "4X EDR at 12.1 GB/s, 90 ns through a switch"),
    ("ndr", "4X NDR at 50 GB/s, 4 KiB packets, 130 ns through a switch"),
    (
        "own",
        "every cable at the rate that the fabric file gives; hosts and switches keep up with 100 GB/s",
    ),
];

impl FlitOptions {
    /// Largest input speedup that is simulated.
    pub const SPEEDUP_MAX: u32 = 4;
    /// Largest packet that is simulated, in flits.
    pub const MTU_FLITS_MAX: u32 = 65_535;

    /// The preset called `name`.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        let sc14 = FlitOptions::default();
        // A host and its sink keep up with the cable, a switch arbiter is half again as fast.
        let paced = |flit_ps: u64, gb_s: f64, through_ns: u64| FlitOptions {
            cable_gb_s: Some(gb_s),
            cable: Picos(25_000),
            host_flit: Picos(flit_ps),
            host_arbiter: Picos(flit_ps),
            sink_flit: Picos(flit_ps),
            switch_arbiter: Picos(flit_ps * 2 / 3),
            input_latency: Picos(through_ns * 500),
            output_latency: Picos(through_ns * 500),
            ..sc14.clone()
        };
        match name {
            "sc14" => Some(sc14),
            "qdr" => Some(paced(16_000, 4.0, 100)),
            "edr" => Some(paced(5_280, 12.121_212, 90)),
            "ndr" => Some(FlitOptions {
                mtu_flits: 64,
                host_output_flits: 72,
                switch_output_flits: 156,
                buffer_flits: 2_000,
                lane_flits: 1_600,
                ..paced(1_280, 50.0, 130)
            }),
            "own" => Some(FlitOptions { cable_gb_s: None, ..paced(640, 100.0, 90) }),
            _ => None,
        }
    }

    /// Propagation delay of a cable in ps: no cable takes no time, or what is sent would arrive before it is decided.
    #[must_use]
    pub fn cable_ps(&self) -> u64 {
        self.cable.0.max(1)
    }

    /// Payload of the largest packet.
    #[must_use]
    pub fn mtu(&self) -> Bytes {
        Bytes(u64::from(self.mtu_flits) * u64::from(self.flit_bytes))
    }

    /// Time of a flow-control packet in ps, on a cable that takes `flit_ps` for a flit.
    #[must_use]
    pub fn credit_ps(&self, flit_ps: u64) -> u64 {
        let bytes = flit_ps * u64::from(self.credit_bytes);
        bytes.div_ceil(u64::from(self.flit_bytes)).max(1)
    }

    /// Flits of the input buffer that each of `lanes` lanes has.
    #[must_use]
    pub fn lane_flits_of(&self, lanes: usize) -> u32 {
        (self.buffer_flits / lanes.max(1) as u32).min(self.lane_flits)
    }
}
