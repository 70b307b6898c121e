//! A source map: which line of which of the author's files a line of an assembled text comes from.
//!
//! The template engine records (`assets/lines.js`) where each piece of its output begins and which line wrote it. The record is
//! parsed only when TeX reports an error in a line. Template code can forge it, so it is parsed as untrusted input; a forged
//! one only misleads its own author.

use std::num::{ParseIntError, TryFromIntError};

use bytes::Bytes;

/// Longest notes that are accepted.
const LIMIT_BYTES: usize = 4 << 20;
/// A note encodes file and line in one number: file times this, plus line.
const LINES: u64 = 1 << 21;

/// The notes of one text, as the engine wrote them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes(Bytes);

/// A line of a file that an author wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    /// The file's path in the template.
    pub file: &'a str,
    /// Counted from 1.
    pub line: u32,
}

/// Where each line of a text comes from; consecutive lines of a file are one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineMap {
    files: Vec<String>,
    runs: Vec<Run>,
}

/// Lines of the text from `from`, counted from 1, up to the next run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    from: u32,
    place: Option<LineRef>,
    /// Whether each line of the text is the next one of the file; otherwise all come from the same line.
    is_rising: bool,
}

/// A line of a file, by the file's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineRef {
    file: u32,
    line: u32,
}

/// Who wrote the text behind a note.
#[derive(Clone, Copy)]
struct Writer {
    place: Option<LineRef>,
    /// The value of a tag, whose line breaks are not in the file.
    is_value: bool,
}

/// The notes are malformed.
struct Unreadable;

impl Notes {
    /// Notes as received; `None` if they are empty or too long.
    pub fn new(notes: Bytes) -> Option<Self> {
        (1..=LIMIT_BYTES).contains(&notes.len()).then_some(Self(notes))
    }

    /// The line map of `text`; `None` if the notes are malformed.
    pub fn map(&self, text: &str) -> Option<LineMap> {
        let notes = std::str::from_utf8(&self.0).ok()?;
        let (files, notes) = notes.split_once('\n')?;
        let files: Vec<String> = serde_json::from_str(files).ok()?;
        let mut map = LineMap { files, runs: Vec::new() };
        map.read(text, notes).ok()?;
        Some(map)
    }
}

impl LineMap {
    /// Where the line with this number comes from, if known.
    pub fn origin(&self, line: u32) -> Option<Origin<'_>> {
        let at = self.runs.partition_point(|run| run.from <= line).checked_sub(1)?;
        let run = self.runs.get(at)?;
        let LineRef { file, line: first } = run.place?;
        let behind = if run.is_rising { line - run.from } else { 0 };
        Some(Origin {
            file: self.files.get(usize::try_from(file).ok()?)?,
            line: first.saturating_add(behind),
        })
    }

    /// A line belongs to the writer of its first visible character; a blank one to the writer of its line break.
    fn read(&mut self, text: &str, notes: &str) -> Result<(), Unreadable> {
        let mut notes = Notebook::new(notes);
        let mut writer = Writer { place: None, is_value: false };
        let (mut at, mut number) = (0, 1);
        let mut owner = None;
        for letter in text.chars() {
            while let Some(next) = notes.until(at)? {
                writer = next;
            }
            if letter == '\n' {
                self.add(number, owner.take().unwrap_or(writer.place));
                number += 1;
                if let Some(place) = writer.place.as_mut().filter(|_| !writer.is_value) {
                    place.line = place.line.saturating_add(1);
                }
            } else if owner.is_none() && !letter.is_whitespace() {
                owner = Some(writer.place);
            }
            at += letter.len_utf16() as u64;
        }
        while let Some(next) = notes.until(at)? {
            writer = next;
        }
        self.add(number, owner.unwrap_or(writer.place));
        Ok(())
    }

    fn add(&mut self, number: u32, place: Option<LineRef>) {
        if let Some(last) = self.runs.last_mut() {
            let count = number - last.from;
            let is_same = last.place == place;
            let is_next = last.place.zip(place).is_some_and(|(first, place)| {
                first.file == place.file && first.line.saturating_add(count) == place.line
            });
            // The second line of a run decides whether it is rising.
            if (is_same && !last.is_rising) || (is_next && (last.is_rising || count == 1)) {
                last.is_rising = is_next;
                return;
            }
        }
        self.runs.push(Run { from: number, place, is_rising: false });
    }
}

/// Parses notes in their order.
struct Notebook<'n> {
    numbers: std::str::Split<'n, char>,
    next: Option<(u64, Writer)>,
    is_begun: bool,
}

impl<'n> Notebook<'n> {
    fn new(notes: &'n str) -> Self {
        Self { numbers: notes.split(' '), next: None, is_begun: false }
    }

    /// The next note of a piece that begins at `at` or before.
    fn until(&mut self, at: u64) -> Result<Option<Writer>, Unreadable> {
        if !self.is_begun {
            self.is_begun = true;
            self.next = self.read()?;
        }
        match self.next {
            Some((begin, writer)) if begin <= at => {
                self.next = self.read()?;
                Ok(Some(writer))
            }
            _ => Ok(None),
        }
    }

    fn read(&mut self) -> Result<Option<(u64, Writer)>, Unreadable> {
        let Some(begin) = self.numbers.next().filter(|begin| !begin.is_empty()) else { return Ok(None) };
        let begin = begin.parse()?;
        let code: u64 = self.numbers.next().ok_or(Unreadable)?.parse()?;
        let (is_value, code) = (code % 2 == 1, code / 2);
        let place = if code == 0 { None } else { Some(place(code)?) };
        Ok(Some((begin, Writer { place, is_value })))
    }
}

fn place(code: u64) -> Result<LineRef, Unreadable> {
    Ok(LineRef { file: u32::try_from(code / LINES)?, line: u32::try_from(code % LINES)? })
}

impl From<ParseIntError> for Unreadable {
    fn from(_: ParseIntError) -> Self {
        Self
    }
}

impl From<TryFromIntError> for Unreadable {
    fn from(_: TryFromIntError) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note of a piece of the file's line; a value where `is_value`.
    fn note(at: u64, file: u64, line: u64, is_value: bool) -> String {
        format!("{at} {}", (file * LINES + line) * 2 + u64::from(is_value))
    }

    fn map(text: &str, notes: &[String]) -> Option<LineMap> {
        let notes = format!("[\"main.tex\",\"row.tex\"]\n{}", notes.join(" "));
        Notes::new(notes.into()).unwrap().map(text)
    }

    fn origins(map: &LineMap, lines: u32) -> Vec<String> {
        let origin = |line| match map.origin(line) {
            Some(Origin { file, line }) => format!("{}:{line}", &file[..1]),
            None => "?".to_owned(),
        };
        (1..=lines).map(origin).collect()
    }

    #[test]
    fn a_line_belongs_to_the_writer_of_its_first_visible_character() {
        // 😀 has two units where the notes are made.
        let text = "a\n😀b\n  row\n\nmore\nend\n";
        let notes =
            [note(0, 0, 1, false), note(8, 1, 1, false), note(12, 0, 3, false), note(18, 0, 9, false)];
        let map = map(text, &notes).unwrap();
        assert_eq!(origins(&map, 7), ["m:1", "m:2", "r:1", "m:3", "m:4", "m:9", "m:10"]);
        assert_eq!(map.runs.len(), 4, "lines that follow each other are one run: {:?}", map.runs);
        assert_eq!(map.origin(0), None);
        assert_eq!(map.origin(100).map(|origin| origin.file), Some("main.tex"));
    }

    #[test]
    fn lines_of_a_value_belong_to_its_tag_and_lines_behind_the_last_note_to_none() {
        let text = "x one\ntwo\nthree y\nz\nlost\n";
        let notes = [note(0, 0, 4, false), note(2, 0, 4, true), note(15, 0, 4, false), "20 0".to_owned()];
        let map = map(text, &notes).unwrap();
        assert_eq!(origins(&map, 6), ["m:4", "m:4", "m:4", "m:5", "?", "?"]);
        assert_eq!(map.runs.len(), 3, "{:?}", map.runs);
    }

    #[test]
    fn a_loop_makes_a_run_an_iteration_and_forged_notes_are_refused() {
        let text = "r\ns\n".repeat(1_000);
        let notes: Vec<_> = (0..1_000).map(|turn| note(turn * 4, 0, 7, false)).collect();
        let map = map(&text, &notes).unwrap();
        assert_eq!((map.runs.len(), map.origin(1_999).unwrap().line), (1_000, 7));
        assert_eq!(map.origin(2_000).unwrap().line, 8);
        for notes in ["", "x", "[]", "[]\nx", "[]\n1", "[]\n1 -2", "[1]\n", "[]\n0 99999999999999999999999"] {
            let read = Notes::new(Bytes::from_static(notes.as_bytes())).and_then(|notes| notes.map("a\nb"));
            assert_eq!(read, None, "{notes}");
        }
        let none = Notes::new(Bytes::from_static(b"[]\n0 99 0 4")).unwrap().map("a\nb").unwrap();
        assert_eq!(none.origin(1), None, "a file that is not there");
        let back = Notes::new(Bytes::from_static(b"[\"a\"]\n9 4 0 6")).unwrap().map("a\nb").unwrap();
        assert_eq!(back.origin(2), None, "notes of no order say nothing");
    }
}
