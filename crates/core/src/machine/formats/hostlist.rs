//! Hostlist expressions, `tux[0-3,12,18-20]`, both ways.
//!
//! Reads any number of bracketed ranges a name and keeps leading zeros as Slurm does. Writes names in natural order,
//! with a range only where digits end the name, which every Slurm version reads.

use std::cmp::Ordering;

/// Why an expression is no hostlist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum HostlistError {
    #[error("`{0}` has a bracket without its partner")]
    Bracket(String),
    #[error("`{0}` has an empty name")]
    EmptyName(String),
    #[error("`{range}` in `{text}` is no range; write a number or two, low-high")]
    Range { text: String, range: String },
    #[error("`{text}` stands for more than {HOSTS_MAX} names")]
    TooMany { text: String },
}

/// Names that one expression may stand for; a slip such as `n[0-9999999999]` must not fill the memory.
const HOSTS_MAX: usize = 100_000;

/// All names of an expression, in the order written.
pub(super) fn expand(text: &str) -> Result<Vec<String>, HostlistError> {
    let mut names = Vec::new();
    for item in split_outside_brackets(text)? {
        let mut expanded = vec![String::new()];
        let mut rest = item;
        while let Some(open) = rest.find('[') {
            let (before, inside) = (&rest[..open], &rest[open + 1..]);
            let close = inside.find(']').ok_or_else(|| HostlistError::Bracket(item.to_owned()))?;
            let numbers = numbers(item, &inside[..close])?;
            if names.len() + expanded.len() * numbers.len() > HOSTS_MAX {
                return Err(HostlistError::TooMany { text: item.to_owned() });
            }
            expanded = expanded
                .iter()
                .flat_map(|start| numbers.iter().map(move |n| format!("{start}{before}{n}")))
                .collect();
            rest = &inside[close + 1..];
        }
        expanded.iter_mut().for_each(|name| name.push_str(rest));
        if expanded.iter().any(String::is_empty) {
            return Err(HostlistError::EmptyName(text.to_owned()));
        }
        names.append(&mut expanded);
    }
    Ok(names)
}

fn split_outside_brackets(text: &str) -> Result<Vec<&str>, HostlistError> {
    let (mut items, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        match character {
            '[' | ']' if inside == (character == '[') => {
                return Err(HostlistError::Bracket(text.to_owned()));
            }
            '[' => inside = true,
            ']' => inside = false,
            ',' if !inside => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(HostlistError::Bracket(text.to_owned()));
    }
    items.push(text[start..].trim());
    if items.iter().any(|item| item.is_empty()) {
        return Err(HostlistError::EmptyName(text.to_owned()));
    }
    Ok(items)
}

/// The numbers of `0-3,12,018-020`, with their zeros.
fn numbers(text: &str, inside: &str) -> Result<Vec<String>, HostlistError> {
    let mut numbers = Vec::new();
    for range in inside.split(',').map(str::trim) {
        let error = || HostlistError::Range { text: text.to_owned(), range: range.to_owned() };
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let digits =
            |number: &str| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        if !digits(low) || !digits(high) {
            return Err(error());
        }
        let (first, last): (u64, u64) =
            (low.parse().map_err(|_| error())?, high.parse().map_err(|_| error())?);
        if first > last {
            return Err(error());
        }
        if last - first >= HOSTS_MAX as u64 || numbers.len() > HOSTS_MAX {
            return Err(HostlistError::TooMany { text: text.to_owned() });
        }
        let width = low.len();
        numbers.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Ok(numbers)
}

/// The shortest expression of plain ranges for `names`, in natural order; the same set gives the same text.
pub(super) fn compress<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    names.sort_by(|a, b| natural(a, b));
    names.dedup();
    let mut items: Vec<String> = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let (prefix, width, _) = numbered(names[at]);
        let same = |name: &&&str| {
            let (other, other_width, _) = numbered(name);
            width.is_some() && other == prefix && other_width == width
        };
        let run = names[at..].iter().take_while(same).count().max(1);
        if run == 1 {
            items.push(names[at].to_owned());
        } else {
            items.push(format!("{prefix}[{}]", ranges(&names[at..at + run], prefix.len())));
        }
        at += run;
    }
    items.join(",")
}

/// `0-3,12` of names that share a prefix of `skip` bytes and their padding, ascending.
fn ranges(names: &[&str], skip: usize) -> String {
    let mut runs: Vec<(&str, &str, u64)> = Vec::new();
    for name in names {
        let (digits, number) = (&name[skip..], numbered(name).2);
        match runs.last_mut() {
            Some((_, last, end)) if *end + 1 == number => (*last, *end) = (digits, number),
            _ => runs.push((digits, digits, number)),
        }
    }
    let run = |&(first, last, _): &(&str, &str, u64)| {
        if first == last { first.to_owned() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

/// Prefix, padding and number of a name that ends in digits. Padding is the width where zeros lead, else 0; numbers too
/// long to count count as text.
fn numbered(name: &str) -> (&str, Option<usize>, u64) {
    const DIGITS_MAX: usize = 18;
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (prefix, number) = name.split_at(digits);
    match number.parse() {
        Ok(value) if number.len() <= DIGITS_MAX => {
            let padded = number.len() > 1 && number.starts_with('0');
            (prefix, Some(if padded { number.len() } else { 0 }), value)
        }
        _ => (name, None, 0),
    }
}

/// Order by prefix, then padding, then number: `n2` before `n10`.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let ((prefix_a, width_a, number_a), (prefix_b, width_b, number_b)) = (numbered(a), numbered(b));
    (prefix_a, width_a, number_a, a).cmp(&(prefix_b, width_b, number_b, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn expands_ranges_zeros_and_products() {
        let all = |text: &str| expand(text).unwrap().join(" ");
        assert_eq!(all("tux[0-2,12],login"), "tux0 tux1 tux2 tux12 login");
        assert_eq!(all("n[008-011]"), "n008 n009 n010 n011");
        assert_eq!(all("r[0-1]n[1-2]x"), "r0n1x r0n2x r1n1x r1n2x");
    }

    #[test]
    fn compresses_in_natural_order_and_keeps_zeros() {
        let text = |names: &[&str]| compress(names.iter().copied());
        assert_eq!(text(&["n10", "n2", "n1", "n3", "login"]), "login,n[1-3,10]");
        assert_eq!(text(&["n09", "n08", "n1"]), "n1,n[08-09]");
        assert_eq!(text(&["a1", "b1"]), "a1,b1");
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn says_what_is_wrong_with_an_expression() {
        let error = |text: &str| expand(text).unwrap_err().to_string();
        assert_eq!(error("n[0-"), "`n[0-` has a bracket without its partner");
        assert_eq!(
            error("n[3-1]"),
            "`3-1` in `n[3-1]` is no range; write a number or two, low-high"
        );
        assert_eq!(error("a,,b"), "`a,,b` has an empty name");
        assert_eq!(
            error("n[0-99999999999]"),
            "`n[0-99999999999]` stands for more than 100000 names"
        );
        assert_eq!(
            error("n[0-9999]m[0-9999]"),
            "`n[0-9999]m[0-9999]` stands for more than 100000 names"
        );
    }

    proptest! {
        #[test]
        fn what_is_compressed_expands_to_the_same_set(
            names in proptest::collection::btree_set("[a-c]{1,2}[0-9]{0,3}", 1..60),
        ) {
            let mut expanded = expand(&compress(names.iter().map(String::as_str))).unwrap();
            expanded.sort();
            prop_assert_eq!(expanded, names.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9,\\[\\]-]{0,30}") {
            let _ = expand(&text);
        }
    }
}
