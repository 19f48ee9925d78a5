//! Packets that wait at switches and hosts, by output channel, input port and lane.

use super::NONE;
use super::state::Output;
use crate::ids::{ChannelId, SwitchId};
use crate::sim::flit::network::{End, Network};

/// All queues; where those of an output begin stands in [`Output`].
pub(super) struct Queues {
    lanes: usize,
    /// By output, then input `port` and lane `vl` at `port x lanes + vl`.
    queues: Vec<Queue>,
    /// By output, then lane: inputs that have a packet, a bit each; apart from all else, so that they stay in the cache.
    waiting: Vec<u64>,
    /// By switch: where its ports begin in `ports`.
    base: Vec<u32>,
    ports: Vec<Port>,
}

/// The first and the last packet of a queue; `NONE`: it is empty.
#[derive(Clone, Copy)]
pub(super) struct Queue {
    pub first: u32,
    pub last: u32,
}

impl Queue {
    pub const EMPTY: Queue = Queue { first: NONE, last: NONE };
}

/// A port of a switch: the channel that leaves there, and where its queues and their marks begin; `NONE`: there is none.
struct Port {
    channel: u32,
    queues: u32,
    waiting: u32,
}

impl Queues {
    /// Empty queues; notes in `outputs` where those of each begin.
    pub fn new(network: &Network<'_>, outputs: &mut [Output]) -> Self {
        let lanes = network.lanes();
        let (mut base, mut ports) = (Vec::new(), Vec::new());
        let port = |channel| Port { channel, queues: NONE, waiting: NONE };
        for switch in (0..network.switch_count() as u32).map(SwitchId) {
            base.push(ports.len() as u32);
            ports.push(port(NONE));
            let channel = |at| network.output(switch, at).map_or(NONE, |channel| channel.0);
            ports.extend((1..=network.radix(switch)).map(channel).map(port));
        }
        let (mut queues, mut waiting) = (0, 0);
        for (at, output) in outputs.iter_mut().enumerate() {
            let id = ChannelId::from_index(at);
            let inputs = inputs(network, id);
            let words = inputs.div_ceil(64).max(1);
            (output.queues, output.waiting) = (queues as u32, waiting as u32);
            output.words = words as u8;
            if let End::Switch(switch, port) = network.tail(id) {
                output.ports = base[switch.index()];
                let port = &mut ports[output.ports as usize + usize::from(port)];
                (port.queues, port.waiting) = (output.queues, output.waiting);
            }
            queues += inputs * lanes;
            waiting += words * lanes;
        }
        Queues { lanes, queues: vec![Queue::EMPTY; queues], waiting: vec![0; waiting], base, ports }
    }

    /// Bytes that the queues of a network take.
    pub fn memory(network: &Network<'_>) -> u64 {
        let ids = (0..network.channel_count()).map(ChannelId::from_index);
        let of_lane = |inputs: usize| {
            inputs * size_of::<Queue>() + inputs.div_ceil(64).max(1) * size_of::<u64>()
        };
        let queues = ids.map(|id| of_lane(inputs(network, id))).sum::<usize>();
        (queues * network.lanes() + network.channel_count() * size_of::<Port>()) as u64
    }

    /// The channel that leaves a switch by a port.
    #[inline]
    pub fn output(&self, switch: SwitchId, port: u8) -> usize {
        self.port(switch, port).channel as usize
    }

    #[inline]
    fn port(&self, switch: SwitchId, port: u8) -> &Port {
        &self.ports[self.base[switch.index()] as usize + usize::from(port)]
    }

    /// The queue from an input of a switch to a port and lane, and its mark, found without a look at the output.
    #[inline]
    pub fn of_port(&self, switch: SwitchId, out: u8, input: u8, vl: u8) -> (&Queue, &u64) {
        let port = self.port(switch, out);
        let queue = &self.queues[self.within(port.queues, input, vl)];
        (queue, &self.waiting[port.waiting as usize + usize::from(vl)])
    }

    /// The channel that arrives at an input of the switch of an output.
    #[inline]
    pub fn input(&self, output: &Output, port: u8) -> usize {
        self.ports[output.ports as usize + usize::from(port)].channel as usize ^ 1
    }

    #[inline]
    pub fn of(&self, output: &Output, port: u8, vl: u8) -> &Queue {
        &self.queues[self.within(output.queues, port, vl)]
    }

    #[inline]
    pub fn of_mut(&mut self, output: &Output, port: u8, vl: u8) -> &mut Queue {
        let at = self.within(output.queues, port, vl);
        &mut self.queues[at]
    }

    /// Where inputs with packets for an output are noted.
    #[inline]
    pub fn waiting(&self, output: &Output) -> &u64 {
        &self.waiting[output.waiting as usize]
    }

    #[inline]
    fn within(&self, queues: u32, port: u8, vl: u8) -> usize {
        queues as usize + usize::from(port) * self.lanes + usize::from(vl)
    }

    /// Notes whether an input has a packet for a lane of an output.
    #[inline]
    pub fn mark(&mut self, output: &mut Output, port: u8, vl: u8, waits: bool) {
        let words = words(output, vl);
        let (bit, word) = (1 << (port % 64), words.start + usize::from(port / 64));
        if waits {
            self.waiting[word] |= bit;
            output.busy |= 1 << vl;
        } else {
            self.waiting[word] &= !bit;
            if self.waiting[words].iter().all(|&word| word == 0) {
                output.busy &= !(1 << vl);
            }
        }
    }

    /// The first input at or after `from` that has a packet for a lane of an output, if any.
    #[inline]
    pub fn next_input(&self, output: &Output, vl: u8, from: usize) -> Option<u8> {
        let words = &self.waiting[words(output, vl)];
        let mut mask = u64::MAX << (from % 64);
        for (at, word) in words.iter().enumerate().skip(from / 64) {
            let word = word & mask;
            if word != 0 {
                return Some((at * 64) as u8 + word.trailing_zeros() as u8);
            }
            mask = u64::MAX;
        }
        None
    }
}

/// Where the words of a lane are.
#[inline]
fn words(output: &Output, vl: u8) -> std::ops::Range<usize> {
    let count = usize::from(output.words);
    let base = output.waiting as usize + usize::from(vl) * count;
    base..base + count
}

/// Inputs of the arbiter of a channel, counted from 0 on; a host has but its generator.
fn inputs(network: &Network<'_>, id: ChannelId) -> usize {
    match network.tail(id) {
        _ if network.flit_ps(id) == 0 => 0,
        End::Switch(switch, _) => usize::from(network.radix(switch)) + 1,
        _ => 1,
    }
}
