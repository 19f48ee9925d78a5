//! Typed 32-bit ids: an index into one particular array, never a bare number.
//!
//! A [`LinkId`] `l` is a cable; its two directions are the channels `2 l` and `2 l + 1`, so the reverse of a channel is
//! one flipped bit away. Vertices are the switches followed by the nodes. LIDs are dense planning LIDs (see
//! [`crate::machine::Lids`]); the numbers a fabric file gives are attributes of its parts.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of array position `index`.
            ///
            /// # Panics
            /// If `index` does not fit in 32 bits; every array here is bounded by that.
            #[inline]
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                // INVARIANT: builders refuse machines with 2^32 parts.
                #[allow(clippy::expect_used)]
                Self(u32::try_from(index).expect("more than 2^32 parts"))
            }

            /// The position in its array.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

id!(
    /// A terminal (host channel adapter), counted from 0 over the nodes alone.
    NodeId
);
id!(
    /// A switch, counted from 0 over the switches alone.
    SwitchId
);
id!(
    /// A switch or a node: switches first, then nodes.
    VertexId
);
id!(
    /// A cable.
    LinkId
);
id!(
    /// One direction of a cable.
    ChannelId
);
id!(
    /// One cabled port of a node: what owns a LID. A node with two rails has two endpoints.
    EndpointId
);
id!(
    /// A dense local identifier: every endpoint, then every switch.
    Lid
);
id!(
    /// A process of a parallel job.
    Rank
);

impl LinkId {
    /// The direction from the link's first end to its second.
    #[inline]
    #[must_use]
    pub const fn forward(self) -> ChannelId {
        ChannelId(self.0 * 2)
    }

    /// The direction from the link's second end to its first.
    #[inline]
    #[must_use]
    pub const fn backward(self) -> ChannelId {
        ChannelId(self.0 * 2 + 1)
    }
}

impl ChannelId {
    /// The cable this is a direction of.
    #[inline]
    #[must_use]
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The other direction of the same cable.
    #[inline]
    #[must_use]
    pub const fn reverse(self) -> ChannelId {
        ChannelId(self.0 ^ 1)
    }
}
