//! A part of lists (`numbering.xml`; ECMA-376, part 1, 17.9), and lists that are added to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::rewrite::{Change, Seen, rewritten, with_value};
use crate::error::Error;
use crate::package::entries::entries;
use crate::package::xml::{attribute_text, with_last};
use crate::word::attribute::{attributes, value, value_in};

#[derive(Default)]
pub(super) struct Numbering {
    pub(super) xml: Vec<u8>,
    pub(super) prefix: String,
    pub(super) abstracts: BTreeMap<String, Abstract>,
    pub(super) nums: BTreeMap<String, Num>,
    /// Offsets at which the first `w:num` begins and the last one ends; of the root's end tag where there are none.
    behind_abstracts: usize,
    behind_nums: usize,
    /// The numbers of the abstracts that were copied into the package.
    pub(super) copied: BTreeMap<String, u64>,
}

#[derive(Default)]
pub(super) struct Abstract {
    pub(super) range: Range<usize>,
    /// The style that defines the list (`numStyleLink`); empty where it defines itself.
    pub(super) link: String,
    /// The number with which each level starts.
    pub(super) starts: Vec<String>,
    /// Whether some level has numbers, and not all have bullets.
    has_numbers: bool,
    /// The style that it defines (`styleLink`).
    defines: String,
}

#[derive(Default)]
pub(super) struct Num {
    pub(super) range: Range<usize>,
    pub(super) of: String,
    pub(super) has_overrides: bool,
}

pub(crate) struct Lists {
    pub(super) part: String,
    pub(super) prefix: String,
    next_abstract: u64,
    next_num: u64,
    abstracts: String,
    nums: String,
    /// The lists that the part had before.
    held: Numbering,
    /// Those of them that have been used in a section.
    used: BTreeSet<String>,
}

impl Numbering {
    pub(super) fn read(xml: Vec<u8>) -> Self {
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
                        (2, b"styleLink") => one.defines = value(tag, "val"),
                        (2, b"abstractNumId") => num.of = value(tag, "val"),
                        (2, b"lvlOverride") => num.has_overrides = true,
                        (2, b"lvl") => one.starts.push("1".to_owned()),
                        (3, b"numFmt") => one.has_numbers |= value(tag, "val") != "bullet",
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

impl Lists {
    /// No lists yet; they are added behind the lists `held` of this part.
    pub(super) fn of(part: String, held: Numbering) -> Self {
        let after = |ids: &mut dyn Iterator<Item = &String>| {
            ids.filter_map(|id| id.parse::<u64>().ok()).max().map_or(1, |largest| largest.saturating_add(1))
        };
        Self {
            part,
            next_abstract: after(&mut held.abstracts.keys()),
            next_num: after(&mut held.nums.keys()),
            prefix: if held.prefix.is_empty() { "w:".to_owned() } else { held.prefix.clone() },
            abstracts: String::new(),
            nums: String::new(),
            held,
            used: BTreeSet::new(),
        }
    }

    /// A list that looks as the part's list `id` and begins again on its first `levels` levels. `None` where this is the first
    /// use of the list, so it can be used itself, and where it has no numbers.
    pub(super) fn again(&mut self, id: &str, levels: u8) -> Option<u64> {
        let num = self.held.nums.get(id)?;
        let of = self.held.abstracts.get(&num.of)?;
        let linked = || self.held.abstracts.values().find(|one| one.defines == of.link);
        let of = if of.link.is_empty() { of } else { linked().unwrap_or(of) };
        if !of.has_numbers || self.used.insert(id.to_owned()) {
            return None;
        }
        let definition = self.held.xml.get(num.range.clone()).unwrap_or_default();
        let number = self.next_num;
        let list = restarted((definition, &num.of), &of.starts, (levels, number), &self.prefix);
        self.nums.push_str(&list);
        self.next_num += 1;
        Some(number)
    }

    /// Adds a list and returns its number; `definition` writes its `abstractNum` from Word's prefix and the abstract's number.
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

    pub(super) fn add_abstract(
        &mut self,
        definition: &[u8],
        styles: &BTreeMap<String, String>,
    ) -> Result<u64, Error> {
        let number = self.next_abstract;
        self.next_abstract += 1;
        let prefix = &self.prefix;
        let change = |seen: &Seen<'_>| match seen.name {
            "abstractNum" => Change::Tag(own_attributes(seen.tag, prefix, |name| {
                (name == "abstractNumId").then(|| Some(number.to_string()))
            })),
            // Word takes lists with the same `nsid` for one list.
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

    pub(super) fn add_num(&mut self, definition: &[u8], of: u64, starts: &[String]) -> Result<u64, Error> {
        let number = self.next_num;
        self.next_num += 1;
        let prefix = &self.prefix;
        if !starts.is_empty() {
            let levels = u8::try_from(starts.len()).unwrap_or(u8::MAX);
            self.nums.push_str(&restarted((b"", &of.to_string()), starts, (levels, number), prefix));
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

    /// How many bytes they add to their part.
    pub(super) fn bytes(&self) -> usize {
        self.abstracts.len() + self.nums.len()
    }

    /// Their part, `xml`, with these lists added.
    pub(super) fn written(self, xml: Vec<u8>) -> Vec<u8> {
        let Numbering { xml, behind_abstracts, behind_nums, .. } = Numbering::read(xml);
        if behind_nums == 0 {
            // The root is an empty element.
            return with_last(&xml, &(self.abstracts + &self.nums));
        }
        let piece = |range: Range<usize>| xml.get(range).unwrap_or_default();
        let whole = [
            piece(0..behind_abstracts),
            self.abstracts.as_bytes(),
            piece(behind_abstracts..behind_nums),
            self.nums.as_bytes(),
            piece(behind_nums..xml.len()),
        ];
        whole.concat()
    }
}

/// What a `w:num` says of a level in place of its abstract.
#[derive(Default)]
struct Override {
    start: Option<String>,
    /// The level's definition, whole.
    level: String,
}

/// A list that begins again on its first `levels` levels, made of the definition of another.
fn restarted(
    (definition, of): (&[u8], &str),
    starts: &[String],
    (levels, number): (u8, u64),
    w: &str,
) -> String {
    let mut own = overrides(definition);
    let of = attribute_text(of);
    let mut list = format!("<{w}num {w}numId=\"{number}\"><{w}abstractNumId {w}val=\"{of}\"/>");
    for level in 0..levels.min(9) {
        own.entry(level).or_default();
    }
    for (level, Override { start, level: definition }) in own {
        let start = start.or_else(|| starts.get(usize::from(level)).cloned());
        let start = start.and_then(|start| start.parse::<u32>().ok()).unwrap_or(1);
        let _ = write!(
            list,
            "<{w}lvlOverride {w}ilvl=\"{level}\"><{w}startOverride {w}val=\"{start}\"/>{definition}</{w}lvlOverride>"
        );
    }
    list.extend(["</", w, "num>"]);
    list
}

/// The overrides in the definition of a `w:num`, by their levels.
fn overrides(definition: &[u8]) -> BTreeMap<u8, Override> {
    let mut found: BTreeMap<u8, Override> = BTreeMap::new();
    let mut level = 0;
    for entry in entries("numbering", definition).unwrap_or_default() {
        match entry.name.as_str() {
            "lvlOverride" => level = entry.value("ilvl").parse().unwrap_or_default(),
            "startOverride" => found.entry(level).or_default().start = Some(entry.value("val").to_owned()),
            "lvl" => {
                let whole = definition.get(entry.whole).unwrap_or_default();
                found.entry(level).or_default().level = String::from_utf8_lossy(whole).into_owned();
            }
            "start" => {
                let start = &mut found.entry(level).or_default().start;
                start.get_or_insert_with(|| entry.value("val").to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Edits that drop attributes of other prefixes. For Word's own, `change` gives another value (`Some(Some)`), drops
/// (`Some(None)`) or keeps.
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
