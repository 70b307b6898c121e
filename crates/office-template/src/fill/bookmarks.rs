//! Bookmarks of turns, and the names by which the turn refers to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Filler;
use crate::dependents::{Begun, Turns, turns_around};
use crate::error::Error;
use crate::package::{Relation, Target};
use crate::plan::{Bookmark, BookmarkName, NameKind, WholeBookmark, key};

/// A bookmark of a turn: its [`key`], and the turns around it.
type Own = (String, Turns);

/// What a part knows of its bookmarks while it is written.
#[derive(Default)]
pub(super) struct Names {
    /// The numbers of bookmarks that have begun, by their ids in the part.
    numbers: BTreeMap<String, String>,
    /// The bookmarks that are this part's, and no other copy's.
    taken: BTreeSet<Own>,
    /// Their names in this copy, where the turn's name is another copy's.
    in_copy: BTreeMap<Own, String>,
    /// What this copy begins; `None` of a part that is no copy.
    pub begun: Option<Begun>,
}

impl Filler<'_, '_> {
    /// Writes one end of a bookmark.
    pub(super) fn bookmark(&mut self, bookmark: &Bookmark) {
        let text = |range: &Range<usize>| {
            let bytes = self.source.xml.get(range.clone()).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        let id = text(&bookmark.id);
        let Some(place) = &bookmark.name else {
            match self.names.numbers.remove(&id) {
                Some(number) => self.edited(&bookmark.whole, &mut [(&bookmark.id, number)]),
                None if self.is_first(bookmark.whole.start) => self.raw(bookmark.whole.clone()),
                None => {}
            }
            return;
        };
        let name = text(place);
        let is_first = self.is_first(bookmark.whole.start);
        let key = key(&name);
        let Some(turns) = self.turns_of(&key) else {
            // Its ends are in different sections: the first copy keeps both.
            if is_first {
                self.raw(bookmark.whole.clone());
            }
            return;
        };
        let number = if is_first { id.clone() } else { self.package.number().to_string() };
        let name = self.name_of((key, turns)).unwrap_or(name);
        self.edited(&bookmark.whole, &mut [(&bookmark.id, number.clone()), (place, name)]);
        self.names.numbers.insert(id, number);
    }

    /// Writes a range of the part with these ranges in it replaced.
    fn edited(&mut self, whole: &Range<usize>, edits: &mut [(&Range<usize>, String)]) {
        edits.sort_by_key(|(range, _)| range.start);
        let mut from = whole.start;
        for (range, text) in edits {
            self.raw(from..range.start);
            self.out.extend_from_slice(text.as_bytes());
            from = range.end;
        }
        self.raw(from..whole.end);
    }

    /// Writes the name of a bookmark where something refers to it, or the id of a relationship that leads to it. A turn without the
    /// bookmark has the author's name for it.
    pub(super) fn bookmark_name(&mut self, name: &BookmarkName) -> Result<(), Error> {
        let key = key(&name.name);
        let written = self.turns_of(&key).and_then(|turns| {
            let in_copy = self.names.begun.as_ref().and_then(|begun| begun.first(&key, &turns)).cloned();
            if let Some(turns) = in_copy {
                return self.name_of((key, turns));
            }
            let turns = self.package.dependents.begun.first(&key, &turns)?.clone();
            self.name_in_turn((key, turns))
        });
        let Some(written) = written else {
            match name.kind {
                NameKind::Text => self.out.extend_from_slice(name.name.as_bytes()),
                NameKind::Link | NameKind::ExternalLink => self.raw(name.range.clone()),
            }
            self.copied = name.range.end;
            return Ok(());
        };
        let address = format!("#{written}");
        let target = match name.kind {
            NameKind::Text => None,
            NameKind::Link => Some(Target::Within(&address)),
            NameKind::ExternalLink => Some(Target::External(&address)),
        };
        let written = match target {
            Some(target) => self.package.relate(self.source.name, Relation::Hyperlink, target)?,
            None => written,
        };
        self.out.extend_from_slice(written.as_bytes());
        self.copied = name.range.end;
        Ok(())
    }

    /// The turns that are being written of the sections around the bookmark of this key. `None` where no such bookmark lies whole in
    /// one place.
    fn turns_of(&self, key: &str) -> Option<Turns> {
        let whole = self.whole(key).filter(|_| !self.source.is_included)?;
        Some(turns_around(&whole.around, self.turns()))
    }

    /// The bookmark of this key: the part's own, or another part's.
    fn whole(&self, key: &str) -> Option<&WholeBookmark> {
        self.source.own_bookmarks.get(key).or_else(|| self.source.bookmarks.get(key))
    }

    /// The turns that are being written, the outermost first.
    pub(super) fn turns(&self) -> impl Iterator<Item = (usize, usize)> {
        self.turns.iter().map(|turn| (turn.tag, turn.index))
    }

    /// The name of a bookmark that this part has; `None` for the author's. The turn's name is that of the first part with it: a
    /// header may have several places in one turn.
    fn name_of(&mut self, own: Own) -> Option<String> {
        if let Some(known) = self.names.in_copy.get(&own) {
            return Some(known.clone());
        }
        let is_others = self.package.dependents.taken.contains(&own) && !self.names.taken.contains(&own);
        if self.is_again && (is_others || own.1.is_empty()) {
            let new = self.new_name(&own.0);
            self.names.in_copy.insert(own, new.clone());
            return Some(new);
        }
        self.package.dependents.taken.insert(own.clone());
        self.names.taken.insert(own.clone());
        self.name_in_turn(own)
    }

    /// The name of a bookmark of a turn. The first one of all has the author's, which is `None`: references from outside of the
    /// sections lead to it.
    fn name_in_turn(&mut self, own: Own) -> Option<String> {
        let written = &self.package.dependents;
        if own.1.is_empty() || written.begun.first(&own.0, &[]) == Some(&own.1) {
            return None;
        }
        if let Some(known) = written.bookmarks.get(&own) {
            return Some(known.clone());
        }
        let new = self.new_name(&own.0);
        self.package.dependents.bookmarks.insert(own, new.clone());
        Some(new)
    }

    /// A name that no bookmark has, like that of the bookmark of this key.
    fn new_name(&mut self, of: &str) -> String {
        /// Word's names of bookmarks have 40 characters at most, and the number has up to ten.
        const CHARACTERS: usize = 28;
        let name = self.whole(of).map_or("b", |whole| &whole.name);
        let short: String =
            if name.contains('&') { "b".to_owned() } else { name.chars().take(CHARACTERS).collect() };
        loop {
            let new = format!("{short}_{}", self.package.number());
            if self.whole(&key(&new)).is_none() {
                return new;
            }
        }
    }
}
