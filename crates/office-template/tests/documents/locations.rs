//! Where a faulty tag is: the heading above it, its row and column, the text around it.

use office_template::{NoFiles, Template};

use crate::support::{docx, docx_with, entries, limits, p, table, try_fill, zipped};
use crate::{includes, slides};

const STYLES: &str = "<w:style w:type=\"paragraph\" w:styleId=\"berschrift1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Own\"><w:name w:val=\"Chapter\"/><w:basedOn w:val=\"berschrift1\"/></w:style>\
    <w:style w:type=\"paragraph\" w:styleId=\"Titel\"><w:name w:val=\"Title\"/></w:style>";

fn styled(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

/// A document with styles.
fn document(body: &str) -> Vec<u8> {
    docx_with(body, &[("styles.xml", "styles", "styles", STYLES)])
}

fn fault(file: Vec<u8>, data: &str) -> String {
    try_fill(file, data, "{}").expect_err("it has a fault").to_string()
}

#[test]
fn a_fault_names_the_heading_above_and_the_words_around() {
    let outlined = "<w:p><w:pPr><w:outlineLvl w:val=\"2\"/></w:pPr><w:r><w:t>Level three</w:t></w:r></w:p>";
    let text = p("The sum of {gone.x()} is to be paid within thirty days of the date of this invoice.");
    for (heading, told) in [
        (styled("berschrift1", "Payment &amp; terms"), "Payment & terms"),
        (styled("Own", "A chapter"), "A chapter"),
        (styled("Titel", "The title"), "The title"),
        (outlined.to_owned(), "Level three"),
        (styled("berschrift1", "First") + &p("x") + &styled("berschrift1", "Second"), "Second"),
        (styled("berschrift1", "First") + &styled("berschrift1", " "), "First"),
    ] {
        let message = fault(document(&(heading + &p("x") + &text + &styled("berschrift1", "Later"))), "{}");
        let around =
            format!("(under \"{told}\", in \"The sum of {{gone.x()}} is to be paid within thirty…\")");
        assert!(message.ends_with(&around), "{message}");
        assert!(message.starts_with("word/document.xml, paragraph "), "{message}");
    }
    let long = p("All of these words stand long before the tag, but not {gone.x()}");
    let message = fault(document(&long), "{}");
    assert!(message.ends_with("(in \"…long before the tag, but not {gone.x()}\")"), "{message}");
    let message = fault(docx(&(p("Dear reader,") + &p("") + &p("{gone.x()}"))), "{}");
    assert!(message.ends_with("(below \"Dear reader,\")"), "{message}");
    let message = fault(docx(&p("{gone.x()}")), "{}");
    assert!(message.ends_with("is not defined"), "{message}");
}

#[test]
fn a_fault_in_a_table_names_row_and_column() {
    let rows = table(&[&["Item", "Price"], &["Ink", "4"], &["Paper", "{gone.x()}"]]);
    let message = fault(document(&rows), "{}");
    assert!(message.ends_with("(row 3, column 2)"), "{message}");
    let two = p("x") + &table(&[&["a"]]) + &styled("berschrift1", "Prices") + &rows.replace("4<", "4 {b +}<");
    let message = fault(document(&two), "{}");
    assert!(message.contains("(under \"Prices\", row 2, column 2 of table 2, in \"4 {b +}\")"), "{message}");
    assert!(message.contains("(under \"Prices\", row 3, column 2 of table 2)"), "{message}");
    let inner = format!("<w:tbl><w:tblPr/><w:tr><w:tc>{}{}</w:tc></w:tr></w:tbl>", rows, p("y"));
    let message = fault(document(&inner), "{}");
    assert!(message.ends_with("(row 3, column 2 of table 2)"), "the inner table: {message}");
    let controlled = rows.replacen("<w:tr>", "<w:sdt><w:sdtContent><w:tr>", 1).replacen(
        "</w:tr>",
        "</w:tr></w:sdtContent></w:sdt>",
        1,
    );
    let message = fault(document(&controlled), "{}");
    assert!(message.ends_with("(row 3, column 2)"), "{message}");
}

#[test]
fn faults_of_structure_and_warnings_and_lints_say_it_too() {
    let heading = styled("berschrift1", "Terms");
    let body = heading.clone() + &p("Here {#open} begins") + &table(&[&["a", "b {/other}"]]) + &p("and {ok");
    let message = fault(document(&body), "{}");
    for told in [
        "it stands where {#open} of paragraph 2 is to be closed, by {/open} (under \"Terms\", row 1, column 2, in \"b {/other}\"; {#open}: under \"Terms\", in \"Here {#open} begins\")",
        "choose other delimiters (under \"Terms\", in \"and {ok\")",
    ] {
        assert!(message.contains(told), "{told} is missing: {message}");
    }
    let told = try_fill(document(&(heading.clone() + &p("Half of {a / 0} is"))), "{\"a\":1}", "{}")
        .expect("filled")
        .warnings;
    assert!(told[0].ends_with("(under \"Terms\", in \"Half of {a / 0} is\")"), "{told:?}");
    let file = document(&(heading + &p("A link {:color \"reddish\"} here")));
    let message = fault(file.clone(), "{}");
    assert!(message.ends_with("(under \"Terms\", in \"A link {:color \"reddish\"} here\")"), "{message}");
    let outline = Template::outline(file, None, &limits(), &mut NoFiles).expect("it is read");
    let told = outline.tags[0].fault("it is wrong").to_string();
    assert!(
        told.ends_with("it is wrong (under \"Terms\", in \"A link {:color \"reddish\"} here\")"),
        "{told}"
    );
    let header = p("Page of {gone.x()} today");
    let file = docx_with(&p("x"), &[("header1.xml", "header", "hdr", &header)]);
    let message = fault(file, "{}");
    assert!(message.starts_with("word/header1.xml, paragraph 1, {gone.x()}: "), "{message}");
    assert!(message.ends_with("(in \"Page of {gone.x()} today\")"), "{message}");
}

#[test]
fn a_fault_of_an_included_document_names_the_words_around_in_that() {
    let terms = document(&(styled("Own", "Payment") + &p("Pay {gone.x()} now")));
    let body = p("{:include \"terms.docx\"}") + &p("See {gone.y()} above");
    let message = includes::fault(&body, "{}", &[("terms.docx", terms)]);
    let told = "terms.docx, paragraph 2, {gone.x()}: 'gone' is not defined (under \"Payment\", in \"Pay {gone.x()} now\")";
    assert!(message.contains(told), "{message}");
    assert!(message.contains("(in \"See {gone.y()} above\")"), "{message}");
    let open = document(&(styled("Own", "Payment") + &p("Pay {#open} now")));
    let message = includes::fault(&body, "{}", &[("terms.docx", open)]);
    assert!(message.contains("(under \"Payment\", in \"Pay {#open} now\")"), "{message}");
}

#[test]
fn a_fault_of_a_slide_names_its_title_and_the_cell() {
    let title =
        slides::shape_of(3, "", "<p:cNvSpPr/><p:nvPr><p:ph type=\"title\"/></p:nvPr>", &["Sales {year}"]);
    let shapes = title
        + &slides::shape(2, &["First", "The sum {gone.x()} is"])
        + &slides::table(&[&["a", "b"], &["c", "{gone.y()}"]]);
    let message = fault(slides::pptx(&["", &shapes], ""), "{}");
    assert!(message.contains("slide 2, paragraph 3, {gone.x()}: "), "{message}");
    assert!(message.contains("(under \"Sales {year}\", in \"The sum {gone.x()} is\")"), "{message}");
    assert!(message.contains("(under \"Sales {year}\", row 2, column 2)"), "{message}");
}

#[test]
fn words_of_other_programs_are_quoted_as_they_are_read() {
    let split = "<w:p><w:r><w:t xml:space=\"preserve\">The  sum</w:t><w:tab/><w:t>of {go</w:t></w:r><w:r><w:rPr><w:b/></w:rPr>\
                 <w:t>ne.x()}</w:t><w:br/><w:t>is</w:t></w:r></w:p>";
    let message = fault(docx(split), "{}");
    assert!(message.ends_with("(in \"The sum of {gone.x()} is\")"), "{message}");
    // Another prefix for Word's names.
    let files = entries(&document(&(styled("Own", "Terms") + &p("Pay {gone.x()} now"))));
    let files: Vec<(String, Vec<u8>)> = files
        .into_iter()
        .map(|(name, content)| {
            let text = String::from_utf8(content).expect("a text");
            let text = ["<w:", "</w:", " w:", "xmlns:w="]
                .iter()
                .zip(["<ns0:", "</ns0:", " ns0:", "xmlns:ns0="])
                .fold(text, |text, (from, to)| text.replace(from, to));
            (name, text.into_bytes())
        })
        .collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let message = fault(zipped(&files), "{}");
    assert!(message.ends_with("(under \"Terms\", in \"Pay {gone.x()} now\")"), "{message}");
}
