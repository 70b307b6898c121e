//! Links: `{:link text url}`.

use super::{Place, Refusal, Written};
use crate::answer::Content;
use crate::error::quoted;
use crate::package::{Package, Relation, Target, attribute_text};

/// What a link may lead to. Others would run something, or read the reader's own files.
const SCHEMES: [&str; 5] = ["http:", "https:", "mailto:", "tel:", "ftp:"];

/// A link: in the style of the text around it, blue and underlined where that says nothing else.
pub(super) fn write(
    content: &Content<'_>,
    place: &Place<'_>,
    package: &mut Package<'_>,
) -> Result<Written, Refusal> {
    let (text, address, tip) = (content.field(0), content.field(1).trim(), content.field(2));
    if address.is_empty() {
        return Err("the link leads nowhere; its address is empty".to_owned().into());
    }
    let prefix = place.source.prefix;
    let text = if text.is_empty() { address } else { text };
    let tip =
        if tip.is_empty() { String::new() } else { format!(" {prefix}tooltip=\"{}\"", attribute_text(tip)) };
    let target = if let Some(bookmark) = address.strip_prefix('#') {
        format!("{prefix}anchor=\"{}\"", attribute_text(bookmark))
    } else {
        let address = external(address)?;
        let id = package.relate(place.source.name, Relation::Hyperlink, Target::External(address))?;
        let namespace = package.relationships_namespace();
        format!("xmlns:r=\"{namespace}\" r:id=\"{id}\"")
    };
    let run = place.run(&looks(place), text);
    Ok(Written::Inline(format!(
        "<{prefix}hyperlink {target}{tip} {prefix}history=\"1\">{run}</{prefix}hyperlink>"
    )))
}

/// The run's properties with a link's looks, in the order that the schema wants.
fn looks(place: &Place<'_>) -> String {
    let prefix = place.source.prefix;
    let colour = format!("<{prefix}color {prefix}val=\"0563C1\"/>");
    let line = format!("<{prefix}u {prefix}val=\"single\"/>");
    super::with_property(&super::with_property(place.run_properties, prefix, &colour), prefix, &line)
}

/// An address that a document may lead to.
pub(crate) fn external(address: &str) -> Result<&str, String> {
    let address = address.trim();
    let lower = address.to_ascii_lowercase();
    if SCHEMES.iter().any(|scheme| lower.starts_with(scheme)) {
        return Ok(address);
    }
    let known = SCHEMES.join(" ");
    let shown = quoted(address);
    Err(format!("a link leads to an address of {known} or to a #bookmark, and not to {shown:?}"))
}
