//! Media types of files by their names: for serving them, and for `data:` addresses.

use std::borrow::Cow;

use crate::domain::encoding::{self, Encoding, Syntax};

/// What a file of unknown kind is.
const UNKNOWN: &str = "application/octet-stream";

/// Types that `mime_guess` does not know, or not as browsers want them: TypeScript would be video, and source maps, modules
/// and fonts would have outdated types.
const OURS: &[(&str, &str)] = &[
    ("cjs", "text/javascript"),
    ("cur", "image/x-icon"),
    ("ktx2", "image/ktx2"),
    ("m4a", "audio/mp4"),
    ("map", "application/json"),
    ("mjs", "text/javascript"),
    ("otc", "font/collection"),
    ("otf", "font/otf"),
    ("ts", "text/plain"),
    ("tsx", "text/plain"),
    ("vue", "text/plain"),
    ("woff", "font/woff"),
    ("yaml", "text/yaml"),
    ("yml", "text/yaml"),
];

/// The type of the file `name`, without parameters.
pub fn essence(name: &str) -> Cow<'static, str> {
    let extension = name.rsplit('/').next().and_then(|last| last.rsplit_once('.')).map_or("", |it| it.1);
    let extension = extension.to_ascii_lowercase();
    if let Some((_, own)) = OURS.iter().find(|(known, _)| *known == extension) {
        return Cow::Borrowed(own);
    }
    let guessed = mime_guess::from_ext(&extension).first_raw();
    Cow::Borrowed(guessed.unwrap_or(UNKNOWN))
}

/// The type with which `content` is served. Text that is UTF-8 is declared as UTF-8: undeclared, it would be read in the
/// encoding of the page that asks for it, or as Latin. Other text that declares its encoding is left to the browser. Text
/// that declares none is in the encoding of the entry's file (`legacy`): the browser cannot know that, for the page it gets
/// is UTF-8.
pub(in crate::browser) fn content_type(
    name: &str,
    content: &[u8],
    legacy: impl FnOnce() -> Option<&'static Encoding>,
) -> Cow<'static, str> {
    let essence = essence(name);
    let is_page = essence == "text/html";
    let syntax = if is_page { Syntax::Page } else { Syntax::Sheet };
    let charset = if !essence.starts_with("text/") || is_page && encoding::declared(content, syntax).is_some()
    {
        None
    } else if std::str::from_utf8(content).is_ok() {
        Some("utf-8".to_owned())
    } else if is_page || matches!(&*essence, "text/css" | "text/javascript") {
        // A script cannot declare its encoding. The `charset` of its element counts only where the type has none, and scripts
        // of an old page are in the page's own encoding.
        let undeclared = encoding::declared(content, syntax).is_none();
        legacy().filter(|_| undeclared).map(|encoding| encoding.name().to_ascii_lowercase())
    } else {
        None
    };
    charset.map_or(essence.clone(), |charset| Cow::Owned(format!("{essence}; charset={charset}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_build_holds_has_the_type_that_browsers_want() {
        for (name, wanted) in [
            ("a/index-Dk3.js", "text/javascript; charset=utf-8"),
            ("worker.mjs", "text/javascript; charset=utf-8"),
            ("old.cjs", "text/javascript; charset=utf-8"),
            ("A.CSS", "text/css; charset=utf-8"),
            ("d.json", "application/json"),
            ("index.js.map", "application/json"),
            ("site.webmanifest", "application/manifest+json"),
            ("logo.svg", "image/svg+xml"),
            ("x.wasm", "application/wasm"),
            ("f.woff", "font/woff"),
            ("f.woff2", "font/woff2"),
            ("f.ttf", "font/ttf"),
            ("f.otf", "font/otf"),
            ("p.avif", "image/avif"),
            ("p.webp", "image/webp"),
            ("p.apng", "image/apng"),
            ("favicon.ico", "image/x-icon"),
            ("m.mp4", "video/mp4"),
            ("m.webm", "video/webm"),
            ("m.mp3", "audio/mpeg"),
            ("robots.txt", "text/plain; charset=utf-8"),
            ("feed.xml", "text/xml; charset=utf-8"),
            ("page.html", "text/html; charset=utf-8"),
            ("main.ts", "text/plain; charset=utf-8"),
            ("d.csv", "text/csv; charset=utf-8"),
            ("LICENSE", UNKNOWN),
            ("v1.2/LICENSE", UNKNOWN),
            ("x.nobody-knows", UNKNOWN),
        ] {
            assert_eq!(content_type(name, "text ä".as_bytes(), || None), wanted, "{name}");
        }
    }

    #[test]
    fn an_encoding_is_said_only_where_it_is_known() {
        let latin = || Some(encoding_rs::WINDOWS_1252);
        for (name, content, alone, in_latin) in [
            ("a.css", &b"@charset \"latin1\"; a{content:'\xe4'}"[..], "text/css", "text/css"),
            ("a.css", b"a{content:'\xe4'}", "text/css", "text/css; charset=windows-1252"),
            ("a.css", b"\xff\xfep\0", "text/css", "text/css"),
            ("a.js", b"'\xe4'", "text/javascript", "text/javascript; charset=windows-1252"),
            ("a.js", "'ä'".as_bytes(), "text/javascript; charset=utf-8", "text/javascript; charset=utf-8"),
            ("a.html", b"<meta charset=latin1>\xe4", "text/html", "text/html"),
            ("a.html", b"<!-- charset -->\xe4", "text/html", "text/html; charset=windows-1252"),
            ("a.html", b"<p>", "text/html; charset=utf-8", "text/html; charset=utf-8"),
            ("a.txt", b"\xe4", "text/plain", "text/plain"),
            ("a.svg", b"\xe4", "image/svg+xml", "image/svg+xml"),
        ] {
            assert_eq!(content_type(name, content, || None), alone, "{name}");
            assert_eq!(content_type(name, content, latin), in_latin, "{name}");
        }
        assert_eq!(essence("page.html"), "text/html");
    }
}
