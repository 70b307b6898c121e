//! Text fields of a form. They become the JSON body that means the same and are validated like one.

use std::collections::BTreeMap;
use std::mem::take;

use bytes::Bytes;
use json_members::{is_empty_array, pointer_token};
use serde_json::value::{RawValue, to_raw_value};

use crate::config::{Config, as_count};
use crate::domain::format_opts;
use crate::domain::kinds::TemplateKind;
use crate::domain::shown::shortened;
use crate::http::body::check_json;
use crate::problem::{FieldError, Problem};

/// Members beside `formatOpts`; a part of any other name is a format option.
const MEMBERS: [&str; 5] =
    ["type", "target", "templateId", "uploadPresignedStorageUrl", "uploadPresignedS3Url"];
/// Type and target where the form has none.
const DEFAULTS: [(&str, &str); 2] = [("type", "html"), ("target", "pdf")];

/// Most errors that are answered; a form may have one in each part.
const ERRORS_LIMIT: usize = 20;

/// Whether a part of this name is a text field even where it is sent as a file.
pub(super) fn is_field(name: &str) -> bool {
    MEMBERS.contains(&name) || name == "formatOpts" || format_opts::is_key(name)
}

#[derive(Debug, Default)]
pub(super) struct Fields {
    members: BTreeMap<String, String>,
    format_opts: Option<String>,
    options: BTreeMap<String, String>,
    errors: Vec<FieldError>,
    more_errors: usize,
    count: u64,
    /// Bytes of all fields.
    pub(super) bytes: usize,
    limits: FieldLimits,
}

#[derive(Debug, Default)]
struct FieldLimits {
    count: u64,
    bytes: u64,
}

impl Fields {
    /// No fields yet, with the limits of the configuration.
    pub(super) fn of(config: &Config) -> Self {
        let limits =
            FieldLimits { count: config.http.form_fields_limit, bytes: config.jobs.format_opts_limit_bytes };
        Self { limits, ..Self::default() }
    }

    /// Counts one more part.
    ///
    /// # Errors
    /// `validation_failed` when there are too many.
    pub(super) fn count(&mut self) -> Result<(), Problem> {
        self.count += 1;
        let limit = self.limits.count;
        if self.count > limit {
            let detail =
                format!("the form has more than {limit} parts that are no files (http.form_fields_limit)");
            return Err(Problem::validation(vec![FieldError::new("", detail)]));
        }
        Ok(())
    }

    /// Counts `bytes` more of the part `name`.
    ///
    /// # Errors
    /// `validation_failed` when all fields together are too long.
    pub(super) fn take(&mut self, name: &str, bytes: usize) -> Result<(), Problem> {
        self.bytes += bytes;
        let limit = self.limits.bytes;
        if self.bytes as u64 > limit {
            let detail = format!(
                "and the options before it are larger than {limit} bytes (jobs.format_opts_limit_bytes); shorten them, and \
                 send files as the parts 'files'"
            );
            return Err(Problem::validation(vec![FieldError::new(pointer(name), detail)]));
        }
        Ok(())
    }

    /// Adds a part; an empty one counts as left out.
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        let Ok(text) = str::from_utf8(value) else {
            return self.error(name, "is not UTF-8; send a file as the part 'files', with its name");
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
        self.note_repeated(name, is_again);
    }

    /// Notes that `type` is missing. A form without one is html, which a file of `kind` is not.
    pub(super) fn require_type(&mut self, kind: TemplateKind) {
        if !self.members.contains_key("type") {
            let detail = format!("is required with this file: set it to {}", kind.name());
            self.error("type", &detail);
        }
    }

    /// Notes an error where the part was sent before.
    pub(super) fn note_repeated(&mut self, name: &str, is_again: bool) {
        if is_again {
            self.error(name, "is given twice; give it once");
        }
    }

    /// Notes an error of a part, once for each name; beyond [`ERRORS_LIMIT`] they are only counted.
    pub(super) fn error(&mut self, name: &str, detail: &str) {
        let pointer = pointer(name);
        if self.errors.iter().any(|error| error.pointer == pointer) {
            return;
        }
        if self.errors.len() == ERRORS_LIMIT {
            self.more_errors += 1;
            return;
        }
        self.errors.push(FieldError::new(pointer, detail));
    }

    /// The JSON body, and the errors of the parts.
    ///
    /// # Errors
    /// `malformed_json` where `formatOpts` is not JSON.
    pub(super) fn finish(mut self, depth_limit: u64) -> Result<(Bytes, Vec<FieldError>), Problem> {
        let depth = as_count(depth_limit);
        let mut body = BTreeMap::new();
        for (name, value) in DEFAULTS {
            body.insert(name.to_owned(), string(value)?);
        }
        for (name, value) in &self.members {
            body.insert(name.clone(), string(value)?);
        }
        let sent = self.format_opts.take();
        if let Some(text) = &sent {
            check_json(text.as_bytes(), "part 'formatOpts'", depth_limit)?;
        }
        // `formatOpts` that is no object is passed on without the other options, so that validation answers this one error and
        // none that follow from it.
        let object = sent.as_deref().map(object);
        if let (Some(text), Some(None)) = (&sent, &object) {
            body.insert("formatOpts".to_owned(), raw(text)?);
        } else {
            let mut options = object.flatten().unwrap_or_default();
            for (name, text) in take(&mut self.options) {
                let value = format_opts::value_of(&name, &text, depth).map_err(Problem::internal)?;
                if options.insert(name.clone(), value).is_some() {
                    self.error(&name, "is given as a part and in formatOpts; give it once");
                }
            }
            if !options.is_empty() {
                let options = to_raw_value(&options).map_err(Problem::internal)?;
                body.insert("formatOpts".to_owned(), options);
            }
        }
        if self.more_errors > 0 {
            self.errors
                .push(FieldError::new("", format!("has {} more parts that are wrong", self.more_errors)));
        }
        let body = serde_json::to_vec(&body).map_err(Problem::internal)?;
        Ok((body.into(), self.errors))
    }
}

/// The members of an object; an empty array counts as one.
fn object(text: &str) -> Option<BTreeMap<String, Box<RawValue>>> {
    if is_empty_array(text) { Some(BTreeMap::new()) } else { serde_json::from_str(text).ok() }
}

/// JSON pointer of a part.
fn pointer(name: &str) -> String {
    format!("/{}", pointer_token(shortened(name)))
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
        let (body, errors) = fields.finish(128).unwrap();
        let lines = errors.into_iter().map(|error| format!("{} {}", error.pointer, error.detail));
        (serde_json::from_slice(&body).unwrap(), lines.collect())
    }

    #[test]
    fn an_option_sent_as_a_file_is_still_an_option() {
        for name in
            ["type", "formatOpts", "headerTemplate", "userPassword", "encrypt", "Open-Password", "pdfx"]
        {
            assert!(is_field(name), "{name}");
        }
        for name in ["files", "template", "data", "index.html", "attachments"] {
            assert!(!is_field(name), "{name}");
        }
    }

    #[test]
    fn fields_become_the_equivalent_json_body() {
        let (body, errors) = read(&[
            ("target", "png"),
            ("formatOpts", r#"{"scale": 1.50}"#),
            ("landscape", "true"),
            ("margin", r#"{"top": "2cm"}"#),
            ("waitForTimeout", "500"),
            ("password", "12345"),
            ("waitForExpression", "true"),
            ("format", "a5"),
            ("locale", ""),
            ("paperWidth", "8.5"),
        ]);
        assert_eq!(errors, [""; 0]);
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
    fn an_error_names_its_part() {
        // `formatOpts` that is no object stays an error beside an option.
        let (body, errors) = read(&[("formatOpts", "7"), ("scale", "1")]);
        assert_eq!((&body["formatOpts"], errors), (&json!(7), vec![]));
        assert_eq!(read(&[("formatOpts", " [] "), ("scale", "1")]).0["formatOpts"], json!({"scale": 1}));
        assert_eq!(
            read(&[("formatOpts", r#"{"scale": 1}"#), ("scale", "2")]).1,
            ["/scale is given as a part and in formatOpts; give it once"]
        );
        let many: Vec<_> = (0..60).map(|at| (at / 2).to_string()).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), "1")).collect();
        let errors = read(&[&many[..], &[("0", "3"), ("0", "4")]].concat()).1;
        assert_eq!((errors.len(), errors[20].as_str()), (21, " has 10 more parts that are wrong"));
        assert_eq!(read(&[("scale", "1"), ("scale", "2")]).1, ["/scale is given twice; give it once"]);
        let mut fields = Fields::default();
        fields.add("a/b", b"\xff");
        assert_eq!(fields.errors[0].pointer, "/a~1b");
        let mut fields = Fields::default();
        fields.add("formatOpts", b"{scale:1}");
        assert!(fields.finish(128).unwrap_err().detail.contains("'formatOpts' is not valid JSON at line 1"));
    }
}
