//! The known name that looks most like an unknown one.

/// Least likeness of two names, from 0 to 1, by the measure of Jaro and Winkler. Tried: `formatOptions` finds `formatOpts` (0.95)
/// and `lanscape` finds `landscape`; `language` is not taken for `landscape` (0.81), nor `timeout` for `timezone` (0.87).
const LIKENESS: f64 = 0.88;
/// A longer name is near none; a caller may send megabytes.
const LONGEST_BYTES: usize = 64;

/// The name among `known` that looks most like `unknown`, in any case; `None` when none is near.
pub fn nearest<'k>(unknown: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if unknown.len() > LONGEST_BYTES {
        return None;
    }
    let lower = unknown.to_ascii_lowercase();
    let likeness =
        known.into_iter().map(|name| (strsim::jaro_winkler(&lower, &name.to_ascii_lowercase()), name));
    let near = likeness.filter(|(likeness, _)| *likeness > LIKENESS);
    near.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_own_and_nonsense_finds_none() {
        let known = ["formatOpts", "landscape", "margin", "type", "target", "templateId", "data"];
        for (unknown, name) in [
            ("formatOptions", Some("formatOpts")),
            ("lanscape", Some("landscape")),
            ("MARGIN", Some("margin")),
            ("templateid", Some("templateId")),
            ("xyzzy", None),
            (&"landscape".repeat(8), None),
            ("", None),
        ] {
            assert_eq!(nearest(unknown, known), name, "{unknown}");
        }
    }
}
