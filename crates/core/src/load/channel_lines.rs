//! Messages on the channels of lines, as differences from each channel to the one before.
//!
//! A message adds one where it enters a line and takes one where it leaves it, whichever way it goes, so a way of any length costs
//! two counts. What the loads are is worked out only where it matters: each line has a bound that grows with what is added to it,
//! and lines whose bound stays below the largest load of all are not looked at.
//! Loads are 16-bit counts, line after line (24 x 24 x 24 nodes have 82,944 channels: they stay in the cache).

/// Messages on the channels of lines, all of one pitch.
#[derive(Clone, Debug)]
pub(super) struct ChannelLines {
    /// Channels from one line to the next, whole words of [`WORD`], as a power of two; some at the end of each are none.
    pitch: u32,
    /// Channels of the longest line, in whole words.
    length: usize,
    /// Line after line: how many more messages each channel has than the one before, or fewer on a line that goes down; modulo
    /// 2^16.
    steps: Vec<u16>,
    /// By line: no channel of it has more messages. Exact from [`ChannelLines::most`] on, unless the line is to be looked at.
    bounds: Vec<u16>,
    look_at: Vec<u32>,
    /// By line: whether it is to be looked at.
    noted: Vec<bool>,
    /// By line: whether it goes down.
    down: std::sync::Arc<[bool]>,
    /// Lines that reach this bound are to be looked at.
    alert: u16,
    /// The largest load, and how many lines have it that are not to be looked at.
    most: u16,
    top: u32,
    /// By line, once somebody asked for it: its pressure; and of all. From then on all lines that change are looked at.
    line_pressure: Vec<u64>,
    pressure: u64,
}

/// The way of a message on a line of channels, along one dimension in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub line: u32,
    /// Coordinates where it enters the line, and where it leaves it.
    pub from: u32,
    pub to: u32,
    pub around: Around,
}

/// Whether a way goes around the end of its line: what it adds to the first channel then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    No,
    Up,
    Down,
}

/// Channels that lines are a multiple of.
const WORD: usize = 8;

impl ChannelLines {
    /// No message on any line of at most `length` channels; `down` tells of each whether it goes down.
    pub fn new(down: std::sync::Arc<[bool]>, length: u32) -> Self {
        let pitch = length.next_power_of_two().trailing_zeros().max(WORD.trailing_zeros());
        let count = down.len();
        ChannelLines {
            pitch,
            length: (length as usize).next_multiple_of(WORD),
            steps: vec![0; count << pitch],
            bounds: vec![0; count],
            look_at: Vec::new(),
            noted: vec![false; count],
            down,
            alert: 0,
            most: 0,
            top: count as u32,
            line_pressure: Vec::new(),
            pressure: 0,
        }
    }

    /// The number of a channel.
    pub fn number(&self, line: u32, at: u32) -> u32 {
        line * self.length as u32 + at
    }

    /// Messages on each channel of a line, and nothing behind its end.
    pub fn on(&self, line: usize) -> impl Iterator<Item = u16> + '_ {
        let steps = &self.steps[line << self.pitch..][..self.length];
        let down = self.down[line];
        steps.iter().scan(0u16, move |messages, &step| {
            *messages = messages.wrapping_add(if down { step.wrapping_neg() } else { step });
            Some(*messages)
        })
    }

    /// Puts a message on its way.
    #[inline]
    pub fn add(&mut self, run: Run) {
        self.put::<true>(run);
    }

    /// Takes a message off its way.
    #[inline]
    pub fn remove(&mut self, run: Run) {
        self.put::<false>(run);
    }

    /// Puts a message on its way, or takes it off.
    #[inline(always)]
    pub fn put<const ADDS: bool>(&mut self, run: Run) {
        let Run { line, from, to, around } = run;
        if from == to {
            return;
        }
        self.go_around(line, around, ADDS);
        let (more, less) = if ADDS { (from, to) } else { (to, from) };
        self.shift(line, more, less, ADDS);
    }

    /// Brings a message from one way to another, along one dimension.
    #[inline(always)]
    pub fn replace(&mut self, old: Run, new: Run) {
        if old.line == new.line && old.around == new.around {
            // What both have stays as it is.
            if old.from == new.from {
                if old.to != new.to {
                    let grows = old.to.abs_diff(old.from) < new.to.abs_diff(new.from);
                    self.shift(old.line, old.to, new.to, grows != (old.around != Around::No));
                }
                return;
            }
            if old.to == new.to {
                let grows = old.to.abs_diff(old.from) < new.to.abs_diff(new.from);
                self.shift(old.line, new.from, old.from, grows != (old.around != Around::No));
                return;
            }
        }
        self.remove(old);
        self.add(new);
    }

    /// One more from one coordinate on, one less from another on; `grows` if that is more messages on the channels between.
    #[inline(always)]
    pub fn shift(&mut self, line: u32, more: u32, less: u32, grows: bool) {
        let line = line as usize;
        let start = line << self.pitch;
        let mut step = |at: u32, by: u16| {
            let step = &mut self.steps[start + at as usize];
            *step = step.wrapping_add(by);
        };
        step(more, 1);
        step(less, u16::MAX);
        let after = self.bounds[line] + u16::from(grows);
        if after < self.alert {
            self.bounds[line] = after;
        } else {
            self.note(line, after);
        }
    }

    /// One message more, or one less, that goes around the end of a line.
    #[inline]
    pub fn go_around(&mut self, line: u32, around: Around, more: bool) {
        if around != Around::No {
            let step = &mut self.steps[(line as usize) << self.pitch];
            let up = around == Around::Up;
            *step = step.wrapping_add(if up == more { 1 } else { u16::MAX });
        }
    }

    /// Notes that a line is to be looked at, and its new bound.
    #[inline(never)]
    fn note(&mut self, line: usize, after: u16) {
        if !std::mem::replace(&mut self.noted[line], true) {
            self.look_at.push(line as u32);
            self.top -= u32::from(self.bounds[line] == self.most);
        }
        self.bounds[line] = after;
        if after == u16::MAX {
            // The bound may be far off; counts wrap around, so the load must not get as far.
            self.bounds[line] = self.most_on(line);
            assert!(self.bounds[line] < u16::MAX, "more than 65,534 messages on a channel");
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
    #[inline(never)]
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
        let steps = &self.steps[line << self.pitch..][..self.length];
        // One number after the other: compilers make nothing better of several at a time.
        if self.down[line] {
            largest(steps, |messages, step| messages.wrapping_sub(step))
        } else {
            largest(steps, u16::wrapping_add)
        }
    }

    fn pressure_on(&self, line: usize) -> u64 {
        self.on(line).map(|messages| super::weight(messages.into())).sum()
    }

    /// The sum of what each load weighs; zero where there is none.
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

/// The largest of all states that steps lead to from 0.
#[inline]
fn largest(steps: &[u16], follow: impl Fn(u16, u16) -> u16) -> u16 {
    let after = |(now, most): (u16, u16), &step: &u16| {
        let now = follow(now, step);
        (now, most.max(now))
    };
    steps.iter().fold((0, 0), after).1
}
