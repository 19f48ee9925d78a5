//! Distances between switches.

use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::parallel;

/// Distances in switch-switch hops, `[row][column]`; [`HopMatrix::FAR`] where there is no way.
#[derive(Clone, Debug)]
pub struct HopMatrix {
    switches: usize,
    hops: Vec<u16>,
}

impl HopMatrix {
    /// No way.
    pub const FAR: u16 = u16::MAX;
    /// Longest way that counts as one; the top bit is left to engines.
    pub const LONGEST: u16 = 0x7ffe;

    /// Fewest hops between all switches; the same both ways, as every cable is.
    ///
    /// # Complexity
    /// Switches x channels time, switches^2 x 2 bytes.
    #[must_use]
    pub fn shortest(graph: &SwitchGraph<'_>) -> Self {
        Self::by_row(graph, |start, row, queue| distances(graph, start, row, queue))
    }

    /// Fills each row by `fill(switch, row, queue)` in parallel; rows start out [`HopMatrix::FAR`].
    pub fn by_row(
        graph: &SwitchGraph<'_>,
        fill: impl Fn(SwitchId, &mut [u16], &mut Vec<SwitchId>) + Sync,
    ) -> Self {
        let switches = graph.switch_count();
        let mut hops = vec![Self::FAR; switches * switches];
        parallel::rows(
            &mut hops,
            switches,
            switches * graph.slot_count(),
            Vec::new,
            |queue, switch, row| fill(SwitchId::from_index(switch), row, queue),
        );
        HopMatrix { switches, hops }
    }

    /// The row of `switch`.
    #[inline]
    #[must_use]
    pub fn row(&self, switch: SwitchId) -> &[u16] {
        &self.hops[switch.index() * self.switches..(switch.index() + 1) * self.switches]
    }

    /// Rows and columns exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let n = self.switches;
        let mut hops = vec![0; n * n];
        parallel::rows(
            &mut hops,
            n,
            n * n,
            || (),
            |(), row, out| {
                for (column, value) in out.iter_mut().enumerate() {
                    *value = self.hops[column * n + row];
                }
            },
        );
        HopMatrix { switches: n, hops }
    }
}

/// Fewest hops from `start` to every switch; `row` starts out [`HopMatrix::FAR`], `queue` ends up listing who is reached.
pub fn distances(
    graph: &SwitchGraph<'_>,
    start: SwitchId,
    row: &mut [u16],
    queue: &mut Vec<SwitchId>,
) {
    queue.clear();
    queue.push(start);
    row[start.index()] = 0;
    let mut front = 0;
    while let Some(&switch) = queue.get(front) {
        front += 1;
        let next = row[switch.index()] + 1;
        if next > HopMatrix::LONGEST {
            break;
        }
        for &head in graph.heads(switch) {
            if row[head.index()] == HopMatrix::FAR {
                row[head.index()] = next;
                queue.push(head);
            }
        }
    }
}
