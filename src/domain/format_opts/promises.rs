//! Keys that promise protection or conformance.
//!
//! Hazard: a caller sends `userPassword` and passes the file on. If the key were ignored with a warning, as unknown keys are,
//! the file would be open while its owner believes it protected. So such a key is heeded or refused, never ignored. The table
//! lists the supported ones (`Handling::Promised`); `Catalog::plan` takes only routes that heed them. All other keys that
//! promise something, in any spelling, are refused here with the key to send instead.

use serde_json::value::RawValue;

use super::keys;
use crate::domain::members::Members;

/// The sentences that refuse a key, by what it promises.
const PROTECTION: &str = "PDFs with a password, encryption or permissions cannot be made here yet";
const CONFORMANCE: &str = "PDFs that conform to PDF/A, PDF/UA or PDF/X cannot be made here yet";
const SIGNATURE: &str = "PDFs cannot be signed here yet";

/// A key that promises something.
struct Promise {
    /// In lower case without `-`, `_` and `/`: keys of the table, and their names in other services.
    spelled: &'static str,
    /// The sentence for it.
    sentence: &'static str,
    /// The keys of the table that promise it.
    keys: &'static [&'static str],
}

const PROMISES: [Promise; 30] = [
    of("password", PROTECTION, &["password"]),
    of("userpassword", PROTECTION, &["userPassword"]),
    of("ownerpassword", PROTECTION, &["ownerPassword"]),
    of("openpassword", PROTECTION, &["password"]),
    of("documentpassword", PROTECTION, &["password"]),
    of("permissionspassword", PROTECTION, &["ownerPassword"]),
    of("pdfpassword", PROTECTION, &["password"]),
    of("permissions", PROTECTION, &["permissions"]),
    of("encrypt", PROTECTION, &["password", "permissions"]),
    of("encrypted", PROTECTION, &["password", "permissions"]),
    of("encryption", PROTECTION, &["password", "permissions"]),
    of("protect", PROTECTION, &["password", "permissions"]),
    of("protected", PROTECTION, &["password", "permissions"]),
    of("protection", PROTECTION, &["password", "permissions"]),
    of("security", PROTECTION, &["password", "permissions"]),
    of("pdfa", CONFORMANCE, &["pdfa"]),
    of("pdfua", CONFORMANCE, &["pdfua"]),
    of("pdfx", CONFORMANCE, &[]),
    of("pdfvariant", CONFORMANCE, &["pdfa"]),
    of("pdfprofile", CONFORMANCE, &["pdfa"]),
    of("pdfstandard", CONFORMANCE, &["pdfa", "pdfua"]),
    of("pdfformat", CONFORMANCE, &["pdfa"]),
    of("pdfconformance", CONFORMANCE, &["pdfa", "pdfua"]),
    of("conformance", CONFORMANCE, &["pdfa", "pdfua"]),
    of("conformancelevel", CONFORMANCE, &["pdfa"]),
    of("sign", SIGNATURE, &[]),
    of("signed", SIGNATURE, &[]),
    of("signature", SIGNATURE, &[]),
    of("signatures", SIGNATURE, &[]),
    of("digitalsignature", SIGNATURE, &[]),
];

const fn of(spelled: &'static str, sentence: &'static str, keys: &'static [&'static str]) -> Promise {
    Promise { spelled, sentence, keys }
}

/// The given keys that promise something and are supported; the engines of the job must heed them.
pub(super) fn read(members: &Members<'_>) -> Vec<&'static str> {
    let promised = keys::promised();
    promised.filter(|name| members.raw(name).is_some_and(asks)).collect()
}

/// Adds an error for each key that promises something, is not supported, and asks for something.
pub(super) fn refuse(members: &mut Members<'_>) {
    for name in members.unknown(&[]) {
        if keys::promised().any(|read| read == name) {
            continue;
        }
        let Some(promise) = promise_of(&name) else { continue };
        if members.raw(&name).is_some_and(asks) {
            members.error(&name, refusal(promise));
        }
    }
}

/// `false` asks for nothing, as null does. An empty text does ask: the variable that it was to come from was empty, and
/// the file would be open.
pub(super) fn asks(value: &RawValue) -> bool {
    value.get() != "false"
}

fn refusal(promise: &Promise) -> String {
    let read: Vec<_> = promise.keys.iter().filter(|key| keys::promised().any(|read| read == **key)).collect();
    if read.is_empty() {
        let sentence = promise.sentence;
        return format!("cannot be kept: {sentence}. Leave the key out, and see to it behind this service");
    }
    let keys: Vec<_> = read.iter().map(|key| format!("formatOpts.{key}")).collect();
    format!("is not read by this name, so it is not kept either; send {}", keys.join(" or "))
}

/// Whether `name` promises something, however it is spelled.
pub(super) fn is_promise(name: &str) -> bool {
    promise_of(name).is_some()
}

fn promise_of(name: &str) -> Option<&'static Promise> {
    let spelled = name.chars().filter(|letter| !matches!(letter, '-' | '_' | '/' | ' '));
    let spelled: String = spelled.map(|letter| letter.to_ascii_lowercase()).collect();
    PROMISES.iter().find(|promise| promise.spelled == spelled)
}

#[cfg(test)]
mod tests {
    use super::super::keys::is_promise;
    use super::super::testing::{assert_error, options, reading};
    use super::super::{Handling, KEYS};
    use crate::domain::kinds::{Target, TemplateKind};

    #[test]
    fn no_promise_is_ignored() {
        for (name, handling) in KEYS {
            let text = format!(r#"{{"{name}":"x"}}"#);
            match handling {
                Handling::Refused => assert_error(&text, &format!("/formatOpts/{name}"), ""),
                Handling::Promised => assert_eq!(options_promise(&text), [name]),
                Handling::Read | Handling::Service => assert_eq!(options_promise(&text), [""; 0]),
            }
        }
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

    fn options_promise(text: &str) -> Vec<&'static str> {
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
        for (name, _) in KEYS.iter().filter(|(name, _)| is_promise(name)) {
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
