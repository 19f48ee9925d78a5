//! Which switch of which group a cable between groups ends at: the dragonfly's all-to-all of groups.
//!
//! Group `i` numbers its cables by round and by distance: cable `c (g - 1) + d - 1` is the c-th one to group `i + d`
//! (modulo `g`). Numbers are dealt to switches in equal, consecutive runs, so with one cable between any two groups and
//! every port in use this is the palm tree arrangement of Camarero, Vallejo, Beivide, "Topological Characterization of
//! Hamming and Dragonfly Networks and Its Implications on Routing", ACM TACO 11(4), 2014.

/// The cables between the groups of a machine.
#[derive(Clone, Copy, Debug)]
pub struct GlobalLinks {
    /// Number of groups.
    pub groups: u64,
    /// Switches of a group.
    pub switches: u64,
    /// Parallel cables between any two groups.
    pub parallel: u64,
}

/// One end of a cable: group and switch within it.
pub type GroupSwitch = (u64, u64);

impl GlobalLinks {
    /// The most cables that any two groups can have alike, when a group has `ports` for them.
    pub fn most_parallel(groups: u64, ports: u64) -> u64 {
        ports.checked_div(groups.saturating_sub(1)).unwrap_or(0)
    }

    /// Both ends of every cable, by lower group, round and higher group.
    pub fn ends(self) -> impl Iterator<Item = [GroupSwitch; 2]> {
        let GlobalLinks { groups, parallel, .. } = self;
        (0..groups).flat_map(move |low| {
            (0..parallel).flat_map(move |round| {
                (low + 1..groups).map(move |high| {
                    let distance = high - low;
                    [
                        (low, self.switch(round, distance)),
                        (high, self.switch(round, groups - distance)),
                    ]
                })
            })
        })
    }

    /// The switch that has the cable of `round` to the group at `distance`.
    fn switch(self, round: u64, distance: u64) -> u64 {
        let others = self.groups - 1;
        (round * others + distance - 1) * self.switches / (self.parallel * others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_pair_of_groups_and_every_switch_gets_an_equal_share() {
        for (groups, switches, parallel) in [(9, 4, 1), (5, 4, 3), (2, 3, 5), (7, 6, 2)] {
            let mut pairs = BTreeMap::new();
            let mut uses = BTreeMap::new();
            for ends in (GlobalLinks { groups, switches, parallel }).ends() {
                *pairs.entry(ends.map(|(group, _)| group)).or_insert(0) += 1;
                for end in ends {
                    *uses.entry(end).or_insert(0u64) += 1;
                }
            }
            assert_eq!(pairs.len() as u64, groups * (groups - 1) / 2);
            assert!(pairs.values().all(|&count| count == parallel));
            let cables = parallel * (groups - 1);
            assert!(uses.keys().all(|&(_, switch)| switch < switches));
            assert!(uses.values().all(|&count| count <= cables.div_ceil(switches)));
            assert!(cables < switches || uses.values().all(|&count| count >= cables / switches));
        }
    }
}
