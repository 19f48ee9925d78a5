//! Joins the uplinks of a row of leaves by a row of spines, the same number of cables from every leaf to every spine.

use crate::machine::{Builder, Part};
use crate::units::LinkRate;

/// The least number of spines of `radix` ports that join `leaves` with `uplinks` each, equally.
///
/// It divides `uplinks`, so a tree that is not full may have more spines than its cables need; regular trees are what
/// fat-tree routing asks for. `None` if there are more leaves than spine ports.
pub fn spine_count(leaves: u64, uplinks: u64, radix: u64) -> Option<u64> {
    let least = leaves.checked_mul(uplinks)?.div_ceil(radix).max(1);
    (least..=uplinks).find(|spines| uplinks.is_multiple_of(*spines))
}

/// Cables every leaf to every spine, `uplinks / spines` times.
pub fn join(builder: &mut Builder, leaves: &[Part], spines: &[Part], uplinks: u64, rate: LinkRate) {
    let parallel = uplinks / (spines.len() as u64).max(1);
    for &leaf in leaves {
        for &spine in spines {
            for _ in 0..parallel {
                builder.cable(leaf, spine, rate);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spine_counts_divide_the_uplinks() {
        assert_eq!(spine_count(36, 18, 36), Some(18));
        assert_eq!(spine_count(18, 18, 36), Some(9));
        assert_eq!(spine_count(20, 18, 36), Some(18));
        assert_eq!(spine_count(1, 18, 36), Some(1));
        assert_eq!(spine_count(37, 18, 36), None);
    }
}
