//! Bookmarks that only some turns have, names in another case, and links by relationships.

use crate::audit::{audit, targets, values};
use crate::bookmarks::{bookmark, field, paragraph, run};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, RELATIONS, docx, docx_with, entries, p, part, try_fill};

const DATA: &str = r#"{"xs":[{"t":"A","c":false,"l":[]},{"t":"B","c":true,"l":[{"c":false,"i":"B1"},{"c":true,"i":"B2"}]},{"t":"C","c":true,"l":[{"c":true,"i":"C1"}]}],"c":true,"l":[{"c":true,"i":"1"},{"c":true,"i":"2"}]}"#;

fn filled(file: Vec<u8>) -> Vec<u8> {
    let filled = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    assert_eq!(audit(&filled), Vec::<String>::new(), "{}", part(&filled, DOCUMENT));
    filled
}

/// The text of the bookmark of this name.
pub fn text(xml: &str, name: &str) -> String {
    let name = name.to_lowercase();
    let of_name = |piece: &&str| piece.to_lowercase().starts_with(&format!("{name}\""));
    let piece = xml.split("w:name=\"").find(of_name).unwrap_or_default();
    let piece = piece.split("<w:bookmarkEnd").next().unwrap_or_default();
    let texts = piece.split("<w:t").skip(1).filter_map(|text| text.split_once('>')?.1.split('<').next());
    texts.collect::<Vec<_>>().concat()
}

/// The texts that the references of a document lead to, in their order.
fn led_to(body: &[String]) -> Vec<String> {
    let document = part(&filled(docx(&body.concat())), DOCUMENT);
    targets(&document).iter().map(|name| text(&document, name)).collect()
}

/// A paragraph that stands behind a condition.
fn maybe(condition: &str, content: String) -> String {
    [p(&format!("{{#{condition}}}")), content, p(&format!("{{/{condition}}}"))].concat()
}

fn marked(name: &str, said: &str) -> String {
    paragraph(&[bookmark(1, name, &run(said))])
}

#[test]
fn a_reference_to_what_its_turn_leaves_out_keeps_the_authors_name() {
    let turn = |code: &str| paragraph(&[field(code)]);
    // A has no bookmark, and B has the first one.
    for code in ["REF m", "PAGEREF m \\h", "NOTEREF m", "HYPERLINK \\l \"m\""] {
        for body in [
            [p("{#xs}"), maybe("c", marked("m", "{t}")), turn(code), p("{/xs}")],
            [p("{#xs}"), turn(code), maybe("c", marked("m", "{t}")), p("{/xs}")],
        ] {
            assert_eq!(led_to(&body), ["B", "B", "C"], "{code}");
        }
    }
    let link = paragraph(&[format!("<w:hyperlink w:anchor=\"m\">{}</w:hyperlink>", run("see"))]);
    assert_eq!(led_to(&[p("{#xs}"), link, maybe("c", marked("m", "{t}")), p("{/xs}")]), ["B", "B", "C"]);
    // In a row, amid of a paragraph, and from outside.
    let cell = |content: &str| format!("<w:tc><w:tcPr/>{content}</w:tc>");
    let row = cell(&[p("{#xs}"), maybe("c", marked("m", "{t}"))].concat())
        + &cell(&[turn("REF m"), p("{/xs}")].concat());
    assert_eq!(
        led_to(&[format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{row}</w:tr></w:tbl>"), turn("REF m")]),
        ["B", "B", "C", "B"]
    );
    let inline = paragraph(&[
        run("{#xs}"),
        run("{#c}"),
        bookmark(1, "m", &run("{t}")),
        run("{/c}"),
        field("REF m"),
        run("{/xs}"),
    ]);
    assert_eq!(led_to(&[turn("REF m"), inline]), ["B", "B", "B", "C"]);
}

#[test]
fn a_reference_leads_to_the_first_bookmark_that_its_turn_has() {
    let inner = [p("{#l}"), maybe("c", marked("m", "{i}")), paragraph(&[field("REF m")]), p("{/l}")].concat();
    let body = [p("{#xs}"), inner, paragraph(&[field("PAGEREF m")]), p("{/xs}")];
    // A has none, nor has B1; from B and C their first ones are seen.
    assert_eq!(led_to(&body), ["B2", "B2", "B2", "B2", "C1", "C1"]);
}

#[test]
fn a_bookmark_that_no_turn_has_is_named_as_the_author_names_it() {
    let body = [p("{#xs}"), maybe("none", marked("m", "{t}")), paragraph(&[field("REF m")]), p("{/xs}")];
    let file = try_fill(docx(&body.concat()), DATA, "{}").expect("it is filled").file;
    assert_eq!(targets(&part(&file, DOCUMENT)), ["m", "m", "m"]);
}

#[test]
fn names_are_one_name_in_any_case() {
    for (name, code) in [
        ("Total", "REF total"),
        ("total", "PAGEREF TOTAL \\h"),
        ("Größe", "REF GRÖSSE \\h"),
        ("Größe", "REF gRÖße \\h"),
        ("_Ref12a", "HYPERLINK \\l \"_REF12A\""),
    ] {
        let body = [p("{#xs}"), marked(name, "{t}"), paragraph(&[field(code)]), p("{/xs}")];
        if code.contains("GRÖSSE") {
            // These are two names, so the field stays as it is.
            let file = try_fill(docx(&body.concat()), DATA, "{}").expect("it is filled").file;
            assert_eq!(targets(&part(&file, DOCUMENT)), ["GRÖSSE"; 3]);
            continue;
        }
        assert_eq!(led_to(&body), ["A", "B", "C"], "{name} {code}");
    }
    let link = paragraph(&[format!("<w:hyperlink w:anchor=\"TOTAL\">{}</w:hyperlink>", run("see"))]);
    assert_eq!(led_to(&[p("{#xs}"), link, marked("Total", "{t}"), p("{/xs}")]), ["A", "B", "C"]);
    // A note and a header refer to it too.
    let note =
        format!("<w:footnote w:id=\"1\">{}</w:footnote>", paragraph(&[run("{t} "), field("REF TOTAL")]));
    let header = paragraph(&[run("{t} "), field("PAGEREF toTAL")]);
    let parts = [
        ("footnotes.xml", "footnotes", "footnotes", note.as_str()),
        ("header1.xml", "header", "hdr", header.as_str()),
    ];
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId2\"/></w:sectPr></w:pPr></w:p>";
    let noted = paragraph(&[
        bookmark(1, "Total", &run("{t}")),
        "<w:r><w:footnoteReference w:id=\"1\"/></w:r>".to_owned(),
    ]);
    let file = filled(docx_with(&[p("{#xs}"), noted, section.to_owned(), p("{/xs}")].concat(), &parts));
    let names: Vec<String> = values(&part(&file, DOCUMENT), "w:bookmarkStart", "w:name");
    let lower = |names: Vec<String>| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
    assert_eq!(lower(targets(&part(&file, "word/footnotes.xml"))), lower(names));
}

#[test]
fn a_header_outside_of_sections_has_a_bookmark_for_each_of_its_own_turns() {
    let header =
        paragraph(&[run("{#l}"), bookmark(6, "in", &run("{i}")), field("REF in"), run("{/l}"), run("{t}")]);
    let parts = [("header1.xml", "header", "hdr", header.as_str())];
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/></w:sectPr></w:pPr></w:p>";
    let turns = [p("{#xs}"), p("{t}"), section.to_owned(), p("{/xs}")].concat();
    for body in [turns.clone() + section, section.to_owned() + &turns, turns.clone() + &turns] {
        let file = filled(docx_with(&body, &parts));
        let headers = entries(&file).into_iter().filter(|(name, _)| name.starts_with("word/header"));
        for (name, xml) in headers {
            let xml = String::from_utf8(xml).expect("UTF-8");
            assert_eq!(targets(&xml), values(&xml, "w:bookmarkStart", "w:name"), "{name}");
        }
    }
}

#[test]
fn a_header_twice_in_a_turn_that_leaves_its_bookmark_out_names_it_as_the_author_does() {
    let header = maybe("c", marked("own", "{t}"))
        + &paragraph(&[field("REF own"), field("PAGEREF OWN \\h"), run("{t}")]);
    let parts = [("header1.xml", "header", "hdr", header.as_str())];
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/></w:sectPr></w:pPr></w:p>";
    let body = [p("{#xs}"), section.to_owned(), p("{t}"), section.to_owned(), p("{/xs}")].concat();
    let file = filled(docx_with(&body, &parts));
    let headers: Vec<String> = { entries(&file).into_iter() }
        .filter(|(name, _)| name.starts_with("word/header"))
        .map(|(_, xml)| String::from_utf8(xml).expect("UTF-8"))
        .collect();
    assert_eq!(headers.len(), 6);
    for header in headers {
        let own = values(&header, "w:bookmarkStart", "w:name");
        let expected = own.first().map_or("own", String::as_str).to_lowercase();
        assert!(targets(&header).iter().all(|name| name.to_lowercase() == expected), "{header}");
    }
}

/// A document with a link of this kind, by the relationship `rId7` with this target.
fn linked(body: &str, target: &str, is_external: bool) -> Vec<u8> {
    let kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink";
    let mode = if is_external { " TargetMode=\"External\"" } else { "" };
    let line = format!("<Relationship Id=\"rId7\" Type=\"{kind}\" Target=\"{target}\"{mode}/>");
    let files: Vec<_> = entries(&docx(body))
        .into_iter()
        .map(|(name, content)| {
            let text = String::from_utf8(content).expect("UTF-8");
            let is_list = name == RELATIONS;
            let end = "</Relationships>";
            (name, if is_list { text.replace(end, &format!("{line}{end}")) } else { text })
        })
        .collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    crate::support::zipped(&files)
}

/// A picture with a link.
fn picture(link: &str) -> String {
    format!(
        "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"5\" name=\"P\">{link}</wp:docPr></wp:inline></w:drawing></w:r></w:p>"
    )
}

/// The targets of the relationships that elements of this name refer to.
fn followed(file: &[u8], (name, list): (&str, &str), (element, attribute): (&str, &str)) -> Vec<String> {
    let (xml, links) = (part(file, name), part(file, list));
    let target = |id: String| {
        let line = links.split("<Relationship ").find(|line| line.contains(&format!("Id=\"{id}\"")));
        let line = line.expect("a relationship");
        line.split("Target=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a target").to_owned()
    };
    values(&xml, element, attribute).into_iter().map(target).collect()
}

#[test]
fn a_link_of_a_picture_leads_into_its_own_turn() {
    let own = |body: &str, target: &str, is_external: bool, of: (&str, &str)| {
        let file = filled(linked(body, target, is_external));
        let document = part(&file, DOCUMENT);
        let links = followed(&file, (DOCUMENT, RELATIONS), of);
        let said = links.iter().map(|link| text(&document, link.strip_prefix('#').expect("a bookmark")));
        let is_outer = part(&file, RELATIONS).matches("TargetMode").count();
        (said.collect::<Vec<_>>(), is_outer)
    };
    let click = "<a:hlinkClick r:id=\"rId7\"/>";
    let of_click = ("a:hlinkClick", "r:id");
    let body = [p("{#xs}"), picture(click), marked("Go", "{t}"), p("{/xs}")].concat();
    assert_eq!(own(&body, "#Go", false, of_click), (vec!["A".into(), "B".into(), "C".into()], 0));
    // Other programs call it external, and write another case or another prefix.
    assert_eq!(own(&body, "#go", true, of_click), (vec!["A".into(), "B".into(), "C".into()], 3));
    let space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let other = body.replace("<a:hlinkClick r:id", &format!("<a:hlinkClick xmlns:rel=\"{space}\" rel:id"));
    assert_eq!(own(&other, "#Go", false, ("a:hlinkClick", "rel:id")).0, ["A", "B", "C"]);
    // A link of text, and one to what the turn has not.
    let link = paragraph(&[format!("<w:hyperlink r:id=\"rId7\">{}</w:hyperlink>", run("see"))]);
    let body = [p("{#xs}"), maybe("c", marked("Go", "{t}")), link, p("{/xs}")].concat();
    assert_eq!(own(&body, "#Go", false, ("w:hyperlink", "r:id")).0, ["B", "B", "C"]);
    // Over a row, and twice in a turn.
    let cell = |content: &str| format!("<w:tc><w:tcPr/>{content}</w:tc>");
    let row = cell(&[p("{#xs}"), picture(click), picture(click).replace("id=\"5\"", "id=\"6\"")].concat())
        + &cell(&[marked("Go", "{t}"), p("{/xs}")].concat());
    let table = format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{row}</w:tr></w:tbl>") + &p("");
    assert_eq!(own(&table, "#Go", false, of_click).0, ["A", "A", "B", "B", "C", "C"]);
}

#[test]
fn a_picture_of_a_header_leads_to_its_turns_bookmark() {
    let header = p("{t}") + &picture("<a:hlinkClick r:id=\"rId7\"/>");
    let section = "<w:p><w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/></w:sectPr></w:pPr></w:p>";
    let body = [p("{#xs}"), marked("Go", "{t}"), section.to_owned(), p("{/xs}")].concat();
    let mut files = entries(&docx_with(&body, &[("header1.xml", "header", "hdr", &header)]));
    let empty = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";
    files.push(("word/_rels/header1.xml.rels".to_owned(), empty.as_bytes().to_vec()));
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let file =
        with(&crate::support::zipped(&files), &[], &[("word/header1.xml", "rId7", "hyperlink", "#go")]);
    let file = filled(file);
    let document = part(&file, DOCUMENT);
    let names = values(&document, "w:bookmarkStart", "w:name");
    for (number, name) in (1..).zip(&names) {
        let list = format!("word/_rels/header{number}.xml.rels");
        let header = format!("word/header{number}.xml");
        let links = followed(&file, (header.as_str(), list.as_str()), ("a:hlinkClick", "r:id"));
        assert_eq!(links.concat().to_lowercase(), format!("#{name}").to_lowercase());
    }
    assert_eq!(names.len(), 3);
}
