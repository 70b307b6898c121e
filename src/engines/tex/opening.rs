//! The line that TeX is started with: what is loaded beside the author's file, and that file.

use super::choice::preamble_has;
use crate::domain::format_opts::TexProgram;

/// In TeX's oldest encoding `"`, `<` and `_` are other signs, or none that a reader of the PDF finds again. So a document
/// that chooses no encoding gets T1, and where it chooses no fonts either, those of the same looks that have it.
const T1: &str = r"\AddToHook{begindocument/before}[platen]{\edef\platena{\encodingdefault}\def\platenb{OT1}\ifx\platena\platenb\RequirePackage[T1]{fontenc}\edef\platena{\rmdefault}\def\platenb{cmr}\ifx\platena\platenb\renewcommand\rmdefault{lmr}\fi\edef\platena{\sfdefault}\def\platenb{cmss}\ifx\platena\platenb\renewcommand\sfdefault{lmss}\fi\edef\platena{\ttdefault}\def\platenb{cmtt}\ifx\platena\platenb\renewcommand\ttdefault{lmtt}\fi\normalfont\fi}";

/// Where pdflatex lacks a letter: fonts of the same looks, and others behind them for what these lack.
const ALL_LETTERS: &str = r#"\AddToHook{begindocument/before}[platen]{\RequirePackage{fontspec}\directlua{local found={} for _,name in ipairs{"Noto Serif","Noto Serif CJK SC","Noto Sans CJK SC","Noto Color Emoji","DejaVu Sans"} do if luaotfload.aux.resolve_fontname(name) then table.insert(found,name..":mode=harf;") end end luaotfload.add_fallback("platen",found)}\setmainfont{Latin Modern Roman}[RawFeature={fallback=platen}]\setsansfont{Latin Modern Sans}[RawFeature={fallback=platen}]\setmonofont{Latin Modern Mono}[RawFeature={fallback=platen}]}"#;

/// The line for the file `name` of `source`; `instead`: pdflatex could not make it.
pub(super) fn opening(program: TexProgram, instead: bool, (name, source): (&str, &str)) -> String {
    let before = match program {
        TexProgram::Pdflatex if !preamble_has(source, "fontenc") => T1,
        TexProgram::Lualatex if instead => ALL_LETTERS,
        TexProgram::Pdflatex | TexProgram::Lualatex | TexProgram::Xelatex => "",
    };
    format!(r"{before}\input{{{name}}}")
}
