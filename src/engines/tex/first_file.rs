//! The file that TeX reads first: our prelude, the document's metadata, and `\input` of the author's file.

use std::fmt::Write as _;

use super::needs::CACHE;
use crate::domain::format_opts::{Metadata, TexProgram};

/// Makes escaped values print alike in text and in formulas, for each program.
const VALUES: &str = include_str!("../../../assets/tex/values.tex");
/// That, and an encoding for pdflatex.
const ENCODED_VALUES: &str =
    concat!(include_str!("../../../assets/tex/values.tex"), include_str!("../../../assets/tex/encoding.tex"));
/// That, and fonts for all scripts for lualatex.
const VALUES_AND_LETTERS: &str =
    concat!(include_str!("../../../assets/tex/values.tex"), include_str!("../../../assets/tex/letters.tex"));
/// The prelude where the preamble is in a format.
pub(super) const AFTER_FORMAT: &str = include_str!("../../../assets/tex/behind.tex");

/// The Lua code that lualatex runs first.
pub(super) const START: &str = include_str!("../../../assets/tex/start.lua");
/// Its Lua code for letters of many scripts.
pub(super) const SCRIPTS: &str = include_str!("../../../assets/tex/letters.lua");

/// The first file's name in the folder of a job; no template has a file there.
pub(super) fn name() -> String {
    format!("{CACHE}/opening.tex")
}

/// The name of [`START`] there.
pub(super) fn start_name() -> String {
    format!("{CACHE}/start.lua")
}

/// The name of [`SCRIPTS`] there.
pub(super) fn scripts_name() -> String {
    format!("{CACHE}/letters.lua")
}

/// The prelude of a document; `is_for_letters`: it needs letters that TeX's usual font lacks.
pub(super) fn prelude(program: TexProgram, is_for_letters: bool) -> &'static str {
    match program {
        TexProgram::Pdflatex => ENCODED_VALUES,
        TexProgram::Lualatex if is_for_letters => VALUES_AND_LETTERS,
        TexProgram::Lualatex | TexProgram::Xelatex => VALUES,
    }
}

/// The content of the first file, for the author's file `name`.
pub(super) fn content(prelude: &str, name: &str, metadata: &Metadata) -> String {
    format!("{prelude}{}\\input{{{name}}}\n", metadata_commands(metadata))
}

/// Whether a source has letters that TeX's usual font lacks.
pub(super) fn has_foreign_letters(source: &str) -> bool {
    !source.is_ascii() && source.contains(is_foreign)
}

/// Whether Latin Modern, TeX's usual font, lacks the character. Characters of other scripts count as such, also the few of
/// them that it has.
fn is_foreign(letter: char) -> bool {
    // Of the first 384 letters ĸ, ŉ, Ŧ and ŧ are not there.
    let is_latin = matches!(
        letter,
        '\0'..='\u{137}' | '\u{139}'..='\u{148}' | '\u{14a}'..='\u{165}' | '\u{168}'..='\u{17f}' | '\u{218}'..='\u{21b}'
            | '\u{2c6}' | '\u{2c7}' | '\u{2d8}'..='\u{2dd}' | '\u{1e80}'..='\u{1e85}' | '\u{1ea0}'..='\u{1ef9}'
            | '\u{fb00}'..='\u{fb04}'
    );
    // Dashes, quotes, daggers, currencies, arrows, operators.
    let is_sign = matches!(
        letter,
        '\u{200b}'..='\u{2011}' | '\u{2013}' | '\u{2014}' | '\u{2016}' | '\u{2018}'..='\u{201a}' | '\u{201c}'..='\u{201e}'
            | '\u{2020}'..='\u{2022}' | '\u{2026}' | '\u{2030}' | '\u{2031}' | '\u{2039}'..='\u{203b}' | '\u{2044}'
            | '\u{20a1}' | '\u{20a4}' | '\u{20a6}' | '\u{20a9}' | '\u{20ab}' | '\u{20ac}' | '\u{20b1}' | '\u{2116}'
            | '\u{2122}' | '\u{2126}' | '\u{2190}'..='\u{2193}' | '\u{2212}' | '\u{221a}' | '\u{221e}' | '\u{feff}'
    );
    !is_latin && !is_sign
}

/// Commands that set the PDF's properties at the document's end, so that they win over its own. Where hyperref is loaded it
/// writes the properties, from macros whose text is already encoded for a PDF.
fn metadata_commands(metadata: &Metadata) -> String {
    let Metadata { title, author, subject, keywords } = metadata;
    let given = [
        ("Title", "@pdftitle", title),
        ("Author", "@pdfauthor", author),
        ("Subject", "@pdfsubject", subject),
        ("Keywords", "@pdfkeywords", keywords),
    ];
    let (mut macros, mut entries) = (String::new(), String::new());
    for (key, name, text) in given {
        let Some(text) = text else { continue };
        let _ = write!(entries, "/{key}{}", pdf_metadata::text_string(text));
        let _ = writeln!(macros, "\\expandafter\\edef\\csname {name}\\endcsname{{{}}}%", octal(text));
    }
    if entries.is_empty() {
        return String::new();
    }
    format!(
        "\\AddToHook{{enddocument}}[platen]{{\\ifcsname @pdftitle\\endcsname\n{macros}\\else\\ifdefined\\pdfinfo\
         \\pdfinfo{{{entries}}}\\else\\ifdefined\\pdfextension\\pdfextension info{{{entries}}}\\fi\\fi\\fi}}\n\
         \\ifdefined\\XeTeXversion\\AddToHook{{shipout/firstpage}}[platen]{{\\ifcsname @pdftitle\\endcsname\\else\
         \\special{{pdf:docinfo<<{entries}>>}}\\fi}}\\fi\n"
    )
}

/// A PDF text string in UTF-16 with byte order mark (ISO 32000-1, 7.9.2.2), each byte in octal digits.
fn octal(text: &str) -> String {
    let bytes = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes);
    bytes.fold(String::new(), |mut made, byte| {
        let _ = write!(made, "\\string\\{byte:03o}");
        made
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_gets_what_it_lacks() {
        let of = |program, letters, source| {
            let prelude = prelude(program, letters || has_foreign_letters(source));
            content(prelude, "a.tex", &Metadata::default())
        };
        let plain = of(TexProgram::Pdflatex, false, "\\documentclass{article}");
        assert!(plain.contains(ENCODED_VALUES) && plain.ends_with("\n\\input{a.tex}\n"), "{plain}");
        assert_eq!(
            of(TexProgram::Lualatex, false, "\u{feff}ßőșẾ – „€“ → √ ™"),
            format!("{VALUES}\\input{{a.tex}}\n")
        );
        let lacking = ["漢", "Ω", "שלום", "😀", "ŧ", "ǆ", "→⇒", "≤", "₹", "′", "\u{2003}"];
        for (letters, source) in [(true, "")].into_iter().chain(lacking.map(|source| (false, source))) {
            assert!(of(TexProgram::Lualatex, letters, source).contains(VALUES_AND_LETTERS), "{source}");
        }
    }

    #[test]
    fn metadata_cannot_inject_commands() {
        let metadata = Metadata { title: Some("}\\x é".to_owned()), ..Metadata::default() };
        let commands = metadata_commands(&metadata);
        assert!(
            commands.contains("/Title<FEFF007D005C0078002000E9>") && !commands.contains('é'),
            "{commands}"
        );
        assert!(commands.contains("{\\string\\376\\string\\377\\string\\000\\string\\175"), "{commands}");
        assert!(!commands.contains("@pdfauthor"));
    }
}
