//! `baseUrl`: where the page will be, for the relative links of its PDF.

use json_members::Members;
use url::Url;

use super::Key;
use crate::domain::shown::shortened;

/// Longest address, in bytes.
const LIMIT_BYTES: usize = 2_000;

/// Reads `baseUrl`.
pub(super) fn read(members: &mut Members<'_>) -> Option<Url> {
    let text = members.text(Key::BaseUrl)?;
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let shown = shortened(&text);
    let detail = match &url {
        None => format!("'{shown}' is no absolute http or https address, such as https://example.com/docs/"),
        Some(url) if !url.username().is_empty() || url.password().is_some() => {
            "names a user or a password, which every reader of the PDF would see; leave them out".to_owned()
        }
        Some(_) if text.len() > LIMIT_BYTES => format!("is longer than {LIMIT_BYTES} bytes; shorten it"),
        Some(_) => return url,
    };
    members.fault(Key::BaseUrl, detail);
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};

    #[test]
    fn a_base_is_an_absolute_address_of_the_web() {
        let base = |text: &str| options(text).base_url.map(String::from);
        assert_eq!(
            base(r#"{"baseUrl":"https://Example.com/docs/"}"#).as_deref(),
            Some("https://example.com/docs/")
        );
        assert_eq!(base(r#"{"baseUrl":"http://example.com"}"#).as_deref(), Some("http://example.com/"));
        assert_eq!((base("{}"), base(r#"{"baseUrl":""}"#)), (None, None));
        for (wrong, part) in [
            ("\"docs/\"", "'docs/' is no absolute http or https address"),
            ("\"//example.com\"", "no absolute"),
            ("\"file:///a\"", "no absolute"),
            ("\"javascript:1\"", "no absolute"),
            ("\"https://u:s3cret@example.com\"", "leave them out"),
            ("7", "must be a string"),
        ] {
            assert_error(&format!(r#"{{"baseUrl":{wrong}}}"#), "/formatOpts/baseUrl", part);
        }
        assert_error(
            &format!(r#"{{"baseUrl":"https://a/{}"}}"#, "x".repeat(2_000)),
            "/formatOpts/baseUrl",
            "shorten it",
        );
    }
}
