//! What is in a name: GUIDs, hosts of adapters, systems of switches, and how far two words are apart.

/// A GUID as `0x...`, `S-...`, `H-...`, `R-...`, 16 plain digits, or with colons.
#[must_use]
pub fn read_guid(text: &str) -> Option<u64> {
    const FULL: usize = 16;
    let marked = ["0x", "0X", "S-", "H-", "R-"].iter().find_map(|mark| text.strip_prefix(mark));
    let digits: String = marked.unwrap_or(text).chars().filter(|&digit| digit != ':').collect();
    let long_enough = if marked.is_some() { !digits.is_empty() } else { digits.len() == FULL };
    if !long_enough || digits.len() > FULL || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(&digits, 16).ok()
}

/// The host in an adapter's name: `gpu01` of `gpu01 mlx5_0`, `gpu01 HCA-1`, `gpu01 ibp12s0`; the name itself if it is
/// one word; `None` where the driver gave no host (`MT4123 ConnectX6 Mellanox Technologies`).
#[must_use]
pub fn host_name(name: &str) -> Option<&str> {
    let name = name.trim().trim_matches('\'');
    let Some((host, device)) = name.split_once(char::is_whitespace) else {
        return (!name.is_empty()).then_some(name);
    };
    let device = device.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let known = DEVICES.iter().any(|prefix| device.starts_with(prefix));
    (known && device.contains(|digit: char| digit.is_ascii_digit())).then_some(host)
}

/// What names of adapters begin with, per driver or interface.
const DEVICES: [&str; 16] = [
    "mlx", "mthca", "hca", "ib", "hfi", "qib", "ipath", "roce", "rocep", "rxe", "siw", "irdma",
    "ocrdma", "bnxt", "efa", "ehca",
];

/// The system in a managed switch's name: `ib5` of `MF0;ib5:SX6036/U1`.
#[must_use]
pub fn system_name(name: &str) -> Option<&str> {
    let (_, rest) = name.split_once(';')?;
    let (system, _) = rest.split_once(':')?;
    let system = system.trim();
    (!system.is_empty()).then_some(system)
}

/// Levenshtein distance in characters.
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = (diagonal + usize::from(x != *y)).min(above + 1).min(row[j] + 1);
            diagonal = above;
        }
    }
    row[b.len()]
}
