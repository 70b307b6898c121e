//! The steps of a section of rows, and of the sections of columns open in it, while the tags are read.

use super::tags::{Found, Section};
use crate::lexer::Tag;
use crate::program::{Step, step};
use crate::tags::list;

/// A scope that is being filled with steps.
#[derive(Default)]
pub(super) struct Frame {
    pub steps: Vec<Step>,
    /// The open sections of columns, outermost first: their numbers, the row they are open in, and their steps.
    pub columns: Vec<(usize, u32, Vec<Step>)>,
}

/// The sections of a sheet, its tags, and the number of the first of these.
pub(super) type All<'p> = (&'p [Section], &'p [Found], usize);

impl Frame {
    /// The indices of the open sections of columns, each in the scope around it, and that of the next step in the innermost one.
    pub(super) fn slots(&self) -> (Vec<usize>, usize) {
        let mut slots = vec![self.steps.len()];
        slots.extend(self.columns.iter().map(|(_, _, steps)| steps.len()));
        let at = slots.pop().unwrap_or_default();
        (slots, at)
    }

    /// Ends the open sections of columns, but the outermost ones that `columns` begins with and that are open in `row`.
    pub(super) fn close(&mut self, (columns, row): (&[usize], u32), (sections, found, first): All<'_>) {
        let same = self
            .columns
            .iter()
            .zip(columns)
            .take_while(|((number, at, _), other)| number == *other && *at == row);
        let same = same.count();
        while self.columns.len() > same {
            let Some((number, _, steps)) = self.columns.pop() else { break };
            let Some(section) = sections.get(number) else { continue };
            if let Some(step) = section_step(section, (found, first), steps, "columns") {
                self.columns.last_mut().map_or(&mut self.steps, |(_, _, steps)| steps).push(step);
            }
        }
    }
}

pub(super) fn section_step(
    section: &Section,
    (found, first): (&[Found], usize),
    body: Vec<Step>,
    kind: &'static str,
) -> Option<Step> {
    let open = found.get(section.open)?;
    let kind = if matches!(open.tag, Tag::Otherwise(_)) { "otherwise" } else { kind };
    Some(step(kind, first + section.open, list(&open.tag)?).with_body(body))
}
