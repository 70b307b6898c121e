//! Reads the tags of a Word file as a program, and fills the file with what the program answers.
//!
//! ```text
//! file ──container──▶ parts ──word──▶ paragraphs' texts ──lexer──▶ tags ──extent──▶ what sections repeat
//!                                                                    │                      │
//!              program (JSON) ◀──program── tree over the parts' bytes ◀──────plan──────────┘
//!                   │                          │
//!    an engine runs `library` ──answers──▶ fill: the tree is written, everything else is copied ──container──▶ file
//! ```
//!
//! Where all tags are names that are simply there or not, `paths` answers in the engine's place.
//!
//! The dialect is `docs/office-tags.md`. This crate knows nothing of engines, files, threads or clocks: bytes go in and come out, so it may
//! run where nothing else is allowed.

mod answer;
mod chart;
mod container;
mod content_types;
mod error;
mod extent;
mod family;
mod field_code;
mod files;
mod fill;
mod forms;
mod include;
pub mod lexer;
mod library;
mod limits;
mod marks;
mod outline;
mod package;
mod paths;
mod plan;
mod program;
mod read;
mod styles;
mod tags;
mod unfilled;
mod warnings;
mod word;
mod writing;

use std::collections::BTreeMap;

use answer::{Answer, Answers};
use content_types::TextPart;
pub use error::{Error, Fault, Faults};
pub use family::Family;
pub use files::{Files, NoFiles};
use fill::{Filler, Source};
use include::Document;
pub use lexer::Delimiters;
pub use library::{Needs, library};
pub use limits::{Limit, Limits};
pub use outline::{Outline, OutlineTag};
use package::{Opening, Package};
pub use paths::{Data, PathAnswers, PathLimits};
use plan::Node;
use read::{Parts, Reading};
use styles::Styles;
pub use unfilled::{Unfilled, unfilled};
use word::{Part, Place};

/// A Word file whose tags have been found.
pub struct Template {
    file: Vec<u8>,
    limits: Limits,
    parts: Vec<PartPlan>,
    /// All tags, by their numbers.
    tags: Vec<TagPlace>,
    program: String,
    /// The program, where no step of it is anything but a name.
    paths: Option<Vec<program::Step>>,
    next_number: u64,
    /// The documents that it takes in.
    documents: Vec<Document>,
    /// What the parts with tags are called in faults.
    names: Vec<String>,
    /// The name of its main part.
    main: String,
    /// The delimiters that were asked for.
    delimiters: Option<Delimiters>,
    /// Whether it is written in the strict form of the format.
    is_strict: bool,
    warnings: Vec<String>,
}

/// A part with tags.
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
    /// Which documents its tags take in, by the tags' places.
    includes: BTreeMap<usize, usize>,
    /// The relationships that the part no longer refers to when it is filled.
    forgotten: Vec<String>,
}

impl PartPlan {
    /// A part without tags.
    fn new((name, is_main): (String, bool), part: Part, nodes: Vec<Node>) -> Self {
        let Part { xml, prefix, .. } = part;
        let (includes, forgotten) = (BTreeMap::new(), Vec::new());
        Self { name, is_main, xml, prefix, first: 0, tags: 0, nodes, includes, forgotten }
    }

    /// The part as it is written under this name, where all else is as around it.
    fn source<'a>(&'a self, (name, is_main): (&'a str, bool), around: Source<'a>) -> Source<'a> {
        let Self { xml, prefix, first, includes, .. } = self;
        Source { name, is_main, xml, prefix, first: *first, includes, ..around }
    }
}

/// Where a tag stands, for what is to be said of it.
struct TagPlace {
    part: usize,
    paragraph: usize,
    shown: String,
}

/// A part that was filled.
struct FilledPart {
    xml: Vec<u8>,
    /// The tags whose answers could not be written, by their numbers, and why.
    faults: Vec<(usize, String)>,
}

/// A filled document.
#[derive(Debug)]
pub struct Filled {
    /// The Word file.
    pub file: Vec<u8>,
    /// What its author should know, in sentences.
    pub warnings: Vec<String>,
}

impl Template {
    /// Reads a Word file and finds its tags.
    ///
    /// # Errors
    ///
    /// [`Error::NotOffice`] for what is no Word file, [`Error::Limit`] for one that passes a limit, and [`Error::Tags`] with the faults
    /// of all tags that cannot be read.
    pub fn read(file: Vec<u8>, delimiters: Option<Delimiters>, limits: &Limits) -> Result<Self, Error> {
        Self::read_beside(file, delimiters, limits, &mut NoFiles)
    }

    /// The same of one that may take in other documents, which come from `files`.
    ///
    /// # Errors
    ///
    /// As those of [`Template::read`]; what is wrong with another document is a fault of the tag that takes it in.
    pub fn read_beside(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        files: &mut dyn Files,
    ) -> Result<Self, Error> {
        let mut reading = Reading::new(limits, files);
        let template = Self::find(file, delimiters, limits, &mut reading)?;
        let faults = reading.faults;
        if !faults.is_empty() {
            let count = faults.len();
            return Err(Error::Tags(Faults::new(faults, count)));
        }
        Ok(template)
    }

    /// The template, and in `reading` what is wrong with it.
    fn find(
        file: Vec<u8>,
        delimiters: Option<Delimiters>,
        limits: &Limits,
        reading: &mut Reading<'_>,
    ) -> Result<Self, Error> {
        if let Some(Err(message)) = delimiters.as_ref().map(Delimiters::check) {
            return Err(Error::Delimiters(message));
        }
        let Parts { main, read: parts, styles, next_number } =
            read::parts(&file, delimiters.is_some(), limits, reading)?;
        let given = delimiters.clone();
        let mut warnings = Vec::new();
        let delimiters = delimiters.unwrap_or_else(|| {
            let found = read::detected(&parts);
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
            names: Vec::new(),
            main,
            delimiters: given,
            is_strict: parts.iter().any(|(_, part)| part.is_strict()),
            warnings,
        };
        let mut steps = Vec::new();
        for (TextPart { name, is_main, .. }, part) in parts {
            let (part, of_part) = template.add((name, is_main), (part, &styles), &delimiters, reading)?;
            template.parts.push(part);
            steps.extend(of_part);
        }
        template.program = serde_json::to_string(&steps).map_err(|error| Error::Answer(error.to_string()))?;
        template.paths = paths::are_paths(&steps).then_some(steps);
        template.file = file;
        Ok(template)
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
        let planned = if tags.faults.is_empty() {
            plan::plan(&part, &tags, &extents, &mut reading.cuts_left)
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
        }));
        self.names.push(name.clone());
        let includes = self.includes(&mut tags, (&name, &part.prefix), reading)?;
        tags.faults.sort_by_key(|fault| fault.paragraph);
        reading.faults.append(&mut tags.faults);
        let documents = &self.documents;
        let bodies =
            includes.iter().filter_map(|(&tag, &at)| Some((tag, documents.get(at)?.steps.as_slice())));
        let steps = program::steps(&nodes, &tags.all, (first, &bodies.collect()));
        let forgotten = forgotten(&part, &tags);
        let part = PartPlan::new((name, is_main), part, nodes);
        Ok((PartPlan { first, tags: tags.all.len(), includes, forgotten, ..part }, steps))
    }

    fn many_tags(&self) -> Error {
        Error::limit(&self.limits.tags, "the template has more tags than the limit")
    }

    /// What the engine runs: JSON.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Whether all tags are names, so that [`Template::answers`] may have an answer.
    #[must_use]
    pub fn has_only_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// What the program answers, where it takes no engine to know that: all tags are names, and what they stand for is nothing unusual.
    /// `None` says nothing of the template: the engine does.
    #[must_use]
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

    /// The document with `answer`, what the program answered, in the places of its tags; what they name comes from `files`.
    ///
    /// # Errors
    ///
    /// [`Error::Tags`] with the tags whose expressions failed or whose answers cannot be written, [`Error::Limit`] where the document
    /// becomes too large, [`Error::Answer`] where the answer is another template's.
    pub fn fill(self, answer: &str, files: &mut dyn Files) -> Result<Filled, Error> {
        let Answers { faults, count, is_over, tree } = serde_json::from_str(answer)
            .map_err(|error| Error::Answer(format!("what the program answered cannot be read ({error})")))?;
        if is_over {
            let what = "the sections of the template are repeated more often than the limit, all together";
            return Err(Error::limit(&self.limits.items, what));
        }
        if !faults.is_empty() {
            return Err(Error::Tags(self.faults(faults, count)));
        }
        self.fill_tree(&tree, files)
    }

    fn fill_tree(self, tree: &[Answer<'_>], files: &mut dyn Files) -> Result<Filled, Error> {
        let mut answers = tree.iter();
        let mut package = {
            let (is_strict, next_number) = (self.is_strict, self.next_number);
            let opening = Opening { is_strict, next_number };
            Package::open(&self.file, &self.limits, opening)?
        };
        self.warnings.iter().for_each(|warning| package.warnings.push(warning));
        let mut faults = Vec::new();
        for part in &self.parts {
            if part.tags > 0 {
                let out = self.fill_part(part, &mut answers, (&mut package, files))?;
                faults.extend(out.faults);
                package.put(&part.name, out.xml)?;
                package.forget(&part.name, &part.forgotten)?;
            }
        }
        if answers.next().is_some() {
            return Err(Error::Answer("what the program answered is not this template's".to_owned()));
        }
        if !faults.is_empty() {
            let count = faults.len();
            return Err(Error::Tags(self.faults(faults, count)));
        }
        let warnings = std::mem::take(&mut package.warnings).lines();
        let file = if package.is_untouched() { None } else { Some(package.finish()?) };
        Ok(Filled { file: file.unwrap_or(self.file), warnings })
    }

    fn fill_part<'a>(
        &self,
        part: &PartPlan,
        answers: &mut impl Iterator<Item = &'a Answer<'a>>,
        (package, files): (&mut Package<'_>, &mut dyn Files),
    ) -> Result<FilledPart, Error> {
        let around = Source {
            name: &part.name,
            xml: &part.xml,
            prefix: &part.prefix,
            is_main: part.is_main,
            first: part.first,
            includes: &part.includes,
            documents: &self.documents,
            delimiters: self.delimiters.as_ref(),
            root: (&self.main, if self.is_strict { word::STRICT } else { word::TRANSITIONAL }),
        };
        let mut filler = Filler::new(around, &self.limits.output_bytes, (package, files));
        let out = filler.part(&part.nodes, answers)?;
        Ok(FilledPart { xml: out, faults: filler.faults })
    }

    fn faults(&self, mut faults: Vec<(usize, String)>, count: usize) -> Faults {
        let count = count.max(faults.len());
        faults.sort_by_key(|&(id, _)| id);
        let reported = faults.into_iter().filter_map(|(id, message)| {
            let place = self.tags.get(id)?;
            let part = self.names.get(place.part)?;
            Some(Fault::new(part, place.paragraph, &place.shown, &message))
        });
        Faults::new(reported.collect(), count)
    }
}

/// The relationships of addresses with tags: what refers to them gets new ones.
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
