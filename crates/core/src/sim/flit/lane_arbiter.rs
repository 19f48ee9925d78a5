//! The choice among virtual lanes at one output: InfiniBand's two tables of lanes and weights.
//!
//! While fewer than the limit of flits has been sent in a row from the high-priority table, a lane of it that has a packet
//! wins; else one of the low-priority table. Within a table lanes take turns; one that has a packet keeps its turn until it
//! has sent its weight in flits.
//!
//! Source: InfiniBand Architecture Specification, VL arbitration; `reference/infiniband-flit-model.md`, section 2.3. Departs
//! from the public model: the choice is among lanes that can send now, so a blocked one does not idle the output.

use super::options::FlitOptions;

/// The two tables, the same at every output.
#[derive(Clone, Debug)]
pub struct LaneTables {
    high: Vec<(u8, u32)>,
    low: Vec<(u8, u32)>,
    limit: u32,
}

/// Whose turn it is at one output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    high: Turn,
    low: Turn,
    /// Flits sent from the high table since the low one had its turn.
    high_sent: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    entry: u16,
    /// Flits sent in this turn.
    sent: u32,
}

impl LaneTables {
    /// The tables for `lanes` lanes.
    #[must_use]
    pub fn new(options: &FlitOptions, lanes: usize) -> Self {
        let used = |&(lane, _): &(u8, u32)| usize::from(lane) < lanes;
        let high: Vec<_> = options.high_lanes.iter().copied().filter(used).collect();
        let mut low: Vec<_> = options.low_lanes.iter().copied().filter(used).collect();
        // No lane is left without a turn.
        for lane in 0..lanes as u8 {
            if !high.iter().chain(&low).any(|&(other, _)| other == lane) {
                low.push((lane, options.mtu_flits));
            }
        }
        LaneTables { high, low, limit: options.high_limit_flits }
    }

    /// Whose turn it is among the lanes in `ready` (a bit each, not none).
    #[must_use]
    pub fn choose(&self, turns: &Turns, ready: u16) -> Choice {
        let high = pick(&self.high, turns.high, ready);
        let low = pick(&self.low, turns.low, ready);
        let (high, entry) = match (high, low) {
            (Some(at), None) => (true, at),
            (Some(at), Some(_)) if turns.high_sent < self.limit => (true, at),
            // INVARIANT: every lane stands in one of the tables.
            (_, at) => (false, at.unwrap_or(0)),
        };
        let table = if high { &self.high } else { &self.low };
        Choice { vl: table[entry].0, high, entry: entry as u16 }
    }

    /// Notes that a packet of `flits` flits was sent by that choice.
    pub fn sent(&self, turns: &mut Turns, choice: Choice, flits: u32) {
        let (table, turn) = if choice.high {
            turns.high_sent = turns.high_sent.saturating_add(flits);
            (&self.high, &mut turns.high)
        } else {
            turns.high_sent = 0;
            (&self.low, &mut turns.low)
        };
        if turn.entry != choice.entry {
            *turn = Turn { entry: choice.entry, sent: 0 };
        }
        turn.sent += flits;
        if turn.sent >= table[usize::from(choice.entry)].1 {
            let next = (usize::from(choice.entry) + 1) % table.len();
            *turn = Turn { entry: next as u16, sent: 0 };
        }
    }
}

/// A lane and the entry by which it won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The lane.
    pub vl: u8,
    high: bool,
    entry: u16,
}

/// The entry whose lane is ready, from the one whose turn it is on.
fn pick(table: &[(u8, u32)], turn: Turn, ready: u16) -> Option<usize> {
    let from = usize::from(turn.entry);
    (from..table.len()).chain(0..from).find(|&at| ready >> table[at].0 & 1 == 1)
}
