//! How templates of a language are spoken that is not HTML, in a machine in which no template's code has run.

use std::cell::OnceCell;

use javascriptcore6::Value;
use platen::workers::assemble::Language;

use crate::machine::{Machine, Thrown};

const LATEX: &str = include_str!("../../../assets/latex.js");
const LINES: &str = include_str!("../../../assets/lines.js");

/// The place of a machine's speech, loaded once something needs it.
#[derive(Default)]
pub struct Speaking(OnceCell<Speech>);

/// No template's code gets hold of these.
pub struct Speech {
    /// What `latex.js` makes.
    latex: Value,
    /// Keeps notes of where a text comes from.
    pub lines: Value,
}

impl Speaking {
    /// How `language` is spoken; `None` for HTML.
    pub fn of(&self, language: Language, machine: &Machine) -> Result<Option<&Speech>, Thrown> {
        if language == Language::Html {
            return Ok(None);
        }
        if let Some(speech) = self.0.get() {
            return Ok(Some(speech));
        }
        let latex = machine.evaluate(LATEX, "latex")?;
        let lines = machine.call(&machine.evaluate(LINES, "lines")?, &[])?;
        let speech = Speech { latex, lines };
        Ok(Some(self.0.get_or_init(|| speech)))
    }

    /// What was noted of the text that was made last, in at most so many bytes; else nothing.
    pub fn notes(&self, machine: &Machine, limit_bytes: u64) -> String {
        let told = |speech: &Speech| machine.text_of(&Machine::member(&speech.lines, "told").ok()?, &[]).ok();
        self.0.get().and_then(told).filter(|notes| notes.len() as u64 <= limit_bytes).unwrap_or_default()
    }
}

impl Speech {
    /// A function of the language's.
    pub fn member(&self, name: &str) -> Result<Value, Thrown> {
        Machine::member(&self.latex, name)
    }

    /// What the renderer is told; `is_run`: somebody asks where its text comes from.
    pub fn spoken(&self, machine: &Machine, is_run: bool) -> Result<Value, Thrown> {
        let mut members = vec![("escape", self.member("escape")?), ("prepare", self.member("prepare")?)];
        if is_run {
            members.push(("lines", self.lines.clone()));
        }
        machine.object(&members)
    }
}
