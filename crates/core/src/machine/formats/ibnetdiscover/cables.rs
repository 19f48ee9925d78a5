//! Port lines joined into cables: both ends must agree, and what is missing must not be the end of the file.

use std::collections::HashMap;

use super::super::FormatError;
use super::blocks::{Blocks, Id, PortDraft};
use super::rates::rates;
use crate::units::LinkRate;

const LOST_BLOCK: &str = "the file is cut off or lost that block: run ibnetdiscover again and keep \
                          all of its output";
const TWO_CABLES: &str = "a port holds one cable and both ends must list the same one: correct the \
                          wrong line, or import dumps of different times one by one";
const EDITED: &str =
    "export it again; if you edited it, delete the line beginning `# runflat machine:`";

/// A cable between two plugs, each a part and a port.
pub(super) struct Cable {
    pub ends: [(usize, u8); 2],
    pub rate: LinkRate,
    /// The port line of each end that has one.
    pub lines: [Option<usize>; 2],
}

/// Joins the port lines of all blocks, in the order of the file.
///
/// # Errors
/// A far end that no block declares or that has no such port, ends that contradict each other, signs that the file was
/// cut off.
pub(super) fn join(blocks: &mut Blocks<'_>) -> Result<Vec<Cable>, FormatError> {
    let plugs = plugs(blocks)?;
    let mut pairs: Vec<[Option<usize>; 2]> = Vec::new();
    let mut claims: HashMap<(usize, u8), usize> = HashMap::new();
    let mut one_sided = Vec::new();
    for at in 0..blocks.ports.len() {
        let own = &blocks.ports[at];
        if plugs.get(&(own.part, own.port)) != Some(&at) {
            continue; // listed again, and said so
        }
        let far = far_plug(blocks, own)?;
        let mirror = plugs.get(&far).copied();
        match mirror {
            Some(mirror) => {
                if far_plug(blocks, &blocks.ports[mirror])? != (own.part, own.port) {
                    return Err(contradiction(blocks, at, mirror));
                }
                if mirror < at {
                    continue;
                }
            }
            None => {
                if let Some(&earlier) = claims.get(&far) {
                    return Err(contradiction(blocks, at, earlier));
                }
                claims.insert(far, at);
            }
        }
        if far.0 == own.part {
            warn_self_cable(blocks, at);
            continue;
        }
        if mirror.is_none() {
            one_sided.push((at, far));
        }
        pairs.push([Some(at), mirror]);
    }
    check_ends(blocks, &one_sided)?;
    check_last_line(blocks, &plugs)?;
    for (at, far) in one_sided {
        let line = blocks.ports[at].line;
        let text = format!(
            "the cable to `{}`[{}] is kept, but that end does not list it",
            blocks.shown(far.0),
            far.1
        );
        blocks.warn(line, text);
    }
    let rates = rates(blocks, &pairs);
    let mut cables = Vec::with_capacity(pairs.len());
    for (lines, rate) in pairs.into_iter().zip(rates) {
        let own = &blocks.ports[lines[0].unwrap_or_default()];
        cables.push(Cable { ends: [(own.part, own.port), far_plug(blocks, own)?], rate, lines });
    }
    check_summary(blocks, cables.len())?;
    Ok(cables)
}

fn warn_self_cable(blocks: &mut Blocks<'_>, at: usize) {
    let own = &blocks.ports[at];
    let plugs = format!("from port {} of `{}`", own.port, blocks.shown(own.part));
    let text = format!("a cable {plugs} to its own port {} is left out", own.far_port);
    blocks.warn(own.line, text);
}

/// Which line lists a plug: the first, if it is listed again with the same far end.
fn plugs(blocks: &mut Blocks<'_>) -> Result<HashMap<(usize, u8), usize>, FormatError> {
    let mut plugs = HashMap::with_capacity(blocks.ports.len());
    let mut again = Vec::new();
    for (at, own) in blocks.ports.iter().enumerate() {
        let first = *plugs.entry((own.part, own.port)).or_insert(at);
        if first == at {
            continue;
        }
        let before = &blocks.ports[first];
        if (before.far_id, before.far_port) != (own.far_id, own.far_port) {
            return Err(contradiction(blocks, at, first));
        }
        again.push((own.line, own.part, own.port, before.line));
    }
    for (line, part, port, before) in again {
        let text =
            format!("port {port} of `{}` is listed again, as on line {before}", blocks.shown(part));
        blocks.warn(line, text);
    }
    Ok(plugs)
}

/// The plug at the other end of a port line.
fn far_plug(blocks: &Blocks<'_>, own: &PortDraft<'_>) -> Result<(usize, u8), FormatError> {
    let Some(&far) = blocks.by_id.get(&own.far_id) else {
        let id = match own.far_id {
            Id::Guid(letter, guid) => format!("{}-{guid:016x}", char::from(letter)),
            Id::Free(id) => id.to_owned(),
        };
        return Err(FormatError::Line {
            label: blocks.label.to_owned(),
            line: own.line,
            found: format!(
                "port {} of `{}` is cabled to `{id}`, which has no block",
                own.port,
                blocks.shown(own.part)
            ),
            allowed: "every switch and node that is named must have one".to_owned(),
            advice: LOST_BLOCK.to_owned(),
        });
    };
    let radix = blocks.parts[far].radix;
    match u8::try_from(own.far_port).ok().filter(|port| (1..=radix).contains(port)) {
        Some(port) => Ok((far, port)),
        None => {
            let found = format!("found port {} of `{}`", own.far_port, blocks.shown(far));
            Err(blocks.wrong(own.line, found, &format!("it has ports 1 to {radix}")))
        }
    }
}

/// Two lines that put different cables into one plug.
fn contradiction(blocks: &Blocks<'_>, one: usize, other: usize) -> FormatError {
    let (earlier, later) = (one.min(other), one.max(other));
    let says = |at: usize| {
        let own = &blocks.ports[at];
        let far = match blocks.by_id.get(&own.far_id) {
            Some(&far) => blocks.shown(far),
            None => format!("{:?}", own.far_id),
        };
        format!("`{}`[{}] to `{far}`[{}]", blocks.shown(own.part), own.port, own.far_port)
    };
    FormatError::Contradiction {
        label: blocks.label.to_owned(),
        line: blocks.ports[later].line,
        earlier: blocks.ports[earlier].line,
        found: format!("cables {}", says(later)),
        said: format!("cables {}", says(earlier)),
        advice: TWO_CABLES.to_owned(),
    }
}

/// A dump lists every cable twice. If only its last block is silent about cables, the file ends inside that block.
fn check_ends(blocks: &Blocks<'_>, one_sided: &[(usize, (usize, u8))]) -> Result<(), FormatError> {
    let Some(&last) = blocks.current.as_ref() else {
        return Err(blocks.cut_off("it declares no switch and no node".to_owned()));
    };
    let dumped = matches!(blocks.parts[last].id, Id::Guid(..));
    let silent = one_sided.iter().all(|&(_, (part, _))| part == last);
    if dumped && silent && !one_sided.is_empty() {
        let (at, (_, port)) = one_sided[0];
        let own = &blocks.ports[at];
        return Err(blocks.cut_off(format!(
            "its last block, `{}`, does not list port {port}, which line {} cables to `{}`[{}]",
            blocks.shown(last),
            own.line,
            blocks.shown(own.part),
            own.port
        )));
    }
    Ok(())
}

/// A last line without its newline may have lost its end: it must say what the other end of its cable says.
fn check_last_line(
    blocks: &Blocks<'_>,
    plugs: &HashMap<(usize, u8), usize>,
) -> Result<(), FormatError> {
    let Some(own) = blocks.ports.last() else { return Ok(()) };
    if blocks.ends_whole || own.line != blocks.last_line {
        return Ok(());
    }
    let mirror = plugs.get(&far_plug(blocks, own)?).map(|&mirror| &blocks.ports[mirror]);
    let Some(mirror) = mirror else { return Ok(()) };
    let lids_differ = own.far_lid.is_some() && mirror.lid.is_some() && own.far_lid != mirror.lid;
    if own.rate != mirror.rate || lids_differ {
        return Err(blocks.cut_off(format!(
            "its last line has no end, and says less than line {} of the same cable",
            mirror.line
        )));
    }
    Ok(())
}

/// What our writer counted must be there.
fn check_summary(blocks: &Blocks<'_>, links: usize) -> Result<(), FormatError> {
    let switches = blocks.parts.iter().filter(|part| part.kind.is_none()).count();
    let nodes = blocks.parts.len() - switches;
    let found = (switches, nodes, links);
    match blocks.summary {
        None if links == 0 => {
            let parts = format!("{switches} switches and {nodes} nodes");
            Err(blocks.cut_off(format!("it declares {parts}, but no cable")))
        }
        Some(counted) if (counted.switches, counted.nodes, counted.links) != found => {
            Err(FormatError::CutOff {
                label: blocks.label.to_owned(),
                line: blocks.last_line,
                found: format!(
                    "it has {switches} switches, {nodes} nodes and {links} cables, its comment \
                     counts {}, {} and {}",
                    counted.switches, counted.nodes, counted.links
                ),
                advice: EDITED.to_owned(),
            })
        }
        _ => Ok(()),
    }
}
