//! More than text on a slide: pictures in place of shapes, links between runs.

use super::Filler;
use crate::answer::{Content, Form};
use crate::error::Error;
use crate::package::xml::replaced;
use crate::plan::Slot;
use crate::powerpoint;
use crate::source::Source;
use crate::tags::TEXT_ONLY;
use crate::written::Refusal;

impl<'a> Filler<'a, '_> {
    /// Writes a picture in place of the tag's shape.
    pub(super) fn picture(&mut self, slot: &Slot, content: &Content<'_>) -> Result<(), Error> {
        let Some(shape) = &slot.shape else { return Ok(()) };
        let source: Source<'a> = self.source;
        let xml: &[u8] = source.xml.get(shape.range.clone()).unwrap_or_default();
        // Links of the shape get the relationships made from their answers.
        let ids = self.addresses.range(shape.range.clone()).map(|(at, id)| {
            let begin = at - shape.range.start;
            let old =
                xml.get(begin..).unwrap_or_default().iter().take_while(|&&byte| !b"\"'".contains(&byte));
            (begin..begin + old.count(), id.clone())
        });
        let xml = replaced(xml, &ids.collect::<Vec<_>>());
        let shape = (std::str::from_utf8(&xml).unwrap_or_default(), shape.is_named);
        let written = powerpoint::picture(content, shape, source, (&mut *self.package, &mut *self.files));
        if let Some(xml) = self.allowed(slot, written)? {
            self.out.extend_from_slice(xml.as_bytes());
        }
        Ok(())
    }

    /// Writes a link; any other form in a slide's text is a fault.
    pub(super) fn on_slide(&mut self, slot: &Slot, content: &Content<'_>) -> Result<(), Error> {
        let source = self.source;
        let (Form::Link, Some(run)) = (content.form, &slot.run) else {
            self.fault(slot.tag, format!("{TEXT_ONLY}, and links"));
            return Ok(());
        };
        let properties = source.xml.get(slot.run_properties.clone()).unwrap_or_default();
        let properties = std::str::from_utf8(properties).unwrap_or_default();
        let written = powerpoint::link(content, properties, (source, self.package));
        match self.allowed(slot, written)? {
            Some(xml) => self.between_runs(run, &xml),
            None => Ok(()),
        }
    }

    /// The written XML; a refusal becomes a fault of the tag and gives `None`.
    fn allowed(&mut self, slot: &Slot, written: Result<String, Refusal>) -> Result<Option<String>, Error> {
        match written {
            Ok(xml) => Ok(Some(xml)),
            Err(refusal) => {
                if let Some(message) = refusal.fault()? {
                    self.fault(slot.tag, message);
                }
                Ok(None)
            }
        }
    }
}
