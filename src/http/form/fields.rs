//! The parts of a form that are words: they become the JSON body that says the same, and are read as that is.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::value::{RawValue, to_raw_value};

use crate::domain::format_opts;
use crate::domain::json;
use crate::problem::{Code, Fault, Problem};

/// What stands beside `formatOpts` in a body; every other part is an option.
const MEMBERS: [&str; 5] =
    ["type", "target", "templateId", "uploadPresignedStorageUrl", "uploadPresignedS3Url"];
/// What a form means that does not say what it sends and wants.
const DEFAULTS: [(&str, &str); 2] = [("type", "html"), ("target", "pdf")];

/// The words of a form.
#[derive(Debug, Default)]
pub(super) struct Fields {
    members: BTreeMap<String, String>,
    format_opts: Option<String>,
    options: BTreeMap<String, String>,
    faults: Vec<Fault>,
}

impl Fields {
    /// Adds a part; an empty one counts as left out.
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        let Ok(text) = str::from_utf8(value) else {
            return self.fault(name, "is not UTF-8; a part that is a file needs a file name");
        };
        if text.is_empty() {
            return;
        }
        let text = text.to_owned();
        let is_again = if MEMBERS.contains(&name) {
            self.members.insert(name.to_owned(), text).is_some()
        } else if name == "formatOpts" {
            self.format_opts.replace(text).is_some()
        } else {
            self.options.insert(name.to_owned(), text).is_some()
        };
        self.once(name, is_again);
    }

    /// Notes that the part was there before, if it was.
    pub(super) fn once(&mut self, name: &str, is_again: bool) {
        if is_again {
            self.fault(name, "is given twice; give it once");
        }
    }

    /// Notes that a part is wrong.
    pub(super) fn fault(&mut self, name: &str, detail: &str) {
        let name: String = name.chars().take(64).collect();
        self.faults.push(Fault::new(format!("/{}", name.replace('~', "~0").replace('/', "~1")), detail));
    }

    /// The JSON body, and what is wrong with the parts.
    ///
    /// # Errors
    /// `malformed_json` where `formatOpts` is none.
    pub(super) fn finish(self, depth_limit: u64) -> Result<(Bytes, Vec<Fault>), Problem> {
        let depth = usize::try_from(depth_limit).unwrap_or(usize::MAX);
        let mut body = BTreeMap::new();
        for (name, value) in DEFAULTS {
            body.insert(name.to_owned(), string(value)?);
        }
        for (name, value) in &self.members {
            body.insert(name.clone(), string(value)?);
        }
        let mut options = BTreeMap::new();
        if let Some(text) = &self.format_opts {
            json::check(text.as_bytes(), depth).map_err(|fault| {
                let detail = format!("The part 'formatOpts' is not valid JSON at {fault}.");
                Problem::new(Code::MalformedJson, detail)
            })?;
            match serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text) {
                Ok(members) => options = members,
                // The reader of options says what it is instead.
                Err(_) => drop(body.insert("formatOpts".to_owned(), raw(text)?)),
            }
        }
        for (name, text) in &self.options {
            let is_text = format_opts::is_text(name) || !is_json(text, depth);
            options.insert(name.clone(), if is_text { string(text)? } else { raw(text)? });
        }
        if !options.is_empty() {
            body.insert("formatOpts".to_owned(), to_raw_value(&options).map_err(Problem::internal)?);
        }
        let body = serde_json::to_vec(&body).map_err(Problem::internal)?;
        Ok((body.into(), self.faults))
    }
}

/// Whether the text is a value that JSON writes without quotes.
fn is_json(text: &str, depth: usize) -> bool {
    !text.trim_start().starts_with('"') && json::check(text.as_bytes(), depth).is_ok()
}

fn string(text: &str) -> Result<Box<RawValue>, Problem> {
    to_raw_value(text).map_err(Problem::internal)
}

fn raw(text: &str) -> Result<Box<RawValue>, Problem> {
    RawValue::from_string(text.trim().to_owned()).map_err(Problem::internal)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(parts: &[(&str, &str)]) -> (Value, Vec<String>) {
        let mut fields = Fields::default();
        for (name, value) in parts {
            fields.add(name, value.as_bytes());
        }
        let (body, faults) = fields.finish(128).unwrap();
        let told = faults.into_iter().map(|fault| format!("{} {}", fault.pointer, fault.detail));
        (serde_json::from_slice(&body).unwrap(), told.collect())
    }

    #[test]
    fn words_become_the_body_that_says_the_same() {
        let (body, faults) = read(&[
            ("target", "png"),
            ("formatOpts", r#"{"scale": 1.50, "margin": "1cm"}"#),
            ("landscape", "true"),
            ("margin", r#"{"top": "2cm"}"#),
            ("waitForTimeout", "500"),
            ("password", "12345"),
            ("waitForExpression", "true"),
            ("format", "a5"),
            ("locale", ""),
            ("paperWidth", "8.5"),
        ]);
        assert_eq!(faults, [""; 0]);
        assert_eq!(
            body,
            json!({"type": "html", "target": "png", "formatOpts": {
                "scale": 1.5, "margin": {"top": "2cm"}, "landscape": true, "waitForTimeout": 500, "password": "12345",
                "waitForExpression": "true", "format": "a5", "paperWidth": 8.5}})
        );
        assert_eq!(read(&[]).0, json!({"type": "html", "target": "pdf"}));
        assert_eq!(read(&[("formatOpts", "7")]).0["formatOpts"], 7);
    }

    #[test]
    fn what_is_wrong_with_a_part_is_told_by_its_name() {
        assert_eq!(read(&[("scale", "1"), ("scale", "2")]).1, ["/scale is given twice; give it once"]);
        let mut fields = Fields::default();
        fields.add("a/b", b"\xff");
        assert_eq!(fields.faults[0].pointer, "/a~1b");
        let mut fields = Fields::default();
        fields.add("formatOpts", b"{scale:1}");
        assert!(fields.finish(128).unwrap_err().detail.contains("'formatOpts' is not valid JSON at line 1"));
    }
}
