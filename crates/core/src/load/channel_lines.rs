//! Messages on the channels of lines, as differences from each channel to the one before.
//!
//! A run of channels of any length changes by two counts. What the loads are is worked out only where it matters: each line has
//! a bound that grows with the runs added to it, and lines whose bound stays below the largest load of all are not looked at.
//! Loads are 16-bit counts, line after line (24 x 24 x 24 nodes have 82,944 channels: they stay in the cache).

/// Messages on the channels of lines, all of one pitch.
#[derive(Clone, Debug)]
pub(super) struct ChannelLines {
    /// Channels from one line to the next, whole words of [`LANES`]; some at the end of each are none.
    pitch: usize,
    /// Line after line: how many more messages each channel has than the one before, modulo 2^16.
    steps: Vec<u16>,
    /// By line: no channel of it has more messages. Exact from [`ChannelLines::most`] on, unless the line is to be looked at.
    bounds: Vec<u16>,
    look_at: Vec<u32>,
    /// By line: whether it is to be looked at.
    noted: Vec<bool>,
    /// Lines that reach this bound are to be looked at.
    alert: u16,
    /// The largest load, and how many lines have it that are not to be looked at.
    most: u16,
    top: u32,
    /// By line, once somebody asked for it: its pressure; and of all. From then on all lines that change are looked at.
    line_pressure: Vec<u64>,
    pressure: u64,
}

/// Channels one behind the other, on a line of them along one dimension in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub line: u32,
    /// The first one of the run, and the one behind its last, along the line; beyond its end, those around it.
    pub at: u32,
    pub end: u32,
}

/// Loads that are compared at a time.
const LANES: usize = 8;

impl ChannelLines {
    /// No message on any of `count` lines of at most `length` channels.
    pub fn new(count: usize, length: u32) -> Self {
        let pitch = length.next_multiple_of(LANES as u32) as usize;
        ChannelLines {
            pitch,
            steps: vec![0; count * pitch],
            bounds: vec![0; count],
            look_at: Vec::new(),
            noted: vec![false; count],
            alert: 0,
            most: 0,
            top: count as u32,
            line_pressure: Vec::new(),
            pressure: 0,
        }
    }

    /// The number of a channel.
    pub fn number(&self, line: u32, at: u32) -> u32 {
        line * self.pitch as u32 + at
    }

    /// Messages on each channel of a line, and nothing behind its end.
    pub fn on(&self, line: usize) -> impl Iterator<Item = u16> + '_ {
        let steps = &self.steps[line * self.pitch..(line + 1) * self.pitch];
        steps.iter().scan(0u16, |messages, &step| {
            *messages = messages.wrapping_add(step);
            Some(*messages)
        })
    }

    /// Adds one to the channels of a run, or takes one off, on a line of `length` channels.
    #[inline]
    pub fn change<const ADD: bool>(&mut self, run: Run, length: u32) {
        if run.at < run.end {
            self.change_some::<ADD>(run, length);
        }
    }

    #[inline(never)]
    fn change_some<const ADD: bool>(&mut self, run: Run, length: u32) {
        let line = run.line as usize;
        let start = line * self.pitch;
        let steps = &mut self.steps[start..start + self.pitch];
        let one = if ADD { 1 } else { u16::MAX };
        let mut step = |at: u32, by: u16| {
            let step = &mut steps[at as usize];
            *step = step.wrapping_add(by);
        };
        step(run.at, one);
        let mut end = run.end;
        if end >= length {
            end -= length;
            step(0, one);
        }
        step(end, one.wrapping_neg());
        // Last, so that nothing has to be kept for it.
        let after = self.bounds[line] + u16::from(ADD);
        if after < self.alert {
            self.bounds[line] = after;
        } else {
            self.note::<ADD>(line);
        }
    }

    /// Brings a message from one run to another, along one dimension.
    #[inline]
    pub fn reroute(&mut self, old: Run, new: Run, length: u32) {
        if old.line == new.line && old.at < new.end && new.at < old.end {
            // What both have stays as it is.
            let line = old.line;
            let run = |at, end| Run { line, at, end };
            if old.at < new.at {
                self.change::<false>(run(old.at, new.at), length);
            } else {
                self.change::<true>(run(new.at, old.at), length);
            }
            if new.end < old.end {
                self.change::<false>(run(new.end, old.end).within(length), length);
            } else {
                self.change::<true>(run(old.end, new.end).within(length), length);
            }
        } else {
            self.change::<false>(old, length);
            self.change::<true>(new, length);
        }
    }

    /// Notes that a line is to be looked at, and raises its bound.
    #[inline(never)]
    fn note<const ADD: bool>(&mut self, line: usize) {
        if !std::mem::replace(&mut self.noted[line], true) {
            self.look_at.push(line as u32);
            self.top -= u32::from(self.bounds[line] == self.most);
        }
        if ADD {
            self.bounds[line] += 1;
            if self.bounds[line] == u16::MAX {
                // The bound may be far off; counts wrap around, so the load must not get as far.
                self.bounds[line] = self.most_on(line);
                assert!(self.bounds[line] < u16::MAX, "more than 65,534 messages on a channel");
            }
        }
    }

    /// The largest load; looks at the lines on which it may be.
    #[inline]
    pub fn most(&mut self) -> u16 {
        if !self.look_at.is_empty() {
            self.look();
        }
        self.most
    }

    fn look(&mut self) {
        let mut look_at = std::mem::take(&mut self.look_at);
        for line in look_at.drain(..).map(|line| line as usize) {
            self.noted[line] = false;
            let most = self.most_on(line);
            self.bounds[line] = most;
            if most > self.most {
                (self.most, self.top) = (most, 0);
            }
            self.top += u32::from(most == self.most);
            if !self.line_pressure.is_empty() {
                let now = self.pressure_on(line);
                let before = std::mem::replace(&mut self.line_pressure[line], now);
                self.pressure = self.pressure - before + now;
            }
        }
        self.look_at = look_at;
        while self.top == 0 {
            self.descend();
        }
        self.alert = if self.line_pressure.is_empty() { self.most } else { 0 };
    }

    /// The largest load has become smaller: looks at the lines with the largest bound.
    fn descend(&mut self) {
        self.most = self.bounds.iter().copied().max().unwrap_or(0);
        for line in 0..self.bounds.len() {
            if self.bounds[line] == self.most {
                self.bounds[line] = self.most_on(line);
                self.top += u32::from(self.bounds[line] == self.most);
            }
        }
    }

    /// The largest load of a line.
    #[inline]
    fn most_on(&self, line: usize) -> u16 {
        let (mut before, mut most) = (0u16, [0u16; LANES]);
        let (words, _) =
            self.steps[line * self.pitch..(line + 1) * self.pitch].as_chunks::<LANES>();
        for &word in words {
            let sums = [1, 2, 4].into_iter().fold(word, |sums, by| {
                std::array::from_fn(|lane| {
                    sums[lane].wrapping_add(if lane >= by { sums[lane - by] } else { 0 })
                })
            });
            let sums = sums.map(|sum| sum.wrapping_add(before));
            before = sums[LANES - 1];
            most = std::array::from_fn(|lane| most[lane].max(sums[lane]));
        }
        most.into_iter().max().unwrap_or(0)
    }

    fn pressure_on(&self, line: usize) -> u64 {
        self.on(line).map(|messages| super::weight(messages.into())).sum()
    }

    /// The sum of a weight of each load that grows steeply.
    pub fn pressure(&mut self) -> u64 {
        self.most();
        if self.line_pressure.is_empty() {
            for line in 0..self.bounds.len() {
                self.bounds[line] = self.most_on(line);
            }
            self.line_pressure =
                (0..self.bounds.len()).map(|line| self.pressure_on(line)).collect();
            self.pressure = self.line_pressure.iter().sum();
            self.alert = 0;
        }
        self.pressure
    }

    /// The lines with the largest load: how many, and each.
    pub fn hottest(&mut self) -> (usize, impl Iterator<Item = usize> + '_) {
        let most = self.most();
        let lines = self.bounds.iter().enumerate();
        (self.top as usize, lines.filter(move |(_, one)| **one == most).map(|(line, _)| line))
    }

    /// Goes back to a state kept before, of the same lines.
    pub fn restore(&mut self, state: &Self) {
        self.look_at.drain(..).for_each(|line| self.noted[line as usize] = false);
        state.look_at.iter().for_each(|&line| self.noted[line as usize] = true);
        self.look_at.extend_from_slice(&state.look_at);
        self.steps.copy_from_slice(&state.steps);
        self.bounds.copy_from_slice(&state.bounds);
        (self.alert, self.most, self.top) = (state.alert, state.most, state.top);
        self.line_pressure.clone_from(&state.line_pressure);
        self.pressure = state.pressure;
    }
}

impl Run {
    /// The same channels if it begins around the end of the line.
    #[inline]
    fn within(self, length: u32) -> Self {
        if self.at < length || self.at == self.end {
            return self;
        }
        Run { at: self.at - length, end: self.end - length, ..self }
    }
}
