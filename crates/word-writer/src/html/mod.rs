//! Rich text as editors write it, read into the model.

mod colour;
mod css;
mod flow;
mod lists;
mod look;
mod own;
mod parse;
mod tables;
mod tree;
mod walk;

use crate::limits::{Error, Limits};
use crate::model::Document;

/// What a text says.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The text as blocks.
    pub document: Document,
    /// What could not be taken over, in sentences.
    pub warnings: Vec<String>,
}

/// Reads HTML by the rules that browsers follow, whatever it looks like.
///
/// # Errors
///
/// [`Error`] for a text that passes a limit.
pub fn read(html: &str, limits: &Limits) -> Result<Reading, Error> {
    let tree = parse::parse(html, limits)?;
    let (document, warnings) = walk::walk(&tree, limits);
    Ok(Reading { document, warnings })
}
