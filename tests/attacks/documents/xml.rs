//! Suite E: parts of Office files whose XML declares entities, refers to files and hosts, or is larger and deeper than a reader
//! bears; in each format, filled and converted.

use std::fmt::Write as _;
use std::path::Path;

use super::made::{formula, lines, open_document, sheet, slide, word};
use super::{PlantedFiles, SECRET};
use crate::canary::Canary;
use crate::remains::WatchedApp;
use crate::routes::{Route, Sent, made, parts, words};
use crate::service::archive;
use crate::table::{Outcome, report};

/// The error codes that such files may end with.
const ENDS: [&str; 5] =
    ["template_invalid", "template_error", "template_limit", "template_missing", "output_too_large"];
/// Elements in each other, and attributes of one. LibreOffice bears a hundred thousand of both, in the square of the time.
const DEPTH: usize = 2_000;
const ATTRIBUTES: usize = 3_000;
/// What no text of a file is when entities were put in.
const LAUGH: &str = "hahahahahahahaha";
const LARGE: &str = "hhhhhhhhhhhhhhhh";

/// What is done to a part: before its root, in place of its text `own text`, and to all of it.
struct Change {
    name: &'static str,
    before: String,
    text: String,
    whole: fn(&str) -> Vec<u8>,
}

fn changes(text: &Path, canary: &Canary) -> Vec<Change> {
    let change = |name, before: String, text: &str| Change {
        name,
        before,
        text: text.to_owned(),
        whole: |part| part.as_bytes().to_vec(),
    };
    let aimed = |text: &str| canary.aim(text);
    let mut bomb = String::from("<!DOCTYPE x [<!ENTITY a0 \"ha\">");
    for at in 1..30 {
        write!(bomb, "<!ENTITY a{at} \"&a{0};&a{0};&a{0};\">", at - 1).unwrap();
    }
    let large = "h".repeat(50_000);
    let quadratic = format!("<!DOCTYPE x [<!ENTITY a \"{large}\">]>");
    let file = text.display();
    vec![
        change("a billion laughs", format!("{bomb}]>"), "own text &a29;"),
        change("one large entity, often", quadratic, &format!("own text {}", "&a;".repeat(20_000))),
        change("a file", format!("<!DOCTYPE x [<!ENTITY e SYSTEM \"file://{file}\">]>"), "own text &e;"),
        change("a host", aimed("<!DOCTYPE x [<!ENTITY e SYSTEM \"HTTP/e\">]>"), "own text &e;"),
        change("a parameter", aimed("<!DOCTYPE x [<!ENTITY % p SYSTEM \"HTTP/p.dtd\"> %p;]>"), "own text"),
        change("a definition elsewhere", aimed("<!DOCTYPE x SYSTEM \"HTTP/d.dtd\">"), "own text"),
        change(
            "a style sheet",
            aimed("<?xml-stylesheet type=\"text/xsl\" href=\"HTTP/s.xsl\"?>"),
            "own text",
        ),
        Change { whole: include, ..change("an inclusion", format!("<!--file://{file}-->"), "own text") },
        Change { whole: wide, ..change("attributes", String::new(), "own text") },
        Change { whole: deep, ..change("elements in each other", String::new(), "own text") },
        Change { whole: utf_16, ..change("entities in UTF-16", format!("{bomb}]>"), "own text &a29;") },
    ]
}

/// The text becomes an `XInclude` of the file that the comment names.
fn include(part: &str) -> Vec<u8> {
    let file = part.split_once("<!--").unwrap().1.split_once("-->").unwrap().0.to_owned();
    let element = format!(
        "own text<xi:include xmlns:xi=\"http://www.w3.org/2001/XInclude\" href=\"{file}\" parse=\"text\"/>"
    );
    part.replace("own text", &element).into_bytes()
}

fn wide(part: &str) -> Vec<u8> {
    let attributes = (0..ATTRIBUTES).fold(String::new(), |mut all, at| {
        let _ = write!(all, " a{at}=\"\"");
        all
    });
    part.replacen("own text", &format!("own text<x{attributes}/>"), 1).into_bytes()
}

fn deep(part: &str) -> Vec<u8> {
    part.replacen("own text", &format!("own text{}{}", "<x>".repeat(DEPTH), "</x>".repeat(DEPTH)), 1)
        .into_bytes()
}

fn utf_16(part: &str) -> Vec<u8> {
    let text = format!("\u{feff}<?xml version=\"1.0\" encoding=\"UTF-16\"?>{part}");
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The type, the target, the part that is changed, and a good file.
fn files() -> Vec<(&'static str, &'static str, &'static str, Vec<u8>)> {
    let tagged = |kind: &str| lines(kind, &["{6 * 7}".to_owned()]);
    let row = formula("1+1");
    let table = "<table:table table:name=\"T\"><table:table-row><table:table-cell><text:p>own text</text:p></table:table-cell></table:table-row></table:table>";
    let cell = row.replace("own text", "{6 * 7}");
    let tagged_sheet = sheet(
        &format!("{row}{}", cell.replace("r=\"1\"", "r=\"2\"").replace("A1", "A2").replace("B1", "B2")),
        "",
        &[],
        &[],
    );
    vec![
        ("docx", "docx", "word/document.xml", tagged("docx")),
        ("xlsx", "xlsx", "xl/worksheets/sheet1.xml", tagged_sheet),
        ("pptx", "pptx", "ppt/slides/slide1.xml", tagged("pptx")),
        ("docx", "pdf", "word/document.xml", word("", &[], &[])),
        ("xlsx", "pdf", "xl/worksheets/sheet1.xml", sheet(&row, "", &[], &[])),
        ("pptx", "pdf", "ppt/slides/slide1.xml", slide("", &[])),
        ("docx", "pdf", "content.xml", open_document("text", "<text:p>own text</text:p>", "", &[])),
        ("xlsx", "html", "content.xml", open_document("spreadsheet", table, "", &[])),
    ]
}

/// The file with its part changed.
fn changed(file: &[u8], part: &str, change: &Change) -> Vec<u8> {
    let mut entries = parts(file);
    let (_, content) = entries.iter_mut().find(|(name, _)| name == part).unwrap();
    let text = String::from_utf8(std::mem::take(content)).unwrap().replace("own text", &change.text);
    *content = (change.whole)(&(change.before.clone() + &text));
    archive(&entries.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect::<Vec<_>>())
}

#[actix::test]
async fn xml_of_office_files_brings_nothing_in_and_takes_no_more_than_its_limits() {
    let watched = WatchedApp::start(&[]).await;
    let planted = PlantedFiles::new();
    let mut outcomes = Vec::new();
    for (kind, target, part, file) in files() {
        let canary = Canary::listen();
        for change in changes(&planted.folder.path().join("secret.txt"), &canary) {
            let template = changed(&file, part, &change);
            let sent = Sent { kind, target, template: &template, data: "{}" };
            let made = made(&watched.app, Route::Init, &sent).await;
            let mut leaks = canary.hits();
            match &made {
                Ok(file) => {
                    let text = words(file);
                    let bad = [SECRET, LAUGH, LARGE].into_iter().find(|bad| text.contains(bad));
                    leaks.extend(bad.map(|bad| format!("'{bad}' is in it")));
                    leaks.extend(change.text.contains('&').then(|| "its entities were admitted".to_owned()));
                }
                Err(error) => {
                    let is_named =
                        ENDS.iter().any(|code| error.contains(&format!("\"errorCode\":\"{code}\"")));
                    leaks.extend((!is_named || error.contains(SECRET)).then(|| error.clone()));
                }
            }
            let messages = made.err().unwrap_or_else(|| "made".to_owned());
            let carrier = format!("{part} to {target}");
            outcomes.push(Outcome { name: change.name.to_owned(), carrier, leaks, messages });
        }
        let sent = Sent { kind, target, template: &file, data: "{}" };
        let text = words(&made(&watched.app, Route::Init, &sent).await.unwrap());
        assert!(text.contains("owntext"), "the good {kind} after them: {text}");
    }
    report("Suite E: XML of Office files", outcomes);
    watched.finish().await;
}
