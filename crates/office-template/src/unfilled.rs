//! Files that are used without being filled. Their tags are counted, so that the author can be warned that they will be printed
//! as they are.

use memchr::{memchr, memmem};
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use crate::container;
use crate::error::Error;
use crate::family::Family;
use crate::lexer::{self, Token};
use crate::limits::Limits;
use crate::package::{Opening, Package};

/// The part with Microsoft Office's styles, which has no text. `OpenDocument` keeps headers and footers there.
const LOOKS: &str = "/styles.xml";
/// Parts without text of the document: layouts' prompts, which are never printed, names of colours and fonts, and metadata.
const WITHOUT_TEXT: [&str; 7] = [
    "ppt/slidelayouts/",
    "ppt/slidemasters/",
    "/theme/",
    "docprops/",
    "customxml/",
    "meta-inf/",
    "[content_types].xml",
];

/// A file that is not filled, and what was found in it.
#[derive(Debug)]
pub struct Unfilled {
    /// The file: a plain one, without macros, where it is one of Microsoft Office.
    pub file: Vec<u8>,
    /// How many tags it has; counting stops once there are more than [`Limits::tags`].
    pub tags: usize,
    /// The first of them; a long one is cut.
    pub first: Option<String>,
    /// What its author should know, in sentences.
    pub warnings: Vec<String>,
}

/// Takes a file as it is, without what [`fill`](crate::Template::fill) leaves out of every document (macros, signatures).
///
/// # Errors
///
/// [`Error::NotOffice`] for a file that is damaged, or has what cannot be left out; [`Error::Limit`] for one that passes a limit.
pub fn unfilled(file: Vec<u8>, family: Family, limits: &Limits) -> Result<Unfilled, Error> {
    read(file, family, limits).map_err(|error| of_program(error, family))
}

fn read(file: Vec<u8>, family: Family, limits: &Limits) -> Result<Unfilled, Error> {
    let texts = texts(&file, family, limits)?;
    let (tags, first) = tags(&texts, limits);
    if family == Family::OpenDocument {
        return Ok(Unfilled { file, tags, first, warnings: Vec::new() });
    }
    let opening = Opening { is_strict: false, next_number: 1, folder: family.folder() };
    let mut package = Package::open(&file, limits, opening)?;
    let warnings = std::mem::take(&mut package.warnings).lines();
    let plain = if package.is_untouched() { None } else { Some(package.finish()?) };
    Ok(Unfilled { file: plain.unwrap_or(file), tags, first, warnings })
}

/// Names the right program in messages about containers, which are written for Word.
pub(crate) fn of_program(error: Error, family: Family) -> Error {
    let own = |sentence: String| {
        let (program, no_file) = (family.program(), format!("no {} file", family.program()));
        sentence.replace("in Word", &format!("in {program}")).replace("no Word file", &no_file)
    };
    match error {
        Error::NotOffice(sentence) => Error::NotOffice(own(sentence)),
        Error::Limit(sentence) => Error::Limit(own(sentence)),
        other @ (Error::Tags(_) | Error::Delimiters(_) | Error::Answer(_)) => other,
    }
}

/// The texts of all parts that may have a tag, one for each paragraph or cell.
fn texts(file: &[u8], family: Family, limits: &Limits) -> Result<Vec<String>, Error> {
    let mut archive = container::open(file, limits)?;
    let mut room = limits.unpacked_bytes.value;
    let mut texts = Vec::new();
    for (name, index) in container::entries_by_name(&archive) {
        let (path, extension) = (format!("/{name}"), name.rsplit_once('.').map(|(_, extension)| extension));
        let is_look = family != Family::OpenDocument && path.contains(LOOKS);
        if extension != Some("xml") || is_look || WITHOUT_TEXT.iter().any(|part| path.contains(part)) {
            continue;
        }
        let xml = container::unpack(&mut archive, index, &mut room, limits)?;
        let may_have = memchr(b'{', &xml).is_some()
            || memmem::find(&xml, b"[[").is_some()
            || memmem::find(&xml, b"&#").is_some();
        if may_have {
            collect(&xml, &mut texts);
        }
    }
    Ok(texts)
}

/// Adds the paragraphs of a part that may have a tag, up to where the part can be parsed.
fn collect(xml: &[u8], texts: &mut Vec<String>) {
    let mut reader = Reader::from_reader(xml.strip_prefix(b"\xef\xbb\xbf").unwrap_or(xml));
    // How many paragraphs are open. One inside of another, as in a shape, is read with the outer one.
    let mut open = 0_usize;
    let mut text = String::new();
    while let Ok(event) = reader.read_event() {
        match event {
            Event::Start(tag) if is_paragraph(tag.local_name().as_ref()) => open += 1,
            Event::End(tag) if is_paragraph(tag.local_name().as_ref()) => {
                open = open.saturating_sub(1);
                if open == 0 {
                    let whole = std::mem::take(&mut text);
                    if whole.contains('{') || whole.contains("[[") {
                        texts.push(whole);
                    }
                }
            }
            Event::Text(piece) if open > 0 => text.push_str(&String::from_utf8_lossy(&piece)),
            Event::CData(piece) if open > 0 => text.push_str(&String::from_utf8_lossy(&piece)),
            Event::GeneralRef(reference) if open > 0 => text.extend(letter(&reference)),
            Event::Eof => return,
            Event::Start(_)
            | Event::End(_)
            | Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
    }
}

/// Paragraphs of shapes and texts, headings of `OpenDocument`, cells of Excel: shared ones, and those in the sheet.
fn is_paragraph(name: &[u8]) -> bool {
    matches!(name, b"p" | b"h" | b"si" | b"is" | b"comment")
}

/// The character of a reference, such as `&amp;`.
pub(crate) fn letter(reference: &BytesRef<'_>) -> Option<char> {
    match &**reference {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => reference.resolve_char_ref().ok().flatten(),
    }
}

fn tags(texts: &[String], limits: &Limits) -> (usize, Option<String>) {
    let most = usize::try_from(limits.tags.value).unwrap_or(usize::MAX);
    let mut delimiters = lexer::detect(|| texts.iter().map(String::as_str)).unwrap_or_default();
    let (mut count, mut first) = (0, None);
    for text in texts {
        for token in lexer::lex(text, &mut delimiters).filter(is_meant) {
            count += 1;
            first.get_or_insert_with(|| token.shown());
        }
        if count > most {
            break;
        }
    }
    (count, first)
}

/// Whether braces are probably a tag's, and not around numbers, sets or quotations.
fn is_meant(token: &Token) -> bool {
    let begins = |letter: char| letter.is_alphabetic() || "_$#^/%~@:=".contains(letter);
    token.tag.is_ok() && token.source.starts_with(begins)
}
