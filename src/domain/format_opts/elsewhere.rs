//! What is said of a name that is no key: what other services call our keys, and the nearest key.

use json_members::nearest;

use super::Key;

/// Options of Gotenberg, Puppeteer and jsreport that have another name here, and what to send instead.
const NAMES: [(&str, &str); 28] = [
    ("paperWidth", "width"),
    ("paperHeight", "height"),
    ("marginTop", "margin.top"),
    ("marginRight", "margin.right"),
    ("marginBottom", "margin.bottom"),
    ("marginLeft", "margin.left"),
    ("singlePage", "height (\"auto\")"),
    ("displayHeaderFooter", "headerTemplate or footerTemplate"),
    ("generateDocumentOutline", "outline"),
    ("generateTaggedPdf", "tagged"),
    ("nativePageRanges", "fromPage and toPage"),
    ("pageRanges", "fromPage and toPage"),
    ("emulatedMediaType", "mediaType"),
    ("emulateMediaType", "mediaType"),
    ("emulatedMediaFeatures", "mediaFeatures"),
    ("emulateMediaFeatures", "mediaFeatures"),
    ("extraHttpHeaders", "requests"),
    ("extraHTTPHeaders", "requests"),
    ("cookies", "requests"),
    ("waitDelay", "waitForTimeout"),
    ("waitForJS", "waitForExpression"),
    ("failOnHttpStatusCodes", "failOn (\"status\")"),
    ("failOnResourceHttpStatusCodes", "failOn (\"status\")"),
    ("failOnResourceLoadingFailed", "failOn (\"missing\")"),
    ("failOnConsoleExceptions", "failOn (\"exceptions\")"),
    ("deviceScaleFactor", "viewport.deviceScaleFactor"),
    ("outputFilename", "fileName"),
    ("updateIndexes", "updateFields"),
];

/// The end of a sentence about an unknown option: what to send instead; empty where nothing is near, and for members of an
/// option.
pub fn hint(name: &str) -> String {
    if name.contains('.') {
        return String::new();
    }
    if let Some(here) = of(name) {
        return format!("; here it is formatOpts.{here}");
    }
    let keys = Key::ALL.iter().filter(|key| !key.is_refused()).map(|key| key.name());
    nearest(name, keys).map(|key| format!("; did you mean {key}?")).unwrap_or_default()
}

/// What another service's option is called here.
pub fn of(name: &str) -> Option<&'static str> {
    NAMES.iter().find(|(elsewhere, _)| *elsewhere == name).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_another_service_is_told_with_its_name_here() {
        assert_eq!(hint("paperWidth"), "; here it is formatOpts.width");
        assert_eq!(hint("lanscape"), "; did you mean landscape?");
        assert_eq!(hint("preferCSSPageSize"), "; did you mean preferCssPageSize?");
        assert_eq!((hint("xyzzy"), hint("viewport.widht")), (String::new(), String::new()));
        for (elsewhere, here) in NAMES {
            assert_eq!(Key::from_name(elsewhere), None, "{elsewhere}");
            let first = here.split([' ', '.']).next().unwrap();
            assert!(Key::from_name(first).is_some(), "{here}");
        }
    }
}
