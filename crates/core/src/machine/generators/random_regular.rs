//! Random regular graph of switches: simple, connected, `d` cables to each of `n` switches (Jellyfish).
//!
//! Stubs are paired at random (the configuration model); loops and double cables are then switched with random other
//! cables, and components joined by switching a cable of a cycle with one of the rest. Degrees above `(n - 1) / 2` are
//! drawn as the complement of the sparser graph. The seed's stream `machine.random-regular` decides everything. Close
//! to uniform over simple graphs, not exactly: switching favours none by design but is not a proof.
//!
//! Source: Singla, Hong, Popa, Godfrey, "Jellyfish: Networking Data Centers Randomly", NSDI 2012; pairing after
//! Bollobás, "A Probabilistic Proof of an Asymptotic Formula for the Number of Labelled Regular Graphs", 1980.

use super::limits::{Size, product};
use super::nodes::{NODES, NODES_PER_SWITCH, attach_evenly, node_total};
use super::{Context, Generator, GeneratorError};
use crate::machine::{Builder, Machine};
use crate::params::{Args, Kind, Param};
use crate::rng::Stream;

/// The random regular graph generator.
pub struct RandomRegular;

impl Generator for RandomRegular {
    fn name(&self) -> &'static str {
        "random-regular"
    }

    fn summary(&self) -> &'static str {
        "random regular graph of switches, from the seed (Jellyfish, Singla et al. 2012)"
    }

    fn params(&self) -> &'static [Param] {
        &[
            Param {
                name: "switches",
                doc: "`n`: number of switches",
                kind: Kind::Int(2, 1_000_000),
                default: None,
            },
            Param {
                name: "degree",
                doc: "`d`: cables from a switch to others; below n, and n d even",
                kind: Kind::Int(1, 253),
                default: None,
            },
            NODES_PER_SWITCH,
            NODES,
        ]
    }

    fn make(&self, args: &Args, context: &Context) -> Result<Machine, GeneratorError> {
        let (count, degree) = (args.int("switches"), args.int("degree"));
        check(count, degree)?;
        let nodes = node_total(args, count);
        let radix = degree + nodes.div_ceil(count);
        let ports = product([count, radix]);
        Size { switches: count, nodes, ports }.check(&context.name)?;
        let mut builder = Builder::new(&context.name, true);
        let mut switches = Vec::new();
        for index in 0..count {
            switches.push(builder.switch(format!("s{index}"), radix)?);
        }
        attach_evenly(&mut builder, &switches, nodes, context.rate);
        let mut stream = context.seed.stream("machine.random-regular", 0);
        let cables = draw(count as usize, degree as usize, &mut stream).ok_or_else(|| {
            GeneratorError::Impossible(format!(
                "no simple graph of {count} switches and degree {degree} came up in {ATTEMPTS} \
                 attempts; take another seed"
            ))
        })?;
        for [a, b] in cables {
            builder.cable(switches[a as usize], switches[b as usize], context.rate);
        }
        Ok(builder.build()?)
    }
}

fn check(count: u64, degree: u64) -> Result<(), GeneratorError> {
    let problem = if degree >= count {
        "a switch has at most one cable to each other; take a smaller degree"
    } else if count * degree % 2 == 1 {
        "every cable has two ends, so their product must be even; change either by one"
    } else if degree == 1 && count > 2 {
        "pairs of switches would be joined to nothing else; take a degree of at least 2"
    } else {
        return Ok(());
    };
    Err(GeneratorError::Impossible(format!("{count} switches of degree {degree}: {problem}")))
}

/// Pairings tried before giving up, and switchings tried for one bad cable.
const ATTEMPTS: usize = 100;
const SWITCHINGS: usize = 10_000;

/// The cables of a connected simple graph, sorted.
fn draw(count: usize, degree: usize, stream: &mut Stream) -> Option<Vec<[u32; 2]>> {
    // The complement of a sparse graph is connected: each switch has at least half of the others (Dirac).
    let dense = 2 * degree > count - 1;
    let drawn = if dense { count - 1 - degree } else { degree };
    let mut graph = (0..ATTEMPTS).find_map(|_| Graph::paired(count, drawn, stream))?;
    if dense {
        return Some(graph.complement());
    }
    graph.connect();
    graph.cables.iter_mut().for_each(|cable| cable.sort_unstable());
    graph.cables.sort_unstable();
    Some(graph.cables)
}

struct Graph {
    cables: Vec<[u32; 2]>,
    /// Neighbours of each switch, with repeats while the graph is not simple.
    neighbours: Vec<Vec<u32>>,
}

impl Graph {
    /// Pairs stubs at random and repairs the result; `None` if switching got stuck.
    fn paired(count: usize, degree: usize, stream: &mut Stream) -> Option<Self> {
        let mut stubs: Vec<u32> =
            (0..count as u32).flat_map(|switch| std::iter::repeat_n(switch, degree)).collect();
        stream.shuffle(&mut stubs);
        let mut graph = Graph { cables: Vec::new(), neighbours: vec![Vec::new(); count] };
        for pair in stubs.chunks_exact(2) {
            graph.cables.push([pair[0], pair[1]]);
            graph.insert([pair[0], pair[1]]);
        }
        for bad in 0..graph.cables.len() {
            let mut tries = 0;
            while !graph.is_single(graph.cables[bad]) {
                tries += 1;
                if tries > SWITCHINGS {
                    return None;
                }
                let other = stream.index(graph.cables.len());
                let flip = stream.below(2) == 1;
                graph.switch_simply(bad, other, flip);
            }
        }
        Some(graph)
    }

    fn insert(&mut self, [a, b]: [u32; 2]) {
        self.neighbours[a as usize].push(b);
        self.neighbours[b as usize].push(a);
    }

    fn remove(&mut self, [a, b]: [u32; 2]) {
        for (at, neighbour) in [(a, b), (b, a)] {
            let all = &mut self.neighbours[at as usize];
            if let Some(place) = all.iter().position(|&other| other == neighbour) {
                all.swap_remove(place);
            }
        }
    }

    fn joined(&self, [a, b]: [u32; 2]) -> bool {
        self.neighbours[a as usize].contains(&b)
    }

    /// Neither a loop nor one of several parallel cables.
    fn is_single(&self, [a, b]: [u32; 2]) -> bool {
        a != b && self.neighbours[a as usize].iter().filter(|&&other| other == b).count() == 1
    }

    /// Replaces two cables a-b, c-d by a-c, b-d if neither of these exists or is a loop.
    fn switch_simply(&mut self, first: usize, second: usize, flip: bool) {
        let ([a, b], [mut c, mut d]) = (self.cables[first], self.cables[second]);
        if flip {
            (c, d) = (d, c);
        }
        let new = [[a, c], [b, d]];
        let same = [a.min(c), a.max(c)] == [b.min(d), b.max(d)];
        if first == second
            || a == c
            || b == d
            || same
            || new.iter().any(|&cable| self.joined(cable))
        {
            return;
        }
        self.exchange([first, second], new);
    }

    fn exchange(&mut self, places: [usize; 2], new: [[u32; 2]; 2]) {
        for (place, cable) in places.into_iter().zip(new) {
            self.remove(self.cables[place]);
            self.cables[place] = cable;
        }
        new.into_iter().for_each(|cable| self.insert(cable));
    }

    /// Joins all components. Each has a cycle, as every degree is 2 or more.
    ///
    /// Switching a cable of a cycle with any cable of another component joins the two: the cycle stays connected
    /// without it, and both halves of the other, if it falls apart, are tied to it.
    fn connect(&mut self) {
        let mut sets = DisjointSets::new(self.neighbours.len());
        let closing: Vec<usize> =
            (0..self.cables.len()).filter(|&cable| !sets.join(self.cables[cable])).collect();
        let mut seen = vec![false; self.neighbours.len()];
        if let Some(&[a, _]) = self.cables.first() {
            seen[sets.root(a) as usize] = true;
        }
        for cable in closing {
            let [a, b] = self.cables[cable];
            let root = sets.root(a) as usize;
            if !seen[root] {
                seen[root] = true;
                // Cable 0 is always one of the component grown so far.
                let [c, d] = self.cables[0];
                self.exchange([cable, 0], [[a, c], [b, d]]);
            }
        }
    }

    /// Every pair of switches that is not cabled here, sorted.
    fn complement(&self) -> Vec<[u32; 2]> {
        let count = self.neighbours.len() as u32;
        let mut cabled = vec![u32::MAX; self.neighbours.len()];
        let mut cables = Vec::new();
        for a in 0..count {
            for &b in &self.neighbours[a as usize] {
                cabled[b as usize] = a;
            }
            cables.extend((a + 1..count).filter(|&b| cabled[b as usize] != a).map(|b| [a, b]));
        }
        cables
    }
}

/// Union-find with path halving.
struct DisjointSets(Vec<u32>);

impl DisjointSets {
    fn new(count: usize) -> Self {
        DisjointSets((0..count as u32).collect())
    }

    fn root(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let above = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the sets of two members; `false` if they were one already.
    fn join(&mut self, [a, b]: [u32; 2]) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a as usize] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::Machine;
    use crate::machine::generators::make;
    use crate::machine::generators::tests::{built, refused, sizes};
    use crate::params::Given;
    use crate::rng::Seed;

    fn is_simple_and_regular(machine: &Machine, degree: usize) -> bool {
        machine.switches().all(|switch| {
            let heads = machine
                .channels_from(machine.switch_vertex(switch))
                .map(|c| machine.head(c).vertex);
            let mut others: Vec<_> = heads
                .filter(|&head| machine.as_switch(head).is_some())
                .map(|head| head.0)
                .collect();
            others.sort_unstable();
            others.dedup();
            others.len() == degree && !others.contains(&switch.0)
        })
    }

    #[test]
    fn every_degree_gives_a_simple_connected_graph() {
        for count in 2..=12usize {
            for degree in 2..count {
                for seed in 0..5 {
                    if count * degree % 2 == 1 {
                        continue;
                    }
                    let text = format!("random-regular({count}; {degree})");
                    let machine = make(&text, &Given::new(), Seed(seed)).unwrap();
                    assert!(is_simple_and_regular(&machine, degree), "{text}");
                    assert_eq!(machine.plane_count(), 1, "{text}");
                }
            }
        }
    }

    #[test]
    fn degree_two_is_one_ring() {
        assert_eq!(built("random-regular(60; 2)").plane_count(), 1);
        assert_eq!(sizes(&built("random-regular(2; 1)")), (2, 2, 1));
    }

    #[test]
    fn the_random_network_of_the_routing_studies_has_its_counts() {
        let machine = built("random-regular(125; 16; 8)");
        assert_eq!(sizes(&machine), (125, 1000, 1000));
        assert!(is_simple_and_regular(&machine, 16));
    }

    #[test]
    fn the_seed_decides_the_graph() {
        let draw = |seed| make("random-regular(40; 5)", &Given::new(), Seed(seed)).unwrap();
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn refuses_degrees_that_no_graph_has() {
        assert_eq!(
            refused("random-regular(5; 3)"),
            "5 switches of degree 3: every cable has two ends, so their product must be even; \
             change either by one"
        );
        assert!(refused("random-regular(5; 5)").contains("take a smaller degree"));
        assert!(refused("random-regular(6; 1)").contains("take a degree of at least 2"));
        assert!(refused("random-regular(1000000; 253)").contains("with 254000000 ports"));
    }
}
