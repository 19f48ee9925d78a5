//! Lists of numbers as people write them: `1-17 20 22-40`.

/// Writes ascending numbers, runs as `first-last`.
pub(super) fn write(numbers: impl IntoIterator<Item = u16>) -> String {
    let mut runs: Vec<[u16; 2]> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some([_, last]) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push([number, number]),
        }
    }
    let run = |[first, last]: &[u16; 2]| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(" ")
}

/// Reads such a list; `None` if it is ill-formed or empty.
pub(super) fn read(text: &str) -> Option<Vec<std::ops::RangeInclusive<u16>>> {
    let run = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(first..=last)
    };
    let runs: Option<Vec<_>> = text.split_whitespace().map(run).collect();
    runs.filter(|runs| !runs.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_ranges() {
        assert_eq!(write([1, 2, 3, 5, 8, 9, u16::MAX]), "1-3 5 8-9 65535");
        assert_eq!(write([]), "");
        let read_all = |text| read(text).map(|runs| runs.into_iter().flatten().collect::<Vec<_>>());
        assert_eq!(read_all("1-3 5  8-9"), Some(vec![1, 2, 3, 5, 8, 9]));
        for text in ["", "3-1", "a", "1-", "-1", "1,2", "70000", "1-2-3"] {
            assert_eq!(read_all(text), None, "{text}");
        }
    }
}
