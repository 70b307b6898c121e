//! Links on slides: `{:link text url}`.

use crate::address::external;
use crate::answer::Content;
use crate::forms::children;
use crate::package::xml::{attribute_text, escaped};
use crate::package::{Package, Relation, Target};
use crate::source::Source;
use crate::written::Refusal;

/// The link among a run's properties, and those that come behind it (ECMA-376, part 1, 21.1.2.3.9).
const BEHIND: [&str; 4] = ["hlinkClick", "hlinkMouseOver", "rtl", "extLst"];

/// A run that is a link, with the properties of the tag's run. Its colour comes from the theme.
pub(crate) fn write(
    content: &Content<'_>,
    properties: &str,
    (source, package): (Source<'_>, &mut Package<'_>),
) -> Result<String, Refusal> {
    let (text, address, tip) = (content.field(0), content.field(1).trim(), content.field(2));
    if address.is_empty() {
        return Err(
            "the link leads nowhere; its address is empty: give it one, or let it stand in {#x}…{/} of it"
                .to_owned()
                .into(),
        );
    }
    if address.starts_with('#') {
        let message =
            "a slide has no bookmarks; a link on it leads to an address of http: https: mailto: tel: or ftp:";
        return Err(message.to_owned().into());
    }
    let address = external(address)?;
    let text = if text.is_empty() { &address } else { text };
    let id = package.relate(source.name, Relation::Hyperlink, Target::External(&address))?;
    let (prefix, namespace) = (source.prefix, package.relationships_namespace());
    let tip = if tip.is_empty() { String::new() } else { format!(" tooltip=\"{}\"", attribute_text(tip)) };
    let link = format!("<{prefix}hlinkClick xmlns:r=\"{namespace}\" r:id=\"{id}\"{tip}/>");
    let properties = with_link(properties, prefix, &link);
    let text = escaped(&text.replace(['\r', '\n'], " "));
    Ok(format!("<{prefix}r>{properties}<{prefix}t>{text}</{prefix}t></{prefix}r>"))
}

/// `properties`, a whole `a:rPr` or nothing, with `link` added, or in place of the link that they have.
fn with_link(properties: &str, prefix: &str, link: &str) -> String {
    let Some(tag) = properties.split_inclusive('>').next() else {
        return format!("<{prefix}rPr>{link}</{prefix}rPr>");
    };
    let open = tag.strip_suffix("/>").or_else(|| tag.strip_suffix('>')).unwrap_or(tag);
    let (mut before, mut behind) = (String::new(), String::new());
    for (name, range) in children(properties) {
        let local = name.strip_prefix(prefix).unwrap_or_default();
        let child = properties.get(range).unwrap_or_default();
        match BEHIND.iter().position(|known| *known == local) {
            Some(0) => {}
            Some(_) => behind.push_str(child),
            None => before.push_str(child),
        }
    }
    format!("{open}>{before}{link}{behind}</{prefix}rPr>")
}

#[cfg(test)]
mod tests {
    use super::with_link;

    #[test]
    fn a_link_stands_in_its_place_among_the_properties() {
        let link = "<a:hlinkClick/>";
        assert_eq!(with_link("", "a:", link), "<a:rPr><a:hlinkClick/></a:rPr>");
        assert_eq!(with_link("<a:rPr b=\"1\"/>", "a:", link), "<a:rPr b=\"1\"><a:hlinkClick/></a:rPr>");
        let whole =
            "<a:rPr><a:latin typeface=\"A\"/><a:hlinkClick r:id=\"x\"/><a:extLst><a:ext/></a:extLst></a:rPr>";
        assert_eq!(
            with_link(whole, "a:", link),
            "<a:rPr><a:latin typeface=\"A\"/><a:hlinkClick/><a:extLst><a:ext/></a:extLst></a:rPr>"
        );
    }
}
