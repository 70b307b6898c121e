//! A chart's data in its title: they fill the chart when all of its part is written.

use memchr::memmem;

use super::Filler;
use crate::answer::Content;
use crate::chart::{self, Chart, MISPLACED};
use crate::error::Error;
use crate::forms::Refusal;
use crate::plan::Slot;

impl Filler<'_, '_> {
    /// The title in the place of the tag; the data wait for the end of the part.
    pub(super) fn chart(&mut self, slot: &Slot, content: &Content<'_>) -> Result<(), Error> {
        let number = self.source.first + slot.tag;
        let read = if !self.is_in_title() {
            Err(MISPLACED.to_owned())
        } else if self.chart.is_some() {
            Err("the chart has data already; let one tag in its title give them".to_owned())
        } else {
            Chart::read(content.field(1))
        };
        match read {
            Ok(chart) => {
                self.chart = Some((number, chart));
                self.text(slot, content.field(0))
            }
            Err(message) => {
                self.fault(slot.tag, message);
                Ok(())
            }
        }
    }

    /// Whether what is written next stands in the title of a chart: not in that of an axis, which stands in its plot area.
    fn is_in_title(&self) -> bool {
        let Some(prefix) = chart::prefix(self.source.xml) else { return false };
        let last = |tag: &str| memmem::rfind(&self.out, format!("{tag}>").as_bytes());
        let begin = last(&format!("<{prefix}title"));
        begin.is_some()
            && begin > last(&format!("</{prefix}title"))
            && last(&format!("<{prefix}plotArea")).is_none()
    }

    /// The whole part with its data.
    pub(super) fn charted(&mut self, whole: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Some((number, chart)) = self.chart.take() else { return Ok(whole) };
        match chart::filled(&chart, (self.source.name, &whole), self.package) {
            Ok(filled) => Ok(filled),
            Err(Refusal::Fault(message)) => {
                self.faults.push((number, message));
                Ok(whole)
            }
            Err(Refusal::Error(error)) => Err(error),
        }
    }
}
