//! What can become what, and who does it.

pub mod assemble;
pub mod render;
pub mod thread;

use crate::domain::kinds::{Target, TemplateKind};

/// How a template and its data become a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembly {
    /// EJS over the entry, with the data as locals.
    Ejs,
}

/// How a page becomes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// The page is the file; where it has files beside it, Chromium puts them in.
    Page,
    /// Chromium prints it.
    Print,
    /// Chromium takes its picture.
    Picture,
}

/// The engines that make a target of a kind, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// First.
    pub assembly: Assembly,
    /// Then.
    pub rendering: Rendering,
}

/// The one table of what can become what; `None`: nobody can do it.
#[must_use]
pub fn plan(kind: TemplateKind, target: Target) -> Option<Chain> {
    let assembly = match kind {
        TemplateKind::Html | TemplateKind::Ejs | TemplateKind::Framework => Assembly::Ejs,
        TemplateKind::Latex | TemplateKind::Pptx | TemplateKind::Xlsx | TemplateKind::Docx => return None,
    };
    let rendering = match target {
        Target::Html => Rendering::Page,
        Target::Pdf => Rendering::Print,
        Target::Jpg | Target::Png => Rendering::Picture,
        Target::Pptx | Target::Xlsx | Target::Docx => return None,
    };
    Some(Chain { assembly, rendering })
}

/// What a kind can become, for the sentence that refuses something else.
#[must_use]
pub fn targets_of(kind: TemplateKind) -> Vec<Target> {
    Target::ALL.into_iter().filter(|&target| plan(kind, target).is_some()).collect()
}

/// The table as text: a line a kind, a column a target.
#[must_use]
pub fn matrix() -> String {
    let head = line("", Target::ALL.map(Target::name));
    let lines = TemplateKind::ALL.map(|kind| line(kind.name(), Target::ALL.map(|target| cell(kind, target))));
    head + &lines.concat()
}

fn line(name: &str, cells: [&str; 7]) -> String {
    let cells = cells.map(|cell| format!("{cell:<9}")).concat();
    format!("{name:<11}{}\n", cells.trim_end())
}

fn cell(kind: TemplateKind, target: Target) -> &'static str {
    match plan(kind, target).map(|chain| chain.rendering) {
        Some(Rendering::Page) => "page",
        Some(Rendering::Print) => "print",
        Some(Rendering::Picture) => "picture",
        None => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed table: a changed cell shows as one line of the diff.
    #[test]
    fn all_cells_are_as_committed() {
        assert_eq!(matrix(), include_str!("../../docs/matrix.txt"));
    }

    #[test]
    fn the_targets_of_a_kind_are_those_with_a_plan() {
        assert_eq!(
            targets_of(TemplateKind::Framework),
            [Target::Jpg, Target::Png, Target::Html, Target::Pdf]
        );
        assert_eq!(targets_of(TemplateKind::Latex), []);
    }
}
