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

/// One line falls below another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Where.
    pub x: f64,
    /// Index of the line that is higher before.
    pub before: usize,
    /// Index of the line that is higher after.
    pub after: usize,
}

/// Every point strictly inside `(from, to)` at which two of the lines cross, by position, then index.
#[must_use]
pub fn crossings(lines: &[Line], from: f64, to: f64) -> Vec<Crossing> {
    let mut found = Vec::new();
    for (i, a) in lines.iter().enumerate() {
        for (j, b) in lines.iter().enumerate().skip(i + 1) {
            let x = (b.intercept - a.intercept) / (a.slope - b.slope);
            if x > from && x < to {
                let (before, after) = if a.slope < b.slope { (i, j) } else { (j, i) };
                found.push(Crossing { x, before, after });
            }
        }
    }
    found.sort_by(|a, b| {
        a.x.total_cmp(&b.x).then(a.before.cmp(&b.before)).then(a.after.cmp(&b.after))
    });
    found
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
    fn finds_where_the_better_line_changes() {
        let line = |intercept, slope| Line { intercept, slope, r2: None, points: 2 };
        let found = crossings(&[line(10.0, -2.0), line(6.0, 0.0), line(1.0, 0.0)], 0.0, 5.0);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], Crossing { x: 2.0, before: 0, after: 1 });
        assert_eq!(found[1], Crossing { x: 4.5, before: 0, after: 2 });
    }

    proptest! {
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
