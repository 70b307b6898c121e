//! Links: `{:link text url}`.

use super::Place;
use crate::address::{external, units};
use crate::answer::Content;
use crate::package::xml::attribute_text;
use crate::package::{Package, Relation, Target};
use crate::written::{Refusal, Written};

/// Longest texts in UTF-16 units; Word calls a document with a longer one damaged.
const LONGEST_TOOLTIP: usize = 255;
const LONGEST_BOOKMARK: usize = 40;

/// Writes a link in the style of the text around it, but blue and underlined.
pub(super) fn write(
    content: &Content<'_>,
    place: &Place<'_>,
    package: &mut Package<'_>,
) -> Result<Written, Refusal> {
    let (text, address, tip) = (content.field(0), content.field(1).trim(), cut(content.field(2)));
    if address.is_empty() {
        return Err(
            "the link leads nowhere; its address is empty: give it one, or let it stand in {#x}…{/} of it"
                .to_owned()
                .into(),
        );
    }
    let prefix = place.source.prefix;
    let text = if text.is_empty() { address } else { text };
    let tip =
        if tip.is_empty() { String::new() } else { format!(" {prefix}tooltip=\"{}\"", attribute_text(&tip)) };
    let target = if let Some(bookmark) = address.strip_prefix('#') {
        if units(bookmark) > LONGEST_BOOKMARK {
            let message = format!(
                "the names of bookmarks have at most {LONGEST_BOOKMARK} letters, and the link's has more"
            );
            return Err(message.into());
        }
        format!("{prefix}anchor=\"{}\"", attribute_text(bookmark))
    } else {
        let address = external(address)?;
        let id = package.relate(place.source.name, Relation::Hyperlink, Target::External(&address))?;
        let namespace = package.relationships_namespace();
        format!("xmlns:r=\"{namespace}\" r:id=\"{id}\"")
    };
    let run = place.run(&looks(place), text);
    Ok(Written::Inline(format!(
        "<{prefix}hyperlink {target}{tip} {prefix}history=\"1\">{run}</{prefix}hyperlink>"
    )))
}

/// The run's properties in a link's colour, underlined.
fn looks(place: &Place<'_>) -> String {
    let prefix = place.source.prefix;
    let colour = format!("<{prefix}color {prefix}val=\"0563C1\"/>");
    let line = format!("<{prefix}u {prefix}val=\"single\"/>");
    super::with_property(&super::with_property(place.run_properties, prefix, &colour), prefix, &line)
}

/// A link's tooltip, cut to [`LONGEST_TOOLTIP`].
fn cut(tip: &str) -> String {
    let mut left = LONGEST_TOOLTIP;
    let fits = |letter: &char| {
        let rest = left.checked_sub(letter.len_utf16());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    tip.chars().take_while(fits).collect()
}
