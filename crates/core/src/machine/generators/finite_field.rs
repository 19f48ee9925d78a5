//! Arithmetic in the finite field of `q = p^n` elements, for small `q`.
//!
//! An element is a number below `q` whose digits in base `p` are the coefficients of a polynomial in `x`. The modulus
//! is the first monic polynomial of degree `n` for which `x` is primitive, so multiplication is addition of exponents.

/// A finite field with a primitive element.
#[derive(Clone, Debug)]
pub struct FiniteField {
    p: u64,
    q: u64,
    /// `powers[i]` is the i-th power of the primitive element, `i` from 0 to `q - 2`.
    powers: Vec<u64>,
    /// The inverse of `powers`; unused at 0.
    exponents: Vec<usize>,
}

impl FiniteField {
    /// The field of `q` elements, if `q` is a prime power.
    pub fn new(q: u64) -> Option<Self> {
        let p = (2..=q).find(|&p| q.is_multiple_of(p))?;
        let mut rest = q;
        while rest.is_multiple_of(p) {
            rest /= p;
        }
        if rest != 1 {
            return None;
        }
        let powers = (0..q).find_map(|modulus| powers_of_x(p, q, modulus))?;
        let mut exponents = vec![0; powers.len() + 1];
        for (exponent, &power) in powers.iter().enumerate() {
            exponents[power as usize] = exponent;
        }
        Some(FiniteField { p, q, powers, exponents })
    }

    /// The `exponent`-th power of the primitive element.
    pub fn power(&self, exponent: u64) -> u64 {
        self.powers[(exponent % (self.q - 1)) as usize]
    }

    /// The sum of two elements.
    pub fn add(&self, a: u64, b: u64) -> u64 {
        combine(self.p, a, b, |a, b| a + b)
    }

    /// The product of two elements.
    pub fn multiply(&self, a: u64, b: u64) -> u64 {
        if a == 0 || b == 0 {
            return 0;
        }
        let exponent = self.exponents[a as usize] + self.exponents[b as usize];
        self.powers[exponent % self.powers.len()]
    }
}

/// All powers of `x` modulo `x^n - tail`, if they are all the elements but 0.
fn powers_of_x(p: u64, q: u64, tail: u64) -> Option<Vec<u64>> {
    let mut powers = vec![1];
    let leading = q / p;
    loop {
        let last = *powers.last()?;
        let shifted = last % leading * p;
        // The coefficient that the shift pushed to x^n comes back as that many tails.
        let next = combine(p, shifted, tail, |a, b| a + last / leading * b);
        match next {
            0 => return None,
            1 => break,
            _ => powers.push(next),
        }
        if powers.len() as u64 > q - 1 {
            return None;
        }
    }
    (powers.len() as u64 == q - 1).then_some(powers)
}

/// Combines the digits of `a` and `b` modulo `p`.
fn combine(p: u64, mut a: u64, mut b: u64, digit: impl Fn(u64, u64) -> u64) -> u64 {
    let (mut sum, mut weight) = (0, 1);
    while a > 0 || b > 0 {
        sum += digit(a % p, b % p) % p * weight;
        (a, b, weight) = (a / p, b / p, weight * p);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_axioms_hold() {
        for q in [2, 3, 4, 5, 7, 8, 9, 11, 16, 25, 27] {
            let field = FiniteField::new(q).unwrap();
            for a in 0..q {
                assert_eq!((field.add(a, 0), field.multiply(a, 1)), (a, a));
                assert!((0..q).any(|b| field.add(a, b) == 0));
                assert!(a == 0 || (0..q).any(|b| field.multiply(a, b) == 1));
                for b in 0..q {
                    assert_eq!(field.multiply(a, b), field.multiply(b, a));
                    for c in 0..q {
                        let left = field.multiply(a, field.add(b, c));
                        assert_eq!(left, field.add(field.multiply(a, b), field.multiply(a, c)));
                    }
                }
            }
        }
    }

    #[test]
    fn only_prime_powers_have_a_field() {
        for q in [0, 1, 6, 10, 12, 15, 100] {
            assert!(FiniteField::new(q).is_none(), "{q}");
        }
    }
}
