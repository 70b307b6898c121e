//! What LaTeX templates need beside EJS: how values are escaped, and which template line wrote which line of the page.

use std::cell::OnceCell;

use javascriptcore6::Value;
use platen::workers::assemble::Language;

use crate::machine::{Machine, Thrown};

const LATEX: &str = include_str!("../../../assets/latex.js");
const LINES: &str = include_str!("../../../assets/lines.js");

/// Loads [`LatexSupport`] at its first use, which must come before any template code runs in the machine.
#[derive(Default)]
pub struct LazyLatexSupport(OnceCell<LatexSupport>);

/// Functions for LaTeX. Template code has no reference to these objects.
pub struct LatexSupport {
    /// The functions of `latex.js`.
    latex: Value,
    /// The functions of `lines.js`, which record where each line comes from.
    pub lines: Value,
}

impl LazyLatexSupport {
    /// The functions for `language`; `None` for HTML.
    pub fn of(&self, language: Language, machine: &Machine) -> Result<Option<&LatexSupport>, Thrown> {
        let Language::Latex(reader) = language else { return Ok(None) };
        if let Some(support) = self.0.get() {
            return Ok(Some(support));
        }
        let latex = machine.call(&machine.evaluate(LATEX, "latex")?, &[machine.word(reader.name())])?;
        let lines = machine.call(&machine.evaluate(LINES, "lines")?, &[])?;
        let support = LatexSupport { latex, lines };
        Ok(Some(self.0.get_or_init(|| support)))
    }

    /// The line notes of the last page; empty where they are longer than `limit_bytes`.
    pub fn notes(&self, machine: &Machine, limit_bytes: u64) -> String {
        let read = |support: &LatexSupport| {
            machine.text_of(&Machine::member(&support.lines, "notes").ok()?, &[]).ok()
        };
        self.0.get().and_then(read).filter(|notes| notes.len() as u64 <= limit_bytes).unwrap_or_default()
    }
}

impl LatexSupport {
    /// A function of `latex.js`.
    pub fn member(&self, name: &str) -> Result<Value, Thrown> {
        Machine::member(&self.latex, name)
    }

    /// The functions as an object for the renderer; with `notes_lines` also those that record lines.
    pub fn renderer_options(&self, machine: &Machine, notes_lines: bool) -> Result<Value, Thrown> {
        let mut members = vec![("escape", self.member("escape")?), ("prepare", self.member("prepare")?)];
        if notes_lines {
            members.push(("lines", self.lines.clone()));
        }
        machine.object(&members)
    }
}
