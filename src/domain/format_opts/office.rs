//! How tags of an Office template are read.

use json_members::Members;

use super::Key;

/// Longest delimiter in characters.
const DELIMITER_LIMIT: usize = 8;

/// Options for the tags of an Office template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfficeOptions {
    /// A name that the data lack fails the job; otherwise it is empty.
    pub strict: bool,
    /// The delimiters, if not `{` and `}`.
    pub delimiters: Option<Delimiters>,
}

/// The delimiters of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiters {
    /// Before a tag's text.
    pub start: String,
    /// Behind it.
    pub end: String,
}

impl OfficeOptions {
    /// Reads `strict` and `delimiters`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        Self { strict: members.flag(Key::Strict).unwrap_or_default(), delimiters: read_delimiters(members) }
    }
}

fn read_delimiters(members: &mut Members<'_>) -> Option<Delimiters> {
    // An object without either counts as absent.
    let read = |sent: &mut Members<'_>| {
        let is_given = sent.peek("start").or(sent.peek("end")).is_some();
        ["start", "end"].map(|name| read_delimiter(sent, name, is_given))
    };
    let wanted = "an object of start and end";
    let [start, end] = members.object(Key::Delimiters, ("Delimiters", wanted), read)?;
    if start.is_some() && start == end {
        let detail = "begins and ends tags with the same text; give two that differ, such as [[ and ]]";
        members.fault(Key::Delimiters, detail);
        return None;
    }
    Some(Delimiters { start: start?, end: end? })
}

/// A delimiter must not occur inside a tag, so it has no letter, digit, quote or blank.
fn read_delimiter(sent: &mut Members<'_>, name: &'static str, is_needed: bool) -> Option<String> {
    let is_missing = sent.peek(name).is_none();
    let text = sent.text(name).unwrap_or_default();
    if is_missing {
        if is_needed {
            sent.fault(name, "is missing; give both start and end");
        }
        return None;
    }
    let is_mark = |character: char| {
        !character.is_alphanumeric() && !character.is_whitespace() && !"\"'`".contains(character)
    };
    let fits = (1..=DELIMITER_LIMIT).contains(&text.chars().count()) && text.chars().all(is_mark);
    if !fits {
        let detail = format!(
            "must be 1 to {DELIMITER_LIMIT} characters that are no letters, digits, quotes or blanks, such as [[ or <<"
        );
        sent.fault(name, detail);
    }
    fits.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, unknown};
    use super::*;

    #[test]
    fn delimiters_are_two_texts_of_marks() {
        let of = |start: &str, end: &str| Delimiters { start: start.to_owned(), end: end.to_owned() };
        let read = options(r#"{"strict":true,"delimiters":{"start":"[[","end":"]]"}}"#).office;
        assert_eq!(read, OfficeOptions { strict: true, delimiters: Some(of("[[", "]]")) });
        assert_eq!(options(r#"{"strict":null,"delimiters":null}"#).office, OfficeOptions::default());
        assert_eq!(options(r#"{"delimiters":[]}"#).office.delimiters, None, "some clients' empty object");
        assert_eq!(unknown(r#"{"delimiters":{"start":"<","end":">","x":1}}"#), ["delimiters.x"]);
        let at = "/formatOpts/delimiters";
        assert_error(r#"{"delimiters":"{{"}"#, at, "must be an object of start and end");
        assert_error(r#"{"delimiters":{"start":"%","end":"%"}}"#, at, "two that differ");
        assert_error(r#"{"delimiters":{"start":"%"}}"#, &format!("{at}/end"), "is missing");
        for wrong in ["a{", "{ {", "'", "", "(((((((((", "7"] {
            let text = format!(r#"{{"delimiters":{{"start":"{wrong}","end":"}}"}}}}"#);
            assert_error(&text, &format!("{at}/start"), "no letters, digits, quotes or blanks");
        }
        assert_error(r#"{"strict":"yes"}"#, "/formatOpts/strict", "true or false");
    }
}
