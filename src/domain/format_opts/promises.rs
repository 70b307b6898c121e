//! Keys that promise protection or conformance.
//!
//! Hazard: somebody sends `userPassword` and passes the file on. Ignored with a warning, as other keys are that
//! nobody knows, it would be an open file that its owner takes for a closed one. So these are refused, however they
//! are spelled and whatever the target, until the promise is kept.

use serde_json::value::RawValue;

use crate::domain::members::Members;

/// What a key promises, as the sentence that refuses it says it.
const PROTECTION: &str = "PDFs with a password, encryption or permissions cannot be made here yet";
const CONFORMANCE: &str = "PDFs that conform to PDF/A, PDF/UA or PDF/X cannot be made here yet";
const SIGNATURE: &str = "PDFs cannot be signed here yet";

/// The keys, in small letters without `-`, `_` and `/`: those of the table, and what other services call them.
const PROMISES: [(&str, &str); 30] = [
    ("password", PROTECTION),
    ("userpassword", PROTECTION),
    ("ownerpassword", PROTECTION),
    ("openpassword", PROTECTION),
    ("documentpassword", PROTECTION),
    ("permissionspassword", PROTECTION),
    ("pdfpassword", PROTECTION),
    ("permissions", PROTECTION),
    ("encrypt", PROTECTION),
    ("encrypted", PROTECTION),
    ("encryption", PROTECTION),
    ("protect", PROTECTION),
    ("protected", PROTECTION),
    ("protection", PROTECTION),
    ("security", PROTECTION),
    ("pdfa", CONFORMANCE),
    ("pdfua", CONFORMANCE),
    ("pdfx", CONFORMANCE),
    ("pdfvariant", CONFORMANCE),
    ("pdfprofile", CONFORMANCE),
    ("pdfstandard", CONFORMANCE),
    ("pdfformat", CONFORMANCE),
    ("pdfconformance", CONFORMANCE),
    ("conformance", CONFORMANCE),
    ("conformancelevel", CONFORMANCE),
    ("sign", SIGNATURE),
    ("signed", SIGNATURE),
    ("signature", SIGNATURE),
    ("signatures", SIGNATURE),
    ("digitalsignature", SIGNATURE),
];

/// Notes a fault for each that asks for something.
pub(super) fn refuse(members: &mut Members<'_>) {
    for name in members.unknown(&[]) {
        let Some(promise) = promise_of(&name) else { continue };
        if members.raw(&name).is_some_and(asks) {
            let detail =
                format!("cannot be kept: {promise}. Leave the key out, and see to it behind this service");
            members.fault(&name, detail);
        }
    }
}

/// `false` and an empty text ask for nothing, as null does.
fn asks(value: &RawValue) -> bool {
    !matches!(value.get(), "false" | "\"\"")
}

/// The sentence for a key that promises something.
fn promise_of(name: &str) -> Option<&'static str> {
    let spelled = name.chars().filter(|letter| !matches!(letter, '-' | '_' | '/' | ' '));
    let spelled: String = spelled.map(|letter| letter.to_ascii_lowercase()).collect();
    PROMISES.iter().find(|(known, _)| *known == spelled).map(|(_, promise)| *promise)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_fault, reading};
    use super::super::{Handling, KEYS};
    use crate::domain::kinds::Target;

    #[test]
    fn no_promise_is_ignored() {
        for (name, _) in KEYS.iter().filter(|(_, handling)| *handling == Handling::Refused) {
            let (text, pointer) = (format!(r#"{{"{name}":"x"}}"#), format!("/formatOpts/{name}"));
            assert_fault(&text, &pointer, "cannot be kept: PDFs ");
        }
        for name in ["PDF/A", "pdf_ua", "User-Password", "conformanceLevel", "digitalSignature", "Encryption"]
        {
            let text = format!(r#"{{"{name}":{{}}}}"#);
            assert_fault(&text, &format!("/formatOpts/{}", name.replace('/', "~1")), "cannot be kept");
        }
        assert_fault(r#"{"permissions":[]}"#, "/formatOpts/permissions", "permissions cannot be made");
    }

    #[test]
    fn what_asks_for_nothing_is_no_fault() {
        let reading = reading(r#"{"password":"","encrypt":false,"pdfa":null,"sign":false}"#);
        assert_eq!((reading.faults.len(), reading.warnings(Target::Pdf, |_| false).len()), (0, 0));
    }
}
