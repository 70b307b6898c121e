//! What hangs on a place of the document and is kept in another part: notes, comments, headers and footers, charts with their
//! workbooks, embedded files.
//!
//! Hazard: where the place is repeated, all copies would refer to the one note or header, which is filled with the data outside
//! of the section. So such a part is taken out of the parts that are filled by themselves: its tags belong to the section, and
//! each turn writes one of its own. What is referred to outside of sections only is not touched.

mod begun;
mod found;
mod model;
mod notes;
mod others;
mod read;
mod walk;
mod written;

pub(crate) use begun::{Begun, Turns, turns_around};
pub(crate) use found::Found;
pub(crate) use model::{Dependent, Kind, Note, Targets};
pub(crate) use others::{Other, Others};
pub(crate) use read::{drawing_id, left, rest};
pub(crate) use walk::{begun_in_document, begun_in_part};
pub(crate) use written::{Comment, Written};
