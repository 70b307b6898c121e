//! Reads the tags of an Office file as a program, and fills the file with what the program answers.
//!
//! ```text
//! file ──container──▶ parts ──word──▶ paragraphs' texts ──lexer──▶ tags ──extent──▶ what sections repeat
//!                                                                    │                      │
//!              program (JSON) ◀──program── tree over the parts' bytes ◀──────plan──────────┘
//!                   │                          │
//!    an engine runs `library` ──answers──▶ fill: the tree is written, everything else is copied ──container──▶ file
//! ```
//!
//! Where every tag is a plain name or path, `paths` answers without an engine. The dialect is `docs/office-tags.md`. The crate
//! does no I/O and knows no engines, threads or clocks: bytes go in and bytes come out, so it can run in a sandbox.

mod address;
mod answer;
mod chart;
mod collected;
mod container;
mod content_types;
mod dependents;
mod error;
mod excel;
mod extent;
mod family;
mod field_code;
mod files;
mod fill;
mod filling;
mod forms;
mod include;
pub mod lexer;
mod library;
mod limits;
mod listing;
mod location;
mod mark;
mod marks;
mod named_styles;
mod outline;
mod package;
mod paths;
mod plan;
mod powerpoint;
mod program;
mod read;
mod source;
mod stale_fields;
mod styles;
mod tag_faults;
mod tags;
mod unfilled;
mod warnings;
mod word;
mod writing;
mod written;

use std::collections::BTreeMap;
use std::rc::Rc;

use answer::Answers;
use collected::Collected;
pub use collected::OutlineTag;
use content_types::TextPart;
use dependents::Dependent;
pub use error::{Error, Fault, Faults};
use error::{Expressions, Spot};
use excel::Book;
pub use excel::bounded_for_pages;
pub use family::Family;
use files::Unasked;
pub use files::{Files, NoFiles};
pub use lexer::Delimiters;
use lexer::{Expression, Tag};
pub use library::{Needs, library};
pub use limits::{Limit, Limits};
pub use outline::Outline;
pub use paths::{Data, PathAnswers, PathLimits};
use plan::{Bookmarks, Node};
use powerpoint::Deck;
use read::{Parts, Reading};
use source::{Document, Source};
use styles::Styles;
pub use unfilled::{Unfilled, unfilled};
use word::{Part, Place};

/// An Office file whose tags have been found.
pub struct Template {
    file: Vec<u8>,
    limits: Limits,
    parts: Vec<PartPlan>,
    /// All tags, indexed by number.
    tags: Vec<TagPlace>,
    program: String,
    /// The program's steps where all of them are plain names; `None` where it takes an engine.
    paths: Option<Vec<program::Step>>,
    next_number: u64,
    /// The documents that its tags include.
    documents: Vec<Document>,
    /// The notes, headers and their like that its sections write.
    dependents: Vec<Dependent>,
    /// Its bookmarks that lie whole in one place.
    bookmarks: Bookmarks,
    /// The names that faults show, indexed by [`TagPlace::part`]: of parts, and of a workbook's cells.
    names: Vec<String>,
    /// Word, Excel or `PowerPoint`.
    family: Family,
    /// The name of its main part.
    main: String,
    /// The slides of a presentation.
    deck: Option<Deck>,
    /// The sheets of a workbook.
    book: Option<Book>,
    /// The caller's delimiters; `None` where they were detected.
    delimiters: Option<Delimiters>,
    /// Whether it is written in the strict form of the format.
    is_strict: bool,
    warnings: Vec<String>,
}

/// A part with tags.
#[derive(Default)]
struct PartPlan {
    name: String,
    /// Whether it is the document itself, and no header or note.
    is_main: bool,
    xml: Vec<u8>,
    prefix: String,
    /// The number of its first tag, and how many it has.
    first: usize,
    tags: usize,
    nodes: Vec<Node>,
    /// Which of [`Template::documents`] a tag includes, by the tag's index in this part.
    includes: BTreeMap<usize, usize>,
    /// Which of [`Template::dependents`] a reference leads to, by its offset.
    references: BTreeMap<usize, usize>,
    bookmarks: Bookmarks,
    /// Some of its notes are written by sections, so it is written even without tags.
    is_shorter: bool,
    /// The relationships that the part no longer refers to when it is filled.
    forgotten: Vec<String>,
    /// The index of the slide that it belongs to and is copied with.
    slide: Option<usize>,
    /// The tag that repeats it: its number, and the list that it goes over.
    repeat: Option<(usize, Expression)>,
}

impl PartPlan {
    /// A part without tags.
    fn new((name, is_main): (String, bool), part: Part, nodes: Vec<Node>) -> Self {
        let Part { xml, prefix, .. } = part;
        Self { name, is_main, xml, prefix, nodes, ..Self::default() }
    }

    /// Whether filling the document writes it.
    fn is_written(&self) -> bool {
        self.tags > 0 || self.is_shorter
    }

    /// Whether both parts belong to one slide, which is copied as a whole.
    fn is_copied_with(&self, other: &Self) -> bool {
        self.slide.is_some() && self.slide == other.slide
    }

    /// The part as a source under this name; everything else is taken from `around`.
    fn source<'a>(&'a self, (name, is_main): (&'a str, bool), around: Source<'a>) -> Source<'a> {
        let Self { xml, prefix, first, includes, references, bookmarks, .. } = self;
        let (first, own_bookmarks) = (*first, bookmarks);
        Source { name, xml, prefix, is_main, first, includes, references, own_bookmarks, ..around }
    }
}

/// Where a tag is, for the faults that name it.
struct TagPlace {
    part: usize,
    paragraph: usize,
    shown: String,
    /// Where it is in the part; `None` for a tag of a cell.
    spot: Option<Spot>,
}

/// A filled document.
#[derive(Debug)]
pub struct Filled {
    /// The file.
    pub file: Vec<u8>,
    /// What its author should know, in sentences.
    pub warnings: Vec<String>,
}

impl Template {
    /// Reads a file of Word, Excel or `PowerPoint` and finds its tags.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffice`] for a file of another kind, [`Error::Limit`] for one that passes a limit, [`Error::Delimiters`] for
    /// delimiters that cannot be used, and [`Error::Tags`] with the faults of all tags that cannot be read. What is wrong with the
    /// expressions of such a template only an engine can tell ([`Faults::expressions`]).
    pub fn read(file: Vec<u8>, delimiters: Option<Delimiters>, limits: &Limits) -> Result<Self, Error> {
        Self::read_beside(file, delimiters, limits, &mut NoFiles)
    }

    /// As [`Template::read`], for a template that may include other documents, which come from `files`.
    ///
    /// # Errors
    ///
    /// As those of [`Template::read`]; what is wrong with another document is a fault of the tag that includes it.
    pub fn read_beside(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        files: &mut dyn Files,
    ) -> Result<Self, Error> {
        let mut reading = Reading::new(limits, files);
        let program = Family::likely(&file);
        let template = Self::find(file, delimiters, limits, &mut reading)
            .map_err(|error| unfilled::of_program(error, program))?;
        let Reading { faults, files, .. } = reading;
        if faults.is_empty() {
            return Ok(template);
        }
        let (faults, count) = faults.into_parts();
        // Nothing of it can be run, but its author should not meet the faults of expressions one repair later.
        Err(Error::Tags(match Self::outline(template.file, template.delimiters, limits, files) {
            Ok(Outline { faults, tags, steps, .. }) => {
                let tags = tags.iter().map(|tag| tag.fault("")).collect();
                Faults { expressions: Some(Expressions { steps, tags }), ..faults }
            }
            Err(_) => Faults::new(faults, count),
        }))
    }

    /// Finds the tags; their faults are added to `reading`.
    fn find(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        reading: &mut Reading<'_>,
    ) -> Result<Self, Error> {
        if let Some(Err(message)) = delimiters.as_ref().map(Delimiters::check) {
            return Err(Error::Delimiters(message));
        }
        let Parts { family, main, deck, book, read: parts, styles, next_number } =
            read::parts(&file, delimiters.is_some(), limits, reading)?;
        let given = delimiters.clone();
        let mut warnings = Vec::new();
        let delimiters = delimiters.unwrap_or_else(|| {
            let found = read::detected(&parts, &book.as_ref().map(excel::Source::texts).unwrap_or_default());
            if found != Delimiters::default() {
                let Delimiters { start, end } = &found;
                warnings.push(format!(
                    "all tags of the document are written {start}…{end}, so these are taken for its delimiters; \
                     say so by formatOpts.delimiters"
                ));
            }
            found
        });
        let mut template = Self {
            file: Vec::new(),
            limits: *limits,
            parts: Vec::new(),
            tags: Vec::new(),
            program: String::new(),
            paths: None,
            next_number,
            documents: Vec::new(),
            dependents: Vec::new(),
            bookmarks: Bookmarks::new(),
            names: Vec::new(),
            family,
            main,
            deck,
            book: None,
            delimiters: given,
            is_strict: parts.iter().any(|(_, part)| part.is_strict()),
            warnings,
        };
        let own = book.map(|book| template.add_book(book, &delimiters, reading)).transpose()?;
        let mut of_parts = Vec::new();
        for (TextPart { name, title, is_main, slide, .. }, part) in parts {
            let Some((part, is_shorter)) = dependents::left(&name, part, (reading, limits))? else {
                continue;
            };
            let told = reading.outline.as_ref().map_or(0, Collected::steps);
            let (part, steps) =
                template.add((title.clone(), is_main), (part, &styles), &delimiters, reading)?;
            template.parts.push(PartPlan { name, is_shorter, slide, ..part });
            of_parts.push((steps, title, told));
        }
        let mut steps = own.unwrap_or_default();
        steps.extend(powerpoint::grouped(&template.parts, of_parts, reading));
        template.parts.extend(dependents::rest(&template.parts, (reading, limits))?);
        template.program = serde_json::to_string(&steps).map_err(|error| Error::Answer(error.to_string()))?;
        template.paths = paths::are_paths(&steps).then_some(steps);
        template.file = file;
        Ok(template)
    }

    /// Finds the tags of a workbook's sheets, and what the engine runs for them.
    fn add_book(
        &mut self,
        book: excel::Source,
        delimiters: &Delimiters,
        reading: &mut Reading<'_>,
    ) -> Result<Vec<program::Step>, Error> {
        let (book, steps, places) = Book::plan(book, (delimiters, self.tags.len()), (reading, &self.limits))?;
        for excel::Place { cell, shown } in places {
            self.tags.push(TagPlace { part: self.names.len(), paragraph: 0, shown, spot: None });
            self.names.push(cell);
        }
        self.book = Some(book);
        Ok(steps)
    }

    /// Finds the tags of a part, and what the engine runs for them.
    fn add(
        &mut self,
        (name, is_main): (String, bool),
        (part, styles): (Part, &Styles),
        delimiters: &Delimiters,
        reading: &mut Reading<'_>,
    ) -> Result<(PartPlan, Vec<program::Step>), Error> {
        let mut tags =
            tags::find(&part, &name, delimiters, &mut reading.tags_left).ok_or_else(|| self.many_tags())?;
        if let Some(outline) = &mut reading.outline {
            outline.add(&name, &tags);
        }
        let extents = extent::extents((&part, styles), &name, &mut tags, &mut reading.cuts_left);
        let others = Rc::clone(&reading.others);
        let planned = if tags.faults.is_empty() {
            let is_copied = reading.dependents.is_within();
            let links = others.relations(&name).map(|known| &**known);
            let beside = plan::Beside { styles, is_copied, bookmarks: &self.bookmarks, links };
            plan::plan((&part, beside), &tags, &extents, &mut reading.cuts_left)
        } else {
            Ok(Vec::new())
        };
        let first = self.tags.len();
        let nodes = planned.unwrap_or_else(|(index, message)| {
            tags.report(index, &name, message);
            Vec::new()
        });
        let places = tags.all.iter();
        self.tags.extend(places.map(|placed| TagPlace {
            part: self.names.len(),
            paragraph: placed.number,
            shown: placed.shown.clone(),
            spot: Some(placed.spot()),
        }));
        self.names.push(name.clone());
        let includes = self.includes(&mut tags, (&name, &part.prefix), reading)?;
        let bookmarks = self.add_bookmarks((&nodes, &part.xml), first, reading);
        let of = (delimiters, styles);
        let references = self.dependents((&part, &name), (&nodes, &mut tags, first), of, reading)?;
        tags.faults.sort_by_key(|fault| fault.paragraph);
        reading.faults.extend(tags.faults.drain(..));
        let (documents, dependents) = (&self.documents, &self.dependents);
        let of_document = |(&tag, &at): (&usize, &usize)| Some((tag, documents.get(at)?.steps.as_slice()));
        let of_dependent =
            |(&place, &at): (&usize, &usize)| Some((place, dependents.get(at)?.steps.as_slice()));
        let others = program::Others {
            documents: includes.iter().filter_map(of_document).collect(),
            dependents: references.iter().filter_map(of_dependent).collect(),
        };
        let steps = program::steps(&nodes, &tags.all, (first, &others));
        let forgotten = forgotten(&part, &tags);
        let part = PartPlan::new((name, is_main), part, nodes);
        let repeat = tags.all.iter().enumerate().find_map(|(index, placed)| {
            if let Tag::Slides(list) = &placed.tag { Some((first + index, list.clone())) } else { None }
        });
        let (tags, part) = (tags.all.len(), PartPlan { bookmarks, ..part });
        Ok((PartPlan { first, tags, includes, references, forgotten, repeat, ..part }, steps))
    }

    fn many_tags(&self) -> Error {
        Error::limit(&self.limits.tags, "the template has more tags than the limit")
    }

    /// The program that the engine runs, as JSON.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Whether all tags are names, so that [`Template::answers`] may have an answer.
    pub fn has_only_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// What the program answers, found without an engine. `None` where only the engine can tell (a tag is no plain name, or a
    /// value is unusual): run it then, for the template may be valid all the same.
    pub fn answers<'d>(&self, data: &'d Data<'_>, limits: PathLimits) -> Option<PathAnswers<'d>> {
        paths::answers(self.paths.as_ref()?, data, limits).ok()
    }

    /// The document with `answers`, as [`Template::fill`] makes it of what an engine answered.
    ///
    /// # Errors
    ///
    /// As those of [`Template::fill`].
    pub fn fill_paths(self, answers: &PathAnswers<'_>, files: &mut dyn Files) -> Result<Filled, Error> {
        self.fill_tree(&answers.0, files)
    }

    /// The document with its tags replaced by `answer`, the program's JSON; the files that answers name come from `files`.
    ///
    /// # Errors
    ///
    /// [`Error::Tags`] with the tags whose expressions failed or whose answers cannot be written, [`Error::Limit`] where the
    /// document becomes too large, [`Error::Answer`] where the answer is another template's.
    pub fn fill(mut self, answer: &str, files: &mut dyn Files) -> Result<Filled, Error> {
        let Answers { faults, count, warnings, is_over, tree } = serde_json::from_str(answer)
            .map_err(|error| Error::Answer(format!("what the program answered cannot be read ({error})")))?;
        if is_over {
            let what = "the sections of the template are repeated more often than the limit, all together";
            return Err(Error::limit(&self.limits.items, what));
        }
        if !faults.is_empty() {
            let faults = self.faults(faults, count);
            let names = self.names.clone();
            // All that can be said without the tags that failed, and without files: these are not fetched in vain.
            let others = match self.fill_tree(&tree, &mut Unasked) {
                Err(Error::Tags(others)) => others.first,
                Ok(_) | Err(_) => Vec::new(),
            };
            let is_new = |fault: &Fault| !faults.has(fault);
            let others: Vec<Fault> = others.into_iter().filter(is_new).collect();
            let more = others.len();
            return Err(Error::Tags(faults.with((others, more), names.iter().map(String::as_str))));
        }
        let warnings = warnings.into_iter().map(|(tag, word)| (tag, warnings::of_word(&word)));
        let warnings = self.faults(warnings.collect(), 0).first;
        self.warnings.extend(warnings.iter().map(Fault::to_string));
        self.fill_tree(&tree, files)
    }
}

/// The relationships whose addresses hold tags: each filled link gets a relationship of its own, so these are no longer used.
fn forgotten(part: &Part, tags: &tags::Tags) -> Vec<String> {
    let texts = tags.all.iter().filter_map(|placed| part.paragraphs.get(placed.paragraph));
    let ids = texts.filter_map(|text| match &text.place {
        Place::Address { id, .. } => Some(part.text(id.clone()).to_owned()),
        Place::Paragraph
        | Place::Attribute
        | Place::Element
        | Place::Code
        | Place::CodeAttribute
        | Place::Tick(_) => None,
    });
    ids.collect()
}
