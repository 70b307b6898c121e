//! Real documents whose text is cut into pieces as Word cuts it, and documents that are cut anywhere: the tags of the first are
//! the same, and the second harm nothing.

use std::io::Write as _;
use std::path::Path;

use office_template::{NoFiles, Template};
use proptest::prelude::*;

use crate::support::{DOCUMENT, document, entries, escape, limits, paragraphs, part, run, zipped};
use crate::workbooks::one_cell;
use crate::{any, kept, real};

/// How many times each document is cut.
const TIMES: u64 = 60;

/// What Word writes between the pieces of a text, and inside of a run before it. `§` is a number of its own.
const NOISE: [&str; 8] = [
    "",
    "",
    "<w:proofErr w:type=\"gramStart\"/>",
    "<w:bookmarkStart w:id=\"9§\" w:name=\"cut§\"/><w:bookmarkEnd w:id=\"9§\"/>",
    "<w:r w:rsidR=\"00AB§CD\"><w:rPr><w:b/></w:rPr><w:lastRenderedPageBreak/></w:r>",
    "<w:r><w:t></w:t></w:r>",
    "<w:r w:rsidRPr=\"0012§34\"/>",
    "<w:proofErr w:type=\"spellEnd\"/><w:r><w:rPr><w:lang w:val=\"de-DE\"/></w:rPr></w:r>",
];

#[test]
fn cutting_the_runs_of_real_documents_changes_nothing() {
    let mut cases = 0;
    for (name, file, data) in templates() {
        let Ok(whole) = Template::read(file.clone(), None, &limits()) else { continue };
        let program = whole.program().to_owned();
        let answer = run(&program, &data, "{}");
        let Ok(filled) = whole.fill(&answer, &mut NoFiles) else { continue };
        let expected = texts(&filled.file);
        for seed in 1..=TIMES {
            let cut = shattered(&file, &mut Random(seed));
            let template = Template::read(cut, None, &limits())
                .unwrap_or_else(|error| panic!("{name}, {seed}: {error}"));
            assert_eq!(template.program(), program, "{name}, {seed}");
            let filled = template
                .fill(&answer, &mut NoFiles)
                .unwrap_or_else(|error| panic!("{name}, {seed}: {error}"));
            assert_eq!(texts(&filled.file), expected, "{name}, {seed}");
            cases += 1;
        }
    }
    println!("cut {cases} times");
    assert!(cases >= 12 * TIMES);
}

/// Documents made for these tests, and the corpus where there is one.
pub fn templates() -> Vec<(String, Vec<u8>, String)> {
    let mut all: Vec<_> = real::all().map(|(name, file, data)| (name.to_owned(), file, data)).collect();
    let named = std::env::var_os("PLATEN_CORPUS").filter(|named| !named.is_empty() && named != "none");
    let Some(folder) = named else {
        let why = "NOT TESTED: cutting real Word documents, for PLATEN_CORPUS paths no folder of them";
        writeln!(std::io::stderr(), "{why}").expect("it is said");
        return all;
    };
    for from in ["docxtemplater", "easy-template-x"] {
        for entry in std::fs::read_dir(Path::new(&folder).join(from)).expect("the corpus is there") {
            let path = entry.expect("a file").path();
            let is_data = path.extension().is_some_and(|end| end == "json");
            if let Some(file) =
                is_data.then(|| std::fs::read(path.with_extension("template.docx")).ok()).flatten()
            {
                let text = std::fs::read_to_string(&path).expect("is read");
                let json: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
                all.push((path.display().to_string(), file, json["data"].to_string()));
            }
        }
    }
    all
}

fn texts(file: &[u8]) -> Vec<String> {
    let has_main = entries(file).iter().any(|(name, _)| name == DOCUMENT);
    if has_main { paragraphs(&part(file, DOCUMENT)) } else { Vec::new() }
}

/// The file with each plain run of its document in one to four pieces.
fn shattered(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut all = entries(file);
    for (name, content) in &mut all {
        if name == DOCUMENT {
            let xml = std::str::from_utf8(content).expect("a part is UTF-8");
            *content = cut_runs(xml, random).into_bytes();
        }
    }
    let all: Vec<(&str, &[u8])> =
        all.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&all)
}

fn cut_runs(xml: &str, random: &mut Random) -> String {
    let mut out = String::new();
    let mut rest = xml;
    while let Some(at) = rest.find("<w:r") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let Some(plain) = PlainRun::of(from) else {
            let (name, behind) = from.split_at("<w:r".len());
            out.push_str(name);
            rest = behind;
            continue;
        };
        // A hyperlink does not stand in another one.
        let is_linked = out.matches("<w:hyperlink").count() > out.matches("</w:hyperlink>").count();
        plain.cut(&mut out, is_linked, random);
        rest = from.get(plain.length..).unwrap_or_default();
    }
    out + rest
}

/// A run of a text and of nothing else.
struct PlainRun<'a> {
    properties: &'a str,
    text: &'a str,
    length: usize,
}

impl<'a> PlainRun<'a> {
    /// The one that begins here, if it is plain.
    fn of(from: &'a str) -> Option<Self> {
        let end = from.find("</w:r>")?;
        let (start, content) = from.get(..end)?.split_once('>')?;
        let is_run = start == "<w:r" || start.starts_with("<w:r ");
        let (properties, text) = content.split_at(content.find("<w:t>").or_else(|| content.find("<w:t "))?);
        let (_, text) = text.split_once('>')?;
        let text = text.strip_suffix("</w:t>")?;
        let has_properties_alone =
            properties.is_empty() || properties.starts_with("<w:rPr>") && properties.ends_with("</w:rPr>");
        let is_plain = is_run && !start.ends_with('/') && has_properties_alone && !text.contains('<');
        is_plain.then_some(Self { properties, text, length: end + "</w:r>".len() })
    }

    fn cut(&self, out: &mut String, is_linked: bool, random: &mut Random) {
        let mut from = 0;
        for left in (0..=random.below(4)).rev() {
            let to = if left == 0 { self.text.len() } else { self.place(from, random) };
            let piece = &self.text[from..to];
            let link = if is_linked || random.below(12) > 0 {
                ("", "")
            } else {
                ("<w:hyperlink w:anchor=\"x\">", "</w:hyperlink>")
            };
            let run = format!(
                "{}<w:r w:rsidR=\"00{:06X}\">{}<w:t xml:space=\"preserve\">{piece}</w:t></w:r>{}",
                link.0,
                random.below(1 << 24),
                self.properties,
                link.1
            );
            out.push_str(&run);
            if left > 0 {
                let noise = NOISE[random.below(NOISE.len())];
                out.push_str(&noise.replace('§', &random.below(10_000).to_string()));
            }
            from = to;
        }
    }

    /// A place to cut behind `from`: between letters, and not in the midst of an entity.
    fn place(&self, from: usize, random: &mut Random) -> usize {
        let rest = &self.text[from..];
        let mut place = rest.floor_char_boundary(random.below(rest.len() + 1));
        if let Some(entity) = rest[..place].rfind('&')
            && !rest[entity..place].contains(';')
        {
            place = entity;
        }
        from + place
    }
}

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // The constants are Knuth's, for a generator that multiplies and adds.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}

/// The examples of the grammar, in tables, text boxes and fields.
fn seeds() -> Vec<String> {
    let examples =
        include_str!("../../../../docs/office-tags.md").lines().filter_map(|line| line.split_once(" ⇒ "));
    let paragraphs: Vec<String> = examples
        .map(|(example, _)| format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", escape(example.trim_end())))
        .collect();
    let around = |content: String| {
        vec![
            content.clone(),
            format!("<w:tbl><w:tr><w:tc>{content}</w:tc></w:tr></w:tbl>"),
            format!("<w:sdt><w:sdtContent>{content}</w:sdtContent></w:sdt>"),
        ]
    };
    paragraphs.chunks(3).flat_map(|chunk| around(chunk.concat())).map(|body| document(&body)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_document_is_filled_or_refused(
        seed in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_usize), 0..6),
    ) {
        let seeds = seeds();
        let mut xml = seed.get(&seeds).clone().into_bytes();
        for (from, to, kind) in edits {
            let (from, to) = (from.index(xml.len()), to.index(xml.len()));
            edit(&mut xml, from, to, kind);
        }
        any::document(&xml);
    }
}

#[test]
fn files_with_which_fuzzing_begins_are_filled_or_refused() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for xml in &kept::inputs(&top, "document") {
        any::document(xml);
    }
    for parts in &kept::inputs(&top, "office_file") {
        any::file(parts);
    }
}

/// Fuzzing found that such bytes came into the filled workbook, since nothing read them.
#[test]
fn a_workbook_that_is_not_in_utf_8_is_refused_by_the_name_of_its_part() {
    let workbook = one_cell("Hi {name}");
    for name in ["xl/workbook.xml", "xl/worksheets/sheet1.xml"] {
        let mut parts = entries(&workbook);
        let (_, xml) = parts.iter_mut().find(|(found, _)| found == name).expect("the part is there");
        xml.extend(b"<!-- \xff -->");
        let parts: Vec<_> = parts.iter().map(|(name, xml)| (name.as_str(), xml.as_slice())).collect();
        let why = Template::read(zipped(&parts), None, &limits()).err().expect("it is refused").to_string();
        assert_eq!(why, format!("{name} cannot be read: it is not written in UTF-8"));
    }
}

/// Takes out what stands between two places, writes it twice, writes it elsewhere, or puts a sign there.
fn edit(xml: &mut Vec<u8>, one: usize, other: usize, kind: usize) {
    const SIGNS: &[u8] = b"{}<>/#^&\"\x00\xff";
    let (from, to) = (one.min(other), one.max(other).min(one.min(other) + 40));
    let piece = xml[from..to].to_vec();
    match kind {
        0 => drop(xml.drain(from..to)),
        1 => drop(xml.splice(to..to, piece)),
        2 => drop(xml.splice(other..other, piece)),
        _ => xml[from] = SIGNS[to % SIGNS.len()],
    }
    // Nothing can be cut from nothing.
    if xml.is_empty() {
        xml.push(b'<');
    }
}
