//! Dense LIDs: the columns of forwarding tables. What a real subnet calls them is [`WireLids`](super::WireLids).

use crate::ids::{EndpointId, Lid, SwitchId};

/// How the dense LIDs of a machine are laid out: those of every endpoint, then one of every switch.
///
/// With a LID mask count `lmc` an endpoint owns 2^lmc LIDs in a row, so that several ways lead to it. Real LIDs repeat
/// between planes and leave holes; tables here are indexed by these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lids {
    endpoints: u32,
    switches: u32,
    lmc: u8,
}

/// Who answers to a LID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LidOwner {
    /// A cabled node port.
    Endpoint(EndpointId),
    /// A switch (its port 0).
    Switch(SwitchId),
}

/// Unicast LIDs of an InfiniBand subnet: 1 to 0xBFFF.
pub const UNICAST_LIDS: usize = 0xBFFF;

/// Largest LID mask count.
pub const LMC_MAX: u8 = 7;

impl Lids {
    /// LIDs of that many endpoints and switches, one each.
    #[must_use]
    pub const fn new(endpoints: u32, switches: u32) -> Self {
        Lids { endpoints, switches, lmc: 0 }
    }

    /// The same parts with 2^lmc LIDs an endpoint.
    ///
    /// # Panics
    /// If `lmc` is above [`LMC_MAX`].
    #[must_use]
    pub fn with_lmc(self, lmc: u8) -> Self {
        assert!(lmc <= LMC_MAX, "a LID mask count is at most {LMC_MAX}, got {lmc}");
        Lids { lmc, ..self }
    }

    /// The LID mask count.
    #[must_use]
    pub const fn lmc(self) -> u8 {
        self.lmc
    }

    /// LIDs that one endpoint owns.
    #[must_use]
    pub const fn per_endpoint(self) -> u32 {
        1 << self.lmc
    }

    /// Number of LIDs.
    #[must_use]
    pub const fn count(self) -> usize {
        ((self.endpoints << self.lmc) + self.switches) as usize
    }

    /// The first LID of an endpoint.
    #[inline]
    #[must_use]
    pub const fn of_endpoint(self, endpoint: EndpointId) -> Lid {
        Lid(endpoint.0 << self.lmc)
    }

    /// All LIDs of an endpoint.
    #[inline]
    pub fn all_of_endpoint(
        self,
        endpoint: EndpointId,
    ) -> impl DoubleEndedIterator<Item = Lid> + ExactSizeIterator + Clone {
        let first = endpoint.0 << self.lmc;
        (first..first + self.per_endpoint()).map(Lid)
    }

    /// The LID of a switch.
    #[inline]
    #[must_use]
    pub const fn of_switch(self, switch: SwitchId) -> Lid {
        Lid((self.endpoints << self.lmc) + switch.0)
    }

    /// The LID of a part that stands `offset` after its first, if it has that many.
    #[inline]
    #[must_use]
    pub const fn at(self, owner: LidOwner, offset: u8) -> Option<Lid> {
        match owner {
            LidOwner::Endpoint(endpoint) if (offset as u32) < self.per_endpoint() => {
                Some(Lid(self.of_endpoint(endpoint).0 + offset as u32))
            }
            LidOwner::Switch(switch) if offset == 0 => Some(self.of_switch(switch)),
            _ => None,
        }
    }

    /// Who answers to `lid`.
    #[inline]
    #[must_use]
    pub const fn owner(self, lid: Lid) -> LidOwner {
        match lid.0.checked_sub(self.endpoints << self.lmc) {
            None => LidOwner::Endpoint(EndpointId(lid.0 >> self.lmc)),
            Some(switch) => LidOwner::Switch(SwitchId(switch)),
        }
    }
}
