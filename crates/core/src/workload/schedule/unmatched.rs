//! Sends that no receive takes and receives that no send feeds, found by counting before anything runs.
//!
//! Exact where receives name source and tag. Where a rank has receives of any source or tag, those may take what is left
//! over: a send is unmatched if too few of them fit its envelope or there are too few in all. What counting cannot see, a
//! run does ([`Stuck`](super::Stuck)).

use std::collections::BTreeMap;

use super::{Op, OpId, Schedule};
use crate::ids::Rank;

/// Sends and receives of which there are not as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// Receiver.
    pub target: Rank,
    /// Sender; `None` where receives of any are counted with the rest.
    pub source: Option<Rank>,
    /// Tag; `None` where receives of any are counted with the rest.
    pub tag: Option<u32>,
    /// Messages sent, or left over by receives that name them.
    pub sends: u64,
    /// Messages that receives wait for.
    pub receives: u64,
}

impl Unmatched {
    /// An operation without a partner; where receives of any are counted with the rest, the first of those.
    #[must_use]
    pub fn evidence(&self, schedule: &Schedule) -> Option<OpId> {
        let own = |rank: Rank| schedule.ops_of(rank).map(OpId);
        let (Some(source), Some(tag)) = (self.source, self.tag) else {
            let is_any = |op: &OpId| match schedule.op(*op) {
                Op::Receive { source, tag } => source.is_none() || tag.is_none(),
                _ => false,
            };
            return own(self.target).find(is_any);
        };
        if self.sends > self.receives {
            let is_such = |op: &OpId| match schedule.op(*op) {
                Op::Send { target, tag: sent, .. } => target == self.target && sent == tag,
                _ => false,
            };
            return own(source).filter(is_such).nth(self.receives as usize);
        }
        let such = Op::Receive { source: Some(source), tag: Some(tag) };
        own(self.target).filter(|op| schedule.op(*op) == such).nth(self.sends as usize)
    }
}

impl Schedule {
    /// What has no partner, by receiver, sender and tag.
    #[must_use]
    pub fn unmatched(&self) -> Vec<Unmatched> {
        let mut sends = vec![0u64; self.envelopes.labels.len()];
        for (op, &envelope) in self.ops.iter().zip(&self.envelopes.of_op) {
            if matches!(op, Op::Send { .. }) {
                sends[envelope as usize] += 1;
            }
        }
        let mut all = Vec::new();
        for target in 0..self.ranks() {
            self.unmatched_at(target, &sends, &mut all);
        }
        all
    }

    fn unmatched_at(&self, target: u32, sends: &[u64], all: &mut Vec<Unmatched>) {
        let mut counts: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
        for envelope in self.envelopes.of_target(target) {
            let envelope = envelope as usize;
            counts.insert(self.envelopes.labels[envelope], (sends[envelope], 0));
        }
        let mut any: BTreeMap<(Option<u32>, Option<u32>), u64> = BTreeMap::new();
        for op in self.ops_of(Rank(target)) {
            match self.ops[op as usize] {
                Op::Receive { source: Some(source), tag: Some(tag) } => {
                    counts.entry((source.0, tag)).or_default().1 += 1;
                }
                Op::Receive { source, tag } => {
                    *any.entry((source.map(|rank| rank.0), tag)).or_default() += 1;
                }
                _ => {}
            }
        }
        let any_count: u64 = any.values().sum();
        let before = all.len();
        let mut left_over = 0;
        for ((source, tag), (sends, receives)) in counts {
            let rest = sends.saturating_sub(receives);
            left_over += rest;
            let keys = [(None, None), (Some(source), None), (None, Some(tag))];
            let fit: u64 = keys.iter().filter_map(|key| any.get(key)).sum();
            if receives > sends || rest > fit {
                let receives = receives + if rest > fit { fit } else { 0 };
                let (source, tag) = (Some(Rank(source)), Some(tag));
                all.push(Unmatched { target: Rank(target), source, tag, sends, receives });
            }
        }
        if all.len() == before && left_over != any_count {
            all.push(Unmatched {
                target: Rank(target),
                source: None,
                tag: None,
                sends: left_over,
                receives: any_count,
            });
        }
    }
}
