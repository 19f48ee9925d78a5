//! Exact search for packets that wait for each other in a ring.
//!
//! A packet at the head of a queue in a switch is stuck if the buffer it is to go to has no credits for it, and will never
//! have: no packet in there can go on either. Whether any can is found from the far end: a buffer moves if one of its
//! heads has credits, or is to go to a buffer that moves; sinks always drain. What is left when nothing more is found to
//! move waits for ever, and following any head through what is left closes a ring.
//!
//! Nothing that moves is ever called stuck; what gets stuck later is found by a later search. So the answer is exact, not a
//! guess from a lack of progress.

use std::collections::BTreeMap;

use crate::ids::ChannelId;

/// A buffer: the channel that fills it, and the lane.
pub type Buffer = (ChannelId, u8);

/// A packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Where it is.
    pub buffer: Buffer,
    /// Where it is to go next.
    pub next: Buffer,
    /// Whether it has credits there, or will when what is leaving there has left; or a sink is next.
    pub can_go: bool,
}

/// A ring of buffers each of whose packets waits for the next, if there is one.
#[must_use]
pub fn cycle(heads: &[Waiting]) -> Option<Vec<Buffer>> {
    let mut by_next: BTreeMap<Buffer, Vec<usize>> = BTreeMap::new();
    let mut stuck: BTreeMap<Buffer, usize> = BTreeMap::new();
    for (at, head) in heads.iter().enumerate() {
        by_next.entry(head.next).or_default().push(at);
        stuck.entry(head.buffer).or_insert(at);
    }
    let mut moving: Vec<Buffer> = Vec::new();
    for head in heads {
        // A buffer in which nothing waits is empty or is being emptied.
        let next_moves = !stuck.contains_key(&head.next);
        if (head.can_go || next_moves) && stuck.remove(&head.buffer).is_some() {
            moving.push(head.buffer);
        }
    }
    // The loop above may have passed heads whose next buffer was found to move later.
    while let Some(buffer) = moving.pop() {
        for &at in by_next.get(&buffer).into_iter().flatten() {
            if stuck.remove(&heads[at].buffer).is_some() {
                moving.push(heads[at].buffer);
            }
        }
    }
    let mut at = *stuck.keys().next()?;
    let mut way: Vec<Buffer> = Vec::new();
    loop {
        if let Some(first) = way.iter().position(|&passed| passed == at) {
            way.drain(..first);
            return Some(way);
        }
        way.push(at);
        // INVARIANT: the heads of a stuck buffer wait for stuck buffers.
        at = heads[*stuck.get(&at)?].next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(at: u32, next: u32, can_go: bool) -> Waiting {
        Waiting { buffer: (ChannelId(at), 0), next: (ChannelId(next), 0), can_go }
    }

    #[test]
    fn rings_are_found_and_queues_are_not() {
        let ring = [waiting(0, 1, false), waiting(1, 2, false), waiting(2, 0, false)];
        assert_eq!(cycle(&ring).unwrap().len(), 3);
        let queue = [waiting(0, 1, false), waiting(1, 2, false), waiting(2, 3, true)];
        assert_eq!(cycle(&queue), None);
        assert_eq!(cycle(&[]), None);
        // One packet in the ring can go another way.
        let mut branch = ring.to_vec();
        branch.push(waiting(1, 5, true));
        assert_eq!(cycle(&branch), None);
        // What waits for a ring is stuck, but not part of it.
        let mut tail = ring.to_vec();
        tail.insert(0, waiting(9, 0, false));
        let found = cycle(&tail).unwrap();
        assert!(found.len() == 3 && !found.contains(&(ChannelId(9), 0)));
    }
}
