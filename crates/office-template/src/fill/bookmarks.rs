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
        let (number, name) = if path.is_empty() {
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
        let path = self.path_of(&name.name).unwrap_or_default();
        let written = if path.is_empty() { name.name.clone() } else { self.name_in_turn(&name.name, path) };
        self.out.extend_from_slice(written.as_bytes());
        self.copied = name.range.end;
    }

    /// Which turns of the sections around the bookmark are being written, without first ones at the end: the first turn of an
    /// inner section has the bookmark that the outer section refers to, and the first turns of all have the template's. `None`
    /// where no bookmark of this name lies whole in one place.
    fn path_of(&self, name: &str) -> Option<Vec<usize>> {
        let around = self.source.bookmarks.get(name).filter(|_| !self.source.is_included)?;
        let turns = around.iter().zip(&self.turns).take_while(|(tag, turn)| **tag == turn.tag);
        let mut path: Vec<usize> = turns.map(|(_, turn)| turn.index).collect();
        while path.pop_if(|index| *index == 0).is_some() {}
        Some(path)
    }

    /// The name of a bookmark that is not in the first turn. If it is the first one that is written at all, as behind turns
    /// without one, it has the template's name: references from outside lead to it.
    fn first_name(&mut self, name: String, path: Vec<usize>) -> String {
        let written = &mut self.package.dependents;
        let key = (name, path);
        if !written.bookmarks.contains_key(&key) && written.kept_bookmarks.insert(key.0.clone()) {
            let name = key.0.clone();
            written.bookmarks.insert(key, name.clone());
            return name;
        }
        self.name_in_turn(&key.0, key.1)
    }

    fn name_in_turn(&mut self, name: &str, path: Vec<usize>) -> String {
        /// Word's names of bookmarks have 40 characters at most, and the number has up to ten.
        const CHARACTERS: usize = 28;
        let key = (name.to_owned(), path);
        if let Some(known) = self.package.dependents.bookmarks.get(&key) {
            return known.clone();
        }
        let short: String =
            if name.contains('&') { "b".to_owned() } else { name.chars().take(CHARACTERS).collect() };
        let new = loop {
            let new = format!("{short}_{}", self.package.number());
            if !self.source.bookmarks.contains_key(&new) {
                break new;
            }
        };
        self.package.dependents.bookmarks.insert(key, new.clone());
        new
    }
}
