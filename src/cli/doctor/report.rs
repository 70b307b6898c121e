//! Findings, and their output as text and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

/// Width of a finding's state, and the indent of its further lines.
const INDENT: usize = 9;
/// Width of the column of parts.
const PART_WIDTH: usize = 17;

/// The state of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// Documents can be made, but some less well, some not at all, or with less isolation.
    Warning,
    /// Something that all documents need is not there.
    Missing,
}

/// The result of examining one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Its name.
    pub part: &'static str,
    /// Its state.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What does not work because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disables: Option<String>,
    /// What to do, a command where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The JSON output.
#[derive(Serialize)]
struct Report<'a> {
    good: bool,
    findings: &'a [Finding],
}

impl Finding {
    pub fn ok(part: &'static str, detail: impl Into<String>) -> Self {
        Self { part, state: State::Ok, detail: detail.into(), disables: None, remedy: None }
    }

    pub fn warning(part: &'static str, detail: impl Into<String>) -> Self {
        Self { state: State::Warning, ..Self::ok(part, detail) }
    }

    pub fn missing(part: &'static str, detail: impl Into<String>) -> Self {
        Self { state: State::Missing, ..Self::ok(part, detail) }
    }

    /// Adds what does not work because of it, and what to do.
    pub fn with_remedy(self, disables: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { disables: Some(disables.into()), remedy: Some(remedy.into()), ..self }
    }
}

/// Whether no finding is `Missing`.
pub(super) fn is_good(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state != State::Missing)
}

pub(super) fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for (at, finding) in findings.iter().enumerate() {
        let state = match finding.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Missing => "missing",
        };
        let _ = writeln!(text, "{state:<INDENT$}{:<PART_WIDTH$}{}", finding.part, finding.detail);
        if let Some(disables) = &finding.disables {
            let _ = writeln!(text, "{:INDENT$}disables: {disables}", "");
        }
        if let Some(remedy) = &finding.remedy {
            // Parts of one program share a command, which may be long.
            let same = findings[..at].iter().find(|earlier| earlier.remedy.as_ref() == Some(remedy));
            let remedy = same.map_or_else(|| remedy.clone(), |earlier| format!("as for {}", earlier.part));
            let _ = writeln!(text, "{:INDENT$}remedy:   {remedy}", "");
        }
    }
    text.trim_end().to_owned()
}

pub(super) fn json(findings: &[Finding]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report { good: is_good(findings), findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_of_several_parts_is_printed_once() {
        let lacks = |part| Finding::warning(part, "there is none").with_remedy("pages", "install all");
        let findings =
            [lacks("LibreOffice"), Finding::ok("qpdf", "/usr/bin/qpdf"), lacks("Writer"), lacks("Calc")];
        let text = text(&findings);
        assert_eq!(text.matches("install all").count(), 1, "{text}");
        assert_eq!(text.matches("remedy:   as for LibreOffice").count(), 2, "{text}");
        assert_eq!(
            json(&findings).unwrap().matches("install all").count(),
            3,
            "a program reads each by itself"
        );
    }
}
