//! qpdf's job file: encrypts a PDF with AES-256 (ISO 32000-2, revision 6), metadata included.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde_json::json;

use crate::clock;
use crate::domain::format_opts::{Password, Permissions, Printing, Protection};

/// The names of its files in its folder.
pub(super) const JOB_JSON: &str = "order.json";
pub(super) const INPUT: &str = "in.pdf";
pub(super) const OUTPUT: &str = "out.pdf";
/// Random bytes of an owner's password that no one is given.
const OWNER_BYTES: usize = 32;

/// The content of the job file. Hazard: with an empty owner's password, or the user's, everyone who opens the file has all rights.
/// So where none is given it is random and then forgotten.
pub(super) fn job_json(protection: &Protection) -> io::Result<Bytes> {
    let secret = |password: &Option<Password>| password.as_ref().map(|password| password.secret().to_owned());
    let user = secret(&protection.passwords.user).unwrap_or_default();
    let owner = match secret(&protection.passwords.owner) {
        Some(owner) => owner,
        None => STANDARD_NO_PAD.encode(clock::random_bytes::<OWNER_BYTES>()?),
    };
    let permissions = protection.permissions.unwrap_or(Permissions::ALL);
    let job_json = json!({
        "inputFile": INPUT,
        "outputFile": OUTPUT,
        "encrypt": {"userPassword": user, "ownerPassword": owner, "256bit": restrictions(permissions)},
    });
    Ok(job_json.to_string().into())
}

fn restrictions(permissions: Permissions) -> serde_json::Value {
    let Permissions { print, modify, copy, annotate, fill_forms, assemble } = permissions;
    let word = |allowed: bool| if allowed { "y" } else { "n" };
    let print = match print {
        Printing::None => "none",
        Printing::Low => "low",
        Printing::Full => "full",
    };
    json!({
        "print": print,
        "modifyOther": word(modify),
        "extract": word(copy),
        "annotate": word(annotate),
        "form": word(fill_forms),
        "assemble": word(assemble),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::format_opts::Passwords;

    fn written(protection: &Protection) -> serde_json::Value {
        serde_json::from_slice(&job_json(protection).unwrap()).unwrap()
    }

    #[test]
    fn an_owner_without_a_password_gets_a_random_one() {
        let user = Password::new("a\"b".to_owned());
        let passwords = Passwords { user, owner: None };
        let protection = Protection { passwords, permissions: None };
        let (first, second) = (written(&protection), written(&protection));
        assert_eq!(first["encrypt"]["userPassword"], "a\"b");
        let owner = first["encrypt"]["ownerPassword"].as_str().unwrap();
        assert!(owner.len() == 43 && second["encrypt"]["ownerPassword"] != owner);
        assert_eq!(first["encrypt"]["256bit"]["print"], "full");
    }
}
