//! x
use super::{Answer, Effort, Search, Trial, WorstError};
use crate::load::PairLoad;
pub(super) struct Slides<'j, L>(Trial<'j, L>);
impl<'j, L: PairLoad> Slides<'j, L> {
    pub fn new(trial: Trial<'j, L>) -> Result<Self, WorstError> { Ok(Slides(trial)) }
}
impl<L: PairLoad> Search for Slides<'_, L> {
    fn bound(&mut self, _: usize) -> u32 { 99 }
    fn find(&mut self, _: usize, _: u32, _: &mut Effort) -> Answer { Answer::Unknown }
}
