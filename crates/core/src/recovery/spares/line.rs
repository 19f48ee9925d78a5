//! Masks of the nodes of a line, the first in the lowest bit.

/// Whether the node at `at` is in the mask.
#[inline]
pub fn holds(mask: &[u64], at: u32) -> bool {
    mask[(at / 64) as usize] >> (at % 64) & 1 == 1
}

/// Steps upwards from `at` to the next node in the mask, around the end of a torus.
#[inline]
pub fn steps_up(mask: &[u64], at: u32, length: u32, torus: bool) -> Option<u32> {
    if let Some(to) = next(mask, at + 1) {
        return Some(to - at);
    }
    let around = if torus { next(mask, 0) } else { None };
    around.filter(|&to| to < at).map(|to| to + length - at)
}

/// Steps downwards from `at` to the next node in the mask, around the end of a torus.
#[inline]
pub fn steps_down(mask: &[u64], at: u32, length: u32, torus: bool) -> Option<u32> {
    if let Some(to) = last(mask, at) {
        return Some(at - to);
    }
    let around = if torus { last(mask, length) } else { None };
    around.filter(|&to| to > at).map(|to| at + length - to)
}

/// The lowest bit set from `from` on.
#[inline]
fn next(mask: &[u64], from: u32) -> Option<u32> {
    let mut word = (from / 64) as usize;
    let mut bits = mask.get(word)? & (u64::MAX << (from % 64));
    while bits == 0 {
        word += 1;
        bits = *mask.get(word)?;
    }
    Some(word as u32 * 64 + bits.trailing_zeros())
}

/// The highest bit set below `below`.
#[inline]
fn last(mask: &[u64], below: u32) -> Option<u32> {
    let mut word = (below / 64) as usize;
    let mut bits = mask.get(word).map_or(0, |bits| bits & ((1 << (below % 64)) - 1));
    while bits == 0 {
        word = word.checked_sub(1)?;
        bits = mask[word];
    }
    Some(word as u32 * 64 + 63 - bits.leading_zeros())
}
