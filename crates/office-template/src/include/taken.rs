//! What a package remembers of the documents that were included while it is filled.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::lists::{Lists, Numbering};
use crate::content_types::Kinds;
use crate::source::Document;

/// What a package has got from included documents.
#[derive(Default)]
pub(crate) struct Taken {
    /// The ids of styles that were needed, by kind and name in lower case.
    pub styles: BTreeMap<(String, String), String>,
    /// Documents whose names were calculated.
    pub(super) documents: HashMap<String, Rc<Document>>,
    pub(super) merged: HashMap<String, Merged>,
    /// The names of all bookmarks; `None` until they are needed.
    pub(super) bookmarks: Option<HashSet<String>>,
    /// The lists that are added to the part of lists.
    pub lists: Option<Lists>,
    pub(super) staged: u32,
}

/// What has been copied from a document: its own names and ids, with those in the package.
#[derive(Default)]
pub(super) struct Merged {
    pub styles: BTreeMap<String, String>,
    /// The styles that were looked up; it may define only some of them.
    pub asked: BTreeSet<String>,
    /// Its parts' new names; `None` for one that is missing or may not be copied.
    pub parts: BTreeMap<String, Option<String>>,
    pub kinds: Option<Kinds>,
    pub numbering: Option<Numbering>,
    /// The numbers of lists of styles.
    pub style_lists: BTreeMap<String, u64>,
    pub copies: u32,
    pub warned: BTreeSet<&'static str>,
}
