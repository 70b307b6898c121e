//! Reads the tags of a Word file as a program, and fills the file with what the program answers.
//!
//! ```text
//! file ──container──▶ parts ──word──▶ paragraphs' texts ──lexer──▶ tags ──extent──▶ what sections repeat
//!                                                                    │                      │
//!              program (JSON) ◀──program── tree over the parts' bytes ◀──────plan──────────┘
//!                   │                          │
//!    an engine runs `LIBRARY` ──answers──▶ fill: the tree is written, everything else is copied ──container──▶ file
//! ```
//!
//! The dialect is `docs/office-tags.md`. This crate knows nothing of engines, files, threads or clocks: bytes go in and come out, so it may
//! run where nothing else is allowed.

mod answer;
mod container;
mod content_types;
mod error;
mod extent;
mod files;
mod fill;
mod forms;
mod include;
pub mod lexer;
mod limits;
mod marks;
mod package;
mod plan;
mod program;
mod styles;
mod tags;
mod word;

use std::collections::{BTreeMap, HashMap};

use memchr::{memchr2, memmem};

use answer::{Answer, Answers};
use content_types::TextPart;
pub use error::{Error, Fault, Faults};
pub use files::{Files, NoFiles};
use fill::{Filler, Source};
use include::Document;
pub use lexer::Delimiters;
pub use limits::{Limit, Limits};
use package::Package;
use plan::Node;
use word::attribute::attribute;
use word::{LARGEST_NUMBER, Part, Unreadable};

/// JavaScript, an expression that evaluates to a function `(program, data, settings) => string`: what runs every template's program.
///
/// To be evaluated before the job's own code. `program` is the text of [`Template::program`], `data` the parsed JSON, `settings`
/// `{ locale: string | undefined, timeZone: string | undefined, strict: boolean }`. What it returns is for [`Template::fill`].
pub const LIBRARY: &str = include_str!("library.js");

/// A Word file whose tags have been found.
pub struct Template {
    file: Vec<u8>,
    limits: Limits,
    parts: Vec<PartPlan>,
    /// All tags, by their numbers.
    tags: Vec<TagPlace>,
    program: String,
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
}

impl PartPlan {
    /// A part without tags.
    fn new((name, is_main): (String, bool), part: Part, nodes: Vec<Node>) -> Self {
        let Part { xml, prefix, .. } = part;
        Self { name, is_main, xml, prefix, first: 0, tags: 0, nodes, includes: BTreeMap::new() }
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

/// What is carried from part to part while a template is read.
struct Reading<'f> {
    files: &'f mut dyn Files,
    faults: Vec<Fault>,
    /// So many tags may follow.
    tags_left: usize,
    /// So many pieces of elements that are ended and begun again.
    cuts_left: usize,
    /// So many bytes may be unpacked.
    unpacked_left: u64,
    /// The documents that are being read, each taken in by the one before.
    chain: Vec<String>,
    /// Those that have been read, with their places.
    known: HashMap<String, usize>,
    /// The tags of the documents that the one being read takes in.
    taken: usize,
}

impl<'f> Reading<'f> {
    fn new(limits: &Limits, files: &'f mut dyn Files) -> Self {
        let tags_left = usize::try_from(limits.tags.value).unwrap_or(usize::MAX);
        Self {
            files,
            faults: Vec::new(),
            tags_left,
            cuts_left: plan::CUTS,
            unpacked_left: limits.unpacked_bytes.value,
            chain: Vec::new(),
            known: HashMap::new(),
            taken: 0,
        }
    }
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
        if let Some(Err(message)) = delimiters.as_ref().map(Delimiters::check) {
            return Err(Error::Delimiters(message));
        }
        let mut reading = Reading::new(limits, files);
        let (main, parts, next_number) =
            parts(&file, delimiters.is_some(), limits, &mut reading.unpacked_left)?;
        let given = delimiters.clone();
        let mut warnings = Vec::new();
        let delimiters = delimiters.unwrap_or_else(|| {
            let texts = || parts.iter().flat_map(|(_, part)| &part.paragraphs).map(|one| one.text.as_str());
            let found = lexer::detect(texts).unwrap_or_default();
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
            let (part, of_part) = template.add((name, is_main), part, &delimiters, &mut reading)?;
            template.parts.push(part);
            steps.extend(of_part);
        }
        let faults = reading.faults;
        if !faults.is_empty() {
            let count = faults.len();
            return Err(Error::Tags(Faults::new(faults, count)));
        }
        template.program = serde_json::to_string(&steps).map_err(|error| Error::Answer(error.to_string()))?;
        template.file = file;
        Ok(template)
    }

    /// Finds the tags of a part, and what the engine runs for them.
    fn add(
        &mut self,
        (name, is_main): (String, bool),
        part: Part,
        delimiters: &Delimiters,
        reading: &mut Reading<'_>,
    ) -> Result<(PartPlan, Vec<program::Step>), Error> {
        let mut tags =
            tags::find(&part, &name, delimiters, &mut reading.tags_left).ok_or_else(|| self.many_tags())?;
        let extents = extent::extents(&part, &name, &mut tags);
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
            paragraph: placed.paragraph + 1,
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
        let part = PartPlan::new((name, is_main), part, nodes);
        Ok((PartPlan { first, tags: tags.all.len(), includes, ..part }, steps))
    }

    fn many_tags(&self) -> Error {
        Error::limit(&self.limits.tags, "the template has more tags than the limit")
    }

    /// What the engine runs: JSON.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The document with `answer`, what the program answered, in the places of its tags; what they name comes from `files`.
    ///
    /// # Errors
    ///
    /// [`Error::Tags`] with the tags whose expressions failed or whose answers cannot be written, [`Error::Limit`] where the document
    /// becomes too large, [`Error::Answer`] where the answer is another template's.
    pub fn fill(self, answer: &str, files: &mut dyn Files) -> Result<Filled, Error> {
        let Answers { faults, count, tree } = serde_json::from_str(answer)
            .map_err(|error| Error::Answer(format!("what the program answered cannot be read ({error})")))?;
        if !faults.is_empty() {
            return Err(Error::Tags(self.faults(faults, count)));
        }
        let mut answers = tree.iter();
        let mut package = Package::open(&self.file, &self.limits, (self.is_strict, self.next_number))?;
        let mut faults = Vec::new();
        for part in &self.parts {
            if part.tags > 0 {
                let out = self.fill_part(part, &mut answers, (&mut package, files))?;
                faults.extend(out.1);
                package.put(&part.name, out.0)?;
            }
        }
        if answers.next().is_some() {
            return Err(Error::Answer("what the program answered is not this template's".to_owned()));
        }
        if !faults.is_empty() {
            let count = faults.len();
            return Err(Error::Tags(self.faults(faults, count)));
        }
        let mut warnings = self.warnings;
        warnings.append(&mut package.warnings);
        let file = if package.is_untouched() { None } else { Some(package.finish()?) };
        Ok(Filled { file: file.unwrap_or(self.file), warnings })
    }

    /// A part, filled, and the tags whose answers could not be written, by their numbers.
    fn fill_part<'a>(
        &self,
        part: &PartPlan,
        answers: &mut impl Iterator<Item = &'a Answer<'a>>,
        (package, files): (&mut Package<'_>, &mut dyn Files),
    ) -> Result<(Vec<u8>, Vec<(usize, String)>), Error> {
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
        Ok((out, filler.faults))
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

/// The name of the main part, the parts with tags, and a number.
type TextParts = (String, Vec<(TextPart, Part)>, u64);

/// The name of the main part, the parts that may have tags, read, and the first number that no picture has.
fn parts(file: &[u8], are_given: bool, limits: &Limits, room: &mut u64) -> Result<TextParts, Error> {
    let mut archive = container::open(file, limits)?;
    let mut parts = Vec::new();
    let mut largest = 0;
    let mut main = String::new();
    for text_part in content_types::text_parts(&mut archive, limits)? {
        let xml = container::unpack(&mut archive, text_part.entry, room, limits)?;
        if text_part.is_main && main.is_empty() {
            main.clone_from(&text_part.name);
        }
        largest = largest.max(largest_number(&xml));
        // Without one of these there is no tag of the usual kinds, and nothing to read.
        let may_have_tags =
            are_given || memchr2(b'{', b'[', &xml).is_some() || memmem::find(&xml, b"&#").is_some();
        if !may_have_tags {
            continue;
        }
        let part = read(xml, &text_part.name, limits)?;
        largest = largest.max(part.largest_number);
        parts.push((text_part, part));
    }
    Ok((main, parts, largest + 1))
}

/// A part of a container.
fn part(
    archive: &mut container::Archive<'_>,
    text_part: &TextPart,
    room: &mut u64,
    limits: &Limits,
) -> Result<Part, Error> {
    let xml = container::unpack(archive, text_part.entry, room, limits)?;
    read(xml, &text_part.name, limits)
}

fn read(xml: Vec<u8>, name: &str, limits: &Limits) -> Result<Part, Error> {
    word::read(xml, limits.depth.value).map_err(|error| match error {
        Unreadable::Xml(message) => Error::NotOffice(format!("{name} cannot be read: {message}")),
        Unreadable::Depth => {
            let what = format!("the elements of {name} stand in each other deeper than the limit");
            Error::limit(&limits.depth, &what)
        }
    })
}

/// The largest number of a picture (`wp:docPr`) in a part.
fn largest_number(xml: &[u8]) -> u64 {
    let mut largest = 0;
    let mut rest = xml;
    while let Some(at) = memmem::find(rest, b":docPr") {
        // A start tag has no `<` in it. What is looked through here is not looked through again.
        let found = rest.get(at..).unwrap_or_default();
        let (tag, behind) = found.split_at(memchr::memchr(b'<', found).unwrap_or(found.len()));
        let value = attribute(tag, "id").and_then(|id| std::str::from_utf8(tag.get(id.value)?).ok());
        let number = value.and_then(|value| value.parse().ok()).filter(|&number| number < LARGEST_NUMBER);
        largest = largest.max(number.unwrap_or_default());
        rest = behind;
    }
    largest
}
