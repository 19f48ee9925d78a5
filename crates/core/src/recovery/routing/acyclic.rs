//! A directed graph that stays without cycles while arcs are added one at a time.
//!
//! Engines that put routes into lanes ask again and again whether one more dependency would close a credit loop. A graph
//! that is searched anew for each question costs its whole size; this one keeps its vertices in a topological order, so
//! that an arc which agrees with the order costs nothing and one which does not costs a search between its two ends.
//! The answer never depends on what the order happens to be. Taking arcs away never breaks an order. Does not say which
//! cycle an arc would close; [`cdg`](super::cdg) does that for tables.
//!
//! Source: Pearce, Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs", JEA 2006.
//! Limits: fewer than 2^32 vertices and arcs; a search may in the worst case visit all that lies between two ends.

/// A graph over vertices `0..n` without cycles, and a topological order of it.
#[derive(Clone, Debug)]
pub struct Acyclic {
    /// Place of each vertex in the order; an arc leads from a lower to a higher place.
    place: Vec<u32>,
    after: Rows,
    before: Rows,
    arc_count: usize,
    // Used within one call alone; `seen` is all false between calls.
    seen: Vec<bool>,
    ahead: Vec<u32>,
    behind: Vec<u32>,
    places: Vec<u32>,
}

impl Acyclic {
    /// The graph of `vertex_count` vertices without arcs.
    #[must_use]
    pub fn new(vertex_count: usize) -> Self {
        Acyclic {
            place: (0..vertex_count as u32).collect(),
            after: Rows::new(vertex_count),
            before: Rows::new(vertex_count),
            arc_count: 0,
            seen: vec![false; vertex_count],
            ahead: Vec::new(),
            behind: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.place.len()
    }

    /// Number of arcs.
    #[must_use]
    pub fn arc_count(&self) -> usize {
        self.arc_count
    }

    /// Vertices to which arcs lead from `vertex`, in no particular order.
    #[inline]
    #[must_use]
    pub fn successors(&self, vertex: u32) -> &[u32] {
        self.after.row(vertex)
    }

    /// Whether there is an arc between the two.
    ///
    /// # Complexity
    /// Linear in the arcs that leave `from`.
    #[inline]
    #[must_use]
    pub fn contains(&self, from: u32, to: u32) -> bool {
        self.successors(from).contains(&to)
    }

    /// Where `vertex` stands in the present topological order.
    #[inline]
    #[must_use]
    pub fn place(&self, vertex: u32) -> u32 {
        self.place[vertex as usize]
    }

    /// Adds an arc unless it would close a cycle; says whether it is there now. Adding it again changes nothing.
    ///
    /// # Complexity
    /// Constant plus the degree of `from` if the order already has `from` before `to`; else linear in the arcs at
    /// vertices that stand between the two and are joined to one of them, plus sorting these vertices.
    ///
    /// # Examples
    /// ```
    /// use runflat_core::recovery::routing::Acyclic;
    ///
    /// let mut graph = Acyclic::new(3);
    /// assert!(graph.try_add(2, 1) && graph.try_add(1, 0));
    /// assert!(!graph.try_add(0, 2));
    /// graph.remove(1, 0);
    /// assert!(graph.try_add(0, 2));
    /// ```
    pub fn try_add(&mut self, from: u32, to: u32) -> bool {
        if self.contains(from, to) {
            return true;
        }
        if self.place(from) >= self.place(to) {
            if !self.search_ahead(from, to) {
                return false;
            }
            self.search_behind(from, to);
            self.reorder();
        }
        self.after.push(from, to);
        self.before.push(to, from);
        self.arc_count += 1;
        true
    }

    /// Adds all arcs, or none if together they would close a cycle.
    ///
    /// # Errors
    /// The position of the first arc that closes a cycle with those before it and the graph.
    pub fn try_add_all(&mut self, arcs: &[(u32, u32)]) -> Result<(), usize> {
        let mut added: Vec<(u32, u32)> = Vec::new();
        for (position, &(from, to)) in arcs.iter().enumerate() {
            let count = self.arc_count;
            if !self.try_add(from, to) {
                for &(from, to) in added.iter().rev() {
                    self.remove(from, to);
                }
                return Err(position);
            }
            if self.arc_count > count {
                added.push((from, to));
            }
        }
        Ok(())
    }

    /// Whether an arc would close a cycle; the graph stays as it is.
    ///
    /// # Complexity
    /// As [`Acyclic::try_add`].
    #[must_use]
    pub fn closes_cycle(&mut self, from: u32, to: u32) -> bool {
        if self.place(from) < self.place(to) {
            return false;
        }
        let open = self.search_ahead(from, to);
        if open {
            self.forget_ahead();
        }
        !open
    }

    /// Takes an arc away; says whether it was there.
    ///
    /// # Complexity
    /// Linear in the degrees of both ends.
    pub fn remove(&mut self, from: u32, to: u32) -> bool {
        let found = self.after.remove(from, to) && self.before.remove(to, from);
        self.arc_count -= usize::from(found);
        found
    }

    /// Collects in `ahead` what `to` leads to up to the place of `from`; false, and nothing collected, if that has `from`.
    fn search_ahead(&mut self, from: u32, to: u32) -> bool {
        if from == to {
            return false;
        }
        let last = self.place(from);
        self.seen[to as usize] = true;
        self.ahead.push(to);
        let mut front = 0;
        while let Some(&vertex) = self.ahead.get(front) {
            front += 1;
            for &next in self.after.row(vertex) {
                if next == from {
                    self.forget_ahead();
                    return false;
                }
                if self.place[next as usize] < last && !self.seen[next as usize] {
                    self.seen[next as usize] = true;
                    self.ahead.push(next);
                }
            }
        }
        true
    }

    fn forget_ahead(&mut self) {
        for vertex in self.ahead.drain(..) {
            self.seen[vertex as usize] = false;
        }
    }

    /// Collects in `behind` what leads to `from` down to the place of `to`.
    fn search_behind(&mut self, from: u32, to: u32) {
        let first = self.place(to);
        self.seen[from as usize] = true;
        self.behind.push(from);
        let mut front = 0;
        while let Some(&vertex) = self.behind.get(front) {
            front += 1;
            for &previous in self.before.row(vertex) {
                if self.place[previous as usize] > first && !self.seen[previous as usize] {
                    self.seen[previous as usize] = true;
                    self.behind.push(previous);
                }
            }
        }
    }

    /// Gives the places of `behind` and `ahead` out anew: first to `behind`, then to `ahead`, each in its old order.
    fn reorder(&mut self) {
        let place = &mut self.place;
        self.behind.sort_unstable_by_key(|&vertex| place[vertex as usize]);
        self.ahead.sort_unstable_by_key(|&vertex| place[vertex as usize]);
        let moved = || self.behind.iter().chain(&self.ahead);
        self.places.clear();
        self.places.extend(moved().map(|&vertex| place[vertex as usize]));
        self.places.sort_unstable();
        for (&vertex, &new) in moved().zip(&self.places) {
            place[vertex as usize] = new;
            self.seen[vertex as usize] = false;
        }
        self.behind.clear();
        self.ahead.clear();
    }
}

/// One growing list for each vertex, all in one array: a list that is full moves to a block of twice the size.
#[derive(Clone, Debug)]
struct Rows {
    start: Vec<u32>,
    len: Vec<u32>,
    /// Blocks hold 2^class items; class 0 is no block yet.
    class: Vec<u8>,
    items: Vec<u32>,
    /// Blocks of each class that were left.
    spare: Vec<Vec<u32>>,
}

impl Rows {
    fn new(count: usize) -> Self {
        Rows {
            start: vec![0; count],
            len: vec![0; count],
            class: vec![0; count],
            items: Vec::new(),
            spare: Vec::new(),
        }
    }

    #[inline]
    fn row(&self, row: u32) -> &[u32] {
        let start = self.start[row as usize] as usize;
        &self.items[start..start + self.len[row as usize] as usize]
    }

    #[inline]
    fn push(&mut self, row: u32, item: u32) {
        let at = row as usize;
        if self.class[at] == 0 || self.len[at] == 1 << self.class[at] {
            self.grow(at);
        }
        self.items[(self.start[at] + self.len[at]) as usize] = item;
        self.len[at] += 1;
    }

    fn grow(&mut self, at: usize) {
        let (old, class) = (self.start[at], self.class[at] + 1);
        if self.spare.len() <= usize::from(class) {
            self.spare.resize(usize::from(class) + 1, Vec::new());
        }
        let new = self.spare[usize::from(class)].pop().unwrap_or_else(|| {
            let new = self.items.len();
            self.items.resize(new + (1 << class), 0);
            new as u32
        });
        let full = old as usize..(old + self.len[at]) as usize;
        self.items.copy_within(full, new as usize);
        if self.class[at] > 0 {
            self.spare[usize::from(self.class[at])].push(old);
        }
        (self.start[at], self.class[at]) = (new, class);
    }

    fn remove(&mut self, row: u32, item: u32) -> bool {
        let Some(position) = self.row(row).iter().position(|&other| other == item) else {
            return false;
        };
        let at = row as usize;
        let start = self.start[at] as usize;
        self.len[at] -= 1;
        self.items.swap(start + position, start + self.len[at] as usize);
        true
    }
}

#[cfg(test)]
mod tests;
