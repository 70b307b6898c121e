//! Which preambles have been seen, and the formats of those that come again.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engines::tex::hash::Key;

/// Most preambles that are remembered.
const ENTRIES_LIMIT: usize = 4_096;

pub(super) trait Format {
    /// How much of the disk it takes.
    fn bytes(&self) -> u64;
    /// Whether it is still there.
    fn exists(&self) -> bool;
}

/// The preambles; the least recently used is evicted.
#[derive(Debug)]
pub(super) struct Table<F> {
    entries: HashMap<Key, Entry<F>>,
    /// Counts the uses: the greatest number was used last.
    uses: u64,
    bytes: u64,
    limit_bytes: u64,
}

#[derive(Debug)]
struct Entry<F> {
    state: State<F>,
    used: u64,
}

#[derive(Debug)]
enum State<F> {
    /// One document had it.
    Seen,
    /// Under a [`FormatReservation`].
    Making,
    Ready(Arc<F>),
    /// No format is made for it: a test failed, or the key stands for a warning that was given.
    Impossible,
}

/// The answer for a preamble.
#[derive(Debug)]
pub(super) enum Found<F> {
    Ready(Arc<F>),
    /// It has come again without a format: the caller is to make it.
    Wanted,
    /// No format, and the caller is not to make one.
    Nothing,
}

impl<F: Format> Table<F> {
    /// A table for formats of `limit_bytes` together; with 0 nothing is remembered.
    pub fn new(limit_bytes: u64) -> Self {
        Self { entries: HashMap::new(), uses: 0, bytes: 0, limit_bytes }
    }

    /// The bytes of all formats.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The format of `key`, which counts as a use. `may_make`: the caller could make it now.
    pub fn find(&mut self, key: Key, may_make: bool) -> Found<F> {
        if self.limit_bytes == 0 {
            return Found::Nothing;
        }
        self.uses += 1;
        let used = self.uses;
        let Some(entry) = self.entries.get_mut(&key) else {
            self.note(key, State::Seen);
            return Found::Nothing;
        };
        entry.used = used;
        match &entry.state {
            State::Ready(format) if format.exists() => Found::Ready(Arc::clone(format)),
            State::Seen | State::Ready(_) if may_make => {
                self.note(key, State::Making);
                Found::Wanted
            }
            State::Seen | State::Ready(_) | State::Making | State::Impossible => Found::Nothing,
        }
    }

    /// Stores the format of `key` and returns how many others were evicted for it; `None` where it is itself too large.
    pub fn keep(&mut self, key: Key, format: F) -> Option<u64> {
        if format.bytes() > self.limit_bytes {
            self.refuse(key);
            return None;
        }
        let left = self.limit_bytes - format.bytes();
        let mut evicted = 0;
        while self.bytes > left && self.evict(|state| matches!(state, State::Ready(_))) {
            evicted += 1;
        }
        self.note(key, State::Ready(Arc::new(format)));
        Some(evicted)
    }

    /// None can be made for `key`.
    pub fn refuse(&mut self, key: Key) {
        self.note(key, State::Impossible);
    }

    /// Making the format of `key` was given up: the next document with this preamble may make it.
    fn give_up(&mut self, key: Key) {
        if self.entries.get(&key).is_some_and(|entry| matches!(entry.state, State::Making)) {
            self.note(key, State::Seen);
        }
    }

    /// Sets the state of `key`, which counts as a use.
    fn note(&mut self, key: Key, state: State<F>) {
        self.remove(&key);
        if self.entries.len() >= ENTRIES_LIMIT {
            self.evict(|state| !matches!(state, State::Making));
        }
        if let State::Ready(format) = &state {
            self.bytes += format.bytes();
        }
        self.entries.insert(key, Entry { state, used: self.uses });
    }

    /// Forgets the least recently used of those with such a state.
    fn evict(&mut self, is_one: impl Fn(&State<F>) -> bool) -> bool {
        let found = self.entries.iter().filter(|(_, entry)| is_one(&entry.state));
        let first = found.min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
        first.is_some_and(|key| self.remove(&key))
    }

    fn remove(&mut self, key: &Key) -> bool {
        let removed = self.entries.remove(key);
        if let Some(Entry { state: State::Ready(format), .. }) = &removed {
            self.bytes -= format.bytes();
        }
        removed.is_some()
    }
}

/// The right to make a format. Hazard: after a panic its preamble would stay `Making`, which is never made again nor
/// evicted. So dropping this sets it back to `Seen`.
pub(super) struct FormatReservation<F: Format> {
    table: Arc<Mutex<Table<F>>>,
    key: Key,
}

impl<F: Format> FormatReservation<F> {
    /// For the caller that found the format of `key` [`Wanted`](Found::Wanted).
    pub fn new(table: Arc<Mutex<Table<F>>>, key: Key) -> Self {
        Self { table, key }
    }

    /// Records the outcome. Returns how many formats were evicted, `None` where none was stored, and the bytes of all formats.
    pub fn finish(self, made: Option<F>) -> (Option<u64>, u64) {
        let mut table = self.table.lock();
        let kept = if let Some(format) = made {
            table.keep(self.key, format)
        } else {
            table.refuse(self.key);
            None
        };
        (kept, table.bytes())
    }
}

impl<F: Format> Drop for FormatReservation<F> {
    fn drop(&mut self) {
        self.table.lock().give_up(self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A format of so many bytes.
    struct Sized(u64);

    impl Format for Sized {
        fn bytes(&self) -> u64 {
            self.0
        }

        fn exists(&self) -> bool {
            self.0 != 13
        }
    }

    fn key(number: u64) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        key
    }

    /// What is found, in a word.
    fn word(table: &mut Table<Sized>, number: u64) -> &'static str {
        match table.find(key(number), true) {
            Found::Ready(_) => "ready",
            Found::Wanted => "wanted",
            Found::Nothing => "nothing",
        }
    }

    #[test]
    fn a_format_is_made_for_the_second_use_and_by_one() {
        let mut table = Table::new(100);
        assert_eq!(word(&mut table, 1), "nothing");
        assert!(matches!(table.find(key(1), false), Found::Nothing));
        assert_eq!([1, 1, 1].map(|number| word(&mut table, number)), ["wanted", "nothing", "nothing"]);
        assert_eq!(table.keep(key(1), Sized(10)), Some(0));
        assert_eq!([1, 2].map(|number| word(&mut table, number)), ["ready", "nothing"]);
        assert_eq!(word(&mut table, 2), "wanted");
        table.refuse(key(2));
        assert_eq!([2, 2].map(|number| word(&mut table, number)), ["nothing"; 2]);
        // A format whose file was deleted is made again.
        table.keep(key(3), Sized(13));
        assert_eq!([3, 3].map(|number| word(&mut table, number)), ["wanted", "nothing"]);
        let mut closed = Table::<Sized>::new(0);
        assert_eq!([1, 1].map(|number| word(&mut closed, number)), ["nothing"; 2]);
    }

    #[test]
    fn a_making_that_panics_leaves_the_preamble_to_the_next_document() {
        let table = Arc::new(Mutex::new(Table::<Sized>::new(100)));
        let find = |number| word(&mut table.lock(), number);
        assert_eq!([1, 1, 1].map(find), ["nothing", "wanted", "nothing"]);
        let reserved = FormatReservation::new(Arc::clone(&table), key(1));
        let panicked = std::thread::spawn(move || {
            let _reserved = reserved;
            panic!("as something in a making may");
        });
        assert!(panicked.join().is_err());
        assert_eq!(find(1), "wanted", "no one is making it any more");
        assert_eq!(FormatReservation::new(Arc::clone(&table), key(1)).finish(Some(Sized(10))), (Some(0), 10));
        assert_eq!(find(1), "ready", "what was kept stays");
        assert_eq!(FormatReservation::new(Arc::clone(&table), key(2)).finish(None), (None, 10));
        assert_eq!(find(2), "nothing", "what was refused does");
    }

    #[test]
    fn the_bound_holds_and_what_was_used_last_stays() {
        let mut table = Table::new(100);
        for number in 1..=2 {
            table.keep(key(number), Sized(40));
            word(&mut table, number);
        }
        word(&mut table, 1);
        assert_eq!((table.keep(key(3), Sized(60)), table.bytes()), (Some(1), 100));
        assert_eq!([1, 2, 3].map(|number| word(&mut table, number)), ["ready", "nothing", "ready"]);
        assert_eq!(table.keep(key(4), Sized(101)), None);
        assert_eq!(
            ([4, 1].map(|number| word(&mut table, number)), table.bytes()),
            (["nothing", "ready"], 100)
        );
        assert_eq!((table.keep(key(5), Sized(100)), table.bytes()), (Some(2), 100));
        // Its own place is free for its successor.
        assert_eq!((table.keep(key(5), Sized(90)), table.bytes()), (Some(1), 90));
        for number in 10..10_000 {
            word(&mut table, number);
            assert!(table.entries.len() <= ENTRIES_LIMIT);
        }
        assert_eq!(table.bytes(), 0, "formats that were not used for long are evicted");
    }
}
