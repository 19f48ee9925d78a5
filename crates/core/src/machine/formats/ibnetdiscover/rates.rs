//! Width and speed of cables, from what either end says of them.

use std::collections::BTreeMap;

use super::blocks::{Blocks, PortDraft, shorten};
use crate::units::{LinkRate, Speed};

/// Width and speed of each cable. What neither end says is taken from the most common cable of the file.
pub(super) fn rates(blocks: &mut Blocks<'_>, pairs: &[[Option<usize>; 2]]) -> Vec<LinkRate> {
    let mut common: BTreeMap<(u8, Speed), usize> = BTreeMap::new();
    let mut given = Vec::with_capacity(pairs.len());
    let mut differing = Vec::new();
    for pair in pairs {
        let read = |at: &usize| blocks.ports[*at].rate?.parse::<LinkRate>().ok();
        let mut ends = pair.iter().flatten().filter_map(read);
        let rate = match (ends.next(), ends.next()) {
            (Some(one), Some(other)) if one != other => {
                let slower = if other.rate_gbps() < one.rate_gbps() { other } else { one };
                differing.push((pair[1], one, other, slower));
                Some(slower)
            }
            (one, _) => one,
        };
        if let Some(rate) = rate {
            *common.entry((rate.lanes, rate.speed)).or_default() += 1;
        }
        given.push(rate);
    }
    for (at, one, other, slower) in differing {
        let line = at.map_or(0, |at| blocks.ports[at].line);
        blocks.warn(line, format!("one end says {one}, the other {other}: taken as {slower}"));
    }
    // Ties go to the slower one: less is promised.
    let most = common.values().max();
    let usual = common.iter().find(|(_, count)| Some(*count) == most);
    let usual = usual.map(|(&(lanes, speed), _)| LinkRate { lanes, speed });
    let guessed = usual.unwrap_or(LinkRate::EDR);
    let source = if usual.is_some() { "the most common rate of the file" } else { "the default" };
    warn_guesses(blocks, pairs, &given, guessed, source);
    let guess = |pair: &[Option<usize>; 2]| {
        let mut lanes = pair.iter().flatten().filter_map(|&at| lanes(&blocks.ports[at]));
        LinkRate { lanes: lanes.next().unwrap_or(guessed.lanes), speed: guessed.speed }
    };
    pairs.iter().zip(given).map(|(pair, rate)| rate.unwrap_or_else(|| guess(pair))).collect()
}

/// Lanes that a port line gives without a speed that is known: `w=4`, `4x???`.
fn lanes(port: &PortDraft<'_>) -> Option<u8> {
    let text = port.rate.and_then(|rate| rate.split(['x', 'X']).next()?.parse().ok());
    text.or(port.width).filter(|lanes| matches!(lanes, 1 | 2 | 4 | 8 | 12))
}

/// One warning for each way of not saying a rate, however many cables it concerns.
fn warn_guesses(
    blocks: &mut Blocks<'_>,
    pairs: &[[Option<usize>; 2]],
    given: &[Option<LinkRate>],
    guessed: LinkRate,
    source: &str,
) {
    let mut unread: BTreeMap<Option<&str>, (usize, usize)> = BTreeMap::new();
    for (pair, _) in pairs.iter().zip(given).filter(|(_, rate)| rate.is_none()) {
        let lines = pair.iter().flatten().map(|&at| &blocks.ports[at]);
        let text = lines.clone().find_map(|port| port.rate);
        let line = lines.map(|port| port.line).min().unwrap_or(0);
        let (first, count) = unread.entry(text).or_insert((line, 0));
        *first = line.min(*first);
        *count += 1;
    }
    for (text, (line, count)) in unread {
        let says = match text {
            Some(text) => format!("`{}` is no known width and speed", shorten(text)),
            None => "no width and speed given".to_owned(),
        };
        let cables = if count == 1 { "1 cable".to_owned() } else { format!("{count} cables") };
        let guess = format!("{guessed} assumed, {source}");
        blocks.warn(line, format!("{says} ({cables}, the first here): {guess}"));
    }
}
