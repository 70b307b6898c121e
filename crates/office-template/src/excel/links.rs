//! Links of cells whose addresses have tags: each copy of the cell gets an address of its own. An address may hold values alone;
//! Excel writes its braces as `%7B` and `%7D`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cell_references::{Cell as At, Place, Range};
use memchr::memmem;
use workbook_parts::HYPERLINKS;

use super::sheet::Sheet;
use super::tail;
use super::tree::Link;
use super::write::{CopiedLink, Writer};
use crate::address;
use crate::answer::Answer;
use crate::error::Error;
use crate::lexer::{Delimiters, Tag, lex};
use crate::package::xml::attribute_of;
use crate::package::{Package, Relation, Target};
use crate::tags::TEXT_ONLY;
use crate::word::attribute::attributes;
use crate::writing::Writing;

/// The elements that follow a sheet's links (ECMA-376 part 1, 18.3.1.99), up to its drawing: `tail` has those from there on.
const BEHIND: [&[u8]; 10] = [
    b"printOptions",
    b"pageMargins",
    b"pageSetup",
    b"headerFooter",
    b"rowBreaks",
    b"colBreaks",
    b"customProperties",
    b"cellWatches",
    b"ignoredErrors",
    b"smartTags",
];

/// A tag of a link as it is written, and the tag or why it is not allowed there.
pub(super) type LinkTag = (String, Result<Tag, String>);

/// The links of a sheet with tags, by their first cells. `addresses` are the targets of its links by relationship id.
pub(super) fn find(
    sheet: &Sheet,
    addresses: &BTreeMap<String, String>,
    delimiters: &Delimiters,
) -> BTreeMap<At, (Link, Vec<LinkTag>)> {
    let mut found = BTreeMap::new();
    if addresses.is_empty() {
        return found;
    }
    let behind = sheet.xml.get(sheet.behind..).unwrap_or_default();
    for at in memmem::find_iter(behind, b"hyperlink ") {
        let begin = memchr::memrchr(b'<', behind.get(..at).unwrap_or_default()).unwrap_or(at);
        let tag = behind.get(begin..).unwrap_or_default();
        let tag = tag.get(..=memchr::memchr(b'>', tag).unwrap_or(0)).unwrap_or_default();
        let Some(range) = attribute_of(tag, |name| name == b"ref").and_then(|cells| Range::parse(&cells))
        else {
            continue;
        };
        let id = attribute_of(tag, |name| name.ends_with(b":id")).unwrap_or_default();
        let Some(address) = addresses.get(&id) else { continue };
        let link =
            Link { id, range, kept: kept(tag), before: Vec::new(), rest: String::new(), slots: Vec::new() };
        if let Some(link) = read(link, address, delimiters) {
            found.insert(range.first_cell(), link);
        }
    }
    found
}

/// The attributes of a link but `ref`, `display`, `id`, `uid` and namespaces.
fn kept(tag: &[u8]) -> String {
    let mut kept = String::new();
    for attribute in attributes(tag) {
        let text =
            |range: std::ops::Range<usize>| String::from_utf8_lossy(tag.get(range).unwrap_or_default());
        let name = text(attribute.name.clone()).trim().to_owned();
        let is_own = ["ref", "display"].contains(&name.as_str());
        if !is_own && ![":id", ":uid"].iter().any(|end| name.ends_with(end)) && !name.starts_with("xmlns") {
            kept.extend([" ", &name, "=\"", &text(attribute.value).replace('"', "&quot;"), "\""]);
        }
    }
    kept
}

/// The link with the pieces of its address, and its tags; `None` where it has no tags.
fn read(mut link: Link, address: &str, delimiters: &Delimiters) -> Option<(Link, Vec<LinkTag>)> {
    let (text, places) = decoded(address);
    let place = |at: usize| places.get(at).copied().unwrap_or(address.len());
    let (mut tags, mut from) = (Vec::new(), 0);
    for token in lex(&text, &mut delimiters.clone()) {
        // Braces may be JSON in the address: what does not begin as an expression does is no tag.
        let is_meant =
            token.source.starts_with(|first: char| first.is_alphabetic() || "_$.(!#^/%".contains(first));
        let Some(tag) = token.tag.clone().ok().filter(|_| is_meant) else { continue };
        let only_values = "an address holds values alone; write an expression, as in {isNew ? a : b}";
        let tag = if matches!(tag, Tag::Value(_)) { Ok(tag) } else { Err(only_values.to_owned()) };
        tags.push((token.shown(), tag));
        link.before.push(address.get(from..place(token.range.start)).unwrap_or_default().to_owned());
        from = place(token.range.end);
    }
    address.get(from..).unwrap_or_default().clone_into(&mut link.rest);
    (!tags.is_empty()).then_some((link, tags))
}

/// The address with its percent codes decoded, and for each byte of the text its offset in `address`.
pub(super) fn decoded(address: &str) -> (String, Vec<usize>) {
    let (mut text, mut places) = (String::with_capacity(address.len()), Vec::with_capacity(address.len()));
    let mut at = 0;
    while let Some(rest) = address.get(at..).filter(|rest| !rest.is_empty()) {
        let (letter, length) = code(rest).unwrap_or_else(|| {
            let letter = rest.chars().next().unwrap_or_default();
            (letter, letter.len_utf8().max(1))
        });
        text.push(letter);
        places.resize(text.len(), at);
        at += length;
    }
    (text, places)
}

/// The letter whose percent codes a text begins with, and how many bytes they take.
fn code(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(code) = rest.strip_prefix('%').and_then(|rest| rest.get(..2)) {
        // `from_str_radix` would take a sign, as in `{n %+1}`.
        if !code.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        rest = rest.get(3..)?;
        if let Ok(letter) = std::str::from_utf8(&bytes) {
            return Some((letter.chars().next()?, bytes.len() * 3));
        }
        if bytes.len() == 4 {
            return None;
        }
    }
    None
}

impl<'a> Writer<'a, '_> {
    /// Adds a copy of a link for the cell that is being written.
    pub(super) fn link(
        &mut self,
        link: &'a Link,
        turns: &[u32],
        (now, place): (At, Place),
    ) -> Result<(), Error> {
        let mut address = String::new();
        for (before, slot) in link.before.iter().zip(&link.slots) {
            address.push_str(before);
            match self.answer(slot, turns)? {
                // The blank turn of an empty list has no link.
                None => return Ok(()),
                Some(Answer::Null) => {}
                Some(Answer::Text(text)) => match Writing::Address.aside(text) {
                    Ok(text) => address.push_str(&text),
                    Err(why) => self.told.faults.push((slot.tag, why)),
                },
                Some(_) => self.told.faults.push((slot.tag, TEXT_ONLY.to_owned())),
            }
        }
        address.push_str(&link.rest);
        let before = link.before.first().map_or("", String::as_str);
        let address = match address::filled(before, &address) {
            Ok(address) => address,
            Err(why) => {
                let tag = link.slots.first().map_or(0, |slot| slot.tag);
                self.told.faults.push((tag, why));
                return Ok(());
            }
        };
        if self.links.len() == HYPERLINKS {
            self.told.links_beyond += 1;
            return Ok(());
        }
        let range = self.moves.range(link.range, place).unwrap_or(now.into());
        self.links.push(CopiedLink { range, address, link });
        Ok(())
    }
}

/// The bytes behind the cells of a sheet with these links added. `beyond` is how many links have been left out already.
pub(super) fn listed(
    links: &[CopiedLink<'_>],
    beyond: usize,
    (part, sheet, name): (&str, &Sheet, &str),
    (mut tail, package): (Vec<u8>, &mut Package<'_>),
) -> Result<Vec<u8>, Error> {
    if links.is_empty() {
        return Ok(tail);
    }
    let prefix = &sheet.prefix;
    let most = HYPERLINKS.saturating_sub(memmem::find_iter(&tail, b"hyperlink ").count());
    let namespace = package.relationships_namespace();
    let mut text = String::new();
    for CopiedLink { range, address, link } in links.iter().take(most) {
        let id = package.relate(part, Relation::Hyperlink, Target::External(address))?;
        let kept = &link.kept;
        // Writing into a String does not fail.
        let _ =
            write!(text, "<{prefix}hyperlink xmlns:r=\"{namespace}\" ref=\"{range}\" r:id=\"{id}\"{kept}/>");
        if text.len() > package.room() {
            return Err(package.full());
        }
    }
    let beyond = beyond + links.len().saturating_sub(most);
    if beyond > 0 {
        package.warnings.push(&format!(
            "{beyond} were left out: hyperlinks beyond the {HYPERLINKS} that Excel allows on '{name}'"
        ));
    }
    let end = format!("</{prefix}hyperlinks>");
    let at = memmem::rfind(&tail, end.as_bytes()).unwrap_or_else(|| {
        text = format!("<{prefix}hyperlinks>{text}{end}");
        tail::before(&tail, &BEHIND)
    });
    tail.splice(at..at, text.into_bytes());
    Ok(tail)
}
