//! One seed a run, named streams from it.
//!
//! `seed.stream("faults", sample)` is the same generator whatever else was drawn before and on whichever thread, so every
//! policy compared sees the same failures. The generator is PCG XSL-RR 128/64 (O'Neill 2014), NumPy's default; bounded
//! draws and shuffles are written here because those of general libraries change between versions.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// The seed of a run, printed in every output. The default is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Default for Seed {
    fn default() -> Self {
        Seed(1)
    }
}

impl Seed {
    /// An independent generator for `name` (what is drawn) and `index` (which sample).
    #[must_use]
    pub fn stream(self, name: &str, index: u64) -> Stream {
        let mut state = mix(self.0 ^ 0x9e37_79b9_7f4a_7c15);
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        let [a, b, c, d] = [1, 2, 3, 4].map(|word| mix(mix(state ^ index).wrapping_add(word)));
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        Stream(Pcg64::new(wide(a, b), wide(c, d)))
    }
}

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijection on 64 bits that spreads every bit.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of random numbers that belongs to one name and index.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

impl Stream {
    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `bound` (Lemire 2019, without bias); 0 if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let reject = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            if wide as u64 >= reject {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A uniform number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A uniform position below `len`.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Puts `items` in uniformly random order (Fisher-Yates, from the front, so that a prefix is a random subset).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for front in 0..items.len() {
            let pick = front + self.index(items.len() - front);
            items.swap(front, pick);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_name_and_index_alone() {
        let draw = |seed: u64, name: &str, index| Seed(seed).stream(name, index).bits();
        assert_eq!(draw(1, "faults", 0), draw(1, "faults", 0));
        assert_ne!(draw(1, "faults", 0), draw(2, "faults", 0));
        assert_ne!(draw(1, "faults", 0), draw(1, "faults", 1));
        assert_ne!(draw(1, "faults", 0), draw(1, "faults.", 0));
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut stream = Seed(7).stream("test", 0);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[stream.below(6) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..100).collect();
        Seed(3).stream("test", 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
