//! What differs between the fabric that should be and the one that is: parts, cables, rates.
//!
//! Parts are the same if their GUIDs are; what is left over is matched by names that are unique on both sides, so that
//! a replaced switch, or a design with made-up GUIDs, still compares. Cables are the same if both plugs are. A missing
//! and an extra cable that share a plug, or else both parts, are one cable plugged in wrongly.
//!
//! Does not say which change is to blame or how to repair it.

use std::collections::HashMap;

use super::graph::{Machine, PortRef};
use super::names::Names;
use crate::ids::{LinkId, VertexId};
use crate::units::LinkRate;

/// Differences, each list in the order of the expected machine, or of the found one for what is extra.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Expected parts that are not there.
    pub missing_parts: Vec<VertexId>,
    /// Found parts that nobody expects.
    pub extra_parts: Vec<VertexId>,
    /// Parts with the expected name and another GUID: expected, found.
    pub replaced_parts: Vec<(VertexId, VertexId)>,
    /// Parts with the expected GUID and another name: expected, found.
    pub renamed_parts: Vec<(VertexId, VertexId)>,
    /// Expected cables that are not there.
    pub missing_links: Vec<LinkId>,
    /// Found cables that nobody expects.
    pub extra_links: Vec<LinkId>,
    /// Cables plugged in elsewhere: expected, found.
    pub wrong_links: Vec<(LinkId, LinkId)>,
    /// Cables between the expected plugs at another rate: expected, found.
    pub changed_rates: Vec<(LinkId, LinkId)>,
}

/// Compares `found` with `expected`.
///
/// # Complexity
/// Linear in parts and cables.
#[must_use]
pub fn diff(expected: &Machine, found: &Machine) -> Diff {
    let mut diff = Diff::default();
    let found_as = match_parts(expected, found, &mut diff);
    let mut same = vec![false; found.link_count()];
    let mut missing = Vec::new();
    for link in expected.links() {
        let [a, b] = expected.ends(link).map(|plug| at(&found_as, plug));
        let there = a.zip(b).and_then(|(a, b)| {
            let channel = found.channel_at(a.vertex, a.port)?;
            (found.head(channel) == b).then(|| channel.link())
        });
        match there {
            Some(there) => {
                same[there.index()] = true;
                if expected.rate(link) != found.rate(there) {
                    diff.changed_rates.push((link, there));
                }
            }
            None => missing.push(link),
        }
    }
    let extra: Vec<LinkId> = found.links().filter(|link| !same[link.index()]).collect();
    pair_up(expected, found, &found_as, missing, extra, &mut diff);
    diff
}

impl Diff {
    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Diff::default()
    }

    /// One sentence a difference, with the names that each side uses.
    #[must_use]
    pub fn sentences(&self, expected: &Machine, found: &Machine) -> Vec<String> {
        let (expects, finds) = (Names::new(expected), Names::new(found));
        let sort = |machine: &Machine, vertex: VertexId| {
            if machine.as_switch(vertex).is_some() { "switch" } else { "node" }
        };
        let guid = |machine: &Machine, vertex: VertexId| machine.part(vertex).guid;
        let mut all = Vec::new();
        for &part in &self.missing_parts {
            all.push(format!("missing {} {}", sort(expected, part), expects.part(part)));
        }
        for &part in &self.extra_parts {
            all.push(format!("extra {} {}", sort(found, part), finds.part(part)));
        }
        for &(part, other) in &self.replaced_parts {
            all.push(format!(
                "replaced {} {}: GUID 0x{:016x}, was 0x{:016x}",
                sort(expected, part),
                expects.part(part),
                guid(found, other),
                guid(expected, part)
            ));
        }
        for &(part, other) in &self.renamed_parts {
            let sort = sort(expected, part);
            all.push(format!("renamed {sort} {}: now {}", expects.part(part), finds.part(other)));
        }
        for &link in &self.missing_links {
            all.push(format!("missing cable {}", expects.link(link)));
        }
        for &link in &self.extra_links {
            all.push(format!("extra cable {}", finds.link(link)));
        }
        for &(link, other) in &self.wrong_links {
            all.push(format!(
                "wrong cable {}, should be {}",
                finds.link(other),
                expects.link(link)
            ));
        }
        for &(link, other) in &self.changed_rates {
            let (is, was): (LinkRate, LinkRate) = (found.rate(other), expected.rate(link));
            all.push(format!("changed rate {}: {is}, should be {was}", finds.link(other)));
        }
        all
    }
}

/// The found part of every expected one; fills in what is said of parts.
fn match_parts(expected: &Machine, found: &Machine, diff: &mut Diff) -> Vec<Option<VertexId>> {
    let vertices = |machine: &Machine| (0..machine.vertex_count()).map(VertexId::from_index);
    let by_guid: HashMap<u64, VertexId> =
        vertices(found).map(|vertex| (found.part(vertex).guid, vertex)).collect();
    let same_sort =
        |a: VertexId, b: VertexId| expected.as_switch(a).is_some() == found.as_switch(b).is_some();
    let mut found_as = vec![None; expected.vertex_count()];
    let mut taken = vec![false; found.vertex_count()];
    for vertex in vertices(expected) {
        let other = by_guid.get(&expected.part(vertex).guid).copied();
        if let Some(other) = other.filter(|&other| same_sort(vertex, other)) {
            found_as[vertex.index()] = Some(other);
            taken[other.index()] = true;
            if expected.part(vertex).name != found.part(other).name {
                diff.renamed_parts.push((vertex, other));
            }
        }
    }
    let unique = |machine: &Machine| {
        let mut by_name: HashMap<String, Option<VertexId>> = HashMap::new();
        for vertex in vertices(machine) {
            let name = &machine.part(vertex).name;
            by_name.entry(name.clone()).and_modify(|one| *one = None).or_insert(Some(vertex));
        }
        by_name.remove("");
        by_name
    };
    let (expected_names, found_names) = (unique(expected), unique(found));
    for vertex in
        vertices(expected).filter(|vertex| found_as[vertex.index()].is_none()).collect::<Vec<_>>()
    {
        let name = &expected.part(vertex).name;
        let own = expected_names.get(name).copied().flatten();
        let other = own.and_then(|_| found_names.get(name).copied().flatten());
        match other.filter(|&other| !taken[other.index()] && same_sort(vertex, other)) {
            Some(other) => {
                found_as[vertex.index()] = Some(other);
                taken[other.index()] = true;
                diff.replaced_parts.push((vertex, other));
            }
            None => diff.missing_parts.push(vertex),
        }
    }
    diff.extra_parts.extend(vertices(found).filter(|vertex| !taken[vertex.index()]));
    found_as
}

/// Where an expected plug is in the found machine.
fn at(found_as: &[Option<VertexId>], plug: PortRef) -> Option<PortRef> {
    Some(PortRef { vertex: found_as[plug.vertex.index()]?, port: plug.port })
}

/// Finds the missing and extra cables that are one cable in the wrong place.
fn pair_up(
    expected: &Machine,
    found: &Machine,
    found_as: &[Option<VertexId>],
    missing: Vec<LinkId>,
    extra: Vec<LinkId>,
    diff: &mut Diff,
) {
    let mut used = vec![false; found.link_count()];
    let mut between: HashMap<[VertexId; 2], Vec<LinkId>> = HashMap::new();
    for &link in extra.iter().rev() {
        let mut parts = found.ends(link).map(|plug| plug.vertex);
        parts.sort_unstable();
        between.entry(parts).or_default().push(link);
    }
    let mut moved: Vec<Option<LinkId>> = Vec::with_capacity(missing.len());
    for &link in &missing {
        let plugs = expected.ends(link).map(|plug| at(found_as, plug));
        let shares = plugs.iter().flatten().find_map(|plug| {
            let there = found.channel_at(plug.vertex, plug.port)?.link();
            (!used[there.index()]).then_some(there)
        });
        if let Some(there) = shares {
            used[there.index()] = true;
        }
        moved.push(shares);
    }
    for (link, moved) in missing.iter().zip(&mut moved).filter(|(_, moved)| moved.is_none()) {
        let [Some(a), Some(b)] = expected.ends(*link).map(|plug| at(found_as, plug)) else {
            continue;
        };
        let mut parts = [a.vertex, b.vertex];
        parts.sort_unstable();
        let there = between.get_mut(&parts).and_then(|links| {
            while let Some(link) = links.pop() {
                if !used[link.index()] {
                    return Some(link);
                }
            }
            None
        });
        if let Some(there) = there {
            used[there.index()] = true;
            *moved = Some(there);
        }
    }
    for (link, moved) in missing.into_iter().zip(moved) {
        match moved {
            Some(there) => diff.wrong_links.push((link, there)),
            None => diff.missing_links.push(link),
        }
    }
    diff.extra_links.extend(extra.into_iter().filter(|link| !used[link.index()]));
}

#[cfg(test)]
mod tests;
