//! A source map: which line of which of the author's files a line of an assembled text comes from.
//!
//! The template engine records (`assets/lines.js`) where each segment of its output begins and which line wrote it. The record,
//! an [`EncodedSourceMap`], is decoded only when TeX reports an error in a line. Template code can forge it, so it is read as
//! untrusted input; a forged one only misleads its own author.

use bytes::Bytes;

/// The longest encoded map that is accepted.
const LIMIT_BYTES: usize = 4 << 20;
/// A segment has file and line in one number: file times this, plus line.
const LINES: u64 = 1 << 21;

/// The source map of one text as the engine wrote it: a line with the paths of the files as a JSON array, then two numbers a
/// segment, separated by blanks: where the segment begins in the text (in UTF-16 units), and `2 * place`, plus 1 for the
/// value of a tag. A `place` of 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedSourceMap(Bytes);

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
pub struct SourceMap {
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

/// A stretch of the text that one line of a file wrote.
#[derive(Clone, Copy)]
struct Segment {
    /// The line that wrote it; `None` where that is unknown.
    place: Option<LineRef>,
    /// It is the value of a tag: its line breaks are not in the file, so all of its lines come from the line of the tag.
    is_value: bool,
}

/// The encoded map is malformed.
struct Malformed;

impl EncodedSourceMap {
    /// The map as received; `None` if it is empty or too long.
    pub fn new(encoded: Bytes) -> Option<Self> {
        (1..=LIMIT_BYTES).contains(&encoded.len()).then_some(Self(encoded))
    }

    /// The source map of `text`; `None` if it is malformed.
    pub fn decode(&self, text: &str) -> Option<SourceMap> {
        let encoded = std::str::from_utf8(&self.0).ok()?;
        let (files, segments) = encoded.split_once('\n')?;
        let files: Vec<String> = serde_json::from_str(files).ok()?;
        let mut map = SourceMap { files, runs: Vec::new() };
        map.read(text, segments).ok()?;
        Some(map)
    }
}

impl SourceMap {
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

    /// A line comes from the segment of its first visible character; a blank one from that of its line break.
    fn read(&mut self, text: &str, segments: &str) -> Result<(), Malformed> {
        let mut segments = read_segments(segments).peekable();
        let mut advance = |segment: &mut Segment, at: u64| -> Result<(), Malformed> {
            while let Some(next) = segments.next_if(|next| !matches!(next, Ok((begin, _)) if *begin > at)) {
                (_, *segment) = next?;
            }
            Ok(())
        };
        let mut segment = Segment { place: None, is_value: false };
        let (mut at, mut number) = (0, 1);
        let mut first_visible = None;
        for letter in text.chars() {
            advance(&mut segment, at)?;
            if letter == '\n' {
                self.add(number, first_visible.take().unwrap_or(segment.place));
                number += 1;
                if let Some(place) = segment.place.as_mut().filter(|_| !segment.is_value) {
                    place.line = place.line.saturating_add(1);
                }
            } else if first_visible.is_none() && !letter.is_whitespace() {
                first_visible = Some(segment.place);
            }
            at += letter.len_utf16() as u64;
        }
        advance(&mut segment, at)?;
        self.add(number, first_visible.unwrap_or(segment.place));
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

/// The segments in their order, each with where it begins.
fn read_segments(text: &str) -> impl Iterator<Item = Result<(u64, Segment), Malformed>> {
    let mut numbers = text.split(' ');
    std::iter::from_fn(move || {
        let begin = numbers.next().filter(|begin| !begin.is_empty())?;
        Some(numbers.next().and_then(|code| read_segment(begin, code)).ok_or(Malformed))
    })
}

fn read_segment(begin: &str, code: &str) -> Option<(u64, Segment)> {
    let (begin, code): (u64, u64) = (begin.parse().ok()?, code.parse().ok()?);
    let (is_value, code) = (code % 2 == 1, code / 2);
    let place = if code == 0 { None } else { Some(line_ref(code)?) };
    Some((begin, Segment { place, is_value }))
}

fn line_ref(code: u64) -> Option<LineRef> {
    Some(LineRef { file: u32::try_from(code / LINES).ok()?, line: u32::try_from(code % LINES).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An encoded segment that begins at `at` and was written by this line of a file.
    fn segment(at: u64, file: u64, line: u64, is_value: bool) -> String {
        format!("{at} {}", (file * LINES + line) * 2 + u64::from(is_value))
    }

    fn map(text: &str, segments: &[String]) -> Option<SourceMap> {
        let encoded = format!("[\"main.tex\",\"row.tex\"]\n{}", segments.join(" "));
        EncodedSourceMap::new(encoded.into()).unwrap().decode(text)
    }

    fn origins(map: &SourceMap, lines: u32) -> Vec<String> {
        let origin = |line| match map.origin(line) {
            Some(Origin { file, line }) => format!("{}:{line}", &file[..1]),
            None => "?".to_owned(),
        };
        (1..=lines).map(origin).collect()
    }

    #[test]
    fn a_line_comes_from_the_segment_of_its_first_visible_character() {
        // 😀 has two units where segments are counted.
        let text = "a\n😀b\n  row\n\nmore\nend\n";
        let segments = [(0, 0, 1), (8, 1, 1), (12, 0, 3), (18, 0, 9)];
        let map = map(text, &segments.map(|(at, file, line)| segment(at, file, line, false))).unwrap();
        assert_eq!(origins(&map, 7), ["m:1", "m:2", "r:1", "m:3", "m:4", "m:9", "m:10"]);
        assert_eq!(map.runs.len(), 4, "lines that follow each other are one run: {:?}", map.runs);
        assert_eq!(map.origin(0), None);
        assert_eq!(map.origin(100).map(|origin| origin.file), Some("main.tex"));
    }

    #[test]
    fn lines_of_a_value_come_from_its_tag_and_lines_of_unknown_segments_from_nowhere() {
        let text = "x one\ntwo\nthree y\nz\nlost\n";
        let of_line = |at, is_value| segment(at, 0, 4, is_value);
        let segments = [of_line(0, false), of_line(2, true), of_line(15, false), "20 0".to_owned()];
        let map = map(text, &segments).unwrap();
        assert_eq!(origins(&map, 6), ["m:4", "m:4", "m:4", "m:5", "?", "?"]);
        assert_eq!(map.runs.len(), 3, "{:?}", map.runs);
    }

    #[test]
    fn a_loop_makes_a_run_an_iteration_and_a_malformed_map_is_refused() {
        let text = "r\ns\n".repeat(1_000);
        let segments: Vec<_> = (0..1_000).map(|turn| segment(turn * 4, 0, 7, false)).collect();
        let map = map(&text, &segments).unwrap();
        assert_eq!((map.runs.len(), map.origin(1_999).unwrap().line), (1_000, 7));
        assert_eq!(map.origin(2_000).unwrap().line, 8);
        let decode = |encoded: &'static str| {
            EncodedSourceMap::new(Bytes::from_static(encoded.as_bytes())).and_then(|map| map.decode("a\nb"))
        };
        for encoded in ["", "x", "[]", "[]\nx", "[]\n1", "[]\n1 -2", "[1]\n", "[]\n0 99999999999999999999999"]
        {
            assert_eq!(decode(encoded), None, "{encoded}");
        }
        let none = decode("[]\n0 99 0 4").unwrap();
        assert_eq!(none.origin(1), None, "a file that is not there");
        let back = decode("[\"a\"]\n9 4 0 6").unwrap();
        assert_eq!(back.origin(2), None, "segments out of order say nothing");
    }
}
