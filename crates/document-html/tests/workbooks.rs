//! Drawings and merged cells of workbooks that LibreOffice 25.2 has saved.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use document_html::{Extras, Limits, Page, write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name)).unwrap()
}

/// The document; a picture of LibreOffice's is called as its file is, one of the package
/// by its beginning.
fn shown(name: &str, html: &str) -> Page {
    let mut file = |name: &str| Some([b"\x89PNG\r\n\x1a\n", name.as_bytes()].concat());
    let extras = Extras { html: html.as_bytes(), file: Some(&mut file), ..Extras::default() };
    write(&read(name), extras, &Limits::default()).unwrap()
}

fn pictures(page: &Page) -> Vec<String> {
    let parts = page.html.split("src=\"data:image/png;base64,").skip(1);
    let picture = |part: &str| {
        let bytes = STANDARD.decode(part.split('"').next().unwrap()).unwrap();
        String::from_utf8(bytes[8..].to_vec()).unwrap_or_else(|_| "of the package".to_owned())
    };
    parts.map(picture).collect()
}

#[test]
fn each_drawing_of_a_workbook_has_its_own_picture() {
    let html = String::from_utf8(read("objects.html")).unwrap();
    let page = shown("objects.ods", &html);
    let expected_of_all = [
        "objects_html_45970a39.png", // the group
        "objects_html_720ad245.png", // the star
        "objects_html_814b42e6.png", // the chart "Units", over filled cells
        "objects_html_91f74145.png", // the chart "Returns", over empty ones
        "of the package",
        "of the package",
        "objects_html_f3749cd9.png", // the chart "Trend" of the second sheet
    ];
    assert_eq!((pictures(&page), page.missing_pictures), (expected_of_all.map(str::to_owned).to_vec(), 0));
    assert!(page.html.contains("A note in a box") && !page.html.contains("objects_html_8dfe1a89"));

    // Where one is too few, only the size tells them apart, which the two charts and the two drawings share.
    let fewer = html.replace("<img src=\"objects_html_720ad245.png\"", "<none ");
    let page = shown("objects.ods", &fewer);
    let expected = ["of the package", "of the package", "objects_html_f3749cd9.png"];
    assert_eq!(pictures(&page), expected);
    assert_eq!(page.missing_pictures, 4, "two charts, the star and a part of the group; the other is a text");
    // Where one is too many, what has a size of its own is known by that.
    let more = html.replace("</body>", "<img src=\"objects_html_1.png\" width=5 height=5></body>");
    assert_eq!(pictures(&shown("objects.ods", &more)), expected_of_all);
}

#[test]
fn charts_of_one_size_are_reported_apart_wherever_cells_begin_and_columns_are_hidden() {
    let page = shown("charts.ods", &String::from_utf8(read("charts.html")).unwrap());
    let expected = [
        "b81b8dc1", // Over, which lies over filled cells
        "7dd6454f", // In
        "50e3b089", // Alone, in a sheet without cells
        "b1bea698", // Early, before the first cell
        "8325c14",  // Left
        "31111741", // Right, which lies over filled cells
        "f57b55d6", // Low
        "9f020715", // LowRight, too
        "7e1a8c52", // the sheet that is a chart
    ];
    assert_eq!(pictures(&page), expected.map(|sum| format!("offset_html_{sum}.png")));
    assert_eq!(page.missing_pictures, 0);
}

/// The page of a sheet with these styles, columns and rows.
fn page_of(styles: &str, inner: &str) -> String {
    let body = format!(
        "<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet><table:table \
         table:style-name=\"t\">{inner}</table:table></office:spreadsheet></office:body>"
    );
    let spaces = [("office", ""), ("text", ""), ("table", ""), ("style", ""), ("fo", "xsl-fo-compatible")]
        .map(|(name, last)| (name, if last.is_empty() { name } else { last }))
        .map(|(name, last)| format!("xmlns:{name}=\"urn:oasis:names:tc:opendocument:xmlns:{last}:1.0\" "));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("content.xml", SimpleFileOptions::default()).unwrap();
    let spaces = spaces.concat();
    write!(zip, "<office:document-content {spaces}>{body}</office:document-content>").unwrap();
    let file = zip.finish().unwrap().into_inner();
    write(&file, Extras::default(), &Limits::default()).unwrap().html
}

/// A sheet with these columns and rows.
fn sheet(inner: &str) -> String {
    let page = page_of("", inner);
    let (_, rows) = page.split_once("</colgroup>").unwrap();
    let plain =
        rows.replace(" style=\"text-align:right\"", "").replace(" valign=\"bottom\"", "").replace('\n', "");
    plain.split("</table>").next().unwrap().to_owned()
}

#[test]
fn a_merged_cell_whose_corner_is_hidden_is_shown_at_its_first_place() {
    const HIDDEN: &str = "<table:table-column table:visibility=\"collapse\"/>";
    const COLUMN: &str = "<table:table-column/>";
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let merged = |wide: usize, tall: usize| {
        format!(
            "<table:table-cell table:number-columns-spanned=\"{wide}\" table:number-rows-spanned=\"{tall}\"><text:p>m</text:p>\
             </table:table-cell>"
        )
    };
    let covered =
        |count: usize| format!("<table:covered-table-cell table:number-columns-repeated=\"{count}\"/>");
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let columns = format!("{HIDDEN}{COLUMN}{COLUMN}{COLUMN}");

    let wide = sheet(&format!("{columns}{}", row(&[merged(3, 1), covered(2), cell("d")])));
    assert_eq!(wide, "<tr><td colspan=\"2\">m</td><td>d</td></tr>");
    let alone = sheet(&format!("{HIDDEN}{COLUMN}{}", row(&[merged(2, 1), covered(1)])));
    assert_eq!(alone, "<tr><td>m</td></tr>");
    let whole = |first: &str| {
        let hidden = row(&[merged(2, 3), covered(1), cell("c1")]).replacen("<table:table-row", first, 1);
        let other = |text: &str| row(&[covered(2), cell(text)]);
        sheet(&format!("{COLUMN}{COLUMN}{COLUMN}{hidden}{}{}", other("c2"), other("c3")))
    };
    assert_eq!(
        whole("<table:table-row table:visibility=\"collapse\""),
        "<tr><td colspan=\"2\" rowspan=\"2\">m</td><td>c2</td></tr><tr><td>c3</td></tr>"
    );
    assert!(
        whole("<table:table-row").starts_with("<tr><td colspan=\"2\" rowspan=\"3\">m</td><td>c1</td></tr>")
    );
    let all = sheet(&format!("{HIDDEN}{HIDDEN}{COLUMN}{}", row(&[merged(2, 1), covered(1), cell("c")])));
    assert_eq!(all, "<tr><td>c</td></tr>");
}

/// LibreOffice means left by `start`, also where the columns begin at the right.
#[test]
fn cells_are_aligned_to_the_side_that_libreoffice_means_in_either_direction() {
    for (mode, align, shown) in [
        ("lr-tb", "start", None),
        ("lr-tb", "end", Some("right")),
        ("rl-tb", "start", Some("left")),
        ("rl-tb", "end", Some("right")),
    ] {
        let styles = format!(
            "<style:style style:name=\"t\" style:family=\"table\"><style:table-properties style:writing-mode=\"{mode}\"/>\
             </style:style><style:style style:name=\"c\" style:family=\"table-cell\"><style:paragraph-properties \
             fo:text-align=\"{align}\"/></style:style>"
        );
        let cell = "<table:table-cell table:style-name=\"c\"><text:p>x</text:p></table:table-cell>";
        let page =
            page_of(&styles, &format!("<table:table-column/><table:table-row>{cell}</table:table-row>"));
        let (before, _) = page.split_once(">x</t").unwrap();
        let (_, cell) = before.rsplit_once('<').unwrap();
        let side = cell.split_once("text-align:").map(|(_, side)| side.trim_end_matches(['"', ';']));
        assert_eq!(side, shown, "{mode}, {align}: {cell}");
    }
}
