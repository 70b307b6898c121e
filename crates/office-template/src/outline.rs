//! Lists what a template contains, without filling it: its tags, and their expressions nested in sections.

use crate::Template;
use crate::collected::{Collected, OutlineTag};
use crate::error::{Error, Faults};
use crate::family::Family;
use crate::files::Files;
use crate::lexer::Delimiters;
use crate::limits::Limits;
use crate::read::Reading;
use crate::unfilled::of_program;

/// The contents of a template.
#[derive(Debug)]
pub struct Outline {
    /// Its valid tags, part by part in the order of the text; only the first ones of very many.
    pub tags: Vec<OutlineTag>,
    /// How many more tags there are.
    pub more: usize,
    /// The expressions of all of them, nested as their sections are: JSON, an array of `{ tag, kind, text, code, filters: [{
    /// name, codes }], body: […] }`. `tag` is the index in [`tags`](Outline::tags), beyond its end for one of the
    /// [`more`](Outline::more); `kind` is `section` where the body is repeated for each item.
    pub steps: String,
    /// What is wrong with it.
    pub faults: Faults,
    /// What its author should know, in sentences.
    pub warnings: Vec<String>,
}

impl Template {
    /// Lists what a template contains, even if its tags have faults.
    ///
    /// # Errors
    ///
    /// As [`Template::read`], but for [`Error::Tags`].
    pub fn outline(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        files: &mut dyn Files,
    ) -> Result<Outline, Error> {
        let mut reading = Reading::new(limits, files);
        reading.outline = Some(Collected::default());
        let program = Family::likely(&file);
        let template =
            Self::find(file, delimiters, limits, &mut reading).map_err(|error| of_program(error, program))?;
        let Collected { mut tags, count, steps } = reading.outline.unwrap_or_default();
        let locator = template.locator();
        for tag in &mut tags {
            locator.locate_tag(tag);
        }
        let steps = serde_json::to_string(&steps).map_err(|error| Error::Answer(error.to_string()))?;
        let more = count - tags.len();
        let (mut faults, count) = reading.faults.into_parts();
        for fault in &mut faults {
            locator.locate(fault);
        }
        Ok(Outline { tags, more, steps, faults: Faults::new(faults, count), warnings: template.warnings })
    }
}
