//! Keys that promise protection or conformance.
//!
//! Hazard: a caller sends `userPassword` and passes the file on. If the key were ignored with a warning, as unknown keys are,
//! the file would be open while its owner believes it protected. So such a key is heeded or refused, never ignored. The table
//! lists the supported ones (`Key::promises`); `Catalog::plan` takes only routes that heed them. All other keys that
//! promise something, in any spelling, are refused here with the key to send instead.

use json_members::Members;
use serde_json::value::RawValue;

use super::Key;

/// Spellings of promises, in lower case without `-`, `_`, `/` and blanks: keys of the table, and their names in other services.
/// Beside them the keys to send.
const SUPPORTED: [(&[&str], &[Key]); 8] = [
    (&["password", "openpassword", "documentpassword", "pdfpassword"], &[Key::Password]),
    (&["userpassword"], &[Key::UserPassword]),
    (&["ownerpassword", "permissionspassword"], &[Key::OwnerPassword]),
    (&["permissions"], &[Key::Permissions]),
    (
        &["encrypt", "encrypted", "encryption", "protect", "protected", "protection", "security"],
        &[Key::Password, Key::Permissions],
    ),
    (&["pdfa", "pdfvariant", "pdfprofile", "pdfformat", "conformancelevel"], &[Key::Pdfa]),
    (&["pdfua"], &[Key::Pdfua]),
    (&["pdfstandard", "pdfconformance", "conformance"], &[Key::Pdfa, Key::Pdfua]),
];

/// The same of promises that cannot be kept, each with the sentence that refuses it.
const UNSUPPORTED: [(&[&str], &str); 2] = [
    (
        &["pdfx"],
        "PDFs cannot be made to conform to PDF/X here; to PDF/A and PDF/UA they can, by formatOpts.pdfa and formatOpts.pdfua",
    ),
    (&["sign", "signed", "signature", "signatures", "digitalsignature"], "PDFs cannot be signed here yet"),
];

/// The given keys that promise something and are supported; the engines of the job must heed them.
pub(super) fn read(members: &Members<'_>) -> Vec<Key> {
    let promised = Key::ALL.iter().copied().filter(|key| key.promises());
    promised.filter(|key| members.peek(key).is_some_and(asks)).collect()
}

/// Adds an error for each key that promises something, is not supported, and asks for something.
pub(super) fn refuse(members: &mut Members<'_>) {
    let sent: Vec<_> = members.sent().map(str::to_owned).collect();
    for name in sent {
        if Key::from_name(&name).is_some_and(Key::promises) {
            continue;
        }
        if let Some(detail) = refusal(&name)
            && members.peek(&name).is_some_and(asks)
        {
            members.fault(&name, detail);
        }
    }
}

/// `false` asks for nothing, as null does. An empty text does ask: the variable that it was to come from was empty, and
/// the file would be open.
pub(super) fn asks(value: &RawValue) -> bool {
    value.get() != "false"
}

/// Whether `name` promises something, however it is spelled.
pub(super) fn is_promise(name: &str) -> bool {
    refusal(name).is_some()
}

/// Why a member `name` beside `formatOpts`, of the value `sent`, is refused there; `None` where it promises nothing.
pub fn refusal_beside(name: &str, sent: &RawValue) -> Option<String> {
    if !asks(sent) {
        return None;
    }
    let Some(keys) = supported(name) else { return refusal(name) };
    Some(format!("belongs in formatOpts and would not be kept here; send {keys}"))
}

/// The keys to send for this spelling of a promise, as in `formatOpts.pdfa or formatOpts.pdfua`.
fn supported(name: &str) -> Option<String> {
    let spelled = spelled(name);
    let (_, keys) = SUPPORTED.iter().find(|(spellings, _)| spellings.contains(&spelled.as_str()))?;
    Some(keys.iter().map(|key| format!("formatOpts.{key}")).collect::<Vec<_>>().join(" or "))
}

fn spelled(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '-' | '_' | '/' | ' '));
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Why a key that promises something is refused; `None` for all other keys.
fn refusal(name: &str) -> Option<String> {
    if let Some(keys) = supported(name) {
        return Some(format!("is not read by this name, so it is not kept either; send {keys}"));
    }
    let spelled = spelled(name);
    let (_, sentence) = UNSUPPORTED.iter().find(|(spellings, _)| spellings.contains(&spelled.as_str()))?;
    Some(format!("cannot be kept: {sentence}. Leave the key out, and see to it behind this service"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, reading};
    use super::*;
    use crate::domain::kinds::{Target, TemplateKind};

    #[test]
    fn no_promise_is_ignored() {
        for &key in Key::ALL {
            let text = format!(r#"{{"{}":"x"}}"#, key.name());
            if key.is_refused() {
                assert_error(&text, &format!("/formatOpts/{}", key.name()), "");
            } else {
                let promised: &[Key] = if key.promises() { &[key] } else { &[] };
                assert_eq!(options_promise(&text), promised);
            }
        }
        assert!(SUPPORTED.iter().flat_map(|(_, keys)| *keys).all(|key| key.promises()), "a key is not read");
        for name in ["PDF/X", "digitalSignature", "sign"] {
            let text = format!(r#"{{"{name}":7}}"#);
            let pointer = format!("/formatOpts/{}", name.replace('/', "~1"));
            assert_error(&text, &pointer, "cannot be kept: PDFs ");
        }
        for (name, key) in [
            ("User-Password", "userPassword"),
            ("pdf_password", "password"),
            ("Encryption", "password or formatOpts.permissions"),
            ("encrypt", "password or formatOpts.permissions"),
        ] {
            let text = format!(r#"{{"{name}":true}}"#);
            assert_error(&text, &format!("/formatOpts/{name}"), &format!("send formatOpts.{key}"));
        }
    }

    fn options_promise(text: &str) -> Vec<Key> {
        reading(text).options.promised
    }

    #[test]
    fn promises_set_to_null_or_false_are_accepted() {
        let text = r#"{"password":null,"ownerPassword":false,"permissions":false,"encrypt":false,"pdfa":null,"sign":null}"#;
        let reading = reading(text);
        assert_eq!(
            (reading.errors.len(), reading.warnings((TemplateKind::Html, Target::Pdf), |_| false).len()),
            (0, 0)
        );
        assert_eq!(options(text), options("{}"));
    }

    #[test]
    fn empty_promises_are_refused() {
        for name in Key::ALL.iter().filter(|key| key.promises() || key.is_refused()).map(|key| key.name()) {
            for empty in ["\"\"", "{}", "[ ]"] {
                assert_error(&format!(r#"{{"{name}":{empty}}}"#), &format!("/formatOpts/{name}"), "");
            }
        }
        for name in ["password", "userPassword", "ownerPassword"] {
            let text = format!(r#"{{"{name}":""}}"#);
            assert_error(&text, &format!("/formatOpts/{name}"), "is empty, so nothing would be protected");
        }
        let permissions = r#"{"permissions":{"print":null}}"#;
        assert_error(permissions, "/formatOpts/permissions", "neither allows nor forbids anything");
        assert_error(r#"{"sign":{}}"#, "/formatOpts/sign", "cannot be kept");
    }
}
