//! The code of a field: which field it is, and where data may be written in it.

use crate::writing::CodePlace;

/// Fields that read the reader's own files, fetch or run something: data must not choose what.
const READING_FIELDS: [&str; 13] = [
    "INCLUDE",
    "INCLUDETEXT",
    "INCLUDEPICTURE",
    "IMPORT",
    "LINK",
    "EMBED",
    "DDE",
    "DDEAUTO",
    "RD",
    "DATABASE",
    "MACROBUTTON",
    "PRINT",
    "CONTROL",
];

/// A field's code, as far as it has been read.
#[derive(Default)]
pub(crate) struct FieldCode {
    name: String,
    is_named: bool,
    /// The name is followed by something other than blanks and quotes.
    has_argument: bool,
}

impl FieldCode {
    pub(crate) fn pass(&mut self, written: &str) {
        const QUOTES: &str = "\"\u{201c}\u{201d}\u{201e}";
        for letter in written.chars() {
            if !self.is_named && (letter.is_whitespace() || letter == '\\' || QUOTES.contains(letter)) {
                self.is_named = !self.name.is_empty();
            } else if !self.is_named {
                self.name.push(letter.to_ascii_uppercase());
            }
            if self.is_named {
                self.has_argument |= !letter.is_whitespace() && !QUOTES.contains(letter);
            }
        }
    }

    /// Whether what follows can no longer be a part of the field's name.
    pub(crate) fn is_named(&self) -> bool {
        self.is_named
    }

    /// An error if the field is one that data must not be part of.
    pub(crate) fn check(&self) -> Result<(), String> {
        // Only letters are compared: Word might ignore others, and then `LI\u{200b}NK` would pass for another field.
        let name: String = self.name.chars().filter(char::is_ascii_alphabetic).collect();
        if READING_FIELDS.contains(&name.as_str()) {
            return Err(format!("a field {name} reads or runs something, and data cannot say what"));
        }
        Ok(())
    }

    /// What a tag at this place of the code fills; an error where it may not be filled by data.
    pub(crate) fn place(&self) -> Result<CodePlace, String> {
        if !self.is_named {
            return Err(
                "what a field is cannot come from data; begin it with its name, as HYPERLINK".to_owned()
            );
        }
        self.check()?;
        let is_address = self.name == "HYPERLINK" && !self.has_argument;
        Ok(if is_address { CodePlace::Address } else { CodePlace::Elsewhere })
    }
}
