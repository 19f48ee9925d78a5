//! SSSP entry for entry as OpenSM 3.3.23 does it: one Dijkstra run a destination LID over weights that grow with load.
//!
//! The rules, each found by experiment on the running program (`tests/opensm/reference/sssp.py` states them in full): links
//! weigh P^2 at first, P being the number of LIDs; a switch weighs its nodes' LIDs plus one; destinations go by
//! compute nodes, I/O nodes, other nodes, switches, in each pass by weight of the switch, greatest first; all switches
//! enter a heap in map order; after each destination, every switch adds its weight along its way. Distances end at
//! 2^31 - 1: where that would leave a switch without a route, which OpenSM does not notice, we refuse.

use super::heap::Heap;
use crate::ids::{Lid, SwitchId};
use crate::machine::{LidOwner, SwitchGraph};
use crate::recovery::routing::order::{VisitOrder, by_port};
use crate::recovery::routing::{Lft, Refusal, RouteOptions};

/// Distance of what is not reached.
const INFINITY: u64 = (1 << 31) - 1;
const NONE: u32 = u32::MAX;

/// Forwarding tables, subnet by subnet.
///
/// # Errors
/// A switch that OpenSM would silently leave without an entry.
///
/// # Complexity
/// LIDs x (channels + switches x log switches) time.
pub fn tables(graph: &SwitchGraph<'_>, options: &RouteOptions) -> Result<Lft, Refusal> {
    let mut lft = Lft::empty(graph.machine(), options.lmc);
    let mut order = VisitOrder::new(graph, options).switches().to_vec();
    let lids = lft.lids();
    for members in graph.joined_switches() {
        // A stable sort: the switches of this subnet come to the front in map order.
        order.sort_by_key(|switch| members.binary_search(switch).is_err());
        let mut subnet = Subnet::new(graph, &order[..members.len()], lids.per_endpoint());
        for Destination { lid, switch, port } in subnet.destinations(options, lids) {
            subnet.shortest(switch, port != 0);
            lft.set(switch, lid, port);
            for (vertex, &used) in subnet.used.iter().enumerate() {
                if used != NONE {
                    let port = subnet.far_port[used as usize];
                    lft.set(subnet.switches[vertex], lid, port);
                } else if subnet.switches[vertex] != switch {
                    return Err(overflow(subnet.switches[vertex], subnet.lid_total));
                }
            }
            subnet.add_load();
        }
    }
    Ok(lft)
}

fn overflow(switch: SwitchId, lids: u64) -> Refusal {
    let reason = format!(
        "OpenSM's path weights overflow: {lids} LIDs squared, times the hops, reach 2^31, and \
         this switch would get no route; leave out compat opensm, which has no such limit"
    );
    Refusal { reason, switch: Some(switch) }
}

struct Destination {
    lid: Lid,
    switch: SwitchId,
    /// Port by which the switch hands it over, 0 for its own.
    port: u8,
}

/// Switches that one subnet manager sees, numbered in map order.
struct Subnet<'a> {
    graph: &'a SwitchGraph<'a>,
    switches: &'a [SwitchId],
    lid_total: u64,
    /// By vertex: LIDs that send from there.
    weight: Vec<u64>,
    /// Links of each vertex by port: `link[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    far: Vec<u32>,
    /// Port at the far end.
    far_port: Vec<u8>,
    owner: Vec<u32>,
    link_weight: Vec<u64>,
    heap: Heap,
    distance: Vec<u64>,
    /// By vertex: the link, away from the destination, that ends there.
    used: Vec<u32>,
}

impl<'a> Subnet<'a> {
    fn new(graph: &'a SwitchGraph<'a>, switches: &'a [SwitchId], per_endpoint: u32) -> Self {
        let machine = graph.machine();
        let mut vertex = vec![NONE; graph.switch_count()];
        for (number, switch) in switches.iter().enumerate() {
            vertex[switch.index()] = number as u32;
        }
        let weight: Vec<u64> = switches
            .iter()
            .map(|&switch| graph.attached(switch).len() as u64 * u64::from(per_endpoint) + 1)
            .collect();
        let (mut first, mut far, mut far_port, mut owner) = (vec![0], vec![], vec![], vec![]);
        for (number, &switch) in switches.iter().enumerate() {
            for (channel, head) in graph.neighbours(switch) {
                far.push(vertex[head.index()]);
                far_port.push(machine.head(channel).port);
                owner.push(number as u32);
            }
            first.push(far.len() as u32);
        }
        let lid_total: u64 = weight.iter().sum();
        Subnet {
            graph,
            switches,
            lid_total,
            first,
            link_weight: vec![lid_total * lid_total; far.len()],
            far,
            far_port,
            owner,
            heap: Heap::default(),
            distance: vec![INFINITY; switches.len()],
            used: vec![NONE; switches.len()],
            weight,
        }
    }

    /// Compute nodes, I/O nodes, all others, switches; each pass by weight of the switch, then by port.
    fn destinations(&self, options: &RouteOptions, lids: crate::machine::Lids) -> Vec<Destination> {
        let machine = self.graph.machine();
        let mut by_weight: Vec<usize> = (0..self.switches.len()).collect();
        by_weight.sort_by_key(|&vertex| std::cmp::Reverse(self.weight[vertex]));
        let by_weight: Vec<SwitchId> =
            by_weight.into_iter().map(|vertex| self.switches[vertex]).collect();
        let mut done = vec![false; machine.endpoint_count()];
        let mut found = Vec::new();
        let mut named = [vec![false; done.len()], vec![false; done.len()], vec![true; done.len()]];
        for (list, named) in [&options.compute_nodes, &options.io_nodes].into_iter().zip(&mut named)
        {
            list.iter().for_each(|endpoint| named[endpoint.index()] = true);
        }
        for named in &named {
            for &switch in &by_weight {
                for endpoint in by_port(self.graph, switch) {
                    if named[endpoint.index()] && !done[endpoint.index()] {
                        done[endpoint.index()] = true;
                        let port = machine.head(machine.injection(endpoint)).port;
                        let of = lids.all_of_endpoint(endpoint);
                        found.extend(of.map(|lid| Destination { lid, switch, port }));
                    }
                }
            }
        }
        found.extend(by_weight.iter().map(|&switch| {
            debug_assert_eq!(lids.owner(lids.of_switch(switch)), LidOwner::Switch(switch));
            Destination { lid: lids.of_switch(switch), switch, port: 0 }
        }));
        found
    }

    /// Lightest ways from all switches to a destination, found from it outwards.
    fn shortest(&mut self, target: SwitchId, from_node: bool) {
        let count = self.switches.len() as u32;
        self.distance.fill(INFINITY);
        self.used.fill(NONE);
        // The node itself is a vertex too, put in last and taken out first: it stirs the heap.
        self.heap.fill(count + u32::from(from_node), INFINITY);
        if from_node {
            self.heap.lower(count, 0);
            self.heap.pop();
        }
        // INVARIANT: destinations are listed from the subnet's own switches.
        #[allow(clippy::expect_used)]
        let target = self.switches.iter().position(|&s| s == target).expect("a member") as u32;
        self.distance[target as usize] = u64::from(from_node);
        self.heap.lower(target, u64::from(from_node));
        while let Some((key, here)) = self.heap.pop() {
            if key == INFINITY {
                break;
            }
            let links = self.first[here as usize]..self.first[here as usize + 1];
            for link in links {
                let far = self.far[link as usize];
                let through = key + self.link_weight[link as usize];
                if through < self.distance[far as usize] {
                    self.distance[far as usize] = through;
                    self.used[far as usize] = link;
                    self.heap.lower(far, through);
                }
            }
        }
    }

    /// Every switch adds its weight to the links on its way.
    fn add_load(&mut self) {
        for vertex in 0..self.used.len() {
            let mut at = vertex;
            while self.used[at] != NONE {
                let link = self.used[at] as usize;
                self.link_weight[link] += self.weight[vertex];
                at = self.owner[link] as usize;
            }
        }
    }
}
