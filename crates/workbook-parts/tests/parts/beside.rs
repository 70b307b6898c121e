//! Comments and pivot tables.

use workbook_parts::{At, Book, Report, comments, control, pivot_cache, pivot_table, threaded_comments};

use crate::support::{FIRST, LIMIT, copy, tail, workbook};

const CONVERSATION: &str = "{7F5A8B3C-1111-4D2E-9F00-0123456789AB}";
const SECOND: &str = "{7F5A8B3C-1111-4D2E-9F00-000000000001}";

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn comments_are_there_once_a_turn_and_conversations_keep_together() {
    let author = |id: &str| format!("<author>tc={id}</author>");
    let comment = |cell: &str, author: u32, uid: &str| {
        let uid = if uid.is_empty() { String::new() } else { format!(" xr:uid=\"{uid}\"") };
        format!(
            "<comment ref=\"{cell}\" authorId=\"{author}\" shapeId=\"0\"{uid}><text><t>Why?</t></text></comment>"
        )
    };
    let part = |authors: &str, all: &str| {
        format!(
            "<comments><authors><author>Ann</author>{authors}</authors><commentList>{all}</commentList></comments>"
        )
    };
    let workbook = workbook("3*2", "");
    let book = Book::new(&workbook, LIMIT);
    let before = part(
        &author(CONVERSATION),
        &(comment("A3", 1, CONVERSATION) + &comment("B3", 0, "{1}") + &comment("C9", 0, "")),
    );
    let after = part(
        &(author(CONVERSATION) + &author(SECOND)),
        &(comment("A3", 1, CONVERSATION)
            + &comment("A4", 2, SECOND)
            + &comment("B3", 0, "{1}")
            + &comment("B4", 0, "")
            + &comment("C10", 0, "")),
    );
    assert_eq!(text(comments(before.as_bytes(), &book, FIRST).unwrap()), after);

    let word = |cell: &str, id: &str, parent: &str| {
        format!(
            "<threadedComment ref=\"{cell}\" dT=\"2024-01-01T00:00:00.00\" personId=\"{{2}}\" id=\"{id}\" parentId=\"{parent}\"><text>Why?</text></threadedComment>"
        )
    };
    let reply = |end: &str| format!("{{7F5A8B3C-2222-4D2E-9F00-{end}}}");
    let part = |all: &str| format!("<ThreadedComments>{all}</ThreadedComments>");
    let before = part(&word("A3", &reply("0123456789AB"), CONVERSATION));
    let after = part(
        &(word("A3", &reply("0123456789AB"), CONVERSATION) + &word("A4", &reply("000000000001"), SECOND)),
    );
    assert_eq!(text(threaded_comments(before.as_bytes(), &book, FIRST).unwrap()), after);
}

#[test]
fn a_pivot_table_reads_all_rows_and_is_refreshed() {
    let part = |source: &str, refresh: &str| {
        format!(
            "<pivotCacheDefinition{refresh} r:id=\"rId1\"><cacheSource type=\"worksheet\"><worksheetSource {source}/></cacheSource></pivotCacheDefinition>"
        )
    };
    let refresh = " refreshOnLoad=\"1\"";
    let mut workbook = workbook("3*2", "2*9");
    let cached = |workbook: &cell_references::Workbook, source: &str| {
        let mut report = Report::default();
        let book = Book::new(workbook, LIMIT);
        let written = text(pivot_cache(part(source, "").as_bytes(), &book, &mut report).unwrap());
        (written, report.lost.count)
    };
    let cases = [
        ("ref=\"A1:C2\" sheet=\"data\"", "ref=\"A1:C10\" sheet=\"Data\""),
        ("name=\"Table1\"", "name=\"Table1\""),
        ("ref=\"A1:C2\" sheet=\"Data\" r:id=\"rId2\"", "ref=\"A1:C2\" sheet=\"Data\" r:id=\"rId2\""),
    ];
    for (before, after) in cases {
        assert_eq!(cached(&workbook, before), (part(after, refresh), 0));
    }
    let place = "<pivotTableDefinition><location ref=\"A5:C8\" firstHeaderRow=\"1\"/></pivotTableDefinition>";
    let written = pivot_table(place.as_bytes(), &Book::new(&workbook, LIMIT), FIRST, &mut Report::default());
    assert_eq!(text(written.unwrap()), place.replace("A5:C8", "A6:C9"));
    workbook.sheets[1].copies = Vec::new();
    assert_eq!(cached(&workbook, "ref=\"A1:C2\" sheet=\"Data\"").1, 1);
    workbook.sheets[1].copies = vec![copy("North & South", "")];
    assert_eq!(
        cached(&workbook, "ref=\"A1:C2\" sheet=\"Data\"").0,
        part("ref=\"A1:C2\" sheet=\"North &amp; South\"", refresh)
    );
    let nowhere = comments(
        b"<comments><commentList/></comments>",
        &Book::new(&workbook, LIMIT),
        At { sheet: 9, copy: 0 },
    );
    assert_eq!(nowhere.unwrap_err().to_string(), "there is no copy 0 of sheet 9");
}

#[test]
fn a_control_is_tied_to_the_cells_that_its_cells_became() {
    let workbook = workbook("3*3", "2*4");
    let book = Book::new(&workbook, LIMIT);
    let xml = "<formControlPr objectType=\"Drop\" fmlaLink=\"$A$9\" fmlaRange=\"Data!$A$1:$A$2\" val=\"0\"/>";
    let written = control(xml.as_bytes(), &book, FIRST, &mut Report::default()).unwrap();
    let written = String::from_utf8(written).unwrap();
    assert!(written.contains("fmlaLink=\"$A$11\" fmlaRange=\"Data!$A$1:$A$5\""), "{written}");
    let listed = "<controls><control r:id=\"a\"><controlPr linkedCell=\"$A$9\" listFillRange=\"$B$3:$B$3\"/></control></controls>";
    let tail = tail("3*3", listed);
    assert!(tail.contains("linkedCell=\"$A$11\" listFillRange=\"$B$3:$B$5\""), "{tail}");
}
