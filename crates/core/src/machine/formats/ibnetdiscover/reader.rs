//! From blocks and cables to a machine.

use std::collections::HashMap;

use super::super::{FormatError, Import};
use super::blocks::{Blocks, Id, clean};
use super::cables::{self, Cable};
use super::levels;
use crate::machine::{Builder, EndpointInfo, Part, PartInfo};

/// Reads a dump; see the module above.
pub(super) fn read(text: &str, label: &str) -> Result<Import, FormatError> {
    let mut blocks = Blocks::collect(text, label)?;
    let cables = cables::join(&mut blocks)?;
    let guids = guids(&mut blocks)?;
    let name = blocks.summary.map_or_else(|| file_name(label), |summary| clean(summary.name));
    let synthetic = blocks.summary.is_some_and(|summary| summary.synthetic);
    let mut builder = Builder::new(name, synthetic);
    let parts = add_parts(&mut builder, &blocks, &guids);
    for cable in &cables {
        let [a, b] = cable.ends;
        builder.cable_ports((parts[a.0], a.1), (parts[b.0], b.1), cable.rate);
        add_endpoints(&mut builder, &blocks, &parts, cable, &guids);
    }
    let built = builder.build();
    let mut machine =
        built.map_err(|source| FormatError::Machine { label: label.to_owned(), source })?;
    let mut chassis = vec![None; machine.vertex_count()];
    for (draft, part) in blocks.parts.iter().zip(&parts) {
        if let Part::Switch(switch) = part {
            chassis[machine.switch_vertex(*switch).index()] = draft.chassis;
        }
    }
    levels::add(&mut machine, &chassis);
    Ok(Import { machine, warnings: blocks.warnings })
}

/// The last component of a path.
fn file_name(label: &str) -> String {
    label.rsplit(['/', '\\']).next().unwrap_or(label).to_owned()
}

/// The GUID of every part: of its attribute line, else of its id, else made up.
fn guids(blocks: &mut Blocks<'_>) -> Result<Vec<u64>, FormatError> {
    /// First of the GUIDs for parts that have none; nodes' port GUIDs follow at steps of one.
    const MADE_UP: u64 = 0x0046_0000_0000_0000;
    const STEP: u64 = 256;
    let mut owner: HashMap<u64, usize> = HashMap::with_capacity(blocks.parts.len());
    let mut guids: Vec<Option<u64>> = vec![None; blocks.parts.len()];
    for (at, part) in blocks.parts.iter().enumerate() {
        let Some(guid) = part.guid else { continue };
        if let Some(&other) = owner.get(&guid) {
            return Err(FormatError::Contradiction {
                label: blocks.label.to_owned(),
                line: part.line,
                earlier: blocks.parts[other].line,
                found: format!("`{}` has GUID 0x{guid:016x}", blocks.shown(at)),
                said: format!("gives it to `{}`", blocks.shown(other)),
                advice: "every switch and node needs its own GUID".to_owned(),
            });
        }
        owner.insert(guid, at);
        guids[at] = Some(guid);
    }
    let mut next = MADE_UP;
    let mut warnings = Vec::new();
    for (at, part) in blocks.parts.iter().enumerate() {
        let of_id = match part.id {
            Id::Guid(_, guid) => Some(guid),
            Id::Free(_) => None,
        };
        match (guids[at], of_id) {
            (Some(guid), Some(of_id)) if guid != of_id => {
                let shown = blocks.shown(at);
                let text = format!(
                    "the id of `{shown}` is not its GUID, 0x{guid:016x}, which \
                                    holds"
                );
                warnings.push((part.line, text));
                continue;
            }
            (Some(_), _) => continue,
            (None, Some(guid)) if !owner.contains_key(&guid) => {
                owner.insert(guid, at);
                guids[at] = Some(guid);
                continue;
            }
            (None, of_id) => {
                while owner.contains_key(&next) {
                    next += STEP;
                }
                owner.insert(next, at);
                guids[at] = Some(next);
                if of_id.is_some() {
                    let shown = blocks.shown(at);
                    let given = format!("given 0x{next:016x}");
                    let text = format!("the GUID of `{shown}` is another part's: {given}");
                    warnings.push((part.line, text));
                }
            }
        }
    }
    for (line, text) in warnings {
        blocks.warn(line, text);
    }
    Ok(guids.into_iter().map(Option::unwrap_or_default).collect())
}

fn add_parts(builder: &mut Builder, blocks: &Blocks<'_>, guids: &[u64]) -> Vec<Part> {
    let mut parts = Vec::with_capacity(blocks.parts.len());
    for (draft, &guid) in blocks.parts.iter().zip(guids) {
        let info = PartInfo {
            name: draft.name.clone(),
            guid,
            system_guid: draft.system_guid,
            vendor: draft.vendor,
            device: draft.device,
            radix: draft.radix,
            ..PartInfo::default()
        };
        parts.push(match draft.kind {
            None => {
                let (lid, lmc, enhanced) = (draft.lid, draft.lmc, draft.enhanced);
                builder.switch_part(PartInfo { lid, lmc, enhanced, ..info })
            }
            Some(kind) => builder.node_part(PartInfo { kind, ..info }),
        });
    }
    parts
}

/// What either end of a cable says of a node's port.
fn add_endpoints(
    builder: &mut Builder,
    blocks: &Blocks<'_>,
    parts: &[Part],
    cable: &Cable,
    guids: &[u64],
) {
    for (end, &(part, port)) in cable.ends.iter().enumerate() {
        let Part::Node(node) = parts[part] else { continue };
        let own = cable.lines[end].map(|at| &blocks.ports[at]);
        let far = cable.lines[1 - end].map(|at| &blocks.ports[at]);
        let guid = own.and_then(|own| own.guid).or(far.and_then(|far| far.far_guid));
        let lid = own.and_then(|own| own.lid).or(far.and_then(|far| far.far_lid));
        let info = EndpointInfo {
            guid: guid.unwrap_or_else(|| guids[part].wrapping_add(port.into())),
            lid: lid.unwrap_or(0),
            lmc: own.and_then(|own| own.lmc).unwrap_or(0),
        };
        builder.endpoint_info(node, port, info);
    }
}
