//! Passwords and permissions of a PDF.
//!
//! Hazard: a password passes through the record, the job's view and the log. So it is a type of its own that prints as stars,
//! `mask_secrets` masks the `formatOpts` that are stored and shown, and no error message repeats one.

use std::fmt;

use icu_normalizer::ComposingNormalizerBorrowed;
use json_members::{Members, Shape};

use super::Key;
use super::promises::asks;

/// Longest password in bytes of UTF-8 (ISO 32000-2, 7.6.4.3.3): readers cut longer ones off.
pub const PASSWORD_LIMIT_BYTES: usize = 127;
const PERMISSIONS: &str = "print, modify, copy, annotate, fillForms, assemble, accessibility";

/// Passwords and permissions of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// Its passwords.
    pub passwords: Passwords,
    /// What is allowed without the owner's password; `None`: not given.
    pub permissions: Option<Permissions>,
}

/// The passwords of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passwords {
    /// Opens it.
    pub user: Option<Password>,
    /// Opens it with all rights.
    pub owner: Option<Password>,
}

/// A password: 1 to [`PASSWORD_LIMIT_BYTES`] bytes of UTF-8. It prints as stars.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// What may be done with a PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the bits of a PDF's permissions, each by its name")]
pub struct Permissions {
    /// Printing it.
    pub print: Printing,
    /// Changing its content.
    pub modify: bool,
    /// Taking text and pictures out. Assistive technology always may (ISO 32000-2).
    pub copy: bool,
    /// Comments; filling forms in is a part of it.
    pub annotate: bool,
    /// Filling forms in, and signing.
    pub fill_forms: bool,
    /// Inserting, turning and deleting pages, making bookmarks.
    pub assemble: bool,
}

impl Permissions {
    /// Everything may be done.
    pub const ALL: Self = Self {
        print: Printing::Full,
        modify: true,
        copy: true,
        annotate: true,
        fill_forms: true,
        assemble: true,
    };
}

/// How a PDF may be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printing {
    /// Not at all.
    None,
    /// As a picture of low resolution.
    Low,
    /// As it is.
    Full,
}

impl Protection {
    /// Whether anything was given.
    pub fn is_asked_for(&self) -> bool {
        !self.passwords.is_empty() || self.permissions.is_some()
    }

    /// Reads `password` (also `userPassword`), `ownerPassword` and `permissions`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let user = read_user(members);
        let passwords = Passwords { user, owner: read_password(members, Key::OwnerPassword) };
        let protection = Self { permissions: read_permissions(members), passwords };
        check_owner(&protection, members);
        if protection.is_asked_for() && members.peek(Key::Pdfa).is_some_and(asks) {
            let detail =
                "and a protection exclude each other: PDF/A forbids encryption; leave out one of them";
            members.fault(Key::Pdfa, detail);
        }
        protection
    }
}

impl Passwords {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.owner.is_none()
    }
}

impl Password {
    /// The password, where it is not empty and not too long.
    pub fn new(text: String) -> Option<Self> {
        (1..=PASSWORD_LIMIT_BYTES).contains(&text.len()).then_some(Self(text))
    }

    /// The password itself; never log it.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl Permissions {
    /// Whether anything is forbidden.
    pub fn restrict(&self) -> bool {
        let Self { print, modify, copy, annotate, fill_forms, assemble } = *self;
        print != Printing::Full || !(modify && copy && annotate && fill_forms && assemble)
    }
}

fn read_user(members: &mut Members<'_>) -> Option<Password> {
    let (password, user) = (read_password(members, Key::Password), read_password(members, Key::UserPassword));
    if let (Some(password), Some(user)) = (&password, &user)
        && password != user
    {
        members.fault(
            Key::UserPassword,
            "is another one than password, and both are what opens the file; give one",
        );
    }
    password.or(user)
}

fn read_password(members: &mut Members<'_>, name: Key) -> Option<Password> {
    let value = members.raw(name, || Shape::Text).filter(|value| asks(value))?;
    if value.get() == "\"\"" {
        members.fault(name, "is empty, so nothing would be protected; give a password, or leave the key out");
    }
    let text = members.text(name)?;
    if let Some(error) = unfit(&text) {
        members.fault(name, error);
        return None;
    }
    Password::new(text)
}

/// Why a password would not open the file in every reader. Some readers normalize what is typed in (`SASLprep`, RFC 4013) and
/// some do not, so only a password that is not changed by it works in all of them.
fn unfit(text: &str) -> Option<String> {
    let bytes = text.len();
    if bytes > PASSWORD_LIMIT_BYTES {
        return Some(format!(
            "has {bytes} bytes in UTF-8, and a PDF takes {PASSWORD_LIMIT_BYTES}; shorten it"
        ));
    }
    if let Some(character) = text.chars().find(|character| is_invisible(*character)) {
        let number = u32::from(character);
        return Some(format!(
            "has a character in it that nobody can type in or see (U+{number:04X}); leave it out"
        ));
    }
    let is_same = ComposingNormalizerBorrowed::new_nfkc().is_normalized(text);
    (!is_same).then(|| {
        "has characters that PDF readers take for others (accents apart from their letters, ligatures, full-width \
         letters, raised digits, other blanks than the usual one); write it in Unicode's form NFKC"
            .to_owned()
    })
}

/// Control characters, marks that change the direction of text, and characters that `SASLprep` removes.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{1806}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffd}' | '\u{e0000}'..='\u{e0fff}')
}

fn read_permissions(members: &mut Members<'_>) -> Option<Permissions> {
    if members.peek(Key::Permissions).is_some_and(|value| !asks(value)) {
        members.pass(Key::Permissions);
        return None;
    }
    let wanted = "an object such as {\"copy\": false}";
    let is_empty = |sent: &mut Members<'_>| (read_permitted(sent), sent.is_empty());
    let (permissions, is_empty) = members.object(Key::Permissions, ("PdfPermissions", wanted), is_empty)?;
    if is_empty {
        let detail =
            format!("neither allows nor forbids anything; give some of {PERMISSIONS}, or leave the key out");
        members.fault(Key::Permissions, detail);
    }
    (!is_empty).then_some(permissions)
}

/// If anything is explicitly allowed, all else is forbidden; if things are only forbidden, all else is allowed.
fn read_permitted(sent: &mut Members<'_>) -> Permissions {
    let print = read_print(sent);
    let members = [
        ("modify", "Changing its content."),
        ("copy", "Taking text and pictures out."),
        ("annotate", "Comments, and filling in forms."),
        ("fillForms", "Filling in forms."),
        ("assemble", "Inserting, turning and deleting pages."),
        ("accessibility", "Assistive technology may always read a file that is open: `true`."),
    ];
    let [modify, copy, annotate, fill_forms, assemble, accessibility] =
        members.map(|member| sent.flag(member));
    sent.refuse_unknown(&format!("is not known, so it cannot be kept; give some of {PERMISSIONS}"));
    if accessibility == Some(false) {
        let detail = "cannot be kept: PDF readers let assistive technology read every file that they open; leave it out";
        sent.fault("accessibility", detail);
    }
    if annotate == Some(true) && fill_forms == Some(false) {
        let detail = "cannot be kept: who may annotate may fill in forms; give annotate: false as well";
        sent.fault("fillForms", detail);
    }
    let named = [modify, copy, annotate, fill_forms, assemble];
    let allows = print.is_some_and(|print| print != Printing::None) || named.contains(&Some(true));
    let default = !allows;
    let annotate = annotate.unwrap_or(default && fill_forms != Some(false));
    Permissions {
        print: print.unwrap_or(if default { Printing::Full } else { Printing::None }),
        modify: modify.unwrap_or(default),
        copy: copy.unwrap_or(default),
        annotate,
        fill_forms: fill_forms.unwrap_or(default || annotate),
        assemble: assemble.unwrap_or(default),
    }
}

fn read_print(sent: &mut Members<'_>) -> Option<Printing> {
    let words = Shape::words(vec!["full", "low", "none"]);
    let shape = || Shape::OneOf { title: "Printing", shapes: vec![Shape::Flag, words] };
    let value = sent.raw("print", shape)?;
    match value.get() {
        "true" | "\"full\"" => Some(Printing::Full),
        "false" | "\"none\"" => Some(Printing::None),
        "\"low\"" => Some(Printing::Low),
        _ => {
            sent.fault("print", "must be true, false, or \"low\" for pictures of low resolution");
            None
        }
    }
}

fn check_owner(protection: &Protection, members: &mut Members<'_>) {
    let Protection { passwords, permissions } = protection;
    let Some(owner) = &passwords.owner else { return };
    if passwords.user.is_none()
        && permissions.is_none()
        && members.peek(Key::Permissions).is_none_or(|it| !asks(it))
    {
        let detail = "protects nothing by itself: who opens the file without it may do everything; give permissions as \
                      well (such as {\"modify\": false}), or password";
        members.fault(Key::OwnerPassword, detail);
    }
    let restricts = permissions.is_some_and(|permissions| permissions.restrict());
    if restricts && passwords.user.as_ref() == Some(owner) {
        let detail =
            "is the password that opens the file, so permissions would bind nobody; give another one";
        members.fault(Key::OwnerPassword, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options, reading};
    use super::*;

    fn password(text: &str) -> Option<Password> {
        Password::new(text.to_owned())
    }

    fn permissions(text: &str) -> Permissions {
        options(&format!(r#"{{"permissions":{text}}}"#)).protection.permissions.unwrap()
    }

    const ALL: Permissions = Permissions::ALL;
    const NONE: Permissions = Permissions {
        print: Printing::None,
        modify: false,
        copy: false,
        annotate: false,
        fill_forms: false,
        assemble: false,
    };

    #[test]
    fn passwords_are_read_and_print_as_stars() {
        let read = options(r#"{"password":"open","ownerPassword":"own"}"#);
        let Passwords { user, owner } = &read.protection.passwords;
        assert_eq!((user, owner), (&password("open"), &password("own")));
        assert_eq!(read.promised, [Key::Password, Key::OwnerPassword]);
        assert!(!format!("{read:?}").contains("open"));
        assert_eq!(
            options(r#"{"userPassword":"x","password":"x"}"#).protection.passwords.user,
            password("x")
        );
        assert!(!options(r#"{"password":false,"permissions":null}"#).protection.is_asked_for());
        assert_error(r#"{"userPassword":"x","password":"y"}"#, "/formatOpts/userPassword", "give one");
        assert_error(r#"{"password":7}"#, "/formatOpts/password", "must be a string");
    }

    #[test]
    fn a_password_must_work_in_every_reader() {
        for text in ["x'\\\"y", "@file", "--", "-", "ä€字", "🔒", " a b ", "*"] {
            let body = serde_json::json!({ "password": text }).to_string();
            assert_eq!(options(&body).protection.passwords.user, password(text), "{text}");
        }
        let at = "/formatOpts/password";
        let wrong = |text: &str, part: &str| {
            assert_error(&serde_json::json!({ "password": text }).to_string(), at, part);
        };
        for text in ["a\nb", "\0", "a\u{ad}b", "❤\u{fe0f}", "\u{202e}x", "\u{85}", "\u{200b}"] {
            wrong(text, "nobody can type in or see");
        }
        for text in ["a\u{308}", "ﬁne", "10²", "\u{a0}", "ｘ"] {
            wrong(text, "NFKC");
        }
        options(&serde_json::json!({ "password": "é".repeat(63) }).to_string());
        wrong(&"é".repeat(64), "has 128 bytes in UTF-8, and a PDF takes 127");
        assert_error(r#"{"password":"\ud83d"}"#, at, "surrogate");
    }

    #[test]
    fn an_allowed_permission_forbids_the_others_and_a_forbidden_one_allows_them() {
        assert_eq!(permissions(r#"{"copy":false}"#), Permissions { copy: false, ..ALL });
        assert_eq!(permissions(r#"{"print":true}"#), Permissions { print: Printing::Full, ..NONE });
        assert_eq!(
            permissions(r#"{"print":"low","modify":false}"#),
            Permissions { print: Printing::Low, ..NONE }
        );
        assert_eq!(permissions(r#"{"print":false}"#), Permissions { print: Printing::None, ..ALL });
        let forms = Permissions { annotate: false, fill_forms: false, ..ALL };
        assert_eq!(permissions(r#"{"fillForms":false,"accessibility":true}"#), forms);
        let notes = Permissions { annotate: true, fill_forms: true, ..NONE };
        assert_eq!(permissions(r#"{"annotate":true}"#), notes, "they go with forms");
        assert!(!ALL.restrict() && NONE.restrict() && Permissions { print: Printing::Low, ..ALL }.restrict());
        let at = "/formatOpts/permissions";
        assert_error(r#"{"permissions":true}"#, at, "must be an object");
        assert_error(r#"{"permissions":{"printing":false}}"#, &format!("{at}/printing"), "some of print, ");
        assert_error(r#"{"permissions":{"print":"no"}}"#, &format!("{at}/print"), "\"low\"");
        assert_error(
            r#"{"permissions":{"accessibility":false}}"#,
            &format!("{at}/accessibility"),
            "assistive",
        );
        let both = r#"{"permissions":{"annotate":true,"fillForms":false}}"#;
        assert_error(both, &format!("{at}/fillForms"), "annotate: false as well");
    }

    #[test]
    fn an_owner_password_that_restricts_nobody_is_refused() {
        let at = "/formatOpts/ownerPassword";
        assert_error(r#"{"ownerPassword":"x"}"#, at, "protects nothing by itself");
        assert_error(
            r#"{"ownerPassword":"x","password":"x","permissions":{"copy":false}}"#,
            at,
            "bind nobody",
        );
        options(r#"{"ownerPassword":"x","permissions":{"copy":false}}"#);
        options(r#"{"ownerPassword":"x","password":"x"}"#);
    }

    #[test]
    fn conformance_to_pdf_a_and_a_password_exclude_each_other() {
        let errors = reading(r#"{"password":"x","pdfa":"2b"}"#).errors;
        assert!(errors.iter().any(|error| error.detail.contains("PDF/A forbids encryption")), "{errors:?}");
    }
}
