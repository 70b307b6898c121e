//! Reads the documents that a template includes, and those that these include.

use std::collections::BTreeMap;

use super::{DEPTH, Opened, check_kind, literal, named, open, path};
use crate::error::Error;
use crate::lexer::{self, Tag};
use crate::read::Reading;
use crate::source::Document;
use crate::tags::{SECTION_DEPTH, Tags};
use crate::written::Refusal;
use crate::{Template, program};

/// The name of the document that a tag includes, where it is a literal.
fn name(tag: &Tag) -> Option<&str> {
    let Tag::Command(command, arguments) = tag else { return None };
    if command.name == "include" { literal(arguments.first()?) } else { None }
}

impl Template {
    /// The documents (by index) that tags of a part include, by the tags' indices; a document that cannot be included is a fault
    /// of its tag.
    pub(crate) fn includes(
        &mut self,
        tags: &mut Tags,
        (part, prefix): (&str, &str),
        reading: &mut Reading<'_>,
    ) -> Result<BTreeMap<usize, usize>, Error> {
        let mut includes = BTreeMap::new();
        let named = tags.all.iter().enumerate();
        let named: Vec<(usize, String)> =
            named.filter_map(|(index, placed)| Some((index, name(&placed.tag)?.to_owned()))).collect();
        for (index, name) in named {
            let around = tags.pairs.iter().filter(|pair| (pair.open..pair.close).contains(&index)).count();
            match self.document(&name, (prefix, around), reading) {
                Ok(document) => {
                    includes.insert(index, document);
                }
                Err(refusal) => {
                    if let Some(message) = refusal.fault()? {
                        tags.report(index, part, &message);
                    }
                }
            }
        }
        Ok(includes)
    }

    /// The index of a document among the included ones; its tag is inside of `around` sections.
    fn document(
        &mut self,
        name: &str,
        (prefix, around): (&str, usize),
        reading: &mut Reading<'_>,
    ) -> Result<usize, Refusal> {
        let name = path(name)?;
        if reading.chain.contains(&name) {
            let chain = reading.chain.join(" takes in ");
            return Err(format!("{chain} takes in {name} again, and that has no end").into());
        }
        let index = match reading.known.get(&name) {
            Some(&index) => index,
            None => self.read_document(&name, reading)?,
        };
        let Some(document) = self.documents.get(index) else {
            return Err("it cannot be read".to_owned().into());
        };
        check_kind(document, prefix, self.is_strict)?;
        if around + 1 + program::depth(&document.steps) > SECTION_DEPTH {
            let message =
                format!("sections go no deeper than {SECTION_DEPTH}, and those of {name} are among them");
            return Err(message.into());
        }
        // Its tags count as the template's at each inclusion.
        reading.tags_left = reading.tags_left.checked_sub(document.tags).ok_or_else(|| self.many_tags())?;
        reading.taken += document.tags;
        Ok(index)
    }

    fn read_document(&mut self, name: &str, reading: &mut Reading<'_>) -> Result<usize, Refusal> {
        if reading.chain.len() == DEPTH {
            return Err(format!("documents take in documents no deeper than {DEPTH}").into());
        }
        let file = reading.files.file(name)?;
        let opened = open(&file, &mut reading.unpacked_left, &self.limits);
        let Opened { main, part, relationships, styles } = opened.map_err(|error| named(name, error))?;
        let texts = || part.paragraphs.iter().map(|one| one.text.as_str());
        let delimiters = self.delimiters.clone();
        let delimiters = delimiters.unwrap_or_else(|| lexer::detect(texts).unwrap_or_default());
        let is_strict = part.is_strict();
        reading.chain.push(name.to_owned());
        let (left, taken) = (reading.tags_left, std::mem::take(&mut reading.taken));
        let (mut part, steps) = self.add((name.to_owned(), false), (part, &styles), &delimiters, reading)?;
        reading.chain.pop();
        // Its tags are counted by `document`, at each inclusion, so they are not counted here.
        let tags = part.tags + std::mem::replace(&mut reading.taken, taken);
        reading.tags_left = left;
        part.name = main;
        let document = Document { name: name.to_owned(), file, part, is_strict, steps, tags, relationships };
        self.documents.push(document);
        reading.known.insert(name.to_owned(), self.documents.len() - 1);
        Ok(self.documents.len() - 1)
    }
}
