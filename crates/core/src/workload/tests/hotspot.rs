//! Hot ranks get their share, the others the rest.

use super::*;

fn received_from(traffic: &Traffic, source: u32) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    for (_, target) in pairs(traffic).into_iter().filter(|pair| pair.0 == source) {
        *counts.entry(target).or_default() += 1;
    }
    counts
}

proptest! {
    #[test]
    fn hot_ranks_get_their_share_of_every_sender(
        (ranks, targets) in (2u32..40).prop_flat_map(|ranks| (Just(ranks), 1..=ranks)),
        share in 0.0f64..=1.0,
    ) {
        let traffic = &phases(&format!("hotspot({targets}; {share})"), &[], ranks).unwrap()[0];
        let hot: BTreeSet<u32> = (0..targets).map(|number| number * ranks / targets).collect();
        prop_assert_eq!(hot.len() as u32, targets);
        for source in 0..ranks {
            let counts = received_from(traffic, source);
            prop_assert!(!counts.contains_key(&source));
            let others = hot.iter().filter(|&&rank| rank != source).count() as u32;
            let all: u32 = counts.values().sum();
            let cold: BTreeSet<u32> = (0..ranks)
                .filter(|rank| *rank != source && !hot.contains(rank))
                .map(|rank| counts.get(&rank).copied().unwrap_or(0))
                .collect();
            prop_assert!(cold.len() <= 1, "the rest is even");
            if others == 0 || all == 0 {
                prop_assert!(others == 0 || all > 0);
                continue;
            }
            let to_hot: u32 = hot.iter().filter_map(|rank| counts.get(rank)).sum();
            // Pfister and Norton: the share, and the hot ranks' part of the even rest.
            let wanted = share + (1.0 - share) * f64::from(others) / f64::from(ranks - 1);
            let reached = f64::from(to_hot) / f64::from(all);
            prop_assert!((wanted - reached).abs() <= 0.006, "{} for {}", reached, wanted);
        }
    }
}

#[test]
fn a_share_of_one_leaves_no_rest() {
    let traffic = &phases("hotspot(1; 1; 4096)", &[], 5).unwrap()[0];
    assert_eq!(pairs(traffic), [(1, 0), (2, 0), (3, 0), (4, 0)]);
    assert_eq!(traffic.messages[0].size, Bytes(4096));
    assert!(bind("hotspot", &Given::new()).unwrap().steady());
    assert_eq!(
        error("hotspot(6)", &[], 5),
        "there are only 5 ranks, `targets` is at most that, got 6"
    );
}

#[test]
fn without_a_share_hotspot_is_uniform() {
    let none = phases("hotspot(2; 0)", &[], 9).unwrap();
    assert_eq!(none, phases("uniform", &[], 9).unwrap());
}
