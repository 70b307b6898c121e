//! HTML as it is written: escaped, and never longer than allowed.

use std::fmt::Write as _;

use crate::css::written;
use crate::look::{Look, Position};

/// Writes a text, escaped. Characters that HTML has not are left out.
pub fn escape(text: &str, out: &mut String) {
    for one in text.chars() {
        match one {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            one if one.is_control() => {}
            one => out.push(one),
        }
    }
}

/// A text, escaped.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Writes ` name="value"`.
pub fn attribute(name: &str, value: &str, out: &mut String) {
    let _ = write!(out, " {name}=\"");
    escape(value, out);
    out.push('"');
}

/// The declarations of a `style` attribute.
#[derive(Default)]
pub struct Declarations(String);

impl Declarations {
    /// Adds one.
    pub fn add(&mut self, name: &str, value: &str) {
        let separator = if self.0.is_empty() { "" } else { ";" };
        let _ = write!(self.0, "{separator}{name}:{value}");
    }

    /// Adds all of others; they go before what was said.
    pub fn join(&mut self, others: &Self) {
        if !self.0.is_empty() && !others.0.is_empty() {
            self.0.push(';');
        }
        self.0.push_str(&others.0);
    }

    /// Writes the attribute, if there is anything to say.
    pub fn write(&self, out: &mut String) {
        if !self.0.is_empty() {
            attribute("style", &self.0, out);
        }
    }
}

/// Elements around a text that say how it looks, and the tags that end them.
pub fn open_run(look: &Look, out: &mut String) -> Vec<&'static str> {
    let mut style = Declarations::default();
    for (name, value) in &look.css {
        style.add(name, value);
    }
    if let Some(size) = look.size {
        style.add("font-size", &written(size));
    }
    // What stands around it is bold or underlined by CSS, so only that takes it back.
    for (value, name, normal) in [(look.bold, "font-weight", "normal"), (look.italic, "font-style", "normal")]
    {
        if value == Some(false) {
            style.add(name, normal);
        }
    }
    let mut ends = Vec::new();
    let mut span = String::new();
    style.write(&mut span);
    if let Some(language) = &look.language {
        attribute("lang", language, &mut span);
    }
    if !span.is_empty() {
        let _ = write!(out, "<span{span}>");
        ends.push("</span>");
    }
    let elements = [
        (look.bold, "<b>", "</b>"),
        (look.italic, "<i>", "</i>"),
        (look.underlined, "<u>", "</u>"),
        (look.struck, "<s>", "</s>"),
        (look.position.map(|one| one == Position::Raised), "<sup>", "</sup>"),
        (look.position.map(|one| one == Position::Lowered), "<sub>", "</sub>"),
    ];
    for (wanted, start, end) in elements {
        if wanted == Some(true) {
            out.push_str(start);
            ends.push(end);
        }
    }
    ends.reverse();
    ends
}

/// An address that a link may lead to; others run something, or open a file of the reader's machine.
pub fn is_harmless(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto" | "tel" | "ftp" | "sms"))
        && !address.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_harmless_schemes_only() {
        for address in ["https://example.org/?a=b", "mailto:a@example.org", "TEL:+45"] {
            assert!(is_harmless(address), "{address}");
        }
        for address in [
            "javascript:alert(1)",
            "java\nscript:x",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "x",
            "",
        ] {
            assert!(!is_harmless(address), "{address}");
        }
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escaped("<a b=\"c\">&\u{0}\u{b}"), "&lt;a b=&quot;c&quot;&gt;&amp;");
    }
}
