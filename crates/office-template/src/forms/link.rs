//! Links: `{:link text url}`.

use super::{Place, Refusal, Written};
use crate::answer::Content;
use crate::error::quoted;
use crate::package::{Package, Relation, Target, attribute_text};

/// What a link may lead to. Others would run something, or read the reader's own files.
const SCHEMES: [&str; 5] = ["http:", "https:", "mailto:", "tel:", "ftp:"];

/// Word calls a document damaged in which one of these is longer, in units of UTF-16.
const LONGEST_ADDRESS: usize = 2079;
const LONGEST_TOOLTIP: usize = 255;
const LONGEST_BOOKMARK: usize = 40;

/// A link: in the style of the text around it, blue and underlined where that says nothing else.
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

/// The run's properties with a link's looks, in the order that the schema wants.
fn looks(place: &Place<'_>) -> String {
    let prefix = place.source.prefix;
    let colour = format!("<{prefix}color {prefix}val=\"0563C1\"/>");
    let line = format!("<{prefix}u {prefix}val=\"single\"/>");
    super::with_property(&super::with_property(place.run_properties, prefix, &colour), prefix, &line)
}

/// An address that a document may lead to, as it is written.
pub(crate) fn external(address: &str) -> Result<String, String> {
    let address = address.trim();
    let lower = address.to_ascii_lowercase();
    if SCHEMES.iter().any(|scheme| lower.starts_with(scheme)) {
        return written(address);
    }
    let known = SCHEMES.join(" ");
    let shown = quoted(address);
    Err(format!("a link leads to an address of {known} or to a #bookmark, and not to {shown:?}"))
}

/// What Word puts before an address that is typed without it.
const WORDS_OWN: [&str; 3] = ["http://", "https://", "file:///"];

/// The address that a template's becomes with the answers in it; `before` is what stands before the first of them.
pub(crate) fn filled(before: &str, address: &str) -> Result<String, String> {
    // `http://{url}` where the answer is a whole address.
    let whole = WORDS_OWN.iter().filter(|own| **own == before).find_map(|own| address.strip_prefix(own));
    match whole.filter(|whole| external(whole).is_ok()) {
        Some(whole) => external(whole),
        // A scheme that the template says is its author's.
        None if before.contains(':') => written(address),
        None => external(address),
    }
}

/// An address of any kind: what cannot stand in one is written by its codes.
pub(crate) fn written(address: &str) -> Result<String, String> {
    let address = &directed(address);
    let (before, rest) = split(address)?;
    let mut out = before.to_owned();
    let mut has_fragment = false;
    for (at, letter) in rest.char_indices() {
        let stands = match letter {
            '%' => {
                let digits = rest.as_bytes().get(at + 1..at + 3);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            '#' => !std::mem::replace(&mut has_fragment, true),
            '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}' | '[' | ']' => false,
            // Letters of all languages may stand in one, as most write them.
            _ if !letter.is_ascii() => letter.is_alphanumeric(),
            _ => letter.is_ascii_graphic(),
        };
        if stands {
            out.push(letter);
        } else {
            let mut bytes = [0; 4];
            out.extend(letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    if units(&out) > LONGEST_ADDRESS {
        return Err(format!(
            "the link's address is longer than the {LONGEST_ADDRESS} letters that Office can have; shorten it"
        ));
    }
    Ok(out)
}

/// An address of mail or of a telephone as all read it: several recipients, and names that are not plain, are an argument.
fn directed(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once(':') else { return address.to_owned() };
    let is_mail = scheme.eq_ignore_ascii_case("mailto");
    if !is_mail && !scheme.eq_ignore_ascii_case("tel") {
        return address.to_owned();
    }
    let rest = rest.trim_start().trim_start_matches('/');
    let (to, more) = rest.split_once('?').unwrap_or((rest, ""));
    if !is_mail || is_recipient(to) {
        return format!("{scheme}:{rest}");
    }
    let and = if more.is_empty() { "" } else { "&" };
    format!("{scheme}:?to={}{and}{more}", to.replace('&', "%26"))
}

fn is_recipient(to: &str) -> bool {
    let is_plain =
        |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric() || "._+-".contains(letter));
    match to.split_once('@') {
        Some((name, host)) => !name.is_empty() && is_plain(name) && host.split('.').all(is_label),
        None => is_plain(to),
    }
}

/// An address up to the end of its host, and the rest. What is no host is told: no code would make it one.
fn split(address: &str) -> Result<(&str, &str), String> {
    let Some((scheme, rest)) = address.split_once(':') else { return Ok(("", address)) };
    if !["http", "https", "ftp"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Ok(("", address));
    }
    let broken =
        || format!("a link's address names no host, as in https://example.org: {:?}", quoted(address));
    let rest = rest.strip_prefix("//").ok_or_else(broken)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        Some(_) | None => (host, ""),
    };
    let is_number = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match is_number {
        Some(number) => number.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.strip_suffix('.').unwrap_or(host).split('.').all(is_label),
    };
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    let is_user = user.chars().all(|letter| letter.is_alphanumeric() || "-._~!$&'()*+,;=:".contains(letter));
    if !(is_host && is_port && is_user) {
        return Err(broken());
    }
    Ok(address.split_at(address.len() - rest.len() + end))
}

/// A name between the dots of a host.
fn is_label(label: &str) -> bool {
    let stands = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    !label.is_empty() && label.len() <= 63 && label.chars().all(stands)
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What is shown when the pointer rests on a link; the rest of a longer one is left out.
fn cut(tip: &str) -> String {
    let mut left = LONGEST_TOOLTIP;
    let fits = |letter: &char| {
        let rest = left.checked_sub(letter.len_utf16());
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    tip.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::external;

    #[test]
    fn mail_and_telephones_are_addresses_as_well() {
        for (address, expected) in [
            ("mailto:a.b+c@d.example?subject=[x]", "mailto:a.b+c@d.example?subject=%5Bx%5D"),
            ("mailto:a@b.example, c@d.example", "mailto:?to=a@b.example,%20c@d.example"),
            ("mailto:a&b@c.example?subject=x", "mailto:?to=a%26b@c.example&subject=x"),
            ("mailto:@@", "mailto:?to=@@"),
            ("mailto:", "mailto:"),
            ("tel://+49 30", "tel:+49%2030"),
        ] {
            assert_eq!(external(address).as_deref(), Ok(expected), "{address}");
        }
    }
}
