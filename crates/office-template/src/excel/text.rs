//! The text of a cell: one run, or several with formats of their own (ECMA-376 part 1, 18.4).

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::package::xml::can_stand;
use crate::unfilled::letter;

/// The most characters that Excel lets a cell have (Microsoft, "Excel specifications and limits").
pub(super) const CHARACTERS: usize = 32_767;

/// A piece of a cell's text with one format.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// `<rPr>…</rPr>` as it is written; empty where it has the cell's format.
    pub properties: String,
    pub text: String,
}

/// The runs of an `<si>` or an `<is>`, without phonetic text (`<rPh>`). They end where the XML is broken.
pub(super) fn runs(xml: &[u8]) -> Vec<Run> {
    let mut reader = Reader::from_reader(xml);
    let mut runs = vec![Run { properties: String::new(), text: String::new() }];
    let (mut is_text, mut phonetic, mut properties) = (false, 0_u32, None);
    let mut from = 0;
    while let Ok(event) = reader.read_event() {
        let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let Some(last) = runs.last_mut() else { break };
        match event {
            Event::Start(tag) => match tag.local_name().as_ref() {
                b"r" => runs.push(Run { properties: String::new(), text: String::new() }),
                b"rPh" => phonetic += 1,
                b"rPr" => properties = Some(from),
                b"t" => is_text = phonetic == 0,
                _ => {}
            },
            Event::End(tag) => match tag.local_name().as_ref() {
                b"rPh" => phonetic = phonetic.saturating_sub(1),
                b"t" => is_text = false,
                b"rPr" => {
                    let range = properties.take().unwrap_or(end)..end;
                    last.properties =
                        String::from_utf8_lossy(xml.get(range).unwrap_or_default()).into_owned();
                }
                _ => {}
            },
            Event::Text(piece) if is_text => last.text.push_str(&String::from_utf8_lossy(&piece)),
            Event::CData(piece) if is_text => last.text.push_str(&String::from_utf8_lossy(&piece)),
            Event::GeneralRef(reference) if is_text => last.text.extend(letter(&reference)),
            Event::Eof => break,
            Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_)
            | Event::GeneralRef(_) => {}
        }
        from = end;
    }
    runs.retain(|run| !run.text.is_empty());
    runs
}

/// Writes a text with XML's own characters escaped. Hazard: Excel reads `_x000D_` as one letter; in data its underscore is
/// escaped, so that the cell shows what the data say.
pub(super) fn push(out: &mut Vec<u8>, text: &str, is_of_data: bool) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, letter) in text.char_indices() {
        let written: &[u8] = match letter {
            '&' => b"&amp;",
            '<' => b"&lt;",
            '>' => b"&gt;",
            // Excel ends lines with `\n`; an XML parser would make that of both anyway.
            '\r' if bytes.get(at + 1) == Some(&b'\n') => b"",
            '\r' => b"\n",
            '_' if is_of_data && is_escape(bytes, at) => b"_x005F_",
            _ if can_stand(letter) => continue,
            _ => b"",
        };
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        out.extend_from_slice(written);
        from = at + letter.len_utf8();
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
}

/// A text as a cell holds it: its lines end with `\n`, and what XML cannot hold is left out.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|&letter| can_stand(letter)).collect()
}

/// A text of data with each `_xHHHH_` escaped, so that Excel shows it as it is.
pub(super) fn shielded(text: &str) -> Cow<'_, str> {
    let is_meant = |&(at, _): &(usize, &str)| is_escape(text.as_bytes(), at);
    let Some((first, _)) = text.match_indices('_').find(is_meant) else { return Cow::Borrowed(text) };
    let mut out = text.get(..first).unwrap_or_default().to_owned();
    for (at, letter) in text.char_indices().skip_while(|(at, _)| *at < first) {
        out.push(letter);
        if letter == '_' && is_escape(text.as_bytes(), at) {
            out.push_str("x005F_");
        }
    }
    Cow::Owned(out)
}

/// Whether `_xHHHH_` begins here (ECMA-376 part 1, 22.9.2.19).
fn is_escape(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + 7).is_some_and(|found| {
        found.get(1) == Some(&b'x')
            && found.get(6) == Some(&b'_')
            && found.iter().skip(2).take(4).all(u8::is_ascii_hexdigit)
    })
}

/// Whether blanks of a text would be lost without `xml:space="preserve"`.
pub(super) fn has_blanks(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace)
        || text.contains(['\n', '\t', '\r'])
}

/// The message for a cell's text that is too long.
pub(super) fn long(characters: usize) -> String {
    format!(
        "the cell would have {characters} characters, and Excel allows {CHARACTERS}; shorten it, as in {{x.slice(0, 1000)}}"
    )
}

/// Adds a text to those of a cell: to the last one where it is of the same run.
pub(super) fn add(texts: &mut Vec<(usize, String)>, run: usize, text: &str) {
    match texts.last_mut() {
        Some((last, whole)) if *last == run => whole.push_str(text),
        _ if text.is_empty() => {}
        _ => texts.push((run, text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Run, push, runs};

    #[test]
    fn a_text_is_its_runs_with_their_looks() {
        let rich = b"<si><r><t>a &lt;b&gt; </t></r><r><rPr><b/></rPr><t>c</t></r><rPh><t>x</t></rPh></si>";
        let run =
            |properties: &str, text: &str| Run { properties: properties.to_owned(), text: text.to_owned() };
        assert_eq!(runs(rich), [run("", "a <b> "), run("<rPr><b/></rPr>", "c")]);
        assert_eq!(runs(b"<x:si><x:t>&#228;</x:t></x:si>"), [run("", "\u{e4}")]);
    }

    #[test]
    fn data_cannot_write_letters_that_excel_would_unescape() {
        let written = |text: &str, is_of_data| {
            let mut out = Vec::new();
            push(&mut out, text, is_of_data);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(written("a_x000D_&\u{1}\r\nb_x00", true), "a_x005F_x000D_&amp;\nb_x00");
        assert_eq!(written("a_x000D_", false), "a_x000D_");
    }
}
