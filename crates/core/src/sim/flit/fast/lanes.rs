//! Lanes of channels: flow control by credits, at the sending end and at the receiving one.

use std::collections::VecDeque;

use super::NEVER;

/// A lane of a channel: half a line. Counts of flits wrap around: only differences matter, and those are small.
#[derive(Clone, Default)]
#[repr(align(32))]
pub(super) struct Lane {
    /// When what the receiver told last is known to the sender.
    told_at: u64,
    /// How many flits may ever be sent by that.
    told: u32,
    /// The same by what was known to the sender before.
    limit: u32,
    /// Flits ever sent.
    pub sent: u32,
    /// Flits that have left the buffer at the end of the channel, those of packets in progress apart.
    pub departed: u32,
    /// Flow-control packets on the way, before the last.
    earlier: u32,
    /// The input that was served last; 255: none.
    pub last_input: u8,
}

/// Lanes of all channels.
pub(super) struct Lanes {
    pub count: usize,
    lanes: Vec<Lane>,
    /// By channel: whether its arbiter waits for credits.
    pub awaits: Vec<bool>,
    /// By lane: flow control on the way, arrival and limit, except for the last. There is hardly ever any.
    earlier: Vec<VecDeque<(u64, u32)>>,
}

impl Lanes {
    /// Bytes of a lane of a channel, with a few flow-control packets on the way.
    pub const SLOT: usize =
        size_of::<Lane>() + size_of::<VecDeque<(u64, u32)>>() + 4 * size_of::<(u64, u32)>();

    pub fn new(channels: usize, count: usize) -> Self {
        let lane = Lane { last_input: u8::MAX, ..Lane::default() };
        let slots = channels * count;
        let (lanes, earlier) = (vec![lane; slots], vec![VecDeque::new(); slots]);
        Lanes { count, lanes, awaits: vec![false; channels], earlier }
    }

    #[inline]
    pub fn of(&self, channel: usize, vl: u8) -> &Lane {
        &self.lanes[channel * self.count + usize::from(vl)]
    }

    #[inline]
    pub fn of_mut(&mut self, channel: usize, vl: u8) -> &mut Lane {
        &mut self.lanes[channel * self.count + usize::from(vl)]
    }

    /// Has the lanes of a channel fetched.
    #[inline]
    pub fn fetch(&self, channel: usize, fetch: impl Fn(&Lane)) {
        self.lanes[channel * self.count..(channel + 1) * self.count].iter().for_each(fetch);
    }

    /// Flits that may be sent now.
    #[inline]
    pub fn credit(&mut self, channel: usize, vl: u8, now: u64) -> u32 {
        let slot = channel * self.count + usize::from(vl);
        let lane = &mut self.lanes[slot];
        if lane.earlier > 0 {
            let due = self.earlier[slot].iter().take_while(|(at, _)| *at <= now).count();
            for (_, limit) in self.earlier[slot].drain(..due) {
                lane.limit = limit;
            }
            lane.earlier -= due as u32;
        }
        let limit = if lane.told_at <= now { lane.told } else { lane.limit };
        limit.wrapping_sub(lane.sent)
    }

    /// Flits that may be sent once all flow control on the way has arrived.
    #[inline]
    pub fn last_credit(&self, channel: usize, vl: u8) -> u32 {
        let lane = self.of(channel, vl);
        lane.told.wrapping_sub(lane.sent)
    }

    /// When the next flow control arrives that is on the way; `NEVER`: none is.
    pub fn next_credit(&self, channel: usize, vl: u8, now: u64) -> u64 {
        let slot = channel * self.count + usize::from(vl);
        let lane = &self.lanes[slot];
        let last = if lane.told_at > now { lane.told_at } else { NEVER };
        let earlier = self.earlier[slot].iter().map(|&(at, _)| at);
        if lane.earlier > 0 { earlier.min().map_or(last, |at| at.min(last)) } else { last }
    }

    /// What the sender was told last: how many flits it may ever send.
    #[inline]
    pub fn told(&self, channel: usize, vl: u8) -> u32 {
        self.of(channel, vl).told
    }

    /// Tells the sender how many flits it may ever send, which it will know at `arrival`.
    pub fn tell(&mut self, channel: usize, vl: u8, now: u64, arrival: u64, limit: u32) {
        let slot = channel * self.count + usize::from(vl);
        let (lane, earlier) = (&mut self.lanes[slot], &mut self.earlier[slot]);
        if lane.told_at > now {
            earlier.push_back((lane.told_at, lane.told));
            lane.earlier += 1;
        } else {
            lane.limit = lane.told;
            if lane.earlier > 0 {
                earlier.clear();
                lane.earlier = 0;
            }
        }
        (lane.told_at, lane.told) = (arrival, limit);
    }
}
