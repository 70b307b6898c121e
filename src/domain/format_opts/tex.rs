//! `engine`: the TeX program for a LaTeX document.

use crate::domain::members::Members;

/// A TeX program with LaTeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexProgram {
    /// The fastest; for Latin scripts, with its own fonts.
    Pdflatex,
    /// All scripts, and the fonts of the machine.
    Lualatex,
    /// All scripts and the machine's fonts, for sources written for `XeTeX`.
    Xelatex,
}

impl TexProgram {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pdflatex, Self::Lualatex, Self::Xelatex];

    /// Its name, which is also that of the executable.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdflatex => "pdflatex",
            Self::Lualatex => "lualatex",
            Self::Xelatex => "xelatex",
        }
    }

    /// The program with this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|program| program.name().eq_ignore_ascii_case(name))
    }

    /// Reads `engine`.
    pub(super) fn read(members: &mut Members<'_>) -> Option<Self> {
        members.word("engine", &Self::ALL.map(Self::name), Self::from_name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    #[test]
    fn the_engine_is_one_of_three() {
        for program in TexProgram::ALL {
            let text = format!(r#"{{"engine":"{}"}}"#, program.name());
            assert_eq!(options(&text).tex, Some(program));
        }
        assert_eq!(options(r#"{"engine":""}"#).tex, None);
        assert_error(r#"{"engine":"tex"}"#, "/formatOpts/engine", "one of pdflatex, lualatex, xelatex");
        assert_error(r#"{"engine":1}"#, "/formatOpts/engine", "must be a string");
    }
}
