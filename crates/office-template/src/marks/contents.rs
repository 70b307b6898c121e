//! Tables of contents: entries are written from the headings of the filled document, in a `TOC` field. Page numbers are not known
//! here, so the field is marked as dirty (`w:dirty`) and Word refreshes it, asking its user first. The alternative,
//! `w:updateFields` in the settings, makes Word ask the same, but refreshes all fields of the document.

use std::fmt::Write as _;

use super::Marks;
use super::edits::Edits;
use super::headings::{self, BOOKMARK, Contents, Found, Heading};
use crate::error::Error;
use crate::named_styles;
use crate::package::Package;
use crate::package::xml::{attribute_text, escaped, with_last};
use crate::source::Source;
use crate::styles::Styles;

/// A heading as an entry of tables.
struct Entry<'a> {
    level: u8,
    heading: &'a Heading,
    bookmark: String,
}

/// `xml` with its tables of contents, and with bookmarks around the headings.
pub(super) fn applied(
    xml: &[u8],
    marks: &Marks,
    source: Source<'_>,
    package: &mut Package<'_>,
) -> Result<Vec<u8>, Error> {
    let found = headings::find(xml, marks, source.prefix)?;
    let deepest = found.contents.iter().map(|contents| contents.levels).max().unwrap_or_default();
    let part = named_styles::part(package, source.name, source.root.1)?;
    let definitions = package.part(&part)?.unwrap_or_default();
    let styles = Styles::read(&definitions);
    let entries = entries(&found, &styles, deepest);
    let (ids, added) = entry_styles(&styles, &entries);
    if !added.is_empty() {
        package.put(&part, with_last(&definitions, &added))?;
    }
    let mut edits = Edits::default();
    let prefix = source.prefix;
    for (number, entry) in (found.largest + 1..).zip(&entries) {
        let (name, content) = (&entry.bookmark, &entry.heading.content);
        let begin = format!("<{prefix}bookmarkStart {prefix}id=\"{number}\" {prefix}name=\"{name}\"/>");
        edits.replace(content.start..content.start, begin);
        edits.replace(content.end..content.end, format!("<{prefix}bookmarkEnd {prefix}id=\"{number}\"/>"));
    }
    for contents in &found.contents {
        let written = Written { prefix, contents, width: width(&found, contents), ids: &ids };
        let text = written.whole(entries.iter().filter(|entry| entry.level <= contents.levels));
        let text = text.unwrap_or_else(|| {
            package.warnings.push(
                "the document has no headings, so its table of contents is empty; give headings a style as Heading 1",
            );
            written.empty()
        });
        edits.replace(contents.range.clone(), text);
        if edits.added > package.room() {
            return Err(package.full());
        }
    }
    Ok(edits.applied(xml))
}

/// The headings of levels up to `deepest`, with names for their bookmarks.
fn entries<'f>(found: &'f Found, styles: &Styles, deepest: u8) -> Vec<Entry<'f>> {
    let mut levels = std::collections::HashMap::new();
    let mut entries = Vec::new();
    let mut number = 0_u32;
    for heading in &found.headings {
        let mut of_style = || *levels.entry(&heading.style).or_insert_with(|| styles.level(&heading.style));
        let level = match heading.outline {
            Some(outline) => Some(outline.saturating_add(1)),
            None => of_style(),
        };
        let Some(level) = level.filter(|&level| level <= deepest) else { continue };
        let bookmark = loop {
            number += 1;
            let name = format!("{BOOKMARK}{number:09}");
            if !found.names.contains(&name) {
                break name;
            }
        };
        entries.push(Entry { level, heading, bookmark });
    }
    entries
}

/// The width of the text at the table, in twentieths of a point.
fn width(found: &Found, contents: &Contents) -> i64 {
    const LEAST: i64 = 1000;
    let section = found.sections.iter().find(|(end, _)| *end > contents.range.end).or(found.sections.last());
    section.map_or(LEAST, |&(_, width)| width.max(LEAST))
}

/// The ids of the styles of entries, by their levels from 1, and definitions of those that are missing.
fn entry_styles(styles: &Styles, entries: &[Entry<'_>]) -> ([String; 9], String) {
    let w = if styles.prefix.is_empty() { "w:" } else { &styles.prefix };
    let mut added = String::new();
    let normal = styles.default_of("paragraph").map(|style| attribute_text(&style.id));
    let based_on =
        normal.as_ref().map(|id| format!("<{w}basedOn {w}val=\"{id}\"/><{w}next {w}val=\"{id}\"/>"));
    let ids = std::array::from_fn(|index| {
        let level = index + 1;
        if let Some(style) = styles.named("paragraph", &format!("toc {level}")) {
            return style.id.clone();
        }
        let id = styles.free_id(&format!("TOC{level}"));
        if entries.iter().any(|entry| usize::from(entry.level) == level) {
            let indent = 220 * index;
            let _ = write!(
                added,
                "<{w}style {w}type=\"paragraph\" {w}styleId=\"{id}\"><{w}name {w}val=\"toc {level}\"/>{}\
                 <{w}autoRedefine/><{w}uiPriority {w}val=\"39\"/><{w}unhideWhenUsed/><{w}pPr><{w}spacing {w}after=\"100\"/>\
                 <{w}ind {w}left=\"{indent}\"/></{w}pPr></{w}style>",
                based_on.as_deref().unwrap_or_default()
            );
        }
        id
    });
    (ids, added)
}

struct Written<'a> {
    prefix: &'a str,
    contents: &'a Contents,
    width: i64,
    ids: &'a [String; 9],
}

impl Written<'_> {
    /// The table; `None` where it would be empty.
    fn whole<'e>(&self, entries: impl Iterator<Item = &'e Entry<'e>>) -> Option<String> {
        let mut text = String::new();
        let mut entries = entries.peekable();
        let mut is_first = true;
        while let Some(entry) = entries.next() {
            let begin = if is_first { self.begin() } else { String::new() };
            let end = if entries.peek().is_none() { self.mark("end", "") } else { String::new() };
            is_first = false;
            text.push_str(&self.entry(entry, &begin, &end));
        }
        (!is_first).then_some(text)
    }

    fn empty(&self) -> String {
        let w = self.prefix;
        format!("<{w}p>{}{}</{w}p>", self.begin(), self.mark("end", ""))
    }

    fn begin(&self) -> String {
        let w = self.prefix;
        let instruction = format!(" TOC \\o \"1-{}\" \\h \\z \\u ", self.contents.levels);
        format!(
            "{}<{w}r><{w}instrText xml:space=\"preserve\">{instruction}</{w}instrText></{w}r>{}",
            self.mark("begin", &format!(" {w}dirty=\"true\"")),
            self.mark("separate", "")
        )
    }

    fn mark(&self, kind: &str, more: &str) -> String {
        let w = self.prefix;
        format!("<{w}r><{w}fldChar {w}fldCharType=\"{kind}\"{more}/></{w}r>")
    }

    fn entry(&self, entry: &Entry<'_>, begin: &str, end: &str) -> String {
        let (w, width, name) = (self.prefix, self.width, &entry.bookmark);
        let style =
            self.ids.get(usize::from(entry.level) - 1).map(|id| attribute_text(id)).unwrap_or_default();
        let text = escaped(&entry.heading.text);
        let hidden = format!("<{w}rPr><{w}webHidden/></{w}rPr>");
        let field = |kind: &str| format!("<{w}r>{hidden}<{w}fldChar {w}fldCharType=\"{kind}\"/></{w}r>");
        format!(
            "<{w}p><{w}pPr><{w}pStyle {w}val=\"{style}\"/><{w}tabs><{w}tab {w}val=\"right\" {w}leader=\"dot\" {w}pos=\"{width}\"/>\
             </{w}tabs></{w}pPr>{begin}<{w}hyperlink {w}anchor=\"{name}\" {w}history=\"1\"><{w}r><{w}t xml:space=\"preserve\">{text}\
             </{w}t></{w}r><{w}r>{hidden}<{w}tab/></{w}r>{}<{w}r>{hidden}<{w}instrText xml:space=\"preserve\"> PAGEREF {name} \\h \
             </{w}instrText></{w}r>{}<{w}r>{hidden}<{w}t>1</{w}t></{w}r>{}</{w}hyperlink>{end}</{w}p>",
            field("begin"),
            field("separate"),
            field("end")
        )
    }
}
