//! The body of an immediate render: JSON, or a form that brings files.

use bytes::Bytes;
use reqwest::RequestBuilder;
use serde_json::Value;

/// What stands between the parts of a form. No file here contains it.
const BOUNDARY: &str = "platen-bench-a5d1c0de";

/// A body, to be sent any number of times.
#[derive(Clone)]
pub struct Body {
    content_type: String,
    bytes: Bytes,
}

impl Body {
    /// A template that is a text, with `type`, `target` and whatever else the members are.
    pub fn json(members: &Value) -> Self {
        Self { content_type: "application/json".to_owned(), bytes: members.to_string().into() }
    }

    /// A template that is files, by their names, with the same members but `template`.
    pub fn form(files: &[(&str, &[u8])], members: &Value) -> Self {
        let mut bytes = Vec::new();
        let mut part = |name: &str, content: &[u8]| {
            let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name={name}\r\n\r\n");
            bytes.extend_from_slice(head.as_bytes());
            bytes.extend_from_slice(content);
            bytes.extend_from_slice(b"\r\n");
        };
        for (name, value) in members.as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            part(&format!("\"{name}\""), text.as_bytes());
        }
        for (name, content) in files {
            part(&format!("\"files\"; filename=\"{name}\""), content);
        }
        bytes.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        Self { content_type, bytes: bytes.into() }
    }

    /// The request with this body.
    pub fn on(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("content-type", &self.content_type).body(self.bytes.clone())
    }
}
