//! When a simulation without end has shown its throughput: warm-up found, every sink's bandwidth known closely.
//!
//! Time is cut into batches. The warm-up ends where leaving out more batches would no longer make the mean of all sinks
//! more certain (the marginal standard error rule, MSER: White 1997), but not before the flits in the fabric are as many in
//! every quarter of the rest, but for chance (Tukey's studentized range): buffers before crowded channels fill up one behind
//! the other, for a millisecond or more, and sinks still get meanwhile what they got before. What follows is put together
//! into [`GROUPS`] long batches; the means of these are nearly independent, so Student's distribution gives each sink an
//! interval for its bandwidth. The state is steady when the interval is narrow for 99 % of the sinks, and stays so for half
//! as long again. Of long simulations batches are put together two by two whenever there are [`MOST`], so that what is kept
//! has a bound.
//!
//! Source: Domke, Hoefler, Matsuoka, SC14: "stop simulation if sink bandwidth is within a 99 % confidence interval for at least
//! 99 % of the HCAs". How wide the interval may be is not said there; here it is a parameter, relative to the mean over all
//! sinks, so that a sink that gets next to nothing does not keep the simulation from ending.

/// Long batches that intervals are made of.
pub const GROUPS: usize = 20;

/// Student's 99.5 % quantile for [`GROUPS`] - 1 degrees of freedom: a two-sided interval of 99 %.
const STUDENT: f64 = 2.860_93;

/// Share of the sinks whose interval must be narrow.
const SHARE: f64 = 0.99;

/// How much the mean number of flits in the fabric may differ between quarters of the time, relative to the mean over all.
const HELD_RANGE: f64 = 0.1;

/// How many standard errors quarters differ by chance: the studentized range of 4 means of 5 groups, 95 % (Tukey).
const CHANCE: f64 = 4.05;

/// Batches that are kept at the most.
pub const MOST: usize = 4096;

/// Bytes that each sink consumed in each batch.
#[derive(Clone, Debug)]
pub struct Batches {
    sinks: usize,
    /// Batches so far, and how many of them are kept as one.
    count: usize,
    merged: usize,
    /// Kept batch after kept batch, `[batch][sink]`; the last may lack some of its batches.
    bytes: Vec<u32>,
    /// By kept batch: flits in the fabric, summed over its batches.
    held: Vec<f64>,
}

/// What batches say.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Batches left out at the beginning.
    pub warm_up: usize,
    /// Mean bytes a batch, by sink.
    pub mean: Vec<f64>,
    /// Half the width of the 99 % interval of the mean, by sink.
    pub half_width: Vec<f64>,
    /// The same for all sinks together.
    pub total_half_width: f64,
}

impl Batches {
    /// No batch of `sinks` sinks yet.
    #[must_use]
    pub fn new(sinks: usize) -> Self {
        let (bytes, held) = (Vec::with_capacity(MOST * sinks), Vec::with_capacity(MOST));
        Batches { sinks, count: 0, merged: 1, bytes, held }
    }

    /// Bytes that batches of so many sinks take.
    #[must_use]
    pub fn memory(sinks: usize) -> u64 {
        (MOST * (sinks * size_of::<u32>() + size_of::<f64>())) as u64
    }

    /// Adds a batch: what each sink consumed, and the flits in the fabric at its end.
    pub fn push(&mut self, bytes: &[u64], held: u64) {
        if self.count == MOST * self.merged {
            self.merge();
        }
        if self.count.is_multiple_of(self.merged) {
            self.bytes.resize(self.bytes.len() + self.sinks, 0);
            self.held.push(0.0);
        }
        if let Some(sum) = self.held.last_mut() {
            *sum += held as f64;
        }
        let last = self.bytes.len() - self.sinks;
        for (sum, &bytes) in self.bytes[last..].iter_mut().zip(bytes) {
            *sum = sum.saturating_add(bytes.min(u64::from(u32::MAX)) as u32);
        }
        self.count += 1;
    }

    /// Puts kept batches together two by two.
    fn merge(&mut self) {
        for at in 0..MOST / 2 {
            for sink in 0..self.sinks {
                let from = 2 * at * self.sinks + sink;
                let sum = self.bytes[from].saturating_add(self.bytes[from + self.sinks]);
                self.bytes[at * self.sinks + sink] = sum;
            }
        }
        self.held = self.held.chunks_exact(2).map(|two| two[0] + two[1]).collect();
        self.bytes.truncate(MOST / 2 * self.sinks);
        self.merged *= 2;
    }

    /// What the batches say so far; `None` while there are too few to tell the warm-up from the rest.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        let sinks = self.sinks.max(1);
        let whole = &self.bytes[..self.count / self.merged * self.sinks];
        let totals: Vec<f64> = whole
            .chunks_exact(sinks)
            .map(|batch| batch.iter().map(|&bytes| f64::from(bytes)).sum())
            .collect();
        let warm_up = evenly_held(&self.held[..totals.len()], warm_up(&totals)?)?;
        let size = (totals.len() - warm_up) / GROUPS;
        if size == 0 {
            return None;
        }
        // What does not fill a long batch counts as warm-up.
        let warm_up = totals.len() - size * GROUPS;
        let mut sums = vec![[0.0f64; GROUPS]; self.sinks];
        let mut total = [0.0f64; GROUPS];
        let used = &whole[warm_up * self.sinks..];
        for (batch, row) in used.chunks_exact(sinks).enumerate() {
            let group = batch / size;
            for (sums, &bytes) in sums.iter_mut().zip(row) {
                sums[group] += f64::from(bytes);
            }
            total[group] += totals[warm_up + batch];
        }
        let size = size * self.merged;
        let intervals = sums.iter().map(|sums| interval(sums, size));
        let (mean, half_width) = intervals.unzip();
        let warm_up = self.count - size * GROUPS;
        Some(Estimate { warm_up, mean, half_width, total_half_width: interval(&total, size).1 })
    }
}

impl Estimate {
    /// Whether the interval of nearly every sink is within `precision` of the mean over all sinks.
    #[must_use]
    pub fn is_steady(&self, precision: f64) -> bool {
        let sinks = self.mean.len() as f64;
        let allowed = precision * self.mean.iter().sum::<f64>() / sinks;
        if allowed <= 0.0 {
            // Nothing has arrived yet.
            return false;
        }
        let narrow = self.half_width.iter().filter(|&&half| half <= allowed).count();
        narrow as f64 >= SHARE * sinks
    }
}

/// Looks at batches whether they are steady, now and then.
#[derive(Clone, Copy, Debug, Default)]
pub struct Looks {
    /// Batches at the last look.
    last: usize,
    /// Batches at the first of the looks, up to the last, at which all was steady.
    since: Option<usize>,
}

impl Looks {
    /// Whether batches look steady and have done so for half as long again: there are lulls while congestion spreads.
    pub fn tell(&mut self, batches: &Batches, precision: f64) -> bool {
        let count = batches.count;
        // A look takes time in proportion to the batches: often enough is every tenth more.
        if count <= self.last + self.last / 10 {
            return false;
        }
        self.last = count;
        let steady = batches.estimate().is_some_and(|found| found.is_steady(precision));
        self.since = steady.then(|| self.since.unwrap_or(count));
        self.since.is_some_and(|since| 2 * count >= 3 * since)
    }
}

/// Mean of a batch, and half of its interval.
fn interval(sums: &[f64; GROUPS], size: usize) -> (f64, f64) {
    let count = GROUPS as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let variance = sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum::<f64>() / (count - 1.0);
    let size = size as f64;
    (mean / size, STUDENT * (variance / count).sqrt() / size)
}

/// Batches to leave out: the number that minimises the standard error of the mean of the rest, at most half.
///
/// `None` if it is half: the state still changes.
fn warm_up(totals: &[f64]) -> Option<usize> {
    if totals.len() < 2 * GROUPS {
        return None;
    }
    let (mut sum, mut squares, mut best) = (0.0, 0.0, (f64::INFINITY, 0));
    for (left_out, total) in totals.iter().enumerate().rev() {
        sum += total;
        squares += total * total;
        // The fewer batches are left, the more the smallest error is one by chance.
        if left_out > totals.len() / 2 {
            continue;
        }
        let count = (totals.len() - left_out) as f64;
        let error = (squares - sum * sum / count).max(0.0) / (count * count);
        // Equal errors: the longer rest.
        if error <= best.0 {
            best = (error, left_out);
        }
    }
    (best.1 < totals.len() / 2).then_some(best.1)
}

/// The fewest batches to leave out, at least `least` and at most half, so that quarters of the rest hold as many flits.
///
/// `held` has at least twice [`GROUPS`]. `None` if there are none such: buffers still fill up or empty.
fn evenly_held(held: &[f64], least: usize) -> Option<usize> {
    let mut sums = vec![0.0];
    sums.extend(held.iter().scan(0.0, |sum, held| {
        *sum += held;
        Some(*sum)
    }));
    (least..=held.len() / 2).find(|&left_out| {
        let rest = held.len() - left_out;
        let bound = |group: usize| left_out + group * rest / GROUPS;
        let groups: [f64; GROUPS] = std::array::from_fn(|group| {
            let (from, to) = (bound(group), bound(group + 1));
            (sums[to] - sums[from]) / (to - from).max(1) as f64
        });
        let quarters = groups.chunks_exact(GROUPS / 4);
        let mean = |quarter: &[f64]| quarter.iter().sum::<f64>() / quarter.len() as f64;
        let spread = |quarter: &[f64]| {
            let mean = mean(quarter);
            quarter.iter().map(|held| (held - mean) * (held - mean)).sum::<f64>()
        };
        let variance = quarters.clone().map(spread).sum::<f64>() / (GROUPS - 4) as f64;
        let low = quarters.clone().map(mean).fold(f64::INFINITY, f64::min);
        let high = quarters.map(mean).fold(0.0, f64::max);
        let chance = CHANCE * (variance / (GROUPS / 4) as f64).sqrt();
        high - low <= (HELD_RANGE * mean(&groups)).max(chance)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;

    #[test]
    fn buffers_that_still_fill_up_are_warm_up() {
        let level = |at: usize| f64::from((at as u32 * 100).min(3000)) + (at % 7) as f64;
        let held: Vec<f64> = (0..100).map(level).collect();
        let left_out = evenly_held(&held, 0).unwrap();
        assert!((15..=30).contains(&left_out), "{left_out}");
        assert_eq!(evenly_held(&held, 40), Some(40));
        // All that fills up, and a peak that comes and goes.
        let rising: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(evenly_held(&rising, 0), None);
        let peak: Vec<f64> = (0..100).map(|at| f64::from(3000 - (at - 75i32).abs() * 30)).collect();
        assert_eq!(evenly_held(&peak, 0), None);
    }

    #[test]
    fn the_warm_up_is_found() {
        let mut stream = Seed(1).stream("test", 0);
        let ramp = (0..100).map(|at| f64::from((at * 10).min(300)) + stream.unit());
        let found = warm_up(&ramp.collect::<Vec<_>>()).unwrap();
        assert!((28..=33).contains(&found), "{found}");
        let rising: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(warm_up(&rising), None);
    }

    #[test]
    fn long_simulations_are_told_the_same_from_fewer_batches() {
        let mut stream = Seed(3).stream("test", 0);
        let mut batches = Batches::new(3);
        let mut sums = [0u64; 3];
        let count = 5 * MOST + 1234;
        for _ in 0..count {
            let drawn: Vec<u64> = (0..3).map(|sink| 1000 * sink + stream.below(100)).collect();
            sums.iter_mut().zip(&drawn).for_each(|(sum, drawn)| *sum += drawn);
            batches.push(&drawn, 100);
            assert!(batches.bytes.len() <= 3 * MOST);
        }
        let found = batches.estimate().unwrap();
        for ((mean, half), sum) in found.mean.iter().zip(&found.half_width).zip(sums) {
            assert!((mean - sum as f64 / count as f64).abs() <= 2.0 * half, "{found:?}");
            assert!(*half < 2.0, "{found:?}");
        }
        assert!(found.warm_up <= count / 2);
    }

    #[test]
    fn intervals_hold_the_mean_as_often_as_they_say() {
        let (sinks, mut covered, mut all) = (50, 0, 0);
        for seed in 0..40 {
            let mut stream = Seed(seed).stream("test", 1);
            let mut batches = Batches::new(sinks);
            for _ in 0..200 {
                let drawn: Vec<u64> = (0..sinks).map(|_| 1000 + stream.below(2001)).collect();
                batches.push(&drawn, 100);
            }
            let found = batches.estimate().unwrap();
            for (mean, half) in found.mean.iter().zip(&found.half_width) {
                covered += u32::from((mean - 2000.0).abs() <= *half);
                all += 1;
            }
        }
        let share = f64::from(covered) / f64::from(all);
        assert!((0.98..0.999).contains(&share), "{share}");
    }
}
