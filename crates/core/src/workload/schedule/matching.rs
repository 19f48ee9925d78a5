//! Which receive takes which message.
//!
//! Messages under one envelope are alike, so that counting them is enough; receives that wait for one are a queue. Only
//! where some receive takes any source or tag is more kept: the order in which receives started and messages came.

use std::collections::VecDeque;

use super::{Envelopes, NONE, Op, OpId, Schedule};

/// Messages without receives, and receives without messages.
#[derive(Clone, Debug)]
pub(super) struct Matching {
    /// By envelope: messages sent that have not come.
    under_way: Vec<u32>,
    /// By envelope: messages that came and were not received.
    unclaimed: Vec<u32>,
    /// By envelope: the first and last receive that waits.
    posted: Vec<(u32, u32)>,
    /// By operation: the receive that started after it under the same envelope.
    next: Vec<u32>,
    /// By rank, where receives take any.
    wild: Vec<Wild>,
    /// By operation, there: when it started, in receives.
    posted_at: Vec<u32>,
    posts: u32,
}

/// What any-receives of a rank need.
#[derive(Clone, Debug, Default)]
struct Wild {
    /// Receives of any source or tag that wait, in the order they started.
    posted: VecDeque<u32>,
    /// Envelopes of unclaimed messages, in the order they came.
    came: VecDeque<u32>,
}

impl Matching {
    pub fn new(schedule: &Schedule) -> Self {
        let envelopes = &schedule.envelopes;
        let (labels, ops) = (envelopes.labels.len(), schedule.ops.len());
        let if_wild = |count| if envelopes.wild { count } else { 0 };
        Matching {
            under_way: vec![0; labels],
            unclaimed: vec![0; labels],
            posted: vec![(NONE, NONE); labels],
            next: vec![NONE; ops],
            wild: vec![Wild::default(); if_wild(schedule.ranks() as usize)],
            posted_at: vec![0; if_wild(ops)],
            posts: 0,
        }
    }

    /// Bytes that it takes.
    pub fn memory(schedule: &Schedule) -> u64 {
        let envelopes = &schedule.envelopes;
        let wild = if envelopes.wild { 2 } else { 1 };
        let words = 4 * envelopes.labels.len() + wild * schedule.ops.len();
        (words * size_of::<u32>()) as u64
    }

    /// A message was sent.
    pub fn sent(&mut self, envelope: u32) {
        self.under_way[envelope as usize] += 1;
    }

    /// A receive starts; true if its message has come already.
    pub fn post(&mut self, schedule: &Schedule, rank: u32, op: OpId) -> bool {
        let envelopes = &schedule.envelopes;
        if let Some(at) = self.posted_at.get_mut(op.index()) {
            *at = self.posts;
            self.posts += 1;
        }
        let envelope = envelopes.of_op[op.index()];
        let Op::Receive { source, tag } = schedule.op(op) else { return false };
        if source.is_none() || tag.is_none() {
            let wild = &mut self.wild[rank as usize];
            let fits = |&envelope: &u32| takes(schedule.op(op), envelopes, envelope);
            let Some(at) = wild.came.iter().position(fits) else {
                wild.posted.push_back(op.0);
                return false;
            };
            let envelope = wild.came.remove(at).unwrap_or(NONE);
            self.unclaimed[envelope as usize] -= 1;
            return true;
        }
        if envelope == NONE {
            return false;
        }
        if self.unclaimed[envelope as usize] > 0 {
            self.unclaimed[envelope as usize] -= 1;
            if let Some(wild) = self.wild.get_mut(rank as usize)
                && let Some(at) = wild.came.iter().position(|&came| came == envelope)
            {
                wild.came.remove(at);
            }
            return true;
        }
        let (head, tail) = &mut self.posted[envelope as usize];
        match *tail {
            NONE => *head = op.0,
            last => self.next[last as usize] = op.0,
        }
        *tail = op.0;
        false
    }

    /// A message came: the receive that takes it, if one waits; `Err` if no such message was under way.
    pub fn came(
        &mut self,
        schedule: &Schedule,
        rank: u32,
        envelope: u32,
    ) -> Result<Option<OpId>, ()> {
        let envelopes = &schedule.envelopes;
        let under_way = self.under_way.get_mut(envelope as usize).ok_or(())?;
        *under_way = under_way.checked_sub(1).ok_or(())?;
        let own = self.posted[envelope as usize].0;
        if let Some(wild) = self.wild.get_mut(rank as usize) {
            let fits = |&op: &u32| takes(schedule.op(OpId(op)), envelopes, envelope);
            let any = wild.posted.iter().position(fits);
            let earlier =
                |op: u32| own == NONE || self.posted_at[op as usize] < self.posted_at[own as usize];
            if let Some(at) = any.filter(|&at| earlier(wild.posted[at])) {
                return Ok(wild.posted.remove(at).map(OpId));
            }
            if own == NONE {
                wild.came.push_back(envelope);
            }
        }
        if own == NONE {
            self.unclaimed[envelope as usize] += 1;
            return Ok(None);
        }
        let next = self.next[own as usize];
        self.posted[envelope as usize] =
            if next == NONE { (NONE, NONE) } else { (next, self.posted[envelope as usize].1) };
        Ok(Some(OpId(own)))
    }

    /// By envelope: how many messages are under way, and how many came and were not received.
    pub fn left(&self) -> impl Iterator<Item = (u32, u32)> {
        self.under_way.iter().copied().zip(self.unclaimed.iter().copied())
    }
}

/// Whether a receive takes messages under an envelope to its rank.
fn takes(receive: Op, envelopes: &Envelopes, envelope: u32) -> bool {
    let (from, tagged) = envelopes.labels[envelope as usize];
    match receive {
        Op::Receive { source, tag } => {
            source.is_none_or(|source| source.0 == from) && tag.is_none_or(|tag| tag == tagged)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::ids::Rank;
    use crate::units::{Bytes, Picos};
    use crate::workload::schedule::{Builder, Op, OpId, Progress, WaitsFor};

    /// Receives that wait and messages that no one took, looked through from the oldest on.
    #[derive(Default)]
    struct Naive {
        posted: Vec<(u32, Option<u32>, Option<u32>)>,
        unclaimed: Vec<(u32, u32)>,
    }

    impl Naive {
        fn post(&mut self, op: u32, from: Option<u32>, tagged: Option<u32>) {
            let fits = |&(source, tag): &(u32, u32)| {
                from.is_none_or(|from| from == source) && tagged.is_none_or(|tagged| tagged == tag)
            };
            match self.unclaimed.iter().position(fits) {
                Some(at) => drop(self.unclaimed.remove(at)),
                None => self.posted.push((op, from, tagged)),
            }
        }

        fn came(&mut self, source: u32, tag: u32) {
            let fits = |&(_, from, tagged): &(u32, Option<u32>, Option<u32>)| {
                from.is_none_or(|from| from == source) && tagged.is_none_or(|tagged| tagged == tag)
            };
            match self.posted.iter().position(fits) {
                Some(at) => drop(self.posted.remove(at)),
                None => self.unclaimed.push((source, tag)),
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Post(Option<u32>, Option<u32>),
        Came(u32, u32),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (prop::option::weighted(0.7, 1u32..4), prop::option::weighted(0.7, 0u32..3))
                .prop_map(|(source, tag)| Event::Post(source, tag)),
            (1u32..4, 0u32..3).prop_map(|(source, tag)| Event::Came(source, tag)),
        ]
    }

    proptest! {
        #[test]
        fn receives_take_the_messages_that_a_plain_list_gives_them(
            events in prop::collection::vec(event(), 1..60),
        ) {
            let mut builder = Builder::new(4);
            // Every receive waits for a computation of its own, so that its start can be chosen.
            for (number, event) in (0..).zip(&events) {
                match *event {
                    Event::Post(source, tag) => {
                        let wait = Op::Compute { time: Picos(1), cpu: number as u8 };
                        let wait = builder.add(Rank(0), wait).unwrap();
                        let receive = Op::Receive { source: source.map(Rank), tag };
                        let receive = builder.add(Rank(0), receive).unwrap();
                        builder.requires(Rank(0), receive, wait).unwrap();
                    }
                    Event::Came(source, tag) => {
                        let send = Op::Send { target: Rank(0), size: Bytes(1), tag };
                        builder.add(Rank(source), send).unwrap();
                    }
                }
            }
            let schedule = builder.build().unwrap();
            let mut progress = Progress::new(&schedule);
            (1..4).for_each(|rank| while progress.ready_send(Rank(rank)).is_some() {});
            let mut naive = Naive::default();
            for event in events {
                match event {
                    Event::Post(source, tag) => {
                        let wait = progress.ready_compute(Rank(0)).unwrap();
                        progress.complete(wait).unwrap();
                        naive.post(wait.0 + 1, source, tag);
                    }
                    Event::Came(source, tag) => {
                        progress.arrived(Rank(source), Rank(0), tag).unwrap();
                        naive.came(source, tag);
                    }
                }
                let stuck = progress.stuck();
                let is_message = |waits_for| matches!(waits_for, WaitsFor::Message { .. });
                let waits = stuck.waits.iter().filter(|wait| is_message(wait.waits_for));
                let waiting: Vec<OpId> = waits.map(|wait| wait.op).collect();
                let expected: Vec<OpId> = naive.posted.iter().map(|post| OpId(post.0)).collect();
                prop_assert_eq!(waiting, expected);
                let unclaimed: u32 = stuck.unclaimed.iter().map(|messages| messages.count).sum();
                prop_assert_eq!(unclaimed as usize, naive.unclaimed.len());
            }
        }
    }
}
