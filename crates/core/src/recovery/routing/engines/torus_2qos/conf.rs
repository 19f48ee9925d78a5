//! The configuration file of torus-2QoS: what the fabric should look like, and where in it discovery begins.
//!
//! Source: the manual page torus-2QoS.conf(5) of OpenSM 3.3.23. As there, a keyword given twice takes the last value,
//! but numbers must be numbers, where OpenSM reads as far as it can. `max_changes` is about logging and passed over.

use std::fmt;

/// Contents of a torus-2QoS.conf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TorusConf {
    /// The dimensions x, y and z; those of radix 1 are not there.
    pub dimensions: [TorusDimension; 3],
    /// Where to begin, the most wanted first.
    pub seeds: Vec<TorusSeed>,
    /// Most parallel cables between two switches, and most node ports and port 0 of one switch.
    pub portgroup_max_ports: u32,
    /// Ports of a destination switch whose nodes take turns first; the others follow in their own order.
    pub port_order: Vec<u8>,
}

/// One dimension of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TorusDimension {
    /// Number of switches.
    pub radix: u32,
    /// Whether they form a ring (torus) or a line (mesh).
    pub wraps: bool,
}

/// A switch and neighbours of it, by GUID, which tell the directions x, y and z.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TorusSeed {
    /// The switch.
    pub switch: u64,
    /// Its neighbour towards lower coordinates, then the one towards higher coordinates, in x, y and z.
    pub beside: [[Option<u64>; 2]; 3],
    /// Where the origin is, seen from the switch; the dateline of a ring is just below it.
    pub dateline: [i32; 3],
}

/// A mistake in a torus-2QoS.conf.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, where {allowed} is allowed")]
pub struct TorusConfError {
    /// Where, from 1; the number of lines where something is missing at the end.
    pub line: usize,
    /// What is there.
    pub found: String,
    /// What could be there.
    pub allowed: String,
}

/// Parallel cables, and node ports with port 0, that OpenSM provides for if not told.
pub const PORTGROUP_MAX_PORTS: u32 = 16;

/// Largest radix of a dimension: more switches than a subnet can have.
pub(super) const RADIX_MAX: u32 = 0xFFFF;

/// Names of the dimensions.
pub(super) const NAMES: [char; 3] = ['x', 'y', 'z'];

impl TorusConf {
    /// Reads a file.
    ///
    /// # Errors
    /// The first mistake in it.
    pub fn parse(text: &str) -> Result<TorusConf, TorusConfError> {
        let mut reader = Reader::default();
        for (number, line) in (1..).zip(text.lines()) {
            reader.line = number;
            let mut words = line.split_whitespace();
            match words.next() {
                Some(keyword) if !keyword.starts_with('#') => reader.read(keyword, words)?,
                _ => {}
            }
        }
        reader.finish()
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    line: usize,
    dimensions: Option<[TorusDimension; 3]>,
    seeds: Vec<TorusSeed>,
    /// The seed that lines belong to, with the line of its last keyword.
    seed: TorusSeed,
    seed_line: Option<usize>,
    has_links: bool,
    /// Line, dimension and offset of every dateline.
    datelines: Vec<(usize, usize, i32)>,
    portgroup_max_ports: Option<u32>,
    port_order: Vec<u8>,
}

impl Reader {
    fn read<'a>(
        &mut self,
        keyword: &str,
        mut words: impl Iterator<Item = &'a str>,
    ) -> Result<(), TorusConfError> {
        match keyword {
            "torus" | "mesh" => self.read_shape(keyword, words),
            "next_seed" => self.next_seed(),
            "portgroup_max_ports" => {
                let ports = self.number(words.next(), 1, 0xFFFF)?;
                self.portgroup_max_ports = Some(ports as u32);
                Ok(())
            }
            "port_order" => {
                for port in words.map_while(|word| word.parse::<u8>().ok()) {
                    if port > 0 && !self.port_order.contains(&port) {
                        self.port_order.push(port);
                    }
                }
                Ok(())
            }
            "max_changes" => self.number(words.next(), 0, i64::from(u32::MAX)).map(|_| ()),
            _ => match NAMES.iter().position(|&name| keyword.starts_with(name)) {
                Some(dimension) if &keyword[1..] == "_dateline" => {
                    self.read_dateline(dimension, words.next())
                }
                Some(dimension) if matches!(&keyword[1..], "m_link" | "p_link") => {
                    self.read_link(dimension, keyword.as_bytes()[1] == b'p', words)
                }
                _ => Err(self.mistake(keyword, KEYWORDS)),
            },
        }
    }

    fn read_shape<'a>(
        &mut self,
        keyword: &str,
        mut words: impl Iterator<Item = &'a str>,
    ) -> Result<(), TorusConfError> {
        if self.dimensions.is_some() {
            return Err(self.mistake(keyword, "one `torus` or `mesh` a file"));
        }
        let mut dimensions = [TorusDimension { radix: 1, wraps: keyword == "torus" }; 3];
        for dimension in &mut dimensions {
            let word = words.next();
            let suffix = word.and_then(|word| word.chars().last());
            let digits = match suffix {
                Some('t' | 'T' | 'm' | 'M') => {
                    dimension.wraps = matches!(suffix, Some('t' | 'T'));
                    word.map(|word| &word[..word.len() - 1])
                }
                _ => word,
            };
            let radix = digits.and_then(|digits| digits.parse().ok());
            let fits = radix.filter(|radix| (1..=RADIX_MAX).contains(radix));
            dimension.radix = fits.ok_or_else(|| {
                let allowed = format!("three radices from 1 to {RADIX_MAX}, as in `4 5t 1m`,");
                self.mistake(word.unwrap_or(END), &allowed)
            })?;
        }
        self.dimensions = Some(dimensions);
        Ok(())
    }

    fn read_dateline(
        &mut self,
        dimension: usize,
        word: Option<&str>,
    ) -> Result<(), TorusConfError> {
        let most = i64::from(RADIX_MAX) - 1;
        let offset = self.number(word, -most, most)? as i32;
        self.datelines.push((self.line, dimension, offset));
        self.seed.dateline[dimension] = offset;
        self.seed_line = Some(self.line);
        Ok(())
    }

    fn read_link<'a>(
        &mut self,
        dimension: usize,
        up: bool,
        mut words: impl Iterator<Item = &'a str>,
    ) -> Result<(), TorusConfError> {
        let switch = self.guid(words.next())?;
        let beside = self.guid(words.next())?;
        if self.has_links && self.seed.switch != switch {
            let allowed = format!(
                "0x{:016x}, from which the other links of this seed lead,",
                self.seed.switch
            );
            return Err(self.mistake(&format!("0x{switch:016x}"), &allowed));
        }
        self.seed.switch = switch;
        self.seed.beside[dimension][usize::from(up)] = Some(beside);
        self.seed_line = Some(self.line);
        self.has_links = true;
        Ok(())
    }

    /// Ends a seed; one without any line is passed over.
    fn next_seed(&mut self) -> Result<(), TorusConfError> {
        if let Some(line) = self.seed_line.filter(|_| !self.has_links) {
            self.line = line;
            return Err(self.mistake("a seed of datelines alone", "a seed with links"));
        }
        if self.has_links {
            self.seeds.push(std::mem::take(&mut self.seed));
        }
        (self.seed_line, self.has_links) = (None, false);
        Ok(())
    }

    fn finish(mut self) -> Result<TorusConf, TorusConfError> {
        self.next_seed()?;
        let Some(dimensions) = self.dimensions else {
            return Err(self.mistake(END, "`torus` or `mesh` with three radices"));
        };
        let radix = |dimension: usize| dimensions[dimension].radix as i32;
        let mut datelines = self.datelines.iter();
        let far = datelines.find(|&&(_, dimension, offset)| offset.abs() >= radix(dimension));
        if let Some(&(line, dimension, offset)) = far {
            self.line = line;
            let (name, most) = (NAMES[dimension], radix(dimension) - 1);
            let allowed = format!("{name}_dateline from -{most} to {most}");
            return Err(self.mistake(&format!("{name}_dateline {offset}"), &allowed));
        }
        Ok(TorusConf {
            dimensions,
            seeds: self.seeds,
            portgroup_max_ports: self.portgroup_max_ports.unwrap_or(PORTGROUP_MAX_PORTS),
            port_order: self.port_order,
        })
    }

    fn number(&self, word: Option<&str>, low: i64, high: i64) -> Result<i64, TorusConfError> {
        let number = word.and_then(|word| word.parse().ok());
        number.filter(|number| (low..=high).contains(number)).ok_or_else(|| {
            let allowed = format!("a whole number from {low} to {high}");
            self.mistake(word.unwrap_or(END), &allowed)
        })
    }

    fn guid(&self, word: Option<&str>) -> Result<u64, TorusConfError> {
        let number = word.and_then(|word| match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        });
        let allowed = "the GUIDs of two switches, as in `0x2000 0x2001`,";
        number.ok_or_else(|| self.mistake(word.unwrap_or(END), allowed))
    }

    fn mistake(&self, found: &str, allowed: &str) -> TorusConfError {
        let found = if found == END { END.to_owned() } else { format!("`{found}`") };
        TorusConfError { line: self.line, found, allowed: allowed.to_owned() }
    }
}

/// What is found where something is missing.
const END: &str = "nothing";

const KEYWORDS: &str = "torus, mesh, {x,y,z}{p,m}_link, {x,y,z}_dateline, next_seed, \
                        portgroup_max_ports, port_order or max_changes";

impl fmt::Display for TorusConf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mesh = self.dimensions.iter().all(|dimension| !dimension.wraps);
        f.write_str(if mesh { "mesh" } else { "torus" })?;
        for dimension in &self.dimensions {
            let suffix = if mesh || dimension.wraps { "" } else { "m" };
            write!(f, " {}{suffix}", dimension.radix)?;
        }
        writeln!(f)?;
        if self.portgroup_max_ports != PORTGROUP_MAX_PORTS {
            writeln!(f, "portgroup_max_ports {}", self.portgroup_max_ports)?;
        }
        if !self.port_order.is_empty() {
            let ports: Vec<String> = self.port_order.iter().map(u8::to_string).collect();
            writeln!(f, "port_order {}", ports.join(" "))?;
        }
        for (number, seed) in self.seeds.iter().enumerate() {
            if number > 0 {
                writeln!(f, "\nnext_seed")?;
            }
            write!(f, "{seed}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TorusSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, beside) in NAMES.iter().zip(&self.beside) {
            for (sign, guid) in ["m", "p"].iter().zip(beside) {
                if let Some(guid) = guid {
                    writeln!(f, "{name}{sign}_link 0x{:016x} 0x{guid:016x}", self.switch)?;
                }
            }
        }
        for (name, dateline) in NAMES.iter().zip(self.dateline) {
            if dateline != 0 {
                writeln!(f, "{name}_dateline {dateline}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
