//! The styles of a workbook: how a cell shows its number.

use super::pieces::prefix;
use crate::error::Error;
use crate::package::entries::{Entry, entries};
use crate::package::xml::attribute_text;
use crate::package::xml::replaced;

/// The first number for formats of a file; lower ones are built into Excel.
const FIRST: u32 = 164;

/// The styles with one more, of this number format, and its index; `None` where the part has no `cellXfs`.
pub(super) fn with_format(part: &str, xml: &[u8], format: &str) -> Result<Option<(Vec<u8>, usize)>, Error> {
    let elements = entries(part, xml)?;
    let named = |name: &str| elements.iter().find(|element| element.name == name);
    let (Some(root), Some(cells)) = (elements.first(), named("cellXfs")) else { return Ok(None) };
    let x = prefix(xml, root);
    let within = |whole: &std::ops::Range<usize>, name: &str| {
        let whole = whole.clone();
        let found = elements.iter().filter(|element| element.name == name);
        found.filter(|element| whole.contains(&element.whole.start)).count()
    };
    let known = elements.iter().filter(|element| element.name == "numFmt");
    let last = known.filter_map(|element| element.value("numFmtId").parse::<u32>().ok()).max();
    let id = last.map_or(FIRST, |last| last.saturating_add(1).max(FIRST));
    let line = format!("<{x}numFmt numFmtId=\"{id}\" formatCode=\"{}\"/>", attribute_text(format));
    let style = format!(
        "<{x}xf numFmtId=\"{id}\" fontId=\"0\" fillId=\"0\" borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/>"
    );
    let index = within(&cells.whole, "xf");
    let longer = |element: &Entry, name: &str, count: usize, piece: &str| {
        let inner = xml.get(element.tag.end..element.whole.end).unwrap_or_default();
        let end = memchr::memrchr(b'<', inner).unwrap_or_default();
        let inner = String::from_utf8_lossy(inner.get(..end).unwrap_or_default());
        let whole = format!("<{x}{name} count=\"{count}\">{inner}{piece}</{x}{name}>");
        (element.whole.clone(), whole)
    };
    let formats = match named("numFmts") {
        Some(formats) => longer(formats, "numFmts", within(&formats.whole, "numFmt") + 1, &line),
        None => (root.tag.end..root.tag.end, format!("<{x}numFmts count=\"1\">{line}</{x}numFmts>")),
    };
    let edits = [formats, longer(cells, "cellXfs", index + 1, &style)];
    Ok(Some((replaced(xml, &edits), index)))
}
