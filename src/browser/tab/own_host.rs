//! The name of the host that a page is shown under, which nobody is told: it is random, and of no use to anybody.

/// Schemes of addresses of the page's own host; `blob:` may stand before them.
const SCHEMES: [&str; 4] = ["http://", "https://", "ws://", "wss://"];
/// How each own host ends (`PageSession`).
const END: &str = ".localhost";
/// Hexadecimal digits that it begins with.
const DIGITS: usize = 32;

/// `text` with the paths alone of addresses of the page's own files, and `localhost` where the name stands by itself.
pub(in crate::browser) fn without_own_host(text: &str) -> String {
    let mut without = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(END) {
        let (before, behind) = (&rest[..at], &rest[at + END.len()..]);
        match begin_of_host(before) {
            Some(begin) => {
                let led = without_scheme(&before[..begin]);
                without.push_str(led);
                without.push_str(if led.len() < begin { "" } else { "localhost" });
            }
            None => without.push_str(&rest[..at + END.len()]),
        }
        rest = behind;
    }
    without.push_str(rest);
    without
}

/// The part after the host, where `address` is of the page's own host; `None` for others.
pub(in crate::browser) fn own_path(address: &str) -> Option<&str> {
    let at = address.find(END)?;
    let begin = begin_of_host(&address[..at])?;
    let is_own = begin > 0 && without_scheme(&address[..begin]).is_empty();
    is_own.then(|| &address[at + END.len()..])
}

/// `text`, which may end in `://`, without one of [`SCHEMES`] at its end, and without `blob:` before that.
fn without_scheme(text: &str) -> &str {
    let scheme = SCHEMES.iter().find_map(|scheme| text.strip_suffix(scheme));
    scheme.map_or(text, |text| text.strip_suffix("blob:").unwrap_or(text))
}

/// Where the name of an own host begins that `text` ends in, but for its [`END`].
fn begin_of_host(text: &str) -> Option<usize> {
    let name = text.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric());
    let name = name.strip_suffix('.').filter(|name| name.len() + 1 < text.len())?;
    let begin = name.len().checked_sub(DIGITS)?;
    name.as_bytes()[begin..].iter().all(u8::is_ascii_hexdigit).then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "http://0123456789abcdef0123456789abcdef.ab12.localhost";

    #[test]
    fn only_the_own_host_is_left_out() {
        let text = format!("from {HOST}/a to http://a.localhost/b, http:// and http://x.test{HOST}");
        assert_eq!(without_own_host(&text), "from /a to http://a.localhost/b, http:// and http://x.test");
        let bare = &HOST["http://".len()..];
        let text = format!("{bare} http%3A%2F%2F{bare}%2Fa, ä.{bare} 0123.ab12.localhost .localhost {bare}");
        let wanted =
            "localhost http%3A%2F%2Flocalhost%2Fa, ä.localhost 0123.ab12.localhost .localhost localhost";
        assert_eq!(without_own_host(&text), wanted);
    }

    #[test]
    fn the_own_host_is_left_out_whatever_leads_to_it() {
        let host = &HOST["http://".len()..];
        for scheme in ["http", "https", "ws", "wss", "blob:http", "blob:https"] {
            let address = format!("{scheme}://{host}/a-b?c");
            assert_eq!(own_path(&address), Some("/a-b?c"), "{address}");
            let text = format!("'{address}' and {address}, not {scheme}://h.test/a");
            assert_eq!(without_own_host(&text), format!("'/a-b?c' and /a-b?c, not {scheme}://h.test/a"));
        }
        for other in [
            "data:,http://HOST/a",
            "blob:http://h.test/a",
            "ftp://HOST/a",
            "HOST/a",
            "http://h.test/http://HOST",
        ] {
            assert_eq!(own_path(&other.replace("HOST", host)), None, "{other}");
        }
    }
}
