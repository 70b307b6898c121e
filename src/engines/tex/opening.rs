//! What TeX reads first: what is set beside the author's file, and that file.

use std::fmt::Write as _;

use super::needs::CACHE;
use crate::domain::format_opts::{Metadata, TexProgram};

/// That values are themselves also in formulas, for each program.
const VALUES: &str = include_str!("../../../assets/tex/values.tex");
/// The same, and an encoding for pdflatex.
const ENCODED_VALUES: &str =
    concat!(include_str!("../../../assets/tex/values.tex"), include_str!("../../../assets/tex/encoding.tex"));
/// The same, and letters of all scripts for lualatex.
const VALUES_AND_LETTERS: &str =
    concat!(include_str!("../../../assets/tex/values.tex"), include_str!("../../../assets/tex/letters.tex"));
/// What is set where a preamble was read ahead.
pub(super) const BEHIND: &str = include_str!("../../../assets/tex/behind.tex");

/// What lualatex does first of all.
pub(super) const START: &str = include_str!("../../../assets/tex/start.lua");
/// What it does where letters of many scripts are.
pub(super) const SCRIPTS: &str = include_str!("../../../assets/tex/letters.lua");

/// Its name in the folder of a job, where no template's file lies.
pub(super) fn name() -> String {
    format!("{CACHE}/opening.tex")
}

/// The same of [`START`].
pub(super) fn start_name() -> String {
    format!("{CACHE}/start.lua")
}

/// The same of [`SCRIPTS`].
pub(super) fn scripts_name() -> String {
    format!("{CACHE}/letters.lua")
}

/// What is set before the author's `source`; `is_instead`: pdflatex could not make it.
pub(super) fn set(program: TexProgram, is_instead: bool, source: &str) -> &'static str {
    match program {
        TexProgram::Pdflatex => ENCODED_VALUES,
        TexProgram::Lualatex if is_instead || source.contains(is_foreign) => VALUES_AND_LETTERS,
        TexProgram::Lualatex | TexProgram::Xelatex => VALUES,
    }
}

/// What is read before the file `name`, and that.
pub(super) fn opening(set: &str, name: &str, metadata: &Metadata) -> String {
    format!("{set}{}\\input{{{name}}}\n", said(metadata))
}

/// Whether TeX's usual fonts lack the letter: Greek and what comes behind it, but signs and punctuation.
fn is_foreign(letter: char) -> bool {
    matches!(letter, '\u{370}'..='\u{1fff}' | '\u{2e80}'..='\u{faff}' | '\u{fb07}'..='\u{fdff}' | '\u{fe20}'..='\u{10ffff}')
        && letter != '\u{feff}'
}

/// What is said of the document, behind all that it says itself. Where hyperref is loaded, that writes it: by macros whose
/// text is already that of a PDF.
fn said(metadata: &Metadata) -> String {
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

/// A text of a PDF in UTF-16 with its mark (ISO 32000-1, 7.9.2.2), each byte in octal digits.
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
        let of =
            |program, instead, source| opening(set(program, instead, source), "a.tex", &Metadata::default());
        let plain = of(TexProgram::Pdflatex, false, "\\documentclass{article}");
        assert!(plain.contains(ENCODED_VALUES) && plain.ends_with("\n\\input{a.tex}\n"), "{plain}");
        assert_eq!(of(TexProgram::Lualatex, false, "\u{feff}ß – €"), format!("{VALUES}\\input{{a.tex}}\n"));
        for (instead, source) in [(true, ""), (false, "漢"), (false, "Ω"), (false, "שלום"), (false, "😀")]
        {
            assert!(of(TexProgram::Lualatex, instead, source).contains(VALUES_AND_LETTERS), "{source}");
        }
    }

    #[test]
    fn nothing_of_metadata_is_a_command() {
        let metadata = Metadata { title: Some("}\\x é".to_owned()), ..Metadata::default() };
        let said = said(&metadata);
        assert!(said.contains("/Title<FEFF007D005C0078002000E9>") && !said.contains('é'), "{said}");
        assert!(said.contains("{\\string\\376\\string\\377\\string\\000\\string\\175"), "{said}");
        assert!(!said.contains("@pdfauthor"));
    }
}
