//! `engine`: the TeX program for a LaTeX document.

/// A TeX program with LaTeX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
pub enum TexProgram {
    /// The fastest; for Latin scripts, with its own fonts.
    Pdflatex,
    /// All scripts, and the fonts of the machine.
    Lualatex,
    /// All scripts and the machine's fonts, for sources written for `XeTeX`.
    Xelatex,
}

impl TexProgram {
    /// Its name, which is also that of the executable.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The program with this name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantNames as _;

    use super::super::testing::{assert_error, options};
    use super::*;

    #[test]
    fn the_engine_is_one_of_three() {
        for &name in TexProgram::VARIANTS {
            let text = format!(r#"{{"engine":"{name}"}}"#);
            assert_eq!(options(&text).tex.map(TexProgram::name), Some(name));
        }
        assert_eq!(options(r#"{"engine":""}"#).tex, None);
        assert_error(r#"{"engine":"tex"}"#, "/formatOpts/engine", "one of pdflatex, lualatex, xelatex");
        assert_error(r#"{"engine":1}"#, "/formatOpts/engine", "must be a string");
    }
}
