//! `failOn`: which warnings of a page make its job fail.

use json_members::{Members, Shape, kind};
use serde_json::value::RawValue;
use strum::VariantNames as _;

use super::{Key, PageOptions};
use crate::domain::error::{ErrorCode, JobError, WarningKind, Warnings};
use crate::domain::shown::shortened;

/// How many wrong words an error names.
const SHOWN_WORDS: usize = 3;

/// Reads the list of words; one word alone counts as a list.
pub(super) fn read(members: &mut Members<'_>) -> Vec<WarningKind> {
    let shape = || Shape::List(Box::new(Shape::words(WarningKind::VARIANTS.to_vec())));
    let Some(value) = members.raw(Key::FailOn, shape) else { return Vec::new() };
    let Some(words) = words(value) else {
        members.fault(Key::FailOn, format!("must be an array of {}, not {}", known(), kind(value)));
        return Vec::new();
    };
    let wrong = words.iter().filter(|word| of_name(word).is_none());
    let mut wrong: Vec<_> = wrong.map(|word| format!("'{}'", shortened(word))).collect();
    wrong.sort_unstable();
    wrong.dedup();
    if !wrong.is_empty() {
        let are = if wrong.len() == 1 { "is" } else { "are" };
        let more = wrong.len().saturating_sub(SHOWN_WORDS);
        wrong.truncate(SHOWN_WORDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let wrong = wrong.join(", ");
        members.fault(Key::FailOn, format!("{wrong}{more} {are} not known; give any of {}", known()));
    }
    // As the caller orders them, each once.
    let mut found: Vec<WarningKind> = Vec::new();
    for kind in words.iter().filter_map(|word| of_name(word)) {
        if !found.contains(&kind) {
            found.push(kind);
        }
    }
    found
}

/// Checks that there is no warning of a kind that `failOn` names.
///
/// # Errors
/// `page_failed` with the first such warning.
pub fn check_warnings(options: &PageOptions, warnings: &Warnings) -> Result<(), JobError> {
    let found = options.fail_on.iter().find_map(|&kind| Some((kind, warnings.first(kind)?)));
    let Some((kind, text)) = found else { return Ok(()) };
    let sentence = format!("{text} (formatOpts.failOn has '{}')", kind.name());
    Err(JobError::new(ErrorCode::PageFailed, sentence))
}

fn words(value: &RawValue) -> Option<Vec<String>> {
    let text = value.get();
    if text.starts_with('[') {
        return serde_json::from_str(text).ok();
    }
    let word: String = serde_json::from_str(text).ok()?;
    Some(Some(word).filter(|word| !word.is_empty()).into_iter().collect())
}

fn of_name(word: &str) -> Option<WarningKind> {
    word.parse().ok()
}

fn known() -> String {
    WarningKind::VARIANTS.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    #[test]
    fn words_are_kinds_and_wrong_ones_are_named() {
        assert_eq!(options(r#"{"failOn":[]}"#).fail_on, []);
        assert_eq!(options(r#"{"failOn":null}"#).fail_on, []);
        assert_eq!(options(r#"{"failOn":"missing"}"#).fail_on, [WarningKind::Missing]);
        let all = options(r#"{"failOn":["exceptions","console","missing","status"]}"#).fail_on;
        assert_eq!(all.into_iter().map(WarningKind::name).collect::<Vec<_>>(), WarningKind::VARIANTS);
        assert_eq!(options(r#"{"failOn":["status","status"]}"#).fail_on, [WarningKind::Status]);
        let known = "give any of exceptions, console, missing, status";
        for (given, detail) in [
            (r#"["console","warnings"]"#, format!("'warnings' is not known; {known}")),
            (r#"["a","b"]"#, format!("'a', 'b' are not known; {known}")),
            (r#"["e","d","c","b","a","a"]"#, format!("'a', 'b', 'c' and 2 more are not known; {known}")),
            (r#""all""#, format!("'all' is not known; {known}")),
            ("[7]", "must be an array of exceptions, console, missing, status, not an array".to_owned()),
            ("true", "must be an array of exceptions, console, missing, status, not a boolean".to_owned()),
        ] {
            assert_error(&format!(r#"{{"failOn":{given}}}"#), "/formatOpts/failOn", &detail);
        }
    }

    #[test]
    fn only_the_kinds_that_were_asked_for_fail_a_job() {
        let mut warnings = Warnings::default();
        warnings.push("a font");
        warnings.push_kind(WarningKind::Missing, "asset not found: /a.png");
        for (asked, fails) in [("[]", false), (r#"["status"]"#, false), (r#"["status","missing"]"#, true)] {
            let options = options(&format!(r#"{{"failOn":{asked}}}"#));
            let error = check_warnings(&options, &warnings).err();
            let expected = "page_failed: asset not found: /a.png (formatOpts.failOn has 'missing')";
            assert_eq!(error.map(|error| error.to_string()), fails.then(|| expected.to_owned()), "{asked}");
        }
    }
}
