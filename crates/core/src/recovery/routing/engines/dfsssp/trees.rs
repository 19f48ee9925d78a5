//! The routes to every LID as a tree over the switches, LID by LID.

use crate::ids::{Lid, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};
use crate::parallel;
use crate::recovery::routing::Lft;

/// Which routes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// From nodes to node LIDs: those that carry data.
    Nodes,
    /// From and to all LIDs, switches' own too.
    All,
}

/// For each destination LID that counts, the channel by which every switch forwards.
pub struct Trees {
    /// Destinations, ascending.
    pub lids: Vec<Lid>,
    /// Sources at each switch.
    pub weight: Vec<u32>,
    /// Number of LIDs that tables have, those that do not count included.
    pub columns: usize,
    switches: usize,
    /// Position of the channel among those that leave the switch, `[destination][switch]`; [`NO_WAY`] for none.
    position: Vec<u8>,
    /// By slot of a channel: the position of its reverse among the channels that leave its head.
    back: Vec<u8>,
}

/// The switch has no way, or is the target itself.
pub const NO_WAY: u8 = u8::MAX;

impl Trees {
    /// Reads the trees out of forwarding tables.
    #[must_use]
    pub fn new(graph: &SwitchGraph<'_>, lft: &Lft, pairs: Pairs) -> Self {
        let (machine, lids) = (graph.machine(), lft.lids());
        let switches = graph.switch_count();
        let counted = |&lid: &Lid| match lids.owner(lid) {
            LidOwner::Endpoint(endpoint) => graph.switch_of(endpoint).is_some(),
            LidOwner::Switch(switch) => pairs == Pairs::All && graph.view().switch_alive(switch),
        };
        let destinations: Vec<Lid> = (0..lids.count() as u32).map(Lid).filter(counted).collect();
        let mut position_of_port = vec![[NO_WAY; 256]; switches];
        for switch in machine.switches() {
            for (position, &channel) in graph.channels(switch).iter().enumerate() {
                let port = machine.tail(channel).port;
                position_of_port[switch.index()][usize::from(port)] = position as u8;
            }
        }
        let mut position = vec![NO_WAY; destinations.len() * switches];
        // Blocks of destinations keep the reads of table rows in whole cache lines.
        let steps = position.len();
        parallel::rows(
            &mut position,
            switches * BLOCK,
            steps,
            || (),
            |(), block, rows| {
                let block = &destinations[block * BLOCK..];
                for (switch, of_port) in position_of_port.iter().enumerate() {
                    for (row, &lid) in block.iter().take(BLOCK).enumerate() {
                        let port = lft.port(SwitchId(switch as u32), lid);
                        rows[row * switches + switch] = of_port[usize::from(port)];
                    }
                }
            },
        );
        let weight = |switch| match pairs {
            Pairs::Nodes => graph.sources(switch),
            Pairs::All if !graph.view().switch_alive(switch) => 0,
            Pairs::All => (graph.attached(switch).len() as u32) * lids.per_endpoint() + 1,
        };
        let back = (0..graph.slot_count())
            .map(|slot| graph.position(graph.slot_channel(slot).reverse()) as u8);
        Trees {
            lids: destinations,
            weight: machine.switches().map(weight).collect(),
            columns: lids.count(),
            switches,
            position,
            back: back.collect(),
        }
    }

    /// The tree of destination number `at`: positions by switch.
    #[inline]
    #[must_use]
    pub fn tree(&self, at: usize) -> &[u8] {
        &self.position[at * self.switches..(at + 1) * self.switches]
    }

    /// Number of switches a tree spans.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.switches
    }

    /// Calls `visit` with every switch that forwards directly to `switch` in a tree.
    #[inline]
    pub fn children(
        &self,
        graph: &SwitchGraph<'_>,
        tree: &[u8],
        switch: SwitchId,
        mut visit: impl FnMut(SwitchId),
    ) {
        for slot in graph.slots(switch) {
            let head = graph.slot_head(slot);
            if tree[head.index()] == self.back[slot] {
                visit(head);
            }
        }
    }

    /// Writes the switches of a tree in an order in which each comes before the one it forwards to, leaves first.
    pub fn far_to_near(&self, graph: &SwitchGraph<'_>, tree: &[u8], order: &mut Vec<SwitchId>) {
        let mut behind = vec![0u32; self.switches];
        let next = |switch: SwitchId| match tree[switch.index()] {
            NO_WAY => None,
            position => Some(graph.heads(switch)[usize::from(position)]),
        };
        let all = || (0..self.switches as u32).map(SwitchId);
        all().filter_map(next).for_each(|head| behind[head.index()] += 1);
        order.clear();
        order.extend(all().filter(|switch| behind[switch.index()] == 0));
        let mut front = 0;
        while let Some(&switch) = order.get(front) {
            front += 1;
            if let Some(head) = next(switch) {
                behind[head.index()] -= 1;
                if behind[head.index()] == 0 {
                    order.push(head);
                }
            }
        }
    }
}

/// Destinations whose entries are read together.
const BLOCK: usize = 64;
