//! Bookmarks of turns, and the names by which the turn refers to them.

use super::Filler;
use crate::plan::{Bookmark, BookmarkName};

impl Filler<'_, '_> {
    /// Writes one end of a bookmark.
    pub(super) fn bookmark(&mut self, bookmark: &Bookmark) {
        let text = |range: &std::ops::Range<usize>| {
            let bytes = self.source.xml.get(range.clone()).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        let id = text(&bookmark.id);
        let Some(place) = &bookmark.name else {
            match self.bookmark_ids.remove(&id) {
                Some(number) => {
                    self.raw(bookmark.whole.start..bookmark.id.start);
                    self.out.extend_from_slice(number.as_bytes());
                    self.raw(bookmark.id.end..bookmark.whole.end);
                }
                None if self.is_first(bookmark.whole.start) => self.raw(bookmark.whole.clone()),
                None => {}
            }
            return;
        };
        let name = text(place);
        let Some(path) = self.path_of(&name) else {
            // Its ends are in different sections: the first copy keeps both.
            if self.is_first(bookmark.whole.start) {
                self.raw(bookmark.whole.clone());
            }
            return;
        };
        let (number, name) = if let Some(name) = self.name_in_copy(&name, &path, true) {
            (self.package.number().to_string(), name)
        } else if path.is_empty() {
            self.package.dependents.kept_bookmarks.insert(name.clone());
            (id.clone(), name)
        } else {
            (self.package.number().to_string(), self.first_name(name, path))
        };
        let mut edits = [(&bookmark.id, &number), (place, &name)];
        edits.sort_by_key(|(range, _)| range.start);
        let mut from = bookmark.whole.start;
        for (range, text) in edits {
            self.raw(from..range.start);
            self.out.extend_from_slice(text.as_bytes());
            from = range.end;
        }
        self.raw(from..bookmark.whole.end);
        self.bookmark_ids.insert(id, number);
    }

    /// Writes the name of a bookmark where something refers to it.
    pub(super) fn bookmark_name(&mut self, name: &BookmarkName) {
        let path = self.path_of(&name.name);
        let in_copy = path.as_ref().and_then(|path| self.name_in_copy(&name.name, path, false));
        let path = path.unwrap_or_default();
        let written = match in_copy {
            Some(written) => written,
            None if path.is_empty() => name.name.clone(),
            None => self.name_in_turn(&name.name, path),
        };
        self.out.extend_from_slice(written.as_bytes());
        self.copied = name.range.end;
    }

    /// Which turns of the sections around the bookmark are being written, without first ones at the end: the first turn of an
    /// inner section has the bookmark that the outer section refers to, and the first turns of all have the template's. `None`
    /// where no bookmark of this name lies whole in one place.
    fn path_of(&self, name: &str) -> Option<Vec<usize>> {
        let around = self.source.bookmarks.get(name).filter(|_| !self.source.is_included)?;
        let turns = around.iter().zip(&self.turns).take_while(|(tag, turn)| **tag == turn.tag);
        Some(without_first(turns.map(|(_, turn)| turn.index).collect()))
    }

    /// The name of a bookmark of this part, where the part is a copy and another one has the name of this turn: the part that
    /// stands outside of sections, or one that another place refers to.
    fn name_in_copy(&mut self, name: &str, path: &[usize], is_begin: bool) -> Option<String> {
        if !self.is_again || !is_begin && !self.has_bookmark(name) {
            if is_begin {
                self.begin(name, path);
            }
            return None;
        }
        // Within the copy only the turns of its own sections count, whatever is around the place that refers to it.
        let around = self.source.bookmarks.get(name)?;
        let turns = self.turns.iter().filter(|turn| around.contains(&turn.tag));
        let key = (name.to_owned(), without_first(turns.map(|turn| turn.index).collect()));
        if let Some(known) = self.copy_names.get(&key) {
            return Some(known.clone());
        }
        let is_free = !path.is_empty() && self.begin(name, path);
        if is_free {
            return None;
        }
        let new = self.new_name(name);
        self.copy_names.insert(key, new.clone());
        Some(new)
    }

    /// Whether no other part has written this bookmark in this turn; from now on it is this one's.
    fn begin(&mut self, name: &str, path: &[usize]) -> bool {
        let key = (name.to_owned(), path.to_vec());
        if self.begun.contains(&key) {
            return true;
        }
        let is_free = self.package.dependents.begun.insert(key.clone());
        if is_free {
            self.begun.insert(key);
        }
        is_free
    }

    /// Whether the part has the begin of this bookmark.
    fn has_bookmark(&self, name: &str) -> bool {
        let quoted = [b'"', b'\''].map(|quote| [b":name=", &[quote][..], name.as_bytes(), &[quote]].concat());
        quoted.iter().any(|name| memchr::memmem::find(self.source.xml, name).is_some())
    }

    /// The name of a bookmark that is not in the first turn. If it is the first one that is written at all, as behind turns
    /// without one, it has the template's name: references from outside lead to it.
    fn first_name(&mut self, name: String, path: Vec<usize>) -> String {
        let written = &mut self.package.dependents;
        let key = (name, path);
        let may_have_it = !self.stands_outside && !written.bookmarks.contains_key(&key);
        if may_have_it && written.kept_bookmarks.insert(key.0.clone()) {
            let name = key.0.clone();
            written.bookmarks.insert(key, name.clone());
            return name;
        }
        self.name_in_turn(&key.0, key.1)
    }

    fn name_in_turn(&mut self, name: &str, path: Vec<usize>) -> String {
        let key = (name.to_owned(), path);
        if let Some(known) = self.package.dependents.bookmarks.get(&key) {
            return known.clone();
        }
        let new = self.new_name(name);
        self.package.dependents.bookmarks.insert(key, new.clone());
        new
    }

    /// A name that no bookmark has, like `name`.
    fn new_name(&mut self, name: &str) -> String {
        /// Word's names of bookmarks have 40 characters at most, and the number has up to ten.
        const CHARACTERS: usize = 28;
        let short: String =
            if name.contains('&') { "b".to_owned() } else { name.chars().take(CHARACTERS).collect() };
        loop {
            let new = format!("{short}_{}", self.package.number());
            if !self.source.bookmarks.contains_key(&new) {
                return new;
            }
        }
    }
}

/// The indices of turns without first ones at the end.
fn without_first(mut turns: Vec<usize>) -> Vec<usize> {
    while turns.pop_if(|index| *index == 0).is_some() {}
    turns
}
