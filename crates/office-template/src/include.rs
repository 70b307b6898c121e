//! `{:include name}`: another document in place of a tag.
//!
//! A name written in the tag is known before the data: the file is read with the template, and its tags are filled with the data
//! of the tag's place. A calculated name is known too late for that, so such a file is included as it is and must have no tags.
//!
//! Only the text is included. Its styles, lists, pictures and charts come with it under free names and numbers; of a style that
//! both documents have, the including document's definition holds.

mod copy;
mod lists;
mod numbering;
mod parts;
mod read;
mod rewrite;
mod styles;
pub(crate) mod taken;
mod text;

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::container;
use crate::error::{Error, quoted};
use crate::family::Family;
use crate::files::Files;
use crate::lexer;
use crate::limits::Limits;
use crate::listing::listing;
use crate::package::Package;
use crate::package::relationships::{self, Known};
use crate::plan::Node;
use crate::source::{Document, Source};
use crate::styles::Styles;
use crate::tags;
use crate::word::{Origin, Part, Prefixes};
use crate::written::{Refusal, Written};
pub(crate) use copy::Copy;
pub(crate) use numbering::{again as list_again, in_turn, prepare_lists, write_lists};

/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 4_096;

/// How deep documents may include documents.
pub(crate) const DEPTH: usize = 10;

/// The path of a file beside the template, without empty and `.` segments; an error where it leads out of the folder.
pub(crate) fn path(name: &str) -> Result<String, String> {
    let name = name.trim();
    if name.is_empty() {
        return Err("it names no file".to_owned());
    }
    if name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(format!(
            "a file's name is shorter than {LONGEST_NAME} bytes and has no control characters, and {:?} is not",
            quoted(name)
        ));
    }
    let is_outside =
        name.starts_with('/') || name.contains(['\\', ':']) || name.split('/').any(|one| one == "..");
    if is_outside {
        return Err(format!(
            "{:?} is no file beside the template; name one of its archive, as in {{:include \"terms.docx\"}}",
            quoted(name)
        ));
    }
    Ok(name.split('/').filter(|one| !one.is_empty() && *one != ".").collect::<Vec<_>>().join("/"))
}

/// The text of an argument that is a string literal without escapes and `$`; `None` for other expressions.
pub(crate) fn literal(argument: &str) -> Option<&str> {
    let quote = argument.chars().next().filter(|quote| "\"'`".contains(*quote))?;
    let text = argument.strip_prefix(quote)?.strip_suffix(quote)?;
    (!text.contains([quote, '\\', '$'])).then_some(text)
}

/// A document's main part.
pub(crate) struct Opened {
    /// Its name in the document.
    main: String,
    pub(crate) part: Part,
    /// The main part's relationships.
    relationships: Known,
    styles: Styles,
}

/// Opens a document. The bytes that are unpacked are subtracted from `room`.
pub(crate) fn open(file: &[u8], room: &mut u64, limits: &Limits) -> Result<Opened, Error> {
    let mut archive = container::open(file, limits)?;
    let listing = listing(&mut archive, limits)?;
    if listing.family != Family::Word {
        return Err(Error::NotOffice(format!(
            "it is a file of {} and no Word file",
            listing.family.program()
        )));
    }
    let main = listing.parts.into_iter().find(|part| part.is_main);
    let main = main.ok_or_else(|| Error::NotOffice("it has no text".to_owned()))?;
    let xml = container::unpack(&mut archive, main.entry, room, limits)?;
    // Addresses of its links are not filled, so none are given.
    let origin = Origin { dialect: main.dialect, addresses: BTreeMap::new() };
    let part = crate::read::read(xml, (&main.name, &origin), (&mut limits.elements.value.clone(), limits))?;
    let relationships = match main.relationships {
        Some(entry) => container::unpack(&mut archive, entry, room, limits)?,
        None => b"<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>".to_vec(),
    };
    let of_main = (main.name.as_str(), relationships.as_slice());
    let styles = crate::read::styles(std::iter::once(&part), of_main, &mut archive, (room, limits))?;
    let relationships = relationships::known(&relationships)?;
    Ok(Opened { main: main.name, part, relationships, styles })
}

/// An error where a document cannot be included in the part: another form of the format, or another prefix.
pub(crate) fn check_kind(document: &Document, prefix: &str, is_strict: bool) -> Result<(), String> {
    if document.is_strict != is_strict {
        return Err(format!(
            "{} and the template are saved in different forms of the format (strict and transitional); save both as Word Document (*.docx)",
            document.name
        ));
    }
    if document.part.prefix != prefix {
        return Err(format!(
            "the names in {} are written in another way than Word's; save it anew in Word",
            document.name
        ));
    }
    Ok(())
}

/// Includes a document whose name is calculated, as it is.
pub(crate) fn calculated(
    name: &str,
    source: Source<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Written, Refusal> {
    let name = path(name)?;
    let document = if let Some(document) = package.taken.documents.get(&name) {
        Rc::clone(document)
    } else {
        if !files.are_fetched() {
            return Err(Refusal::NotFetched);
        }
        let file = files.file(&name)?;
        let document = Rc::new(untagged(&name, file, source, package)?);
        package.taken.documents.insert(name, Rc::clone(&document));
        document
    };
    check_kind(&document, source.prefix, package.is_strict())?;
    let stage = stage(&document, source.name, package);
    inserted(&document.part.xml, &document, (source, &stage), package)
}

/// Reads a document that must have no tags.
fn untagged(
    name: &str,
    file: Vec<u8>,
    source: Source<'_>,
    package: &mut Package<'_>,
) -> Result<Document, Refusal> {
    let (limits, room) = package.unpacking();
    let Opened { main, part, relationships, .. } =
        open(&file, room, limits).map_err(|error| named(name, error))?;
    let texts = || part.paragraphs.iter().map(|one| one.text.as_str());
    let delimiters = source.delimiters.cloned().unwrap_or_else(|| lexer::detect(texts).unwrap_or_default());
    let mut left = 1;
    let found = tags::find(&part, &main, &delimiters, &mut left);
    if found.is_none_or(|tags| !tags.all.is_empty() || !tags.faults.is_empty()) {
        return Err(format!(
            "{name} has tags, and these are filled only where the name stands in the tag as a text: {{:include {name:?}}}"
        )
        .into());
    }
    let is_strict = part.is_strict();
    let nodes = vec![Node::Raw(0..part.xml.len())];
    let part = crate::PartPlan::new((main, true), part, nodes);
    Ok(Document { name: name.to_owned(), file, part, is_strict, steps: Vec::new(), tags: 0, relationships })
}

/// Adds the document's name to an error; a damaged document is a fault of the tag.
pub(crate) fn named(name: &str, error: Error) -> Refusal {
    match error {
        Error::NotOffice(message) => Refusal::Fault(format!("{name} cannot be taken in: {message}")),
        Error::Limit(message) => Refusal::Error(Error::Limit(format!("{name}: {message}"))),
        error @ (Error::Tags(_) | Error::Delimiters(_) | Error::Answer(_)) => Refusal::Error(error),
    }
}

/// A temporary part name for a document while it is filled, with its relationships: what is written into it may add some.
pub(crate) fn stage(document: &Document, host: &str, package: &mut Package<'_>) -> String {
    package.taken.staged += 1;
    let name = format!("{host}.{}", package.taken.staged);
    package.stage(&name, &document.relationships);
    name
}

/// The text of a filled document, adapted to the part `host`.
pub(crate) fn inserted(
    xml: &[u8],
    document: &Document,
    (host, stage): (Source<'_>, &str),
    package: &mut Package<'_>,
) -> Result<Written, Refusal> {
    let staged = package.unstage(stage);
    let body = text::body(xml, host.prefix)
        .ok_or_else(|| format!("{} cannot be taken in: it has no text", document.name))?;
    let prefixes = Prefixes::of(xml);
    let used = text::used(body, host.prefix, &prefixes).map_err(|error| named(&document.name, error))?;
    let mut merged = package.taken.merged.remove(&document.name).unwrap_or_default();
    merged.copies += 1;
    let mut own = parts::Own::new(document, staged, stage);
    let lists = numbering::prepare(&mut merged, &mut own, &used, package)?;
    styles::merge(&mut merged, &mut own, (&used, &lists), (host.root, package))?;
    let lists = numbering::merge(&mut merged, &used, host.root, package)?;
    let mut ids = BTreeMap::new();
    for id in &used.relationships {
        ids.insert(id.clone(), own.related(id, &mut merged, host.name, package)?);
    }
    let written = text::written(
        (xml, body),
        text::Names { styles: &merged.styles, lists: &lists, relationships: &ids, prefixes: &prefixes },
        (document, host),
        package,
    );
    let (xml, left_out) = written?;
    for what in left_out {
        if merged.warned.insert(what) {
            package.warnings.push(&format!("{}: {what}", document.name));
        }
    }
    package.taken.merged.insert(document.name.clone(), merged);
    Ok(Written::Blocks(xml))
}
