//! Addresses of a document's links: which are allowed, and how they are escaped.

use crate::error::quoted;

/// The schemes that data may give to a link. Others could run something or open the reader's own files.
const SCHEMES: [&str; 5] = ["http:", "https:", "mailto:", "tel:", "ftp:"];

/// The longest address in UTF-16 units; Word calls a document with a longer one damaged.
const LONGEST_ADDRESS: usize = 2079;

/// An address from data, escaped; an error where its scheme is not allowed, its host is invalid, or it is too long.
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

/// What Word puts before an address that is typed without a scheme.
const WORDS_OWN: [&str; 3] = ["http://", "https://", "file:///"];

/// Checks and escapes `address`, a template's address with its tags filled; `before` is its text before the first tag.
pub(crate) fn filled(before: &str, address: &str) -> Result<String, String> {
    // The author typed `{url}`, Word made it `http://{url}`, and the answer is a whole address: Word's prefix goes.
    let whole = WORDS_OWN.iter().filter(|own| **own == before).find_map(|own| address.strip_prefix(own));
    match whole.filter(|whole| external(whole).is_ok()) {
        Some(whole) => external(whole),
        // The template's author wrote the scheme, so it may be any.
        None if before.contains(':') => written(address),
        None => external(address),
    }
}

/// An address of any scheme; characters that are not allowed in one are percent-encoded.
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
            // Letters of all languages are kept, as people write them.
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

/// `mailto:` and `tel:` in a form that all programs read: anything but one plain recipient becomes the argument `to`.
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

/// Splits an address behind its host. An invalid host is an error, for no escaping would make it valid.
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

/// How long a text is for Word, in units of UTF-16.
pub(crate) fn units(text: &str) -> usize {
    text.encode_utf16().count()
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
