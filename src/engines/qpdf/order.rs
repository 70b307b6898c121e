//! What qpdf is to do, as it reads it from a file: one step from a PDF to a protected one, by AES-256 (ISO 32000-2,
//! revision 6), its metadata included.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde_json::json;

use crate::clock;
use crate::domain::format_opts::{Password, Permissions, Printing, Protection};

/// The names of its files in its folder.
pub(super) const ORDER: &str = "order.json";
pub(super) const INPUT: &str = "in.pdf";
pub(super) const OUTPUT: &str = "out.pdf";
/// Random bytes of an owner's password that nobody is told.
const OWNER_BYTES: usize = 32;

/// Everything may be done.
const UNRESTRICTED: Permissions = Permissions {
    print: Printing::Full,
    modify: true,
    copy: true,
    annotate: true,
    fill_forms: true,
    assemble: true,
};

/// The order. Where no owner's password is given, nobody gets to know one: with an empty one, or the user's, who opens
/// the file would have all rights.
pub(super) fn order(protection: &Protection) -> io::Result<Bytes> {
    let secret = |password: &Option<Password>| password.as_ref().map(|password| password.secret().to_owned());
    let user = secret(&protection.passwords.user).unwrap_or_default();
    let owner = match secret(&protection.passwords.owner) {
        Some(owner) => owner,
        None => STANDARD_NO_PAD.encode(clock::random_bytes::<OWNER_BYTES>()?),
    };
    let permissions = protection.permissions.unwrap_or(UNRESTRICTED);
    let order = json!({
        "inputFile": INPUT,
        "outputFile": OUTPUT,
        "encrypt": {"userPassword": user, "ownerPassword": owner, "256bit": restrictions(permissions)},
    });
    Ok(order.to_string().into())
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
        serde_json::from_slice(&order(protection).unwrap()).unwrap()
    }

    #[test]
    fn an_owner_that_nobody_names_has_a_password_that_nobody_knows() {
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
