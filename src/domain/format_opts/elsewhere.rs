//! What is said of a name that is no key: what other services call our keys, and the nearest key.

use json_members::nearest;

use super::Key;

/// Options of Gotenberg, Puppeteer and jsreport that have another name here, and what to send instead.
const NAMES: [(&str, &str); 31] = [
    ("paperWidth", "formatOpts.width"),
    ("paperHeight", "formatOpts.height"),
    ("pageSize", "formatOpts.format"),
    ("pageFormat", "formatOpts.format"),
    ("marginTop", "formatOpts.margin.top"),
    ("marginRight", "formatOpts.margin.right"),
    ("marginBottom", "formatOpts.margin.bottom"),
    ("marginLeft", "formatOpts.margin.left"),
    ("singlePage", "formatOpts.height as \"auto\""),
    ("displayHeaderFooter", "formatOpts.headerTemplate and formatOpts.footerTemplate"),
    ("generateDocumentOutline", "formatOpts.outline"),
    ("generateTaggedPdf", "formatOpts.tagged"),
    ("nativePageRanges", "formatOpts.fromPage and formatOpts.toPage"),
    ("pageRanges", "formatOpts.fromPage and formatOpts.toPage"),
    ("emulatedMediaType", "formatOpts.mediaType"),
    ("emulateMediaType", "formatOpts.mediaType"),
    ("emulatedMediaFeatures", "formatOpts.mediaFeatures"),
    ("emulateMediaFeatures", "formatOpts.mediaFeatures"),
    ("extraHttpHeaders", "formatOpts.requests"),
    ("cookies", "formatOpts.requests"),
    ("waitDelay", "formatOpts.waitForTimeout"),
    ("waitForJS", "formatOpts.waitForExpression"),
    ("failOnHttpStatusCodes", "formatOpts.failOn with \"status\""),
    ("failOnResourceHttpStatusCodes", "formatOpts.failOn with \"status\""),
    ("failOnResourceLoadingFailed", "formatOpts.failOn with \"missing\""),
    ("failOnConsoleExceptions", "formatOpts.failOn with \"exceptions\""),
    ("deviceScaleFactor", "formatOpts.viewport.deviceScaleFactor"),
    ("outputFilename", "formatOpts.fileName"),
    ("updateIndexes", "formatOpts.updateFields"),
    ("language", "formatOpts.locale"),
    ("timezoneId", "formatOpts.timezone"),
];

/// The end of a sentence about an unknown option: what to send instead; empty where nothing is near, and for members of an
/// option.
pub(super) fn hint(name: &str) -> String {
    if name.contains('.') {
        return String::new();
    }
    if let Some(here) = name_here(name) {
        return format!("; send {here}");
    }
    // `formatOpts` within itself would be taken for `format`.
    let is_itself = name.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("formatOpt"));
    let keys = Key::ALL.iter().filter(|key| !key.is_refused() && !is_itself).map(|key| key.name());
    nearest(name, keys).map(|key| format!("; did you mean {key}?")).unwrap_or_default()
}

/// What to send here for another service's option.
pub fn name_here(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(elsewhere, _)| elsewhere.eq_ignore_ascii_case(name)).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_another_service_is_told_with_its_name_here() {
        for (name, told) in [
            ("paperWidth", "; send formatOpts.width"),
            ("paperheight", "; send formatOpts.height"),
            ("lanscape", "; did you mean landscape?"),
            ("preferCSSPageSize", "; did you mean preferCssPageSize?"),
            ("formatOptions", ""),
            ("timeout", ""),
            ("viewport.widht", ""),
            ("xyzzy", ""),
        ] {
            assert_eq!(hint(name), told, "{name}");
        }
        for (elsewhere, here) in NAMES {
            assert_eq!(Key::from_name(elsewhere), None, "{elsewhere}");
            let key = here.trim_start_matches("formatOpts.").split([' ', '.']).next().unwrap();
            assert!(Key::from_name(key).is_some(), "{here}");
        }
    }
}
