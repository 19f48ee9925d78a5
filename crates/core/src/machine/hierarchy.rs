//! Where parts stand: coordinates in a grid, and named groups (host, blade, chassis, cabinet, group, rail).

/// Switch coordinates in a Cartesian machine, dimension 0 (x) fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinates {
    /// Length of each dimension.
    pub shape: Vec<u32>,
    /// Whether the dimension closes to a ring.
    pub wraps: Vec<bool>,
    /// `shape.len()` numbers a switch, switch after switch.
    pub of_switch: Vec<u32>,
}

impl Coordinates {
    /// Position of switch number `switch`.
    #[must_use]
    pub fn position(&self, switch: usize) -> &[u32] {
        let dimensions = self.shape.len();
        &self.of_switch[switch * dimensions..(switch + 1) * dimensions]
    }
}

/// One level of the physical hierarchy: which group every part belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// `host`, `blade`, `chassis`, `cabinet`, `group`, `rail`, ...
    pub name: String,
    /// Names of the groups, in order of first use.
    pub groups: Vec<String>,
    /// Group of each vertex (switches, then nodes), or [`Level::NONE`].
    pub of_vertex: Vec<u32>,
}

impl Level {
    /// The vertex belongs to no group at this level.
    pub const NONE: u32 = u32::MAX;
}
