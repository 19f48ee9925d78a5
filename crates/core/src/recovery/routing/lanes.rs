//! The virtual lane of every route: a service level for each pair, and what switches make of it.
//!
//! With the identity mapping a route stays in the lane its service level names. Engines that change lanes on the way
//! (Torus-2QoS) also give SL-to-VL tables by input and output port, as InfiniBand switches have them.

use crate::ids::{Lid, SwitchId};
use crate::machine::{Lids, Machine};

/// Service levels of all pairs and their lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Everything on service level 0 and lane 0.
    Single,
    /// A service level for each (switch at which the source injects, destination LID), `[switch][lid]`; lane = level.
    PerPair(Vec<u8>),
    /// Service levels as in `PerPair`, and the tables that turn them into lanes at each switch.
    ByPort(Vec<u8>, SlToVl),
}

impl Lanes {
    /// The service level of routes from nodes at `switch` to `lid`.
    #[inline]
    #[must_use]
    pub fn sl(&self, lids: Lids, switch: SwitchId, lid: Lid) -> u8 {
        match self {
            Lanes::Single => 0,
            Lanes::PerPair(sl) | Lanes::ByPort(sl, _) => {
                sl[switch.index() * lids.count() + lid.index()]
            }
        }
    }

    /// One more than the highest lane that some pair could use.
    #[must_use]
    pub fn count(&self) -> u8 {
        let highest = match self {
            Lanes::Single => None,
            Lanes::PerPair(sl) => sl.iter().copied().max(),
            Lanes::ByPort(_, tables) => tables.lanes.iter().flatten().copied().max(),
        };
        highest.map_or(1, |lane| lane + 1)
    }
}

/// SL-to-VL tables of every switch: `(input port, output port, service level) -> lane`.
///
/// Port 0 is the switch itself. Few different rows of 16 lanes occur, so each port pair holds the number of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlToVl {
    /// First entry of each switch; `(radix + 1)^2` entries follow, input port by input port.
    base: Vec<u32>,
    radix: Vec<u8>,
    row: Vec<u16>,
    lanes: Vec<[u8; SERVICE_LEVELS]>,
}

/// Service levels there are.
pub const SERVICE_LEVELS: usize = 16;

/// A lane that carries no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a service level is mapped to lane {lane}; data travels on lanes 0 to 14")]
pub struct LaneError {
    /// The lane given.
    pub lane: u8,
}

impl SlToVl {
    /// Tables from `lanes(switch, input port, output port)`, which gives a lane for each service level.
    ///
    /// # Errors
    /// If a lane is above 14.
    pub fn new(
        machine: &Machine,
        mut lanes: impl FnMut(SwitchId, u8, u8) -> [u8; SERVICE_LEVELS],
    ) -> Result<Self, LaneError> {
        let mut tables = SlToVl { base: vec![], radix: vec![], row: vec![], lanes: vec![] };
        let mut known = std::collections::BTreeMap::new();
        for switch in machine.switches() {
            let radix = machine.switch(switch).radix;
            tables.base.push(tables.row.len() as u32);
            tables.radix.push(radix);
            for input in 0..=radix {
                for output in 0..=radix {
                    let lanes = lanes(switch, input, output);
                    if let Some(&lane) = lanes.iter().find(|&&lane| lane > 14) {
                        return Err(LaneError { lane });
                    }
                    let next = known.len() as u16;
                    let row = *known.entry(lanes).or_insert(next);
                    if row == next {
                        tables.lanes.push(lanes);
                    }
                    tables.row.push(row);
                }
            }
        }
        Ok(tables)
    }

    /// The lane on which `switch` sends by `output` what came in by `input` with service level `sl`.
    #[inline]
    #[must_use]
    pub fn lane(&self, switch: SwitchId, input: u8, output: u8, sl: u8) -> u8 {
        let ports = usize::from(self.radix[switch.index()]) + 1;
        let entry = usize::from(input) * ports + usize::from(output);
        let row = self.row[self.base[switch.index()] as usize + entry];
        self.lanes[usize::from(row)][usize::from(sl)]
    }
}
