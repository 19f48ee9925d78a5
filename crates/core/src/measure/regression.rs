//! Throughput against failures as a line, and where another engine becomes the better one.
//!
//! Source: Domke et al., SC14: intercept (throughput of the intact fabric), slope (loss per failure) and the coefficient
//! of determination R2; where two lines cross, routing should change.

/// A least-squares line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Value at 0.
    pub intercept: f64,
    /// Change per unit.
    pub slope: f64,
    /// Coefficient of determination; `None` where all values are equal, since there is nothing to explain.
    pub r2: Option<f64>,
    /// Points fitted.
    pub points: usize,
}

impl Line {
    /// Fits a line through `(x, y)` points; `None` for fewer than two different `x`.
    #[must_use]
    pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
        let count = points.len() as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let sum = |term: fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|(x, y)| term(x - mean_x, y - mean_y)).sum()
        };
        let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
        let has_spread = points.iter().any(|(x, _)| *x != points[0].0);
        has_spread.then(|| Line {
            intercept: mean_y - xy / xx * mean_x,
            slope: xy / xx,
            r2: points.iter().any(|(_, y)| *y != points[0].1).then(|| xy * xy / (xx * yy)),
            points: points.len(),
        })
    }

    /// The line's value at `x`.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// Another line becomes the highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Where.
    pub x: f64,
    /// Index of the line that is highest before.
    pub before: usize,
    /// Index of the line that is highest after.
    pub after: usize,
}

/// Where the highest of `lines` changes inside `[from, to)`, from left to right: where to change the routing.
///
/// Of lines that are equal at `from` the one that falls least leads, of equal lines the first.
#[must_use]
pub fn crossings(lines: &[Line], from: f64, to: f64) -> Vec<Crossing> {
    let order = |a: &usize, b: &usize| {
        let (one, other) = (&lines[*a], &lines[*b]);
        let by_value = one.at(from).total_cmp(&other.at(from));
        by_value.then(one.slope.total_cmp(&other.slope)).then(b.cmp(a))
    };
    let Some(mut leader) = (0..lines.len()).max_by(order) else { return Vec::new() };
    let mut changes = Vec::new();
    loop {
        // The next to lead is the first to be met among those that fall less; of several there, the one that falls least.
        let steeper = (0..lines.len()).filter(|&line| lines[line].slope > lines[leader].slope);
        let next = steeper
            .map(|line| {
                let gap = lines[leader].intercept - lines[line].intercept;
                (gap / (lines[line].slope - lines[leader].slope), line)
            })
            .min_by(|(x, a), (y, b)| {
                x.total_cmp(y).then(lines[*b].slope.total_cmp(&lines[*a].slope)).then(a.cmp(b))
            });
        match next {
            Some((x, after)) if x < to => {
                changes.push(Crossing { x, before: leader, after });
                leader = after;
            }
            _ => return changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fits_points_on_a_line_exactly() {
        let line = Line::fit(&[(0.0, 10.0), (1.0, 8.0), (3.0, 4.0)]).unwrap();
        assert!((line.intercept - 10.0).abs() < 1e-12 && (line.slope + 2.0).abs() < 1e-12);
        assert!((line.r2.unwrap() - 1.0).abs() < 1e-12);
        assert!((line.at(2.0) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_a_slope_of_zero_and_no_r2() {
        let line = Line::fit(&[(0.0, 5.0), (1.0, 5.0)]).unwrap();
        assert_eq!((line.slope, line.r2), (0.0, None));
        assert_eq!(Line::fit(&[(2.0, 1.0), (2.0, 3.0)]), None);
        assert_eq!(Line::fit(&[]), None);
    }

    #[test]
    fn finds_where_the_best_line_changes() {
        let line = |intercept, slope| Line { intercept, slope, r2: None, points: 2 };
        let lines = [line(10.0, -2.0), line(6.0, 0.0), line(1.0, 0.0)];
        assert_eq!(crossings(&lines, 0.0, 5.0), [Crossing { x: 2.0, before: 0, after: 1 }]);
        assert_eq!(crossings(&[], 0.0, 5.0), []);
    }

    proptest! {
        #[test]
        fn between_crossings_the_leader_is_highest(
            ends in prop::collection::vec((-20i32..20, -9i32..9), 1..7),
        ) {
            let lines: Vec<Line> = ends
                .iter()
                .map(|&(i, s)| Line { intercept: i.into(), slope: s.into(), r2: None, points: 2 })
                .collect();
            let changes = crossings(&lines, 0.0, 10.0);
            let mut edges = vec![0.0];
            edges.extend(changes.iter().map(|change| change.x));
            edges.push(10.0);
            for (at, edge) in edges.windows(2).enumerate() {
                let middle = f64::midpoint(edge[0], edge[1]);
                let top = lines.iter().map(|line| line.at(middle)).fold(f64::MIN, f64::max);
                if let Some(change) = changes.get(at) {
                    prop_assert!(lines[change.before].at(middle) >= top - 1e-9);
                }
                if at > 0 {
                    prop_assert!(lines[changes[at - 1].after].at(middle) >= top - 1e-9);
                }
            }
        }

        #[test]
        fn no_other_line_is_closer(
            points in prop::collection::vec((-10i32..10, -10i32..10), 2..20),
            tilt in -1.0..1.0f64, lift in -1.0..1.0f64,
        ) {
            let points: Vec<(f64, f64)> =
                points.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect();
            let off = |line: &Line| points.iter().map(|(x, y)| (y - line.at(*x)).powi(2)).sum::<f64>();
            if let Some(best) = Line::fit(&points) {
                let other = Line { slope: best.slope + tilt, intercept: best.intercept + lift, ..best };
                prop_assert!(off(&best) <= off(&other) + 1e-9);
                prop_assert!(best.r2.is_none_or(|r2| (-1e-9..=1.0 + 1e-9).contains(&r2)));
            }
        }
    }
}
