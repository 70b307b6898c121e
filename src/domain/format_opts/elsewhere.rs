//! What is said of a name that is no key: what other services call our keys.

use json_members::Unknown;

use crate::domain::shown::shown;

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

/// The warning about an unknown option, with what to send instead.
pub(super) fn warning(unknown: &Unknown) -> String {
    let path = &unknown.path;
    // `formatOpts` within itself would be taken for `format`.
    let is_itself = path.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("formatOpt"));
    let hint = match (name_here(path), unknown.near) {
        (Some(here), _) => format!("; send {here}"),
        (None, Some(near)) if !is_itself => format!("; did you mean {near}?"),
        (None, _) => String::new(),
    };
    format!("formatOpts.{} is not known to this service and was ignored{hint}", shown(path))
}

/// What to send here for another service's option.
pub fn name_here(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(elsewhere, _)| elsewhere.eq_ignore_ascii_case(name)).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use super::super::Key;
    use super::super::testing::reading;
    use super::*;

    #[test]
    fn where_the_schema_is_matters_to_editors_alone() {
        assert_eq!(reading(r#"{"$schema":"http://x/format-opts.json"}"#).unknown, []);
    }

    #[test]
    fn a_name_of_another_service_is_told_with_its_name_here() {
        for (name, told) in [
            ("paperWidth", "; send formatOpts.width"),
            ("paperheight", "; send formatOpts.height"),
            ("lanscape", "; did you mean landscape?"),
            ("preferCSSPageSize", "; did you mean preferCssPageSize?"),
            ("formatOptions", ""),
            ("timeout", ""),
            ("xyzzy", ""),
        ] {
            let warnings: Vec<_> = reading(&format!(r#"{{"{name}":1}}"#)).unknown_warnings().collect();
            let ignored = "is not known to this service and was ignored";
            assert_eq!(warnings, [format!("formatOpts.{name} {ignored}{told}")]);
        }
        let within: Vec<_> = reading(r#"{"viewport":{"widht":1}}"#).unknown_warnings().collect();
        assert!(within[0].ends_with("; did you mean width?"), "{within:?}");
        for (elsewhere, here) in NAMES {
            assert_eq!(Key::from_name(elsewhere), None, "{elsewhere}");
            let key = here.trim_start_matches("formatOpts.").split([' ', '.']).next().unwrap();
            assert!(Key::from_name(key).is_some(), "{here}");
        }
    }
}
