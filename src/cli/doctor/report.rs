//! Findings, as people and as programs read them.

use std::fmt::Write as _;

use serde::Serialize;

/// What stands before each further line of a finding.
const INDENT: usize = 9;
/// How wide the names of parts are.
const PART: usize = 17;

/// How a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// Documents can be made, some of them worse, or with a fence less.
    Warning,
    /// Something that documents need is not there.
    Missing,
}

/// One part that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Its name.
    pub part: &'static str,
    /// How it is.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What does not work for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disables: Option<String>,
    /// What to do, a command where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// All of them, for programs.
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

    /// What does not work for it, and what to do.
    pub fn so(self, disables: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { disables: Some(disables.into()), remedy: Some(remedy.into()), ..self }
    }
}

/// Whether nothing is missing that documents need.
pub(super) fn good(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.state != State::Missing)
}

pub(super) fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let state = match finding.state {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Missing => "missing",
        };
        let _ = writeln!(text, "{state:<INDENT$}{:<PART$}{}", finding.part, finding.detail);
        for (word, line) in [("disables: ", &finding.disables), ("remedy:   ", &finding.remedy)] {
            if let Some(line) = line {
                let _ = writeln!(text, "{:INDENT$}{word}{line}", "");
            }
        }
    }
    text.trim_end().to_owned()
}

pub(super) fn json(findings: &[Finding]) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report { good: good(findings), findings })
}
