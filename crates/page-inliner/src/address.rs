//! Which file an address means, as the server of the page's files finds it.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

/// What a path may contain as it is, beside letters and digits.
const PATH: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What stands for the host of the page.
const HOST: &str = "page.invalid";

/// The URL that relative addresses of a page or style sheet are resolved against.
#[derive(Clone, Debug)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// The base of addresses in the file at `path`, or, with a slash at its end, in a page of that folder.
    pub fn of(path: &str) -> Option<Self> {
        let path = utf8_percent_encode(path, &PATH);
        Url::parse(&format!("http://{HOST}/{path}")).ok().map(Self)
    }

    /// The path of the file that `address` means; none where it means something else than a file of the page's own, or a
    /// part of one.
    pub fn path(&self, address: &str) -> Option<String> {
        // The page's host has a made-up name here. An address that spells it out would seem to be the page's own, though for
        // the browser it is a foreign host.
        if address.to_ascii_lowercase().contains(HOST) {
            return None;
        }
        let meant = self.0.join(address).ok()?;
        let is_own =
            meant.origin() == self.0.origin() && meant.username().is_empty() && meant.password().is_none();
        if !is_own || meant.fragment().is_some() {
            return None;
        }
        let path = percent_decode_str(meant.path()).decode_utf8_lossy();
        let path = path.trim_start_matches('/');
        (!path.is_empty()).then(|| path.to_owned())
    }
}

/// Whether an address leads to nothing outside of the document: it is empty, a fragment (`#a`), or a `data:` address.
pub fn stays_in_document(address: &str) -> bool {
    let address = address.trim_matches(|letter: char| letter <= ' ');
    address.is_empty()
        || address.starts_with('#')
        || address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_means_a_file_of_the_pages_own() {
        let base = BaseUrl::of("a b/c/style.css").unwrap();
        for (address, path) in [
            ("x.png", Some("a b/c/x.png")),
            (" ./x.png\n", Some("a b/c/x.png")),
            ("../img/x%20y.png?v=3", Some("a b/img/x y.png")),
            ("/x.png", Some("x.png")),
            ("..\\..\\..\\x.png", Some("x.png")),
            ("http://page.invalid/ä.png", None),
            ("x.svg#part", None),
            ("//h.example/x.png", None),
            ("http://h.example/x.png", None),
            ("https://page.invalid/x.png", None),
            ("http://u@page.invalid/x.png", None),
            ("blob:x", None),
            ("/", None),
        ] {
            assert_eq!(base.path(address).as_deref(), path, "{address}");
        }
        assert_eq!(BaseUrl::of("a/").unwrap().path("x.png").as_deref(), Some("a/x.png"));
        assert_eq!(BaseUrl::of("").unwrap().path("x.png").as_deref(), Some("x.png"));
    }

    #[test]
    fn what_stays_in_the_document_is_no_file() {
        for address in ["", " ", "#a", " #a", "data:,x", "DATA:,x", "\ndata:,x"] {
            assert!(stays_in_document(address), "{address:?}");
        }
        for address in ["a", "/", "data", "x#a", "http://data:1/", "dätä:"] {
            assert!(!stays_in_document(address), "{address:?}");
        }
    }
}
