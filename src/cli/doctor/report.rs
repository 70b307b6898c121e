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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_told_and_does_no_harm() {
        let warned = [Finding::ok("A", "is there"), Finding::warning("B", "is old").so("colours", "get C")];
        assert!(good(&warned));
        assert_eq!(
            text(&warned),
            "ok       A                is there\n\
             warning  B                is old\n         disables: colours\n         remedy:   get C"
        );
        assert!(!good(&[Finding::missing("D", "is not there")]));
    }

    #[test]
    fn programs_read_the_same() {
        let read: serde_json::Value =
            serde_json::from_str(&json(&[Finding::missing("D", "gone").so("all", "get D")]).unwrap())
                .unwrap();
        let finding = serde_json::json!({
            "part": "D", "state": "missing", "detail": "gone", "disables": "all", "remedy": "get D"
        });
        assert_eq!(read, serde_json::json!({ "good": false, "findings": [finding] }));
    }
}
