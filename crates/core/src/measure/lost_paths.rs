//! Routes that a failure cuts before anything is re-routed.
//!
//! Counted exactly for each fault pattern, and extrapolated as Domke et al., SC14, do for few failures: the number of
//! failed links times the mean number of routes over a link (both directions of the cable; edge forwarding index).

use rayon::prelude::*;

use crate::ids::{EndpointId, SwitchId};
use crate::machine::{SwitchGraph, View};
use crate::recovery::routing::{RouteTree, Routing, Step};

/// Routes of (source node, destination LID) that the tables provide on `intact` and that cross a part dead in `broken`.
///
/// Routes from and to dead nodes count as lost. Both views must be of one machine, and `intact` the one the tables were
/// made for.
///
/// # Complexity
/// LIDs x switches.
#[must_use]
pub fn count(intact: &SwitchGraph<'_>, routing: &Routing, broken: &View) -> u64 {
    let endpoints: Vec<EndpointId> = intact.machine().endpoints().collect();
    let new_state = || (RouteTree::default(), Vec::new());
    endpoints
        .par_iter()
        .map_init(new_state, |(tree, cut), &endpoint| {
            lost_to(intact, routing, broken, endpoint, tree, cut)
        })
        .sum()
}

fn lost_to(
    intact: &SwitchGraph<'_>,
    routing: &Routing,
    broken: &View,
    endpoint: EndpointId,
    tree: &mut RouteTree,
    cut: &mut Vec<bool>,
) -> u64 {
    let machine = intact.machine();
    let Some(target) = intact.switch_of(endpoint) else { return 0 };
    let owner = machine.endpoint_node(endpoint);
    let mut lost = 0;
    for lid in routing.lft.lids().all_of_endpoint(endpoint) {
        tree.walk(intact, &routing.lft, lid);
        cut.clear();
        cut.resize(intact.switch_count(), false);
        cut[target.index()] = !broken.usable(machine.injection(endpoint));
        // Each switch comes after the one it forwards to, so that one's fate is known.
        for &switch in tree.order() {
            if let Step::Forward(channel) = tree.step(switch) {
                let next = SwitchId(machine.head(channel).vertex.0);
                cut[switch.index()] = cut[next.index()] || !broken.usable(channel);
            }
            let here = intact.attached(switch).iter().filter(|&&source| {
                intact.injects(source) && machine.endpoint_node(source) != owner
            });
            lost += here
                .filter(|&&source| cut[switch.index()] || !broken.usable(machine.injection(source)))
                .count() as u64;
        }
    }
    lost
}

/// What the mean edge forwarding index predicts for `failed_links` failed switch-switch links.
#[must_use]
pub fn extrapolate(forwarding_index_mean: f64, failed_links: usize) -> f64 {
    2.0 * forwarding_index_mean * failed_links as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::samples::{broken_machine, generated};
    use crate::params::Given;
    use crate::recovery::routing::{Outcome, PathFinder, RouteOptions, check, engines};
    use proptest::prelude::*;

    fn minhop(graph: &SwitchGraph<'_>) -> Routing {
        match engines::bind("minhop", &Given::new()).unwrap().route(graph, &RouteOptions::default())
        {
            Outcome::Routed(routing) => routing,
            Outcome::Refused(refusal) => panic!("{}", refusal.reason),
        }
    }

    #[test]
    fn one_cable_of_a_balanced_tree_loses_what_the_index_says() {
        let view = generated("16-ary 2-tree");
        let graph = SwitchGraph::new(&view);
        let routing = minhop(&graph);
        let link = view.machine().switch_links().next().unwrap();
        let broken = view.without(&[link], &[], &[]);
        assert_eq!(count(&graph, &routing, &view), 0);
        assert_eq!(count(&graph, &routing, &broken), 480);
        let predicted = extrapolate(check::check(&graph, &routing).forwarding_index_mean, 1);
        assert!((predicted - 480.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn agrees_with_following_every_pair(broken in broken_machine(1)) {
            let view = View::intact(broken.machine_shared());
            let graph = SwitchGraph::new(&view);
            let routing = minhop(&graph);
            let machine = view.machine();
            let finder = PathFinder::new(&graph, &routing);
            let (mut lost, mut path) = (0, Vec::new());
            for source in machine.nodes() {
                for target in machine.nodes().filter(|&target| target != source) {
                    prop_assert!(finder.find(source, target, &mut path).is_some());
                    lost += u64::from(path.iter().any(|&channel| !broken.usable(channel)));
                }
            }
            prop_assert_eq!(count(&graph, &routing, &broken), lost);
            let mut dead = machine.links().filter(|&link| !broken.link_usable(link));
            prop_assert!(lost == 0 || dead.next().is_some());
        }
    }
}
