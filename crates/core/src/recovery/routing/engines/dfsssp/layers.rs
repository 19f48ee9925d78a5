//! Which lane every route goes in: cycles are broken in lane after lane.

use super::arcs::Arcs;
use super::breaker::Breaker;
use super::online;
use super::trees::Trees;
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::parallel;

/// A layer for every route.
pub struct Layers {
    count: u8,
    /// `[destination][switch]`; empty if there is but one layer.
    of: Vec<u8>,
}

impl Layers {
    /// Starts with all routes in layer 0 and moves what closes cycles on, layer by layer.
    ///
    /// # Errors
    /// A switch on a cycle that is left in the last layer.
    pub fn offline(
        graph: &SwitchGraph<'_>,
        trees: &Trees,
        layers_max: u8,
    ) -> Result<Self, SwitchId> {
        let arcs = Arcs::new(graph);
        let mut breaker = Breaker::new(graph, trees, &arcs);
        if breaker.find_cycle().is_none() {
            return Ok(Layers { count: 1, of: Vec::new() });
        }
        breaker.index_routes();
        for layer in 0..layers_max - 1 {
            let more = breaker.break_cycles(layer);
            if !more {
                return Ok(Layers { count: layer + 1, of: breaker.into_layers() });
            }
        }
        match breaker.find_cycle() {
            None => Ok(Layers { count: layers_max, of: breaker.into_layers() }),
            Some(slot) => Err(graph.slot_head(slot)),
        }
    }

    /// Puts each route into the first layer that stays without a cycle.
    ///
    /// # Errors
    /// The source switch of a route that fits in none.
    pub fn online(
        graph: &SwitchGraph<'_>,
        trees: &Trees,
        layers_max: u8,
    ) -> Result<Self, SwitchId> {
        online::fill(graph, trees, layers_max).map(|(count, of)| Layers { count, of })
    }

    /// Number of layers.
    #[must_use]
    pub fn count(&self) -> u8 {
        self.count
    }

    /// Service levels `[switch][lid]` on up to `lanes` lanes; `None` if one is all there is.
    ///
    /// Every spare lane goes to the layer with the most routes a lane; a layer's routes take turns over its lanes.
    #[must_use]
    pub fn lanes(&self, trees: &Trees, lanes: u8) -> Option<Vec<u8>> {
        if lanes <= 1 {
            return None;
        }
        let (switches, lids) = (trees.switch_count(), trees.lids.len());
        let layer = |destination: usize, switch: usize| match self.of.is_empty() {
            true => 0,
            false => usize::from(self.of[destination * switches + switch]),
        };
        let mut routes = vec![0u64; usize::from(self.count)];
        for destination in 0..lids {
            for switch in 0..switches {
                routes[layer(destination, switch)] += u64::from(trees.weight[switch]);
            }
        }
        let mut width = vec![1u64; usize::from(self.count)];
        for _ in self.count..lanes {
            let fullest = (0..width.len()).max_by(|&a, &b| {
                // routes[a] / width[a] against routes[b] / width[b]; ties go to the lower layer.
                (routes[a] * width[b]).cmp(&(routes[b] * width[a])).then(b.cmp(&a))
            });
            if let Some(layer) = fullest {
                width[layer] += 1;
            }
        }
        let start: Vec<u64> = (0..width.len()).map(|layer| width[..layer].iter().sum()).collect();
        let columns = trees.columns;
        let mut levels = vec![0; switches * columns];
        parallel::rows(
            &mut levels,
            columns,
            switches * columns,
            || (),
            |(), switch, row| {
                for (destination, &lid) in trees.lids.iter().enumerate() {
                    let layer = layer(destination, switch);
                    let turn = (switch + destination) as u64 % width[layer];
                    row[lid.index()] = (start[layer] + turn) as u8;
                }
            },
        );
        Some(levels)
    }
}
