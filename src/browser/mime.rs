//! What a file is by its name: the type that it is served with, and stands with in a `data:` address.

use std::borrow::Cow;

/// How far a browser looks for an encoding in a page.
const ENCODING_WINDOW_BYTES: usize = 1_024;
/// What a file of unknown kind is.
const UNKNOWN: &str = "application/octet-stream";

/// Where the table of the crate says what no browser wants to hear, or nothing: it knows TypeScript as
/// video, source maps and modules of old, and fonts by names from before they had any.
const OURS: &[(&str, &str)] = &[
    ("cjs", "text/javascript"),
    ("cur", "image/x-icon"),
    ("js", "text/javascript"),
    ("jsx", "text/javascript"),
    ("ktx2", "image/ktx2"),
    ("m4a", "audio/mp4"),
    ("map", "application/json"),
    ("md", "text/markdown"),
    ("mjs", "text/javascript"),
    ("otc", "font/collection"),
    ("otf", "font/otf"),
    ("ts", "text/plain"),
    ("tsx", "text/plain"),
    ("ttc", "font/collection"),
    ("ttf", "font/ttf"),
    ("vue", "text/plain"),
    ("wasm", "application/wasm"),
    ("woff", "font/woff"),
    ("yaml", "text/yaml"),
    ("yml", "text/yaml"),
];

/// The type of the file `name`, without parameters.
pub(super) fn essence(name: &str) -> Cow<'static, str> {
    let extension = name.rsplit('/').next().and_then(|last| last.rsplit_once('.')).map_or("", |it| it.1);
    let extension = extension.to_ascii_lowercase();
    if let Some((_, own)) = OURS.iter().find(|(known, _)| *known == extension) {
        return Cow::Borrowed(own);
    }
    let guessed = mime_guess::from_ext(&extension).first_raw();
    Cow::Borrowed(guessed.unwrap_or(UNKNOWN))
}

/// The type with which `content` is served. Text that is UTF-8 is said to be, for what does not say it
/// itself would be read as what the page that asks for it is, or as Latin; other text is left to the browser.
pub(super) fn content_type(name: &str, content: &[u8]) -> Cow<'static, str> {
    let essence = essence(name);
    if essence == "text/html" {
        // A page beside the entry may name its own encoding.
        return if names_encoding(content) { essence } else { Cow::Borrowed("text/html; charset=utf-8") };
    }
    if essence.starts_with("text/") && std::str::from_utf8(content).is_ok() {
        return Cow::Owned(format!("{essence}; charset=utf-8"));
    }
    essence
}

fn names_encoding(page: &[u8]) -> bool {
    let head = &page[..page.len().min(ENCODING_WINDOW_BYTES)];
    String::from_utf8_lossy(head).to_ascii_lowercase().contains("charset")
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
            assert_eq!(content_type(name, "text ä".as_bytes()), wanted, "{name}");
        }
    }

    #[test]
    fn an_encoding_is_said_only_where_it_is_known() {
        assert_eq!(content_type("a.css", b"@charset \"latin1\"; a{content:'\xe4'}"), "text/css");
        assert_eq!(content_type("a.html", b"<meta charset=latin1>\xe4"), "text/html");
        assert_eq!(essence("page.html"), "text/html");
    }
}
