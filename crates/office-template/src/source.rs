//! What is filled: a part of the document, and the documents that its tags include.

use std::collections::BTreeMap;

use crate::dependents::Dependent;
use crate::lexer::Delimiters;
use crate::package::relationships::Known;
use crate::plan::Bookmarks;
use crate::program::Step;

/// The part that is being written.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Its name in the package.
    pub name: &'a str,
    pub xml: &'a [u8],
    /// The prefix of Word's names in it, with its colon.
    pub prefix: &'a str,
    /// Whether it is the document itself, and no header or note.
    pub is_main: bool,
    /// Whether it is an included document.
    pub is_included: bool,
    /// The number of its first tag.
    pub first: usize,
    /// Which of `documents` a tag includes, by the tag's index in the part.
    pub includes: &'a BTreeMap<usize, usize>,
    pub documents: &'a [Document],
    /// Which of `dependents` a reference leads to, by its offset in the part.
    pub references: &'a BTreeMap<usize, usize>,
    pub dependents: &'a [Dependent],
    /// The bookmarks of all parts that lie whole in one place.
    pub bookmarks: &'a Bookmarks,
    /// Those of the part. Where it is read twice, as one that a section writes and by itself, the sections in it have other tags.
    pub own_bookmarks: &'a Bookmarks,
    /// The caller's delimiters; `None` where they are detected.
    pub delimiters: Option<&'a Delimiters>,
    /// The name of the document's main part, and the namespace of its styles and lists.
    pub root: (&'a str, &'a str),
}

pub(crate) struct Document {
    pub name: String,
    pub file: Vec<u8>,
    pub part: crate::PartPlan,
    pub is_strict: bool,
    /// The program's steps for it, and the number of its tags, those of documents in it included.
    pub steps: Vec<Step>,
    pub tags: usize,
    /// Its main part's relationships.
    pub relationships: Known,
}
