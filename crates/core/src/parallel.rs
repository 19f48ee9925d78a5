//! Rows on all cores, where there is enough of them to be worth waking threads.
//!
//! A fabric of a few switches is routed in less time than a second thread takes to start or wake; its rows are done by the
//! caller. What a row becomes never depends on who does it.

use rayon::prelude::*;

/// Fewest steps that are worth a second thread: some 50 microseconds of work at a nanosecond or two each.
const WORTH: usize = 1 << 15;

/// Whether a loop of about `steps` steps is worth a second thread.
#[inline]
#[must_use]
pub fn worth(steps: usize) -> bool {
    steps >= WORTH
}

/// Does `work(state, row number, row)` for every row of `width` cells, about `steps` steps in all; each thread makes its own
/// `state` once.
pub fn rows<T: Send, S>(
    cells: &mut [T],
    width: usize,
    steps: usize,
    state: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, usize, &mut [T]) + Send + Sync,
) {
    // No cells are no rows, whatever the width.
    let width = width.max(1);
    if worth(steps) {
        let rows = cells.par_chunks_mut(width).enumerate();
        rows.for_each_init(&state, |state, (row, cells)| work(state, row, cells));
    } else {
        let mut state = state();
        let rows = cells.chunks_mut(width).enumerate();
        rows.for_each(|(row, cells)| work(&mut state, row, cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_done_once_on_one_thread_or_several() {
        for (cells, width) in [(0, 0), (0, 3), (12, 3), (13, 5), (3 * WORTH, 1000)] {
            let mut found = vec![0usize; cells];
            rows(
                &mut found,
                width,
                cells,
                || 1,
                |one, row, cells| {
                    cells.iter_mut().for_each(|cell| *cell += row + *one);
                },
            );
            let wanted = (0..cells).map(|cell| cell / width.max(1) + 1);
            assert!(found.into_iter().eq(wanted), "{cells} cells in rows of {width}");
        }
    }
}
