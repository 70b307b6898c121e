//! Styles that filled content needs by name: the document's own, or one that is added to it.

use crate::error::Error;
use crate::package::xml::with_last;
use crate::package::{NewPart, Package, Relation};
use crate::styles::Styles;

const CONTENT_TYPE: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml";

/// The name of the part with the styles of `main`; one is added where there is none.
pub(crate) fn part(package: &mut Package<'_>, main: &str, namespace: &str) -> Result<String, Error> {
    let new = NewPart { stem: "word/styles", content_type: CONTENT_TYPE, root: "styles", namespace };
    package.related_or_new(main, Relation::Styles, &new)
}

/// The id of the document's style of this kind and name. Where it has none, one is added: `definition` writes the `w:style` from
/// Word's prefix, the id, and the id of the kind's default style.
pub(crate) fn named(
    package: &mut Package<'_>,
    (main, namespace): (&str, &str),
    (kind, name): (&str, &str),
    definition: impl FnOnce(&str, &str, Option<&str>) -> String,
) -> Result<String, Error> {
    let key = (kind.to_owned(), name.to_lowercase());
    if let Some(id) = package.taken.styles.get(&key) {
        return Ok(id.clone());
    }
    let part = part(package, main, namespace)?;
    let xml = package.part(&part)?.unwrap_or_default();
    let styles = Styles::read(&xml);
    let id = if let Some(style) = styles.named(kind, &key.1) {
        style.id.clone()
    } else {
        let id = styles.free_id(&joined(name));
        let based_on = styles.default_of(kind).map(|style| style.id.as_str());
        let prefix = if styles.prefix.is_empty() { "w:" } else { &styles.prefix };
        package.put(&part, with_last(&xml, &definition(prefix, &id, based_on)))?;
        id
    };
    package.taken.styles.insert(key, id.clone());
    Ok(id)
}

/// An id from a style's name, as Word makes it: `Heading1` for `heading 1`.
fn joined(name: &str) -> String {
    let words = name.split_whitespace().map(|word| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}", first.to_uppercase())
    });
    words.collect()
}
