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
mod outline;
mod package;
mod plan;
mod program;
mod styles;
mod tags;
mod word;
mod writing;

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
use outline::Collected;
pub use outline::{Outline, OutlineTag};
use package::{Opening, Package};
use plan::Node;
use word::{LARGEST_NUMBER, Origin, Part, Place, Unreadable};

/// JavaScript, an expression that evaluates to a function `(program, data, settings) => string`: what runs every template's program.
///
/// To be evaluated before the job's own code. `program` is the text of [`Template::program`], `data` the parsed JSON, `settings`
/// `{ locale: string | undefined, timeZone: string | undefined, strict: boolean, items: number | undefined }`, where `items` is how often
/// all sections together are repeated at most ([`Limits::items`]). Its member `read` is `(text) => data`, as `JSON.parse` is, but with
/// integers that print as they are written; [`has_long_numbers`] says where that matters. What it returns is for [`Template::fill`].
pub const LIBRARY: &str = include_str!("library.js");

/// Whether JSON may have integers beyond 2^53, which `JSON.parse` would round: so many digits that no string begins with.
#[must_use]
pub fn has_long_numbers(json: &[u8]) -> bool {
    const DIGITS: usize = 16;
    let mut digits = json.split(|byte| !byte.is_ascii_digit());
    let mut at: usize = 0;
    digits.any(|run| {
        let is_in_quotes = at.checked_sub(1).and_then(|before| json.get(before)) == Some(&b'"');
        at += run.len() + 1;
        run.len() >= DIGITS && !is_in_quotes
    })
}

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

/// What is carried from part to part while a template is read.
struct Reading<'f> {
    files: &'f mut dyn Files,
    faults: Vec<Fault>,
    /// So many tags may follow.
    tags_left: usize,
    /// So many pieces of elements that are ended and begun again.
    cuts_left: usize,
    /// Where all tags are told, for who wants to know them.
    outline: Option<Collected>,
    /// So many bytes may be unpacked.
    unpacked_left: u64,
    /// So many elements may follow.
    elements_left: u64,
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
            outline: None,
            unpacked_left: limits.unpacked_bytes.value,
            elements_left: limits.elements.value,
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
        let Parts { main, parts, next_number } = parts(&file, delimiters.is_some(), limits, reading)?;
        let given = delimiters.clone();
        let mut warnings = Vec::new();
        let delimiters = delimiters.unwrap_or_else(|| {
            let found = detected(&parts);
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
            let (part, of_part) = template.add((name, is_main), part, &delimiters, reading)?;
            template.parts.push(part);
            steps.extend(of_part);
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
        if let Some(outline) = &mut reading.outline {
            outline.add(&name, &tags);
        }
        let extents = extent::extents(&part, &name, &mut tags, &mut reading.cuts_left);
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
        let mut answers = tree.iter();
        let mut package = {
            let opening = Opening { is_strict: self.is_strict, next_number: self.next_number };
            Package::open(&self.file, &self.limits, opening)?
        };
        let mut faults = Vec::new();
        for part in &self.parts {
            if part.tags > 0 {
                let out = self.fill_part(part, &mut answers, (&mut package, files))?;
                faults.extend(out.1);
                package.put(&part.name, out.0)?;
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

/// The most digits of a number, and one more.
const NUMBER_DIGITS: usize = 11;

/// The parts that may have tags, read.
struct Parts {
    /// The main part's name.
    main: String,
    parts: Vec<(TextPart, Part)>,
    /// The first number that no picture and no tracked change has.
    next_number: u64,
}

fn parts(file: &[u8], are_given: bool, limits: &Limits, reading: &mut Reading<'_>) -> Result<Parts, Error> {
    let mut archive = container::open(file, limits)?;
    let mut parts = Vec::new();
    let mut largest = 0;
    let text_parts = content_types::text_parts(&mut archive, limits)?;
    let main = text_parts.first().map(|part| part.name.clone()).unwrap_or_default();
    for text_part in text_parts {
        let addresses = match text_part.relationships {
            Some(entry) => {
                let relationships =
                    container::unpack(&mut archive, entry, &mut reading.unpacked_left, limits)?;
                addresses(&relationships, are_given)?
            }
            None => BTreeMap::new(),
        };
        let origin = Origin { dialect: text_part.dialect, addresses };
        let xml = container::unpack(&mut archive, text_part.entry, &mut reading.unpacked_left, limits)?;
        largest = largest.max(largest_number(&xml));
        // Without one of these there is no tag of the usual kinds, and nothing to read.
        let may_have_tags = are_given
            || !origin.addresses.is_empty()
            || memchr2(b'{', b'[', &xml).is_some()
            || memmem::find(&xml, b"&#").is_some();
        if !may_have_tags {
            continue;
        }
        let part = read(xml, (&text_part.name, &origin), (&mut reading.elements_left, limits))?;
        largest = largest.max(part.largest_number);
        parts.push((text_part, part));
    }
    Ok(Parts { main, parts, next_number: largest + 1 })
}

/// A part; `elements_left` becomes less.
fn read(
    xml: Vec<u8>,
    (name, origin): (&str, &Origin),
    (elements_left, limits): (&mut u64, &Limits),
) -> Result<Part, Error> {
    let part = word::read(xml, *elements_left, limits, origin).map_err(|error| match error {
        Unreadable::Xml(message) => Error::NotOffice(format!("{name} cannot be read: {message}")),
        Unreadable::Limit(limit, what) => Error::limit(&limit, &format!("{name}: {what}")),
    })?;
    *elements_left = elements_left.saturating_sub(part.elements.len() as u64);
    Ok(part)
}

/// Where a part's links lead that may have tags.
fn addresses(relationships: &[u8], are_given: bool) -> Result<BTreeMap<String, String>, Error> {
    let mut addresses = package::addresses(relationships)?;
    let has =
        |address: &str| ["{", "[", "%7b", "%5b"].iter().any(|sign| address.to_lowercase().contains(sign));
    addresses.retain(|_, address| are_given || has(address));
    Ok(addresses)
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

/// The delimiters that the document's text is written with. Braces stand elsewhere for many reasons: other texts are asked where it has none.
fn detected(parts: &[(TextPart, Part)]) -> Delimiters {
    let texts = |is_shown: bool| {
        let all = parts.iter().flat_map(|(_, part)| &part.paragraphs);
        all.filter(move |text| is_shown == (text.place == Place::Paragraph)).map(|text| text.text.as_str())
    };
    let is_plain = texts(true).all(|text| !text.contains('{') && !text.contains("[["));
    lexer::detect(|| texts(!is_plain)).unwrap_or_default()
}

/// The largest number of a part's pictures, tracked changes and their like: of what is called `id`, whatever its prefix.
fn largest_number(xml: &[u8]) -> u64 {
    let mut largest = 0;
    for at in memmem::find_iter(xml, b"id") {
        let is_name = at > 0 && xml.get(at - 1).is_some_and(|byte| b": \t\r\n".contains(byte));
        let value = xml.get(at + 2..).filter(|_| is_name).and_then(|behind| {
            let value = behind.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'"))
        });
        // No number is longer.
        let digits = value.map(|value| value.get(..NUMBER_DIGITS).unwrap_or(value)).unwrap_or_default();
        let digits = digits.split(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        largest = largest.max(number.filter(|&number| number < LARGEST_NUMBER).unwrap_or_default());
    }
    largest
}
