//! Which TeX makes a document of LaTeX.

use crate::domain::members::Members;

/// A TeX that knows LaTeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexProgram {
    /// The fastest; it has the letters of Latin scripts, and fonts of its own.
    Pdflatex,
    /// All scripts, and the fonts of the machine.
    Lualatex,
    /// The same, by other means.
    Xelatex,
}

impl TexProgram {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pdflatex, Self::Lualatex, Self::Xelatex];

    /// How it is called, as a program too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdflatex => "pdflatex",
            Self::Lualatex => "lualatex",
            Self::Xelatex => "xelatex",
        }
    }

    /// The one that is called so, in small letters or not.
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
    use super::super::testing::{assert_fault, options};
    use super::*;

    #[test]
    fn it_is_one_of_three() {
        for program in TexProgram::ALL {
            let text = format!(r#"{{"engine":"{}"}}"#, program.name());
            assert_eq!(options(&text).tex, Some(program));
        }
        assert_eq!(options(r#"{"engine":""}"#).tex, None);
        assert_fault(r#"{"engine":"tex"}"#, "/formatOpts/engine", "one of pdflatex, lualatex, xelatex");
        assert_fault(r#"{"engine":1}"#, "/formatOpts/engine", "must be a string");
    }
}
