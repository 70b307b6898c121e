//! Fills a template with its answers: its parts one after the other, repeated slides once for each item.

use crate::answer::Answer;
use crate::chart;
use crate::dependents::begun_in_document;
use crate::error::{Error, TagFaults};
use crate::excel::Book;
use crate::files::Files;
use crate::fill::{Filler, finish_dependents, misfit};
use crate::include::write_lists;
use crate::package::{Opening, Package};
use crate::powerpoint::{Repeats, renewed, spanned};
use crate::source::Source;
use crate::unfilled::of_program;
use crate::{Filled, PartPlan, Template, word};

/// What parts are filled with, and the faults found so far.
struct Filling<'t, 'p, 'f> {
    template: &'t Template,
    package: Package<'p>,
    files: &'f mut dyn Files,
    /// Tags whose answers could not be written, by their numbers, and why.
    faults: TagFaults,
}

impl Template {
    /// The document with the answers to all tags.
    pub(crate) fn fill_tree(self, tree: &[Answer<'_>], files: &mut dyn Files) -> Result<Filled, Error> {
        let family = self.family;
        self.filled(tree, files).map_err(|error| of_program(error, family))
    }

    fn filled(self, tree: &[Answer<'_>], files: &mut dyn Files) -> Result<Filled, Error> {
        let own = self.book.as_ref().map_or(0, |book| book.answers);
        let (of_book, others) = tree.split_at_checked(own).ok_or_else(misfit)?;
        let mut answers = others.iter();
        let (is_strict, next_number) = (self.is_strict, self.next_number);
        let opening = Opening { is_strict, next_number, folder: self.family.folder() };
        let package = Package::open(&self.file, &self.limits, opening)?;
        let mut filling = Filling { template: &self, package, files, faults: TagFaults::default() };
        filling.package.sheet_names = self.book.as_ref().map(Book::names).unwrap_or_default();
        self.warnings.iter().for_each(|warning| filling.package.warnings.push(warning));
        if self.bookmarks.values().any(|whole| !whole.around.is_empty()) {
            let written = self.parts.iter().filter(|part| part.is_written());
            let answers = (&mut others.iter() as &mut dyn Iterator<Item = _>, filling.package.room());
            let begun = begun_in_document(written, &self.dependents, answers);
            filling.package.dependents.begun = begun.ok_or_else(|| filling.package.full())?;
        }
        let is_repeated = |group: &&[PartPlan]| group.iter().any(|part| part.repeat.is_some());
        let repeated = self.parts.chunk_by(PartPlan::is_copied_with).filter(is_repeated).count();
        let mut repeats = self.deck.as_ref().map(|deck| Repeats::new(deck, repeated, self.limits.slides));
        for group in self.parts.chunk_by(PartPlan::is_copied_with) {
            match (&mut repeats, group.iter().find_map(|part| Some((part.slide?, part.repeat.as_ref()?)))) {
                (Some(repeats), Some((slide, _))) => {
                    filling.copies((group, slide), repeats, answers.next())?;
                }
                _ => filling.parts(group, &mut answers)?,
            }
        }
        if answers.next().is_some() {
            return Err(misfit());
        }
        let Filling { mut package, mut faults, files, .. } = filling;
        finish_dependents((&self.dependents, &self.main), &mut package)?;
        if let Some(book) = self.book.as_ref().filter(|book| book.has_tags()) {
            faults.append(book.fill(of_book, (&mut package, files, &self.limits.slides))?.faults);
        }
        faults.extend(chart::fill_waiting(&mut package)?);
        chart::list(&self.main, &mut package)?;
        if !faults.is_empty() {
            let (faults, count) = faults.into_parts();
            return Err(Error::Tags(self.faults(faults, count)));
        }
        if let Some(repeats) = repeats.filter(|_| self.parts.iter().any(|part| part.tags > 0)) {
            repeats.finish(&mut package)?;
        }
        let warnings = std::mem::take(&mut package.warnings).lines();
        let file = if package.is_untouched() {
            None
        } else {
            write_lists(&mut package)?;
            Some(package.finish()?)
        };
        Ok(Filled { file: file.unwrap_or(self.file), warnings })
    }
}

impl Filling<'_, '_, '_> {
    /// Fills parts that are not repeated, under their names in the template.
    fn parts<'a>(
        &mut self,
        parts: &[PartPlan],
        answers: &mut impl Iterator<Item = &'a Answer<'a>>,
    ) -> Result<(), Error> {
        for part in parts.iter().filter(|part| part.is_written()) {
            let xml = self.part((part, &part.name), answers)?;
            self.package.put(&part.name, xml)?;
            self.package.forget(&part.name, &part.forgotten)?;
        }
        Ok(())
    }

    /// Fills a slide and the parts that belong to it, once for each answer.
    fn copies(
        &mut self,
        (parts, slide): (&[PartPlan], usize),
        repeats: &mut Repeats<'_>,
        answer: Option<&Answer<'_>>,
    ) -> Result<(), Error> {
        let Some(Answer::List(copies)) = answer else { return Err(misfit()) };
        let names = repeats.begin(slide, copies.len(), &mut self.package)?;
        for (number, (copy, names)) in copies.iter().zip(&names).enumerate() {
            let Answer::List(answers) = copy else { return Err(misfit()) };
            let mut answers = answers.iter();
            for part in parts.iter().filter(|part| part.tags > 0) {
                let name = names.get(&part.name).unwrap_or(&part.name);
                let xml = self.part((part, name), &mut answers)?;
                self.package.put(name, renewed(name, xml, number)?)?;
                self.package.forget(name, &part.forgotten)?;
            }
            if answers.next().is_some() {
                return Err(misfit());
            }
        }
        Ok(())
    }

    fn part<'a>(
        &mut self,
        (part, name): (&PartPlan, &str),
        answers: &mut impl Iterator<Item = &'a Answer<'a>>,
    ) -> Result<Vec<u8>, Error> {
        let template = self.template;
        let source = Source {
            name,
            xml: &part.xml,
            prefix: &part.prefix,
            is_main: part.is_main,
            is_included: false,
            first: part.first,
            includes: &part.includes,
            documents: &template.documents,
            references: &part.references,
            dependents: &template.dependents,
            bookmarks: &template.bookmarks,
            own_bookmarks: &part.bookmarks,
            delimiters: template.delimiters.as_ref(),
            root: (&template.main, if template.is_strict { word::STRICT } else { word::TRANSITIONAL }),
        };
        let limit = &template.limits.output_bytes;
        let mut filler = Filler::new(source, limit, (&mut self.package, &mut *self.files));
        let out = filler.part(&part.nodes, answers)?;
        self.faults.append(filler.faults);
        if part.slide.is_some() { spanned(name, out, &template.limits.elements) } else { Ok(out) }
    }
}
