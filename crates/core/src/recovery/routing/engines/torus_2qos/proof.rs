//! With switches missing: whether every route arrives, and whether the early turns leave a credit loop.
//!
//! Works on switches and the six directions, so parallel cables count as one; lanes are those of `route::lane`. A fabric
//! without missing switches needs no proof: it is plain dimension order with datelines, and rings with a gap are lines.
//!
//! Source: Dally and Seitz 1987 for the criterion; torus-2QoS(8), "Unicast routing", for why one missing switch, or several
//! side by side along z, leave none. OpenSM relies on that; here it is looked at, since failed cables come on top.

use rayon::prelude::*;

use super::route::lane;
use super::shape::Direction;
use super::torus::{Part, Torus};
use crate::ids::SwitchId;
use crate::machine::SwitchGraph;
use crate::recovery::routing::Refusal;

/// Checks the routes of a part with missing switches.
///
/// # Errors
/// The switch at which a route ends, runs in a circle or waits in a credit loop.
///
/// # Complexity
/// Switches squared.
pub fn prove(graph: &SwitchGraph<'_>, torus: &Torus, part: &Part) -> Result<(), Refusal> {
    let index = part.members.iter().zip(0u32..).fold(
        vec![u32::MAX; graph.switch_count()],
        |mut index, (switch, number)| {
            index[switch.index()] = number;
            index
        },
    );
    let setting = Setting { graph, torus, part, index };
    let merge = |mut all: Turns, more: Turns| {
        all.0.iter_mut().zip(&more.0).for_each(|(levels, more)| *levels |= more);
        all
    };
    let found = part
        .members
        .par_iter()
        .try_fold(
            || setting.no_turns(),
            |mut turns, &to| setting.walk(to, &mut turns).map(|()| turns),
        )
        .try_reduce(|| setting.no_turns(), |all, more| Ok(merge(all, more)));
    let turns = found.map_err(|refusal| {
        // Which of several threads fails first is chance; the first destination is not.
        let mut turns = setting.no_turns();
        let mut refusals = part.members.iter().map(|&to| setting.walk(to, &mut turns));
        refusals.find_map(Result::err).unwrap_or(refusal)
    })?;
    match setting.credit_loop(&turns) {
        None => Ok(()),
        Some(switch) => {
            Err(at(switch, "the early turns around missing switches close a credit loop"))
        }
    }
}

struct Setting<'a> {
    graph: &'a SwitchGraph<'a>,
    torus: &'a Torus,
    part: &'a Part,
    /// Position of each switch among the members.
    index: Vec<u32>,
}

/// Service levels of routes, a bit each, that pass a switch: by the direction they come in, whether they had just turned
/// back then, and the direction they leave.
struct Turns(Vec<u8>);

const TURNS: usize = 6 * 2 * 6;

/// Not known to happen: with the missing switches in one line along z, an early turn always leads past them.
const NO_WAY: &str = "missing switches and cables leave no way from this switch";

/// Not yet looked at.
const NEW: u32 = u32::MAX;
/// On the way that is being followed.
const FOLLOWED: u32 = u32::MAX - 1;

impl Setting<'_> {
    fn no_turns(&self) -> Turns {
        Turns(vec![0; self.part.members.len() * TURNS])
    }

    fn number(&self, switch: SwitchId) -> usize {
        self.index[switch.index()] as usize
    }

    /// Follows the routes of all members to `to` and notes their turns.
    fn walk(&self, to: SwitchId, turns: &mut Turns) -> Result<(), Refusal> {
        let members = &self.part.members;
        let mut settled = vec![NEW; members.len()];
        let mut next: Vec<Option<(Direction, SwitchId)>> = vec![None; members.len()];
        // Each after the one it sends to.
        let mut order: Vec<SwitchId> = vec![to];
        settled[self.number(to)] = 0;
        let mut path = Vec::new();
        for &start in members {
            let mut here = start;
            while settled[self.number(here)] == NEW {
                settled[self.number(here)] = FOLLOWED;
                path.push(here);
                let direction = self.torus.step(here, to);
                let hop = direction.and_then(|way| Some((way, self.torus.beside(here, way)?)));
                let Some((_, beside)) = hop else {
                    return Err(at(here, NO_WAY));
                };
                next[self.number(here)] = hop;
                here = beside;
            }
            if settled[self.number(here)] == FOLLOWED {
                return Err(at(here, NO_WAY));
            }
            while let Some(switch) = path.pop() {
                settled[self.number(switch)] = 0;
                order.push(switch);
            }
        }
        if !self.graph.attached(to).is_empty() {
            self.note_turns(to, &order, &next, turns);
        }
        Ok(())
    }

    fn note_turns(
        &self,
        to: SwitchId,
        order: &[SwitchId],
        next: &[Option<(Direction, SwitchId)>],
        turns: &mut Turns,
    ) {
        // Levels of the routes that leave each switch: of those that go on or turn as they should, and that turn back.
        let mut leaving = vec![[0u8; 2]; self.part.members.len()];
        for &switch in order.iter().rev() {
            let from = self.number(switch);
            let Some((before, beside)) = next[from] else { continue };
            if self.graph.sources(switch) > 0 {
                leaving[from][0] |= 1 << self.torus.level(switch, to);
            }
            let here = self.number(beside);
            let Some((after, _)) = next[here] else { continue };
            let back = usize::from(before.dimension() > after.dimension());
            for turned in [0, 1] {
                let levels = leaving[from][turned];
                let turn = (before.index() * 2 + turned) * 6 + after.index();
                turns.0[here * TURNS + turn] |= levels;
                leaving[here][back] |= levels;
            }
        }
    }

    /// A switch on a cycle of the dependencies that `turns` make, if there is one.
    fn credit_loop(&self, turns: &Turns) -> Option<SwitchId> {
        let vertex = |switch: usize, direction: Direction, lane: u8| {
            (switch * 6 + direction.index()) * 4 + usize::from(lane)
        };
        let mut arcs: Vec<(u32, u32)> = Vec::new();
        for (here, &switch) in self.part.members.iter().enumerate() {
            for (turn, &levels) in turns.0[here * TURNS..][..TURNS].iter().enumerate() {
                let (before, after) = (Direction::ALL[turn / 12], Direction::ALL[turn % 6]);
                let Some(from) = self.torus.beside(switch, before.opposite()) else { continue };
                for level in (0..8).filter(|level| levels >> level & 1 == 1) {
                    let turned = (turn / 6 % 2) as u8;
                    let first = lane(level, None, before.dimension()) | turned << 1;
                    let second = lane(level, Some(before.dimension()), after.dimension());
                    let from = vertex(self.number(from), before, first);
                    arcs.push((from as u32, vertex(here, after, second) as u32));
                }
            }
        }
        arcs.sort_unstable();
        arcs.dedup();
        let vertex = on_cycle(&arcs, self.part.members.len() * 24)?;
        Some(self.part.members[vertex as usize / 24])
    }
}

/// A vertex on a cycle, if there is one.
fn on_cycle(arcs: &[(u32, u32)], vertices: usize) -> Option<u32> {
    let mut arriving = vec![0u32; vertices];
    for &(_, to) in arcs {
        arriving[to as usize] += 1;
    }
    // Vertices that no arc leads to are taken away as long as there are any.
    let mut free: Vec<u32> =
        (0..vertices as u32).filter(|&vertex| arriving[vertex as usize] == 0).collect();
    while let Some(vertex) = free.pop() {
        let first = arcs.partition_point(|&(from, _)| from < vertex);
        for &(_, to) in arcs[first..].iter().take_while(|&&(from, _)| from == vertex) {
            arriving[to as usize] -= 1;
            if arriving[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    // Arcs lead from what is left to all that is left, so going against them ends up in a cycle.
    let mut at = (0..vertices as u32).find(|&vertex| arriving[vertex as usize] > 0)?;
    let mut seen = vec![false; vertices];
    while !std::mem::replace(&mut seen[at as usize], true) {
        (at, _) = *arcs.iter().find(|&&(from, to)| to == at && arriving[from as usize] > 0)?;
    }
    Some(at)
}

fn at(switch: SwitchId, reason: &str) -> Refusal {
    Refusal { reason: reason.to_owned(), switch: Some(switch) }
}
