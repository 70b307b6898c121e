//! What the scripts of a page say, as warnings: uncaught exceptions, and the console's errors and warnings.
//!
//! The text of a console call is made as a developer sees it in the browser's own console: `%s` and its kin are
//! filled in, objects are shown by what Chromium previews of them. Of a page that says a lot, only the beginning of
//! each text is made.

use serde::Deserialize;
use serde_json::Value;

use super::own_host::{own_path, without_own_host};
use crate::browser::cdp::event::Event;
use crate::browser::cdp::wire::LongEvent;
use crate::domain::error::{WARNING_LIMIT_CHARS, WarningKind};

/// What a script said.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::browser) struct ConsoleEntry {
    /// What a caller may ask to fail on; none for `console.warn`.
    pub(in crate::browser) kind: Option<WarningKind>,
    pub(in crate::browser) text: String,
}

pub(in crate::browser) fn thrown(event: Event<'_>) -> Option<ConsoleEntry> {
    #[derive(Deserialize)]
    struct Thrown {
        #[serde(rename = "exceptionDetails")]
        details: Details,
    }
    let Thrown { details } = event.parse()?;
    let text = format!("uncaught exception: {}", details.sentence());
    Some(ConsoleEntry { kind: Some(WarningKind::Exception), text })
}

/// A call of the console, where it is an error or a warning.
pub(in crate::browser) fn on_console(event: Event<'_>) -> Option<ConsoleEntry> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Called {
        args: Vec<Remote>,
        stack_trace: Option<Stack>,
    }
    let (kind, name) = kind_of(event.parse::<Kind<'_>>()?.kind)?;
    let Called { args, stack_trace } = event.parse()?;
    let text = one_line(&console_text(&args));
    let place = stack_trace.and_then(|stack| stack.call_frames.into_iter().next()).and_then(|frame| {
        let path = path_of(&frame.url)?;
        Some(format!(" ({path}:{})", frame.line_number + 1))
    });
    let place = place.unwrap_or_default();
    let room = WARNING_LIMIT_CHARS.saturating_sub(name.len() + place.len() + 2);
    let text = if text.chars().count() > room {
        text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
    } else {
        text
    };
    Some(ConsoleEntry { kind, text: format!("{name}: {text}{place}") })
}

/// The same for a call, or an exception, that was too long to be kept.
pub(in crate::browser) fn of_long_event(event: &LongEvent) -> Option<ConsoleEntry> {
    let bytes = event.bytes;
    if event.method() == Some("Runtime.exceptionThrown") {
        let text = format!("uncaught exception: one of about {bytes} bytes");
        return Some(ConsoleEntry { kind: Some(WarningKind::Exception), text });
    }
    let kinds = ["error", "assert", "warning"].into_iter();
    let (kind, name) = kinds.filter(|kind| begins_with(event, kind)).find_map(kind_of)?;
    Some(ConsoleEntry { kind, text: format!("{name}: a text of about {bytes} bytes") })
}

/// The warning of a page that says more than `limit` things.
pub(in crate::browser) fn too_much(limit: u32) -> String {
    format!(
        "the page's scripts said more than {limit} things by exceptions, console.error, console.assert or console.warn; \
         what came later was not heard"
    )
}

/// The same of one that says more than `limit` things that become no warning.
pub(in crate::browser) fn too_many_other_lines(limit: u32) -> String {
    format!(
        "the page's scripts said more than {limit} things on the console that are neither errors nor warnings; \
         what came later was not heard"
    )
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
}

fn kind_of(kind: &str) -> Option<(Option<WarningKind>, &'static str)> {
    match kind {
        "error" => Some((Some(WarningKind::Console), "console.error")),
        "assert" => Some((Some(WarningKind::Console), "console.assert")),
        "warning" => Some((None, "console.warn")),
        _ => None,
    }
}

fn begins_with(event: &LongEvent, kind: &str) -> bool {
    event.begins(&format!("{{\"method\":\"Runtime.consoleAPICalled\",\"params\":{{\"type\":\"{kind}\""))
}

/// Chromium's details of an exception, as far as the warning has them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    text: String,
    line_number: u64,
    url: Option<String>,
    exception: Option<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    description: Option<String>,
    value: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    call_frames: Vec<Frame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    url: String,
    line_number: u64,
}

/// A value of the page's, as Chromium describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    value: Option<Value>,
    unserializable_value: Option<String>,
    description: Option<String>,
    preview: Option<Preview>,
}

#[derive(Deserialize)]
struct Preview {
    subtype: Option<String>,
    description: Option<String>,
    overflow: bool,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    value: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    key: Option<Preview>,
    value: Preview,
}

impl Details {
    /// `Error: no customer (/app.js:12)`.
    fn sentence(&self) -> String {
        let thrown = self.exception.as_ref().and_then(|thrown| match &thrown.description {
            Some(description) => description.lines().next().map(str::to_owned),
            None => thrown.value.as_ref().map(ToString::to_string),
        });
        let text = without_own_host(&thrown.unwrap_or_else(|| self.text.clone()));
        let path = self.url.as_deref().and_then(path_of);
        let line = self.line_number + 1;
        path.map_or_else(|| text.clone(), |path| format!("{text} ({path}:{line})"))
    }
}

impl Remote {
    fn text(&self) -> String {
        // They are shown by the first line of their description: the rest of an error's is its stack.
        let is_error_like = matches!(self.subtype.as_deref(), Some("error" | "node" | "date" | "regexp"));
        match (&self.value, &self.unserializable_value, &self.preview) {
            (Some(Value::String(text)), ..) | (None, Some(text), _) => text.clone(),
            (Some(value), ..) => value.to_string(),
            (None, None, Some(preview)) if !is_error_like => preview.text(),
            (None, None, _) if self.subtype.as_deref() == Some("null") => "null".to_owned(),
            (None, None, _) => {
                let line = self.description.as_deref().and_then(|text| text.lines().next());
                line.unwrap_or(&self.kind).to_owned()
            }
        }
    }
}

impl Preview {
    fn text(&self) -> String {
        let is_list = self.subtype.as_deref() == Some("array");
        let description = self.description.as_deref().unwrap_or_default();
        if self.properties.is_empty() && self.entries.is_empty() && !is_list && description != "Object" {
            return description.to_owned();
        }
        let entries = self.entries.iter().map(|entry| match &entry.key {
            Some(key) => format!("{} => {}", key.text(), entry.value.text()),
            None => entry.value.text(),
        });
        let shown = |property: &Property| match &property.value {
            Some(value) if property.kind == "string" => format!("'{value}'"),
            Some(value) => value.clone(),
            None => property.kind.clone(),
        };
        let is_place = |name: &str| is_list && name.bytes().all(|byte| byte.is_ascii_digit());
        let named = |property: &Property| {
            let value = shown(property);
            if is_place(&property.name) { value } else { format!("{}: {value}", property.name) }
        };
        // Of a map or set the entries say everything.
        let properties = if self.entries.is_empty() { self.properties.as_slice() } else { &[] };
        let more = self.overflow.then(|| "…".to_owned());
        let parts: Vec<String> = entries.chain(properties.iter().map(named)).chain(more).collect();
        let parts = parts.join(", ");
        match description {
            _ if is_list => format!("[{parts}]"),
            "" | "Object" => format!("{{{parts}}}"),
            name => format!("{name} {{{parts}}}"),
        }
    }
}

/// The arguments with blanks between them; placeholders of the first one are filled by those that follow it.
fn console_text(args: &[Remote]) -> String {
    let (mut text, mut rest) = (String::new(), args.iter());
    if let Some(Remote { value: Some(Value::String(format)), .. }) = args.first() {
        rest.next();
        let mut letters = format.chars();
        while let Some(letter) = letters.next().filter(|_| text.len() < 4 * WARNING_LIMIT_CHARS) {
            if letter != '%' {
                text.push(letter);
                continue;
            }
            match letters.clone().next() {
                Some('%') => text.push('%'),
                // `%c` takes a style, which a text cannot show.
                Some('c') => {
                    rest.next();
                }
                Some('s' | 'd' | 'i' | 'f' | 'o' | 'O') => match rest.next() {
                    Some(value) => text.push_str(&value.text()),
                    None => text.extend(['%', letters.clone().next().unwrap_or_default()]),
                },
                _ => {
                    text.push('%');
                    continue;
                }
            }
            letters.next();
        }
    } else if let Some(first) = rest.next() {
        text = first.text();
    }
    for value in rest {
        if text.len() > 4 * WARNING_LIMIT_CHARS {
            break;
        }
        text.push(' ');
        text.push_str(&value.text());
    }
    text
}

fn one_line(text: &str) -> String {
    without_own_host(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The path of an address of ours.
fn path_of(url: &str) -> Option<&str> {
    let rest = own_path(url)?.strip_prefix('/')?;
    Some(if rest.is_empty() { "/" } else { rest })
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn a_call_without_arguments_says_nothing() {
        let params = RawValue::from_string(r#"{"type":"error","args":[]}"#.to_owned()).unwrap();
        let entry = on_console(Event::of("Runtime.consoleAPICalled", &params)).unwrap();
        assert_eq!(entry.text, "console.error: ");
    }
}
