//! The table of the keys of `formatOpts`, and how each is handled.

use super::{PageOptions, Viewport};

/// How a key is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It is read. The engines declare on what it has an effect (`heeds` of their abilities).
    Read,
    /// It is read and promises protection or conformance: the job is refused if its route does not heed it.
    Promised,
    /// It promises the same and is not supported: always refused.
    Refused,
    /// The service itself reads it, whichever engine makes the file.
    Service,
}

/// Every key known, in the order of the documentation.
pub const KEYS: [(&str, Handling); 47] = [
    ("format", Handling::Read),
    ("width", Handling::Read),
    ("height", Handling::Read),
    ("landscape", Handling::Read),
    ("margin", Handling::Read),
    ("scale", Handling::Read),
    ("printBackground", Handling::Read),
    ("preferCssPageSize", Handling::Read),
    ("fromPage", Handling::Read),
    ("toPage", Handling::Read),
    ("headerTemplate", Handling::Read),
    ("footerTemplate", Handling::Read),
    ("outline", Handling::Read),
    ("tagged", Handling::Read),
    ("metadata", Handling::Read),
    ("baseUrl", Handling::Read),
    ("fullPage", Handling::Read),
    ("omitBackground", Handling::Read),
    ("quality", Handling::Read),
    ("selector", Handling::Read),
    ("mediaType", Handling::Read),
    ("mediaFeatures", Handling::Read),
    ("viewport", Handling::Read),
    ("javascript", Handling::Read),
    ("requests", Handling::Read),
    ("timezone", Handling::Read),
    ("locale", Handling::Read),
    ("waitForSelector", Handling::Read),
    ("waitForExpression", Handling::Read),
    ("waitForTimeout", Handling::Read),
    ("failOn", Handling::Read),
    ("fileName", Handling::Service),
    ("pages", Handling::Read),
    ("page", Handling::Read),
    ("dpi", Handling::Read),
    ("delimiters", Handling::Read),
    ("strict", Handling::Read),
    ("updateFields", Handling::Read),
    ("engine", Handling::Read),
    ("password", Handling::Promised),
    ("userPassword", Handling::Promised),
    ("ownerPassword", Handling::Promised),
    ("permissions", Handling::Promised),
    ("encrypt", Handling::Refused),
    ("pdfa", Handling::Promised),
    ("pdfua", Handling::Promised),
    ("sign", Handling::Refused),
];

/// Whether `name` is a key of the table.
pub(super) fn is_known(name: &str) -> bool {
    KEYS.iter().any(|&(known, _)| known == name)
}

/// Whether the service itself reads it, so that it always has an effect.
pub(super) fn is_read_by_service(name: &str) -> bool {
    KEYS.contains(&(name, Handling::Service))
}

/// Keys whose values are texts, also those that look like a number or like `true`.
const TEXTS: [&str; 16] = [
    "format",
    "headerTemplate",
    "footerTemplate",
    "baseUrl",
    "selector",
    "mediaType",
    "timezone",
    "locale",
    "waitForSelector",
    "waitForExpression",
    "fileName",
    "pages",
    "engine",
    "password",
    "userPassword",
    "ownerPassword",
];

/// Whether the value of the key `name` is a text; false for unknown keys.
pub fn is_text(name: &str) -> bool {
    TEXTS.contains(&name)
}

/// The keys that promise something and are read.
pub(super) fn promised() -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(|(_, handling)| *handling == Handling::Promised).map(|(name, _)| *name)
}

/// Whether `name` is a key that promises something.
pub(super) fn is_promise(name: &str) -> bool {
    KEYS.contains(&(name, Handling::Refused)) || promised().any(|promised| promised == name)
}

/// Warnings about keys that have an effect on html only if the browser shows the page, for a page that it does not show.
pub fn unshown_warnings(options: &PageOptions) -> Vec<String> {
    let emulation = &options.emulation;
    let given = [
        ("selector", options.selector.is_some()),
        ("viewport", emulation.viewport != Viewport::default()),
        ("mediaFeatures", !emulation.features.is_empty()),
        ("javascript", !options.javascript),
        ("requests", !options.requests.is_empty()),
        ("waitForSelector", options.wait_for_selector.is_some()),
        ("waitForExpression", options.wait_for_expression.is_some()),
        ("waitForTimeout", options.wait_ms > 0),
        ("failOn", !options.fail_on.is_empty()),
    ];
    let warning = |name| {
        format!("formatOpts.{name} has no effect on html of a page without files beside it and was ignored")
    };
    given.into_iter().filter(|&(_, is_given)| is_given).map(|(name, _)| warning(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_listed_twice() {
        let mut names = KEYS.map(|(name, _)| name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
