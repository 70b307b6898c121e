//! Random trees of sections over random content: every id is unique, whatever refers to something finds it, and each turn's text
//! is its own, in the document and in all parts that hang on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::audit::{audit, targets, values};
use crate::bookmark_turns::text as bookmark_text;
use crate::dependents::FOOTNOTES;
use crate::dependents_deep::listed;
use crate::slide_parts::with;
use crate::support::{DOCUMENT, RELATIONS, docx, p, paragraphs, part, try_fill};

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml";
const CHART: &str = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml";

#[derive(Clone, Debug)]
enum Piece {
    Text,
    Footnote,
    Endnote,
    Comment,
    List,
    Bookmark,
    /// A bookmark that only some turns have; what refers to it is in each, with the name in another case.
    Maybe,
    Header,
    Chart,
    /// A footnote with a chart.
    NotedChart,
    /// A section with so many turns, or one for each turn of the section around.
    Section(Vec<Piece>, u8),
}

fn piece() -> impl Strategy<Value = Piece> {
    let leaf = prop_oneof![
        Just(Piece::Text),
        Just(Piece::Footnote),
        Just(Piece::Endnote),
        Just(Piece::Comment),
        Just(Piece::List),
        Just(Piece::Bookmark),
        Just(Piece::Maybe),
        Just(Piece::Header),
        Just(Piece::Chart),
        Just(Piece::NotedChart),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        (prop::collection::vec(inner, 1..5), 0_u8..4)
            .prop_map(|(pieces, turns)| Piece::Section(pieces, turns))
    })
}

/// A template that is being made, and what its parts shall say.
#[derive(Default)]
struct Made {
    body: String,
    notes: [String; 3],
    headers: Vec<String>,
    /// The charts' titles, and whether footnotes show them.
    charts: Vec<(String, bool)>,
    /// How many pieces there are.
    count: usize,
}

impl Made {
    fn add(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.count += 1;
            let id = self.count;
            let said = format!("{id}={{v}}");
            match piece {
                Piece::Text => self.body.push_str(&p(&said)),
                Piece::Footnote => self.note(0, ("footnote", id), &said),
                Piece::Endnote => self.note(1, ("endnote", id), &said),
                Piece::Comment => {
                    let _ = write!(
                        self.body,
                        "<w:p><w:commentRangeStart w:id=\"{id}\"/><w:r><w:t>x</w:t></w:r><w:commentRangeEnd w:id=\"{id}\"/>\
                         <w:r><w:commentReference w:id=\"{id}\"/></w:r></w:p>"
                    );
                    let _ = write!(self.notes[2], "<w:comment w:id=\"{id}\">{}</w:comment>", p(&said));
                }
                Piece::List => {
                    let item = format!(
                        "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"{id}\"/></w:numPr></w:pPr><w:r><w:t>x</w:t></w:r></w:p>"
                    );
                    self.body += &(p("list") + &item + &item);
                }
                Piece::Bookmark => {
                    let _ = write!(
                        self.body,
                        "<w:p><w:bookmarkStart w:id=\"{id}\" w:name=\"b{id}\"/><w:r><w:t>{said}</w:t></w:r><w:bookmarkEnd w:id=\"{id}\"/></w:p>\
                         <w:p><w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText>REF b{id} \\h</w:instrText></w:r>\
                         <w:r><w:fldChar w:fldCharType=\"end\"/></w:r><w:hyperlink w:anchor=\"b{id}\"/></w:p>"
                    );
                }
                Piece::Maybe => {
                    let name = format!("<w:bookmarkStart w:id=\"{id}\" w:name=\"Maybe{id}\"/>");
                    self.body += &p(&format!("{{#c{id}}}"));
                    let _ = write!(
                        self.body,
                        "<w:p>{name}<w:r><w:t>{said}</w:t></w:r><w:bookmarkEnd w:id=\"{id}\"/></w:p>"
                    );
                    self.body += &p(&format!("{{/c{id}}}"));
                    let _ = write!(self.body, "<w:p><w:hyperlink w:anchor=\"maybe{id}\"/></w:p>");
                }
                Piece::Header => {
                    self.headers.push(p(&said));
                    let number = self.headers.len();
                    let _ = write!(
                        self.body,
                        "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"h{number}\"/></w:sectPr></w:pPr></w:p>"
                    );
                }
                Piece::Chart => {
                    let frame = self.chart(id, (said, false));
                    self.body += &frame;
                }
                Piece::NotedChart => {
                    let frame = self.chart(id, (said.clone(), true));
                    self.note(0, ("footnote", id), &said);
                    let end = "</w:footnote>";
                    let notes = self.notes[0].trim_end_matches(end).to_owned();
                    self.notes[0] = notes + &frame + end;
                }
                Piece::Section(inner, _) => {
                    self.body += &p(&format!("{{#s{id}}}"));
                    self.add(inner);
                    self.body += &p(&format!("{{/s{id}}}"));
                }
            }
        }
    }

    /// The frame of a chart with this title.
    fn chart(&mut self, id: usize, chart: (String, bool)) -> String {
        self.charts.push(chart);
        let number = self.charts.len();
        format!(
            "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"{id}\" name=\"c\"/><c:chart r:id=\"c{number}\"/></wp:inline></w:drawing></w:r></w:p>"
        )
    }

    fn note(&mut self, at: usize, (kind, id): (&str, usize), said: &str) {
        let _ = write!(self.body, "<w:p><w:r><w:{kind}Reference w:id=\"{id}\"/></w:r></w:p>");
        let _ = write!(self.notes[at], "<w:{kind} w:id=\"{id}\">{}</w:{kind}>", p(said));
    }

    fn file(&self) -> Vec<u8> {
        let roots = ["footnotes", "endnotes", "comments"];
        let word = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
        let mut parts: Vec<(String, String, String)> = Vec::new();
        let mut links: Vec<(String, &str, String)> = Vec::new();
        let mut of_notes = BTreeSet::new();
        for (root, notes) in roots.iter().zip(&self.notes) {
            let kind = format!("{WORD}.{root}+xml");
            parts.push((format!("word/{root}.xml"), kind, format!("<w:{root} {word}>{notes}</w:{root}>")));
            links.push((root[..1].to_owned(), root, format!("{root}.xml")));
        }
        for (number, header) in (1..).zip(&self.headers) {
            let name = format!("header{number}.xml");
            parts.push((
                format!("word/{name}"),
                format!("{WORD}.header+xml"),
                format!("<w:hdr {word}>{header}</w:hdr>"),
            ));
            links.push((format!("h{number}"), "header", name));
        }
        for (number, (title, is_of_note)) in (1..).zip(&self.charts) {
            let name = format!("charts/chart{number}.xml");
            let chart = format!(
                "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><c:title><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:title></c:chartSpace>"
            );
            parts.push((format!("word/{name}"), CHART.to_owned(), chart));
            let id = format!("c{number}");
            if *is_of_note {
                of_notes.insert(id.clone());
            }
            links.push((id, "chart", name));
        }
        let lists: String = (1..=self.count)
            .map(|id| format!("<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"0\"/></w:num>"))
            .collect();
        let look = "<w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/><w:numFmt w:val=\"decimal\"/></w:lvl></w:abstractNum>";
        parts.push((
            "word/numbering.xml".to_owned(),
            format!("{WORD}.numbering+xml"),
            format!("<w:numbering {word}>{look}{lists}</w:numbering>"),
        ));
        links.push(("n".to_owned(), "numbering", "numbering.xml".to_owned()));
        let parts: Vec<_> =
            parts.iter().map(|(name, kind, xml)| (name.as_str(), kind.as_str(), xml.as_str())).collect();
        let of = |id: &String| if of_notes.contains(id) { FOOTNOTES } else { DOCUMENT };
        let links: Vec<_> =
            links.iter().map(|(id, kind, target)| (of(id), id.as_str(), *kind, target.as_str())).collect();
        with(&listed(&docx(&self.body), &["footnotes.xml"]), &parts, &links)
    }
}

/// What the filled document shall say, in its order.
#[derive(Default, Debug, PartialEq)]
struct Said {
    body: Vec<String>,
    notes: [Vec<String>; 3],
    headers: Vec<String>,
    charts: Vec<String>,
    noted_charts: Vec<String>,
    lists: usize,
    bookmarks: usize,
    /// What references lead to.
    referred: Vec<String>,
    /// The first text of each bookmark that turns may leave out, and how often one is left out.
    maybe: BTreeMap<usize, String>,
    left_out: Vec<usize>,
}

impl Said {
    /// A turn that leaves a bookmark out refers to the first one of all, by the author's name.
    fn resolved(mut self) -> Self {
        let left_out = std::mem::take(&mut self.left_out);
        let maybe = std::mem::take(&mut self.maybe);
        self.referred.extend(left_out.iter().map(|id| maybe.get(id).cloned().unwrap_or_default()));
        self.referred.sort();
        self
    }
}

/// Data for the pieces, and what they say with them; `value` is that of the turn around.
fn data(pieces: &[Piece], count: &mut usize, value: &str, said: &mut Said) -> Value {
    let mut object = json!({ "v": value });
    for piece in pieces {
        *count += 1;
        let id = *count;
        let text = format!("{id}={value}");
        match piece {
            Piece::Text => said.body.push(text),
            Piece::Footnote => said.notes[0].push(text),
            Piece::Endnote => said.notes[1].push(text),
            Piece::Comment => said.notes[2].push(text),
            Piece::List => said.lists += 1,
            Piece::Bookmark => {
                said.referred.extend([text.clone(), text.clone()]);
                said.body.push(text);
                said.bookmarks += 1;
            }
            Piece::Maybe => {
                let sum = value.bytes().map(usize::from).sum::<usize>();
                let is_there = !(value.len() + sum).is_multiple_of(3);
                object[format!("c{id}")] = Value::from(is_there);
                if is_there {
                    said.maybe.entry(id).or_insert_with(|| text.clone());
                    said.referred.push(text.clone());
                    said.body.push(text);
                    said.bookmarks += 1;
                } else {
                    said.left_out.push(id);
                }
            }
            Piece::Header => said.headers.push(text),
            Piece::Chart => said.charts.push(text),
            Piece::NotedChart => {
                said.notes[0].push(text.clone());
                said.noted_charts.push(text);
            }
            Piece::Section(inner, turns) => {
                let mut items = Vec::new();
                let before = *count;
                for turn in 0..*turns {
                    *count = before;
                    items.push(data(inner, count, &format!("{value}.{id}-{turn}"), said));
                }
                if *turns == 0 {
                    data(inner, count, "", &mut Said::default());
                }
                object[format!("s{id}")] = Value::from(items);
            }
        }
    }
    object
}

/// The parts that the relationships with these ids lead to.
fn parts_of(file: &[u8], relations: &str, ids: &[String]) -> Vec<String> {
    let links = part(file, relations);
    let of_id = |id: &String| {
        let line = links
            .split("<Relationship ")
            .find(|line| line.contains(&format!("Id=\"{id}\"")))
            .expect("a relationship");
        let target =
            line.split("Target=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a target");
        part(file, &format!("word/{}", target.trim_start_matches("/word/")))
    };
    ids.iter().map(of_id).collect()
}

fn read(file: &[u8]) -> Said {
    let document = part(file, DOCUMENT);
    let texts = |xml: &str| paragraphs(xml).into_iter().filter(|text| text.contains('=')).collect::<Vec<_>>();
    let notes =
        [("footnote", "footnotes"), ("endnote", "endnotes"), ("comment", "comments")].map(|(kind, name)| {
            let xml = part(file, &format!("word/{name}.xml"));
            let of_id = |id: String| {
                let begin = xml.find(&format!("<w:{kind} w:id=\"{id}\"")).expect("the note is there");
                texts(xml[begin..].split(&format!("</w:{kind}>")).next().unwrap_or_default()).concat()
            };
            values(&document, &format!("w:{kind}Reference"), "w:id").into_iter().map(of_id).collect()
        });
    let headers = parts_of(file, RELATIONS, &values(&document, "w:headerReference", "r:id"));
    let charts = parts_of(file, RELATIONS, &values(&document, "c:chart", "r:id"));
    let title = |xml: &String| {
        xml.split("<a:t>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default().to_owned()
    };
    // The charts of footnotes, in the order of the references to these.
    let footnotes = part(file, FOOTNOTES);
    let frames = values(&document, "w:footnoteReference", "w:id").into_iter().flat_map(|id| {
        let begin = footnotes.find(&format!("<w:footnote w:id=\"{id}\"")).expect("the note is there");
        let own = footnotes[begin..].split("</w:footnote>").next().unwrap_or_default();
        values(own, "c:chart", "r:id")
    });
    let noted_charts = parts_of(file, "word/_rels/footnotes.xml.rels", &frames.collect::<Vec<_>>());
    let names = values(&document, "w:bookmarkStart", "w:name");
    let mut referred: Vec<String> =
        targets(&document).iter().map(|name| bookmark_text(&document, name)).collect();
    referred.sort();
    let numbers = values(&document, "w:numId", "w:val");
    let lists: BTreeSet<&String> = numbers.iter().collect();
    assert_eq!(numbers.len(), 2 * lists.len(), "each turn's list is its own");
    Said {
        body: texts(&document),
        notes,
        headers: headers.iter().map(|xml| texts(xml).concat()).collect(),
        charts: charts.iter().map(title).collect(),
        noted_charts: noted_charts.iter().map(title).collect(),
        lists: lists.len(),
        bookmarks: names.len(),
        referred,
        ..Said::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_turn_has_all_that_hangs_on_it(pieces in prop::collection::vec(piece(), 1..6)) {
        let mut made = Made::default();
        made.add(&pieces);
        let mut said = Said::default();
        let data = data(&pieces, &mut 0, "r", &mut said);
        let filled = try_fill(made.file(), &data.to_string(), "{}").unwrap_or_else(|error| panic!("{error}"));
        // A bookmark that no turn has is named as the author names it.
        let is_gone = |line: &String| {
            let name = line.strip_prefix("there is no bookmark maybe");
            name.is_some_and(|id| id.parse().is_ok_and(|id: usize| !said.maybe.contains_key(&id)))
        };
        let wrong: Vec<String> = audit(&filled.file).into_iter().filter(|line| !is_gone(line)).collect();
        prop_assert_eq!(wrong, Vec::<String>::new());
        prop_assert_eq!(read(&filled.file), said.resolved());
    }
}
