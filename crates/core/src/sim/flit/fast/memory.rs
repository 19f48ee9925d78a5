//! How much a simulation can come to hold: channels, lanes and queues, and as many packets as buffers have room for.

use super::Packet;
use super::lanes::Lanes;
use super::queue::Calendar;
use super::queues::Queues;
use super::state::{Head, Host, Output, Rare, Sink};
use super::{Ends, FlitOptions};
use crate::ids::ChannelId;
use crate::sim::flit::lane_arbiter::Turns;
use crate::sim::flit::network::{End, Network};
use crate::sim::flit::source::Demand;

/// Packets that a simulation of a network holds at the most: as many as buffers have room for, or as there are.
///
/// # Complexity
/// Linear in channels.
pub fn most_packets(network: &Network<'_>, options: &FlitOptions, demand: Demand) -> u64 {
    let (lanes, channels) = (network.lanes(), network.channel_count());
    let flits = demand.least.0.div_ceil(u64::from(options.flit_bytes));
    let flits = flits.clamp(1, u64::from(options.mtu_flits));
    let input = u64::from(options.lane_flits_of(lanes)) / flits * lanes as u64;
    let output = |flits_held: u32| input + u64::from(flits_held) / flits;
    let alive = (0..channels).map(ChannelId::from_index).filter(|&id| network.flit_ps(id) > 0);
    let packets: u64 = alive
        .map(|id| match network.tail(id) {
            End::Switch(..) => output(options.switch_output_flits),
            // One more waits, and one is being made.
            _ => output(options.host_output_flits) + 2,
        })
        .sum();
    packets.min(demand.packets)
}

/// Bytes that a simulation of a network takes at the most.
///
/// # Complexity
/// Linear in channels.
pub fn memory_bound(network: &Network<'_>, options: &FlitOptions, demand: Demand) -> u64 {
    let (lanes, channels) = (network.lanes(), network.channel_count());
    // Each in its slot, in the list of free slots, and before a sink.
    let packet =
        size_of::<Packet>() + size_of::<u32>() + size_of::<Option<Ends>>() + 2 * size_of::<u64>();
    let channel = size_of::<Output>()
        + size_of::<Rare>()
        + size_of::<Head>()
        + size_of::<Turns>()
        + size_of::<bool>()
        + size_of::<u64>();
    // An arbiter and a cable each wait for one moment; some more were given up for earlier ones.
    let events = 6 * channels;
    let rank = size_of::<Host>() + size_of::<Sink>() + 16 * size_of::<u64>();
    most_packets(network, options, demand) * packet as u64
        + (channels * (channel + lanes * Lanes::SLOT) + network.rank_count() * rank) as u64
        + Queues::memory(network)
        + Calendar::memory(channels, events)
}
