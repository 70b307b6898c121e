//! A chart's data, given in its title or in the alternative text of its frame. They are kept until the chart's part is complete.

use std::collections::btree_map::Entry;

use memchr::memmem;

use super::Filler;
use crate::answer::Content;
use crate::chart::data::Chart;
use crate::chart::{self, MISPLACED};
use crate::error::Error;
use crate::package::resolved;
use crate::package::xml::attribute_of;
use crate::plan::Slot;
use crate::word::attribute::attribute;
use crate::writing::Writing;

impl<'a> Filler<'a, '_> {
    /// Writes the title in place of the tag and keeps the data.
    pub(super) fn chart(&mut self, slot: &Slot, content: &Content<'_>) -> Result<(), Error> {
        let number = self.source.first + slot.tag;
        let read = if slot.writing == Writing::Attribute {
            self.framed(number, content)?
        } else {
            self.titled(number, content)
        };
        match read {
            Ok(()) => self.text(slot, content.field(0)),
            Err(message) => {
                self.fault(slot.tag, message);
                Ok(())
            }
        }
    }

    /// Data in a title belong to the part that is being written.
    fn titled(&mut self, number: usize, content: &Content<'_>) -> Result<(), String> {
        if chart::is_of_later_kind(self.source.xml) {
            return Err(chart::LATER.to_owned());
        }
        if !self.is_in_title() {
            return Err(MISPLACED.to_owned());
        }
        if self.chart.is_some() {
            return Err(chart::TWICE.to_owned());
        }
        self.chart = Some((number, Chart::read(content.field(1))?));
        Ok(())
    }

    /// Data in the alternative text of a frame belong to the chart in it, which is another part.
    fn framed(&mut self, number: usize, content: &Content<'_>) -> Result<Result<(), String>, Error> {
        let Some((begin, tag, kind)) = self.frame() else { return Ok(Err(MISPLACED.to_owned())) };
        let Some(id) = attribute_of(tag, |name| name.ends_with(b":id")).filter(|_| kind != Kind::Other)
        else {
            return Ok(Err(MISPLACED.to_owned()));
        };
        if kind == Kind::Later {
            return Ok(Err(chart::LATER.to_owned()));
        }
        // Where each turn has a chart of its own, the data belong to this turn's.
        let of_turn = attribute(tag, "id").and_then(|id| {
            let at = self.source.references.get(&(begin + id.value.start)).copied()?;
            Some(self.choose(at)?.name)
        });
        let part = self.source.name;
        let all = self.package.relationships_of(part)?;
        let found = all.iter().find(|one| one.id == id && !one.is_external);
        let Some(name) = of_turn.or_else(|| found.and_then(|found| resolved(part, &found.target))) else {
            return Ok(Err(MISPLACED.to_owned()));
        };
        Ok(Chart::read(content.field(1)).and_then(|chart| {
            let given = (number, chart);
            match self.package.charts.entry(name) {
                // All copies of a repeated row show the same chart part, which is fine as long as their data are equal.
                Entry::Occupied(first) if *first.get() == given => {}
                Entry::Occupied(_) => return Err(chart::TWICE.to_owned()),
                Entry::Vacant(free) => drop(free.insert(given)),
            }
            Ok(())
        }))
    }

    /// The start tag of what the frame shows that is being written, with its offset in the part, and its kind.
    fn frame(&self) -> Option<(usize, &'a [u8], Kind)> {
        let xml: &'a [u8] = self.source.xml;
        let behind = xml.get(self.copied..)?;
        let data = memmem::find(behind, b"graphicData")?;
        // Another frame begins before the data, so they are not this frame's.
        let (before, data) = behind.split_at_checked(data)?;
        if [&b"cNvPr "[..], b"docPr "].iter().any(|name| memmem::find(before, name).is_some()) {
            return None;
        }
        let begin = memchr::memchr(b'<', data)?;
        let tag = data.get(begin..)?;
        let tag = tag.get(..=memchr::memchr(b'>', tag)?)?;
        let uri = data.get(..begin)?;
        let kind = if memmem::find(uri, b"/chartex\"").is_some() {
            Kind::Later
        } else if memmem::find(uri, b"/chart\"").is_some() {
            Kind::Known
        } else {
            Kind::Other
        };
        Some((xml.len() - behind.len() + before.len() + begin, tag, kind))
    }

    /// Whether `out` ends inside the chart's title. An axis' title does not count; it is in the plot area.
    fn is_in_title(&self) -> bool {
        let Some(prefix) = chart::prefix(self.source.xml) else { return false };
        let last = |tag: &str| memmem::rfind(&self.out, format!("{tag}>").as_bytes());
        let begin = last(&format!("<{prefix}title"));
        begin.is_some()
            && begin > last(&format!("</{prefix}title"))
            && last(&format!("<{prefix}plotArea")).is_none()
    }

    /// The complete part, filled with its data.
    pub(super) fn charted(&mut self, whole: Vec<u8>) -> Result<Vec<u8>, Error> {
        let Some((number, chart)) = self.chart.take() else { return Ok(whole) };
        self.package.titled.insert(self.source.name.to_owned());
        match chart::filled(&chart, (self.source.name, &whole), self.package) {
            Ok(filled) => Ok(filled),
            Err(refusal) => {
                self.faults.extend(refusal.fault()?.map(|message| (number, message)));
                Ok(whole)
            }
        }
    }
}

/// What a frame shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Known,
    /// A chart of a kind that came with Office 2016.
    Later,
    Other,
}
