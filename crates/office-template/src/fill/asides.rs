//! Answers written outside of a paragraph's text: in attributes, properties, field codes and addresses.

use super::{Filler, misfit};
use crate::address;
use crate::answer::Answer;
use crate::error::Error;
use crate::package::xml::escaped;
use crate::package::{Relation, Target};
use crate::plan::{Address, Slot};
use crate::writing::Writing;

impl Filler<'_, '_> {
    /// Writes a text in place of a tag.
    pub(super) fn text(&mut self, slot: &Slot, text: &str) -> Result<(), Error> {
        match slot.writing {
            Writing::Run => self.value(slot, text)?,
            Writing::DrawingRun | Writing::SlideRun => self.drawn(slot, text)?,
            // A shape is kept only for a picture: a text removes it.
            Writing::Shape => {}
            Writing::Attribute
            | Writing::Element
            | Writing::Code(_)
            | Writing::CodeAttribute(_)
            | Writing::Address
            | Writing::Tick => match slot.writing.aside(text) {
                Ok(written) => self.out.extend_from_slice(written.as_bytes()),
                Err(message) => self.fault(slot.tag, message),
            },
        }
        self.check_room()
    }

    /// Writes a text in a drawing, where a line break comes between runs instead of in one, and a tab is an ordinary letter.
    fn drawn(&mut self, slot: &Slot, text: &str) -> Result<(), Error> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let prefix = self.source.prefix;
        for (index, line) in text.split('\n').enumerate() {
            match &slot.run {
                _ if index == 0 => {}
                Some(run) => {
                    let properties = self.source.xml.get(slot.run_properties.clone()).unwrap_or_default();
                    let properties = std::str::from_utf8(properties).unwrap_or_default();
                    let line_break = format!("<{prefix}br>{properties}</{prefix}br>");
                    self.between_runs(run, &line_break)?;
                }
                None => self.out.push(b' '),
            }
            self.out.extend_from_slice(escaped(line).as_bytes());
            self.check_room()?;
        }
        Ok(())
    }

    /// Writes the id of a relationship to the address, filled with the answers.
    pub(super) fn address<'b>(
        &mut self,
        address: &Address,
        answers: &mut dyn Iterator<Item = &'b Answer<'b>>,
    ) -> Result<(), Error> {
        let Some(&(ref before, first)) = address.tags.first() else { return Ok(()) };
        let mut written = String::new();
        for (before, tag) in &address.tags {
            written.push_str(before);
            match answers.next() {
                Some(Answer::Text(text)) => match Writing::Address.aside(text) {
                    Ok(text) => written.push_str(&text),
                    Err(message) => self.fault(*tag, message),
                },
                Some(Answer::Content(_)) => self.fault(*tag, super::TEXT_ONLY.to_owned()),
                Some(_) | None => return Err(misfit()),
            }
        }
        written.push_str(&address.rest);
        let written = match address::filled(before, &written) {
            Ok(written) => written,
            Err(message) => {
                self.fault(first, message);
                return Ok(());
            }
        };
        let id = self.package.relate(self.source.name, Relation::Hyperlink, Target::External(&written))?;
        if !address.is_of_picture {
            self.out.extend_from_slice(id.as_bytes());
        }
        self.addresses.insert(address.id.start, id);
        Ok(())
    }

    /// Writes the id again that was last made for the address of this place.
    pub(super) fn address_again(&mut self, place: usize) {
        if let Some(id) = self.addresses.get(&place) {
            self.out.extend_from_slice(id.as_bytes());
        }
    }
}
