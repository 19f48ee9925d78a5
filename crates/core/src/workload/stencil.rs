//! Stencil: ranks in a grid, each sending to its neighbours, all at once.
//!
//! Rank `x + X (y + Y z)` stands at `(x, y, z)`, x fastest. A `star` has the `2 d` neighbours along the axes (5
//! points in two dimensions, 7 in three), a `box` all `3^d - 1` around (9 and 27 points). A neighbour beyond the edge
//! is left out, or found at the other side if `periodic`; where both ways lead to one rank (a dimension of 2) it gets
//! one message.
//!
//! Source: Hori et al., "Overhead of Using Spare Nodes", 2016 (5P, 7P, 9P and 27P stencils).

use super::{SIZE, Workload, WorkloadError, check_phase, message};
use crate::params::{Args, Kind, Param};
use crate::rng::Seed;
use crate::traffic::Traffic;
use crate::units::Bytes;

/// The stencil workload.
pub struct Stencil;

impl Workload for Stencil {
    fn name(&self) -> &'static str {
        "stencil"
    }

    fn summary(&self) -> &'static str {
        "neighbours in a grid: 5, 7, 9, 27 points, or star and box of any dimension (Hori et al. \
         2016)"
    }

    fn params(&self) -> &'static [Param] {
        const {
            &[
                Param {
                    name: "shape",
                    doc: "ranks along each dimension, x first",
                    kind: Kind::Ints(1, u32::MAX as u64),
                    default: None,
                },
                Param {
                    name: "points",
                    doc: "points of the stencil; star is 2 d + 1, box is 3^d",
                    kind: Kind::Choice(&[
                        "star", "box", "5", "7", "9", "27", "5P", "7P", "9P", "27P",
                    ]),
                    default: Some("star"),
                },
                Param {
                    name: "periodic",
                    doc: "whether the grid closes around its edges",
                    kind: Kind::Flag,
                    default: Some("false"),
                },
                SIZE,
            ]
        }
    }

    fn steady(&self) -> bool {
        false
    }

    fn phase_count(&self, ranks: u32, args: &Args) -> Result<u64, WorkloadError> {
        offsets(args)?;
        let shape = args.ints("shape");
        let cells = shape
            .iter()
            .try_fold(1u128, |product, &length| product.checked_mul(u128::from(length)));
        let cells = cells.unwrap_or(u128::MAX);
        if cells != u128::from(ranks) {
            return Err(WorkloadError::Shape { shape: written(shape), cells, ranks });
        }
        Ok(1)
    }

    fn phase(
        &self,
        ranks: u32,
        args: &Args,
        index: u64,
        _seed: Seed,
    ) -> Result<Traffic, WorkloadError> {
        check_phase(index, self.phase_count(ranks, args)?)?;
        let size = Bytes(args.int(SIZE.name));
        let (shape, periodic) = (args.ints("shape"), args.flag("periodic"));
        let offsets = offsets(args)?;
        let mut messages = Vec::new();
        let mut sent: Vec<u32> = Vec::with_capacity(offsets.len());
        for source in 0..ranks {
            sent.clear();
            for offset in &offsets {
                if let Some(target) = neighbour(source, offset, shape, periodic)
                    && target != source
                    && !sent.contains(&target)
                {
                    sent.push(target);
                    messages.push(message(source, target, size));
                }
            }
        }
        Ok(Traffic { ranks, messages })
    }
}

/// The most dimensions: a box around has 3^8 - 1 neighbours.
const MOST_DIMENSIONS: usize = 8;

/// Where the neighbours stand, x fastest, so that they come in ascending order within the grid.
fn offsets(args: &Args) -> Result<Vec<Vec<i8>>, WorkloadError> {
    let shape = args.ints("shape");
    let dimensions = shape.len();
    if dimensions > MOST_DIMENSIONS {
        return Err(WorkloadError::Dimensions { dimensions, most: MOST_DIMENSIONS });
    }
    let points = args.text("points").trim_end_matches('P');
    let (full, needs) = match points {
        "5" => (false, 2),
        "7" => (false, 3),
        "9" => (true, 2),
        "27" => (true, 3),
        word => (word == "box", dimensions),
    };
    if dimensions != needs {
        let points = points.to_owned();
        return Err(WorkloadError::Points { points, needs, shape: written(shape), dimensions });
    }
    let digit = |code: usize, dimension: usize| (code / 3usize.pow(dimension as u32) % 3) as i8 - 1;
    let all = (0..3usize.pow(dimensions as u32))
        .map(|code| (0..dimensions).map(|dimension| digit(code, dimension)).collect::<Vec<i8>>());
    let steps = |offset: &Vec<i8>| offset.iter().filter(|&&step| step != 0).count();
    Ok(all.filter(|offset| steps(offset) == 1 || (full && steps(offset) > 1)).collect())
}

/// The rank `offset` away, if the grid has it.
fn neighbour(rank: u32, offset: &[i8], shape: &[u64], periodic: bool) -> Option<u32> {
    let (mut rest, mut weight, mut target) = (u64::from(rank), 1, 0);
    for (&step, &length) in offset.iter().zip(shape) {
        let at = rest % length;
        rest /= length;
        let to = match at.checked_add_signed(i64::from(step)) {
            Some(to) if to < length => to,
            _ if periodic => (at + length).checked_add_signed(i64::from(step))? % length,
            _ => return None,
        };
        target += to * weight;
        weight *= length;
    }
    // Below the product of the shape, which is the number of ranks.
    Some(target as u32)
}

fn written(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}
