//! The lists of a document that is taken in (`numbering.xml`; ECMA-376, part 1, 17.9): copied under numbers that are free. Each time the
//! document is taken in its lists begin again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::rewrite::{Change, Seen, rewritten};
use super::text::{Used, with_value};
use super::{Merged, named, parts::Own};
use crate::error::Error;
use crate::forms::Refusal;
use crate::package::{Package, Relation, Target, attribute_text, with_last};
use crate::word::attribute::{attributes, value, value_in};

const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml";

/// A part of lists.
#[derive(Default)]
pub(super) struct Numbering {
    xml: Vec<u8>,
    prefix: String,
    abstracts: BTreeMap<String, Abstract>,
    nums: BTreeMap<String, Num>,
    /// Where the first number begins and the last one ends; the part's end where there is none.
    behind_abstracts: usize,
    behind_nums: usize,
    /// What abstracts and numbers are called in the package.
    copied: BTreeMap<String, u64>,
}

#[derive(Default)]
struct Abstract {
    range: Range<usize>,
    /// The style that says what the list looks like, where it does not itself.
    link: String,
    /// What the levels begin with.
    starts: Vec<String>,
}

#[derive(Default)]
struct Num {
    range: Range<usize>,
    of: String,
    has_overrides: bool,
}

/// The lists that are added to a package.
pub(crate) struct Lists {
    part: String,
    prefix: String,
    next_abstract: u64,
    next_num: u64,
    abstracts: String,
    nums: String,
}

impl Numbering {
    fn read(xml: Vec<u8>) -> Self {
        let mut found = Self::default();
        let mut reader = Reader::from_reader(xml.as_slice());
        let (mut from, mut depth) = (0, 0_u32);
        let (mut one, mut num, mut id) = (Abstract::default(), Num::default(), String::new());
        let mut begin = 0;
        while let Ok(event) = reader.read_event() {
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            match event {
                Event::Start(ref tag) | Event::Empty(ref tag) => {
                    let is_start = matches!(event, Event::Start(_));
                    match (depth, tag.local_name().as_ref()) {
                        (0, local) => {
                            let name = tag.name();
                            let prefix = name.as_ref().strip_suffix(local).unwrap_or_default();
                            found.prefix = String::from_utf8_lossy(prefix).into_owned();
                        }
                        (1, b"abstractNum") => (begin, id) = (from, value(tag, "abstractNumId")),
                        (1, b"num") => (begin, id) = (from, value(tag, "numId")),
                        (2, b"numStyleLink") => one.link = value(tag, "val"),
                        (2, b"abstractNumId") => num.of = value(tag, "val"),
                        (2, b"lvlOverride") => num.has_overrides = true,
                        (2, b"lvl") => one.starts.push("1".to_owned()),
                        (3, b"start") => {
                            if let Some(start) = one.starts.last_mut() {
                                *start = value(tag, "val");
                            }
                        }
                        _ => {}
                    }
                    depth += u32::from(is_start);
                }
                Event::End(tag) => {
                    depth = depth.saturating_sub(1);
                    match (depth, tag.local_name().as_ref()) {
                        (0, _) => {
                            found.behind_abstracts =
                                if found.nums.is_empty() { from } else { found.behind_abstracts };
                            found.behind_nums = if found.nums.is_empty() { from } else { found.behind_nums };
                        }
                        (1, b"abstractNum") => {
                            one.range = begin..end;
                            found.abstracts.insert(std::mem::take(&mut id), std::mem::take(&mut one));
                        }
                        (1, b"num") => {
                            if found.nums.is_empty() {
                                found.behind_abstracts = begin;
                            }
                            found.behind_nums = end;
                            num.range = begin..end;
                            found.nums.insert(std::mem::take(&mut id), std::mem::take(&mut num));
                        }
                        _ => {}
                    }
                }
                Event::Eof => break,
                Event::Text(_)
                | Event::CData(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_)
                | Event::GeneralRef(_) => {}
            }
            from = end;
        }
        found.xml = xml;
        found
    }
}

/// Reads the document's lists, and tells the styles that these name.
pub(super) fn prepare(
    merged: &mut Merged,
    own: &mut Own<'_>,
    used: &Used,
    package: &mut Package<'_>,
) -> Result<BTreeSet<String>, Refusal> {
    if merged.numbering.is_none() {
        merged.numbering = Some(Numbering::read(own.part("numbering", package)?.unwrap_or_default()));
    }
    let Some(numbering) = &merged.numbering else { return Ok(BTreeSet::new()) };
    let abstracts = used.lists.iter().filter_map(|id| numbering.abstracts.get(&numbering.nums.get(id)?.of));
    Ok(abstracts.map(|one| one.link.clone()).filter(|link| !link.is_empty()).collect())
}

/// The numbers of the text's lists in the package, by their own.
pub(super) fn merge(
    merged: &mut Merged,
    used: &Used,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<BTreeMap<String, u64>, Refusal> {
    let mut numbers = BTreeMap::new();
    for id in &used.lists {
        if let Some(number) = copied(merged, id, host, package)? {
            numbers.insert(id.clone(), number);
        }
    }
    Ok(numbers)
}

/// The number of a style's list: the same for all copies.
pub(super) fn of_styles(
    merged: &mut Merged,
    id: &str,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<Option<u64>, Refusal> {
    if let Some(&number) = merged.style_lists.get(id) {
        return Ok(Some(number));
    }
    let number = copied(merged, id, host, package)?;
    merged.style_lists.extend(number.map(|number| (id.to_owned(), number)));
    Ok(number)
}

/// The list's id in the definition of a style.
pub(super) fn of_style(definition: &[u8], prefix: &str) -> Option<String> {
    let at = memchr::memmem::find(definition, format!("<{prefix}numId ").as_bytes())?;
    let tag = definition.get(at..)?;
    let tag = tag.get(..memchr::memchr(b'>', tag)? + 1)?;
    Some(value_in(tag, "val"))
}

fn copied(
    merged: &mut Merged,
    id: &str,
    host: (&str, &str),
    package: &mut Package<'_>,
) -> Result<Option<u64>, Refusal> {
    let Merged { numbering: Some(numbering), styles, copies, .. } = merged else { return Ok(None) };
    let Some(num) = numbering.nums.get(id) else { return Ok(None) };
    let Some(of) = numbering.abstracts.get(&num.of) else { return Ok(None) };
    Lists::prepare(host, package)?;
    let room = package.room();
    let Some(lists) = &mut package.taken.lists else { return Ok(None) };
    if lists.prefix != numbering.prefix {
        return Ok(None);
    }
    let broken = |error| named("a file that is taken in", error);
    let abstract_number = if let Some(&number) = numbering.copied.get(&num.of) {
        number
    } else {
        let definition = numbering.xml.get(of.range.clone()).unwrap_or_default();
        let number = lists.add_abstract(definition, styles).map_err(broken)?;
        numbering.copied.insert(num.of.clone(), number);
        number
    };
    let definition = numbering.xml.get(num.range.clone()).unwrap_or_default();
    let starts = if *copies > 1 && !num.has_overrides { of.starts.as_slice() } else { &[] };
    let number = lists.add_num(definition, abstract_number, starts).map_err(broken)?;
    if lists.abstracts.len() + lists.nums.len() > room {
        return Err(package.full().into());
    }
    Ok(Some(number))
}

impl Lists {
    /// Reads those of the package, if that has not been done.
    pub(crate) fn prepare(host: (&str, &str), package: &mut Package<'_>) -> Result<(), Error> {
        if package.taken.lists.is_none() {
            package.taken.lists = Some(Self::open(host, package)?);
        }
        Ok(())
    }

    fn open((main, namespace): (&str, &str), package: &mut Package<'_>) -> Result<Self, Error> {
        let part = if let Some(part) = package.related(main, Relation::Numbering)? {
            part
        } else {
            let part = package.free_name("word/numbering", ".xml");
            let xml = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<w:numbering xmlns:w=\"{namespace}\"></w:numbering>"
            );
            package.put(&part, xml.into_bytes())?;
            package.override_type(&part, CONTENT_TYPE)?;
            package.relate(main, Relation::Numbering, Target::Part(&part))?;
            part
        };
        let held = Numbering::read(package.part(&part)?.unwrap_or_default());
        let after = |ids: &mut dyn Iterator<Item = &String>| {
            ids.filter_map(|id| id.parse::<u64>().ok()).max().map_or(1, |largest| largest.saturating_add(1))
        };
        Ok(Self {
            part,
            prefix: if held.prefix.is_empty() { "w:".to_owned() } else { held.prefix },
            next_abstract: after(&mut held.abstracts.keys()),
            next_num: after(&mut held.nums.keys()),
            abstracts: String::new(),
            nums: String::new(),
        })
    }

    /// Adds a list with a look of its own: `definition` makes it of the prefix of Word's names and the look's number.
    pub(crate) fn add(&mut self, definition: impl FnOnce(&str, u64) -> String) -> u64 {
        let (look, number) = (self.next_abstract, self.next_num);
        self.next_abstract += 1;
        self.next_num += 1;
        let w = &self.prefix;
        self.abstracts.push_str(&definition(w, look));
        let list = format!("<{w}num {w}numId=\"{number}\"><{w}abstractNumId {w}val=\"{look}\"/></{w}num>");
        self.nums.push_str(&list);
        number
    }

    fn add_abstract(&mut self, definition: &[u8], styles: &BTreeMap<String, String>) -> Result<u64, Error> {
        let number = self.next_abstract;
        self.next_abstract += 1;
        let prefix = &self.prefix;
        let change = |seen: &Seen<'_>| match seen.name {
            "abstractNum" => Change::Tag(own_attributes(seen.tag, prefix, |name| {
                (name == "abstractNumId").then(|| Some(number.to_string()))
            })),
            // Word takes lists with the same one for one list.
            "nsid" => with_value(seen.tag, "val", &format!("{:08X}", 0x5000_0000_u64.saturating_add(number))),
            "lvlPicBulletId" => Change::Drop,
            "pStyle" | "styleLink" | "numStyleLink" => {
                let name = styles.get(&value_in(seen.tag, "val"));
                name.map_or(Change::Drop, |name| with_value(seen.tag, "val", name))
            }
            name if name.contains(':') => Change::Drop,
            _ => Change::Tag(own_attributes(seen.tag, prefix, |_| None)),
        };
        let text = rewritten(definition, prefix, change)?;
        self.abstracts.push_str(&String::from_utf8_lossy(&text));
        Ok(number)
    }

    fn add_num(&mut self, definition: &[u8], of: u64, starts: &[String]) -> Result<u64, Error> {
        let number = self.next_num;
        self.next_num += 1;
        let prefix = &self.prefix;
        if !starts.is_empty() {
            let w = prefix;
            let _ = write!(self.nums, "<{w}num {w}numId=\"{number}\"><{w}abstractNumId {w}val=\"{of}\"/>");
            for (level, start) in starts.iter().enumerate().take(9) {
                let start = start.parse::<u32>().unwrap_or(1);
                let _ = write!(
                    self.nums,
                    "<{w}lvlOverride {w}ilvl=\"{level}\"><{w}startOverride {w}val=\"{start}\"/></{w}lvlOverride>"
                );
            }
            let _ = write!(self.nums, "</{w}num>");
            return Ok(number);
        }
        let change = |seen: &Seen<'_>| match seen.name {
            "num" => Change::Tag(own_attributes(seen.tag, prefix, |name| {
                (name == "numId").then(|| Some(number.to_string()))
            })),
            "abstractNumId" => with_value(seen.tag, "val", &of.to_string()),
            "pStyle" | "lvlPicBulletId" => Change::Drop,
            name if name.contains(':') => Change::Drop,
            _ => Change::Tag(own_attributes(seen.tag, prefix, |_| None)),
        };
        let text = rewritten(definition, prefix, change)?;
        self.nums.push_str(&String::from_utf8_lossy(&text));
        Ok(number)
    }

    /// Writes them into their part.
    pub(crate) fn write(self, package: &mut Package<'_>) -> Result<(), Error> {
        let xml = package.part(&self.part)?.unwrap_or_default();
        let Numbering { xml, behind_abstracts, behind_nums, .. } = Numbering::read(xml);
        if behind_nums == 0 {
            // The root is empty.
            let whole = with_last(&xml, &(self.abstracts + &self.nums));
            return package.put(&self.part, whole);
        }
        let piece = |range: Range<usize>| xml.get(range).unwrap_or_default();
        let whole = [
            piece(0..behind_abstracts),
            self.abstracts.as_bytes(),
            piece(behind_abstracts..behind_nums),
            self.nums.as_bytes(),
            piece(behind_nums..xml.len()),
        ];
        package.put(&self.part, whole.concat())
    }
}

/// The changes that leave out attributes of other prefixes, and give some of Word's another value (`Some`) or none.
pub(super) fn own_attributes(
    tag: &[u8],
    prefix: &str,
    change: impl Fn(&str) -> Option<Option<String>>,
) -> Vec<(Range<usize>, String)> {
    let mut changes = Vec::new();
    for attribute in attributes(tag) {
        let name = tag.get(attribute.name).unwrap_or_default().trim_ascii_end();
        let name = std::str::from_utf8(name).unwrap_or_default();
        let local = name.strip_prefix(prefix);
        match local.and_then(&change) {
            Some(Some(value)) => changes.push((attribute.value, attribute_text(&value))),
            Some(None) => changes.push((attribute.whole, String::new())),
            None if local.is_none() && name.contains(':') && !name.starts_with("xml:") => {
                changes.push((attribute.whole, String::new()));
            }
            None => {}
        }
    }
    changes
}
