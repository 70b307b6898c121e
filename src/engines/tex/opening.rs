//! What TeX reads first: what is set beside the author's file, and that file.

use std::fmt::Write as _;

use super::choice::preamble_has;
use super::needs::CACHE;
use crate::domain::format_opts::{Metadata, TexProgram};

const ENCODING: &str = include_str!("../../../assets/tex/encoding.tex");
const LETTERS: &str = include_str!("../../../assets/tex/letters.tex");
/// What is set where a preamble was read ahead.
pub(super) const BEHIND: &str = include_str!("../../../assets/tex/behind.tex");

/// What lualatex does first of all.
pub(super) const START: &str = include_str!("../../../assets/tex/start.lua");

/// Its name in the folder of a job, where no template's file lies.
pub(super) fn name() -> String {
    format!("{CACHE}/opening.tex")
}

/// The same of [`START`].
pub(super) fn start_name() -> String {
    format!("{CACHE}/start.lua")
}

/// What is set before the author's `source`. `is_instead`: pdflatex could not make it.
pub(super) fn set(program: TexProgram, is_instead: bool, source: &str) -> &'static str {
    match program {
        TexProgram::Pdflatex if !preamble_has(source, "fontenc") => ENCODING,
        TexProgram::Lualatex if is_instead => LETTERS,
        TexProgram::Pdflatex | TexProgram::Lualatex | TexProgram::Xelatex => "",
    }
}

/// What is read before the file `name`, and that.
pub(super) fn opening(set: &str, name: &str, metadata: &Metadata) -> String {
    format!("{set}{}\\input{{{name}}}\n", said(metadata))
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
        let _ = write!(entries, "/{key}<{}>", units(text, |digits, byte| write!(digits, "{byte:02X}")));
        let octal = units(text, |digits, byte| write!(digits, "\\string\\{byte:03o}"));
        let _ = writeln!(macros, "\\expandafter\\edef\\csname {name}\\endcsname{{{octal}}}%");
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

/// A text of a PDF: in UTF-16 with its mark (ISO 32000-1, 7.9.2.2), byte by byte.
fn units(text: &str, add: impl Fn(&mut String, u8) -> std::fmt::Result) -> String {
    let bytes = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes);
    bytes.fold(String::new(), |mut made, byte| {
        let _ = add(&mut made, byte);
        made
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_set_where_none_is_chosen() {
        let of =
            |program, instead, source| opening(set(program, instead, source), "a.tex", &Metadata::default());
        let plain = of(TexProgram::Pdflatex, false, "\\documentclass{article}");
        assert!(plain.starts_with(ENCODING) && plain.ends_with("\n\\input{a.tex}\n"), "{plain}");
        assert_eq!(of(TexProgram::Pdflatex, false, "\\usepackage[OT1]{fontenc}"), "\\input{a.tex}\n");
        assert_eq!(of(TexProgram::Lualatex, false, ""), "\\input{a.tex}\n");
        assert!(of(TexProgram::Lualatex, true, "").starts_with(LETTERS));
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
