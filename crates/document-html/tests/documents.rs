//! Documents that LibreOffice 25.2 has saved, of Word, Excel and PowerPoint files that were made for this.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use document_html::{Error, Extras, Limits, Page, needs_pictures, write};
use html5gum::{Token, Tokenizer};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and the rest";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents")
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).expect("the document is there")
}

/// The document with what LibreOffice drew of it.
fn page(name: &str, html: &str) -> Page {
    let html = if html.is_empty() { Vec::new() } else { read(html) };
    let mut file = |name: &str| std::fs::read(folder().join(name)).ok();
    let extras = Extras { html: &html, file: Some(&mut file), ..Extras::default() };
    let page = write(&read(name), extras, &Limits::default()).expect("the document is written");
    assert_harmless(&page.html);
    page
}

/// Nothing runs, nothing is fetched, nothing is LibreOffice's.
fn assert_harmless(html: &str) {
    for token in Tokenizer::new(html).flatten() {
        let Token::StartTag(tag) = token else { continue };
        let element = String::from_utf8_lossy(&tag.name).into_owned();
        assert!(
            !["script", "iframe", "object", "embed", "link", "form", "base", "style", "font"]
                .contains(&&*element),
            "{element}"
        );
        for (name, value) in &tag.attributes {
            let (name, value) = (String::from_utf8_lossy(name), String::from_utf8_lossy(value));
            assert!(!name.starts_with("on"), "{element} {name}");
            match &*name {
                "src" => assert!(value.starts_with("data:image/"), "{value}"),
                "href" => assert!(value.starts_with("http") || value.starts_with('#'), "{value}"),
                "style" => assert!(
                    !value.contains("url(") && !value.contains("position") && !value.contains('@'),
                    "{value}"
                ),
                _ => {}
            }
        }
    }
    assert!(!html.contains("LibreOffice"));
    assert!(
        html.starts_with("<!DOCTYPE html>\n<html lang=\"en-US\">\n<head>\n<meta charset=\"utf-8\">"),
        "{html}"
    );
}

/// The text without tags, in one line.
fn text(html: &str) -> String {
    let mut text = String::new();
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::String(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Token::StartTag(_) | Token::EndTag(_) => text.push(' '),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn assert_in_order(html: &str, parts: &[&str]) {
    let mut rest = html;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { panic!("'{part}' is not in\n{rest}") };
        rest = after;
    }
}

#[test]
fn a_text_keeps_its_headings_lists_tables_and_looks() {
    let page = page("report.odt", "");
    assert!(page.html.contains("<title>Quarterly report</title>"));
    assert_in_order(
        &page.html,
        &[
            "<p ",
            ">Quarterly report</p>",
            "<h1 ",
            ">Überblick</h1>",
            "Plain, <b>bold</b>, <i>italic</i>",
            "color:#c80000",
            "<u>underlined</u>, x<sup>2</sup> &lt;b&gt;&amp;amp; &quot;escaped&quot;<s> struck</s>",
            "background-color:#ffff00",
            "text-align:center",
            "<a href=\"https://example.org/a?b=1&amp;c=2\">example</a>bad",
            "<ul",
            "<li>One</li>",
            "<li>Two\n<ul",
            "<li>Two a</li>",
            "<li>Two b</li>\n</ul>\n</li>",
            "<li>Three</li>\n</ul>",
            "<ol",
            "<li>First</li>",
            "</ol>",
            "<h2 ",
            "<thead>\n<tr><th scope=\"col\"",
            ">Item</th>",
            "</thead>\n<tbody>",
            ">Chair</td>",
            "<td colspan=\"2\"",
            ">Merged</td><td rowspan=\"2\"",
            "src=\"data:image/png;base64,iVBOR",
            "alt=\"A white ellipse on blue\" width=\"189\" height=\"106\"",
            "日本語 العربية emoji 😀",
        ],
    );
    // What stands on every sheet of paper stands nowhere here.
    assert!(!page.html.contains("The header") && !page.html.contains("The footer"));
    assert_eq!(page.missing_pictures, 0);
}

#[test]
fn what_is_deleted_or_hidden_is_not_there_and_what_was_drawn_is() {
    let page = page("hard.odt", "hard.html");
    for gone in ["DELETED", "VANISHED", "127.0.0.1", "javascript"] {
        assert!(!page.html.contains(gone), "{gone}");
    }
    assert_in_order(
        &page.html,
        &[
            "Kept inserted ",
            "&emsp;tab&emsp;bed<br>line",
            "<ol start=\"3\"",
            "Three",
            "<ol type=\"a\" style=\"margin:0\">",
            "a\n<ul",
            "bullet",
            "</ul>\n</li>",
            "b</li>\n</ol>",
            "Four",
            "dir=\"rtl\"",
            "background-color:#ffff99",
            "In a box",
            "</div>\n<p",
            "Beside the box",
            "<img src=\"data:image/png",
            "linked alt",
            "float:right",
            "<table",
            "outer",
            "<table",
            "inner",
            "<b>Comment</b>",
        ],
    );
    assert_eq!(page.missing_pictures, 1);
    assert_eq!(page.html.matches("<img").count(), 2);
}

#[test]
fn a_workbook_is_a_heading_and_a_table_for_each_sheet_that_is_shown() {
    let page = page("sales.ods", "sales.html");
    for hidden in ["HIDDENSHEET", "VERYHIDDEN", "HIDDENROW", "HIDDENCOLUMN", "Secret"] {
        assert!(!page.html.contains(hidden), "{hidden}");
    }
    assert_in_order(
        &page.html,
        &[
            ">Sales &amp; more</h1>",
            "<table",
            "background-color:#336699",
            "font-weight:bold",
            ">Product</td>",
            "<tr",
            ">Chair</td>",
            "text-align:right",
            ">2</td>",
            ">40.50 €</td>",
            ">81.00 €</td>",
            ">01.02.2026</td>",
            "Lamp &lt;x&gt;",
            "colspan=\"3\"",
            "Sum",
            ">402.5</td>",
            "<a href=\"https://example.org/x\">link</a>",
            "</table>",
            "<img",
            "<img",
            ">Zweites</h1>",
            "350.00%",
            ">Empty</h1>",
        ],
    );
    assert_eq!(page.html.matches("<img").count(), 2, "the picture of the package and the chart");
    assert!(text(&page.html).len() < 400, "no empty rows and columns are written: {}", page.html.len());
}

#[test]
fn slides_are_pictures_with_their_text_and_notes() {
    let slides = [PNG.to_vec(), PNG.to_vec(), PNG.to_vec()];
    let extras = Extras { slides: &slides, ..Extras::default() };
    let page = write(&read("deck.odp"), extras, &Limits::default()).unwrap();
    assert_eq!(page.html.matches("<section").count(), 3);
    assert_in_order(
        &page.html,
        &[
            "<h2",
            ">The deck</h2>",
            "<figure",
            "<img src=\"data:image/png;base64,",
            "alt=\"Slide 1: The deck\"",
            "Subtitle with Ümläuts",
            "Notes",
            "Say hello first.",
            "Then &amp; wait.",
            ">Points</h2>",
            "<ul",
            "One",
            "One a",
            "Two &lt;b&gt;",
            ">Table</h2>",
            "c00",
            "c11",
            "<a href=\"https://example.org/p\">Linked</a>",
        ],
    );
    assert!(!page.html.contains("HIDDENSLIDE"));
    // Pictures of other slides than these are of no use.
    let page =
        write(&read("deck.odp"), Extras { slides: &slides[..2], ..Extras::default() }, &Limits::default())
            .unwrap();
    assert_eq!((page.missing_pictures, page.html.matches("<img").count()), (3, 0));
}

#[test]
fn only_what_has_drawings_needs_them_drawn() {
    let needs = |name| needs_pictures(&read(name), &Limits::default());
    assert_eq!(needs("report.odt"), Ok(false));
    assert_eq!(needs("hard.odt"), Ok(true));
    assert_eq!(needs("sales.ods"), Ok(true));
    for (element, needed) in [
        ("draw:rect ", true),
        ("draw:ellipse/", true),
        ("draw:polyline", true),
        ("dr3d:scene", true),
        ("draw:frame ", false),
        ("draw:enhanced-geometry", false),
        ("draw:object-note", false),
    ] {
        let body = package(&format!("<{element}>"));
        assert_eq!(needs_pictures(&body, &Limits::default()), Ok(needed), "{element}");
    }
}

#[test]
fn what_nobody_drew_is_counted() {
    let limits = Limits::default();
    let shapes = "<draw:rect/><draw:polyline/><draw:g><draw:circle/><draw:line/></draw:g><draw:control/>";
    let page = written(&format!("<text:p>a{shapes}b</text:p>{shapes}"), &limits).unwrap();
    assert_eq!(page.missing_pictures, 8);
    let boxed = "<draw:rect><text:p>in a box</text:p></draw:rect>";
    assert_eq!(written(&format!("<text:p>a{boxed}</text:p>"), &limits).unwrap().missing_pictures, 0);
}

/// A package with this body.
fn package(body: &str) -> Vec<u8> {
    const SPACES: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
        xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" \
        xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
        xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" \
        xmlns:fo=\"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0\"";
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("content.xml", SimpleFileOptions::default()).unwrap();
    write!(zip, "<office:document-content {SPACES}>{body}</office:document-content>").unwrap();
    zip.finish().unwrap().into_inner()
}

fn written(body: &str, limits: &Limits) -> Result<Page, Error> {
    write(
        &package(&format!("<office:body><office:text>{body}</office:text></office:body>")),
        Extras::default(),
        limits,
    )
}

#[test]
fn a_hostile_document_is_refused_by_name_or_written_without_harm() {
    let limits = Limits::default();
    let deep = format!("{}{}", "<text:section>".repeat(5_000), "</text:section>".repeat(5_000));
    assert_eq!(written(&deep, &limits), Err(Error::Depth { limit: 200 }));
    let spans = format!("<text:p>{}{}</text:p>", "<text:span>".repeat(5_000), "</text:span>".repeat(5_000));
    assert_eq!(written(&spans, &limits), Err(Error::Depth { limit: 200 }));
    let lists = "<text:list><text:list-item>".repeat(3_000) + &"</text:list-item></text:list>".repeat(3_000);
    assert_eq!(written(&lists, &limits), Err(Error::Depth { limit: 200 }));
    let long = "<text:p>x</text:p>".repeat(1_000);
    assert_eq!(
        written(&long, &Limits { output_bytes: 10_000, ..limits }),
        Err(Error::Output { limit: 10_000 })
    );
    assert!(matches!(written(&long, &Limits { part_bytes: 1_000, ..limits }), Err(Error::Part { .. })));
    assert!(matches!(written(&long, &Limits { nodes: 100, ..limits }), Err(Error::Nodes { .. })));
    assert!(matches!(write(b"PK", Extras::default(), &limits), Err(Error::Package(_))));

    let cells = "<table:table-cell table:number-columns-repeated=\"4000000000\" table:number-columns-spanned=\"4000000000\"><text:p>x</text:p>\
        </table:table-cell>";
    let rows =
        format!("<table:table-row table:number-rows-repeated=\"4000000000\">{cells}</table:table-row>");
    let sheet = format!(
        "<office:body><office:spreadsheet><table:table>{rows}</table:table></office:spreadsheet></office:body>"
    );
    let limited = Limits { output_bytes: 1 << 20, ..limits };
    assert_eq!(write(&package(&sheet), Extras::default(), &limited), Err(Error::Output { limit: 1 << 20 }));

    let style = "<office:automatic-styles><style:style style:name=\"a\" style:family=\"text\" style:parent-style-name=\"a\">\
        <style:text-properties fo:color=\"red;background:url(http://x)\" fo:font-family=\"x';position:fixed\"/></style:style></office:automatic-styles>";
    let body = "<office:body><office:text><text:p><text:span text:style-name=\"a\">&lt;script>x</text:span>\
        <text:a xlink:href=\" javascript:x\">y</text:a><draw:frame><draw:image xlink:href=\"../../etc/passwd\"/></draw:frame></text:p>\
        </office:text></office:body>";
    let page = write(&package(&format!("{style}{body}")), Extras::default(), &limits).unwrap();
    assert!(page.html.contains("<p style=\"margin:0\">&lt;script&gt;xy</p>"), "{}", page.html);
}

#[test]
fn a_paragraph_is_aligned_to_the_side_that_libreoffice_means_in_either_direction() {
    let shown = |default: &str, mode: &str, align: &str| {
        let property = |align: &str| {
            let align = if align.is_empty() { String::new() } else { format!("fo:text-align=\"{align}\"") };
            format!("<style:paragraph-properties {align} style:writing-mode=\"{mode}\"/>")
        };
        let styles = format!(
            "<office:automatic-styles><style:default-style style:family=\"paragraph\">{}</style:default-style>\
             <style:style style:name=\"a\" style:family=\"paragraph\">{}</style:style></office:automatic-styles>",
            property(default),
            property(align)
        );
        let body =
            "<office:body><office:text><text:p text:style-name=\"a\">x</text:p></office:text></office:body>";
        let page =
            write(&package(&format!("{styles}{body}")), Extras::default(), &Limits::default()).unwrap();
        let (before, _) = page.html.split_once(">x</p>").unwrap();
        let (_, paragraph) = before.rsplit_once("<p").unwrap();
        let (_, around) = before.split_once("<div").unwrap();
        let (around, _) = around.split_once('>').unwrap();
        let side = |element: &str| {
            let (_, rest) = element.split_once("text-align:")?;
            rest.split([';', '"']).next().map(str::to_owned)
        };
        let usual = if paragraph.contains("dir=\"rtl\"") { "right" } else { "left" };
        side(paragraph).or(side(around)).unwrap_or_else(|| usual.to_owned())
    };
    for default in ["", "start", "end"] {
        for mode in ["lr-tb", "rl-tb"] {
            for (align, side) in [
                ("start", "left"),
                ("left", "left"),
                ("end", "right"),
                ("right", "right"),
                ("center", "center"),
                ("justify", "justify"),
            ] {
                assert_eq!(shown(default, mode, align), side, "{align}, {mode}, around it '{default}'");
            }
        }
    }
}

#[test]
fn a_hidden_item_leaves_neither_its_place_nor_its_label() {
    let styles = "<office:automatic-styles><text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\" \
        style:num-format=\"1\" style:num-prefix=\"Section \" text:start-value=\"0\"/><text:list-level-style-number text:level=\"2\" \
        style:num-format=\"1\" text:start-value=\"0\"/></text:list-style><style:style style:name=\"H\" style:family=\"paragraph\">\
        <style:text-properties text:display=\"none\"/></style:style></office:automatic-styles>";
    let item = |style: &str, text: &str| {
        format!("<text:list-item><text:p text:style-name=\"{style}\">{text}</text:p></text:list-item>")
    };
    let html = |items: String| {
        let list = format!("<text:list text:style-name=\"L\">{items}</text:list><text:p>behind</text:p>");
        let body = format!("{styles}<office:body><office:text>{list}</office:text></office:body>");
        write(&package(&body), Extras::default(), &Limits::default()).unwrap().html
    };
    let page = html(item("", "a") + &item("H", "gone"));
    assert_eq!(page.matches("<li").count(), 1, "{page}");
    assert_in_order(&page, &["Section 0&ensp;a", ">behind</p>"]);
    // Numbers go on from 0, on both levels.
    let inner =
        format!("<text:list-item><text:list>{}{}</text:list></text:list-item>", item("", "x"), item("", "y"));
    let page = html(item("", "a") + &item("", "b") + &inner);
    assert_in_order(
        &page,
        &["Section 0&ensp;a", "Section 1&ensp;b", "<ol start=\"0\"", "x", "<li style=\"margin:0 0 0\">y"],
    );
}

#[test]
fn tables_within_tables_of_slides_are_written_once() {
    let mut table = "<text:p>innermost</text:p>".to_owned();
    for _ in 0..12 {
        table = format!(
            "<table:table><table:table-row><table:table-cell>{table}</table:table-cell></table:table-row></table:table>"
        );
    }
    let body = format!(
        "<office:body><office:presentation><draw:page><draw:frame>{table}</draw:frame></draw:page></office:presentation></office:body>"
    );
    let page = write(&package(&body), Extras::default(), &Limits::default()).unwrap();
    assert_eq!(page.html.matches("innermost").count(), 1);
    assert_eq!(page.html.matches("<tr>").count(), 12);
}

#[test]
fn parts_that_are_too_large_together_are_reported_from_one_that_is() {
    let limits = Limits { part_bytes: 2_000, ..Limits::default() };
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 1_500]].concat();
    let picture = |number| format!("<draw:frame><draw:image xlink:href=\"{number}.png\"/></draw:frame>");
    let pictures = [0, 1, 2, 3, 4, 5].map(picture).concat();
    let mut zip = ZipWriter::new_append(Cursor::new(package(&format!(
        "<office:body><office:text><text:p>{pictures}</text:p></office:text></office:body>"
    ))))
    .unwrap();
    for number in 0..6 {
        zip.start_file(format!("{number}.png"), SimpleFileOptions::default()).unwrap();
        zip.write_all(&png).unwrap();
    }
    let file = zip.finish().unwrap().into_inner();
    assert_eq!(write(&file, Extras::default(), &limits), Err(Error::Parts { limit: 8_000 }));
    // Copies of a cell are bounded while they are made.
    let cell = format!(
        "<table:table-cell table:number-columns-repeated=\"1000\"><text:p>{}</text:p></table:table-cell>",
        "x".repeat(1_000)
    );
    let table = format!("<table:table><table:table-row>{cell}</table:table-row></table:table>");
    assert_eq!(
        written(&table, &Limits { output_bytes: 5_000, ..Limits::default() }),
        Err(Error::Output { limit: 5_000 })
    );
}
