//! Documents as people write them, filled by the real engine.

use office_template::Template;

use crate::audit::values;
use crate::support::{
    self, DOCUMENT, docx, docx_with, fault, fill, p, part, say, say_with, table, text, try_fill,
};

const ITEMS: &str = r#"{"items":[{"name":"A","price":1.5,"tags":["x","y"]},{"name":"B","price":1234.5,"tags":[]}],"no":[],"ok":true,"title":"T"}"#;

#[test]
fn a_value_takes_the_place_of_its_tag() {
    assert_eq!(say("Dear {title}, {1 + 1}!", ITEMS), "Dear T, 2!");
    assert_eq!(say("{missing}|{items.length}|{items[1].name}", ITEMS), "|2|B");
    assert_eq!(say("{'{'}name}", ITEMS), "{name}");
}

#[test]
fn a_value_keeps_the_style_of_the_run_in_which_its_tag_starts() {
    let run = |style: &str, text: &str| format!("<w:r><w:rPr>{style}</w:rPr><w:t>{text}</w:t></w:r>");
    let body =
        format!("<w:p>{}{}{}</w:p>", run("<w:b/>", "a {ti"), run("<w:i/>", "tl"), run("<w:u/>", "e} b"));
    let filled = fill(&body, ITEMS);
    let preserved = |style: &str, text: &str| {
        format!("<w:r><w:rPr>{style}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
    };
    assert_eq!(
        filled,
        format!(
            "<w:p>{}{}{}</w:p>",
            preserved("<w:b/>", "a T"),
            preserved("<w:i/>", ""),
            preserved("<w:u/>", " b")
        )
    );
}

#[test]
fn values_of_all_kinds_are_written_as_xml_can_hold_them() {
    let data = r#"{"v":"<a href=\"x\"> & 'y' \u0000\u0008 \ud83d\ude00 שלום \ufffe\ud800]]>","lines":"a\nb\r\nc\td"}"#;
    assert_eq!(say("{v}", data), "<a href=\"x\"> & 'y'  \u{1f600} שלום ]]>");
    assert_eq!(say("[{lines}]", data), "[a\nb\nc\td]");
    let long = "é&".repeat(500_000);
    assert_eq!(say("{v}", &format!("{{\"v\":\"{long}\"}}")), long);
    let styled = fill("<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{lines}</w:t></w:r></w:p>", data);
    assert_eq!(styled.matches("<w:r>").count(), 1, "a break stays in its run: {styled}");
}

#[test]
fn an_invoice_of_thirty_rows_is_filled() {
    let rows: Vec<String> =
        (1..=30).map(|row| format!(r#"{{"n":"Item {row}","price":{row}234.5}}"#)).collect();
    let data = format!(r#"{{"items":[{}]}}"#, rows.join(","));
    let body = table(&[&["Item", "Price"], &["{#items}{n}", "{price | currency(\"EUR\")}{/items}"]]);
    let filled = support::fill_with(&body, &data, r#"{locale:"de-DE"}"#);
    let texts = support::paragraphs(&filled);
    assert_eq!(filled.matches("<w:tr>").count(), 31);
    assert_eq!(texts.len(), 62);
    assert_eq!(texts[2..4], ["Item 1", "1.234,50\u{a0}€"]);
    assert_eq!(texts[61], "30.234,50\u{a0}€");
}

#[test]
fn rows_repeat_from_the_opening_tags_to_the_closing_tags() {
    let two = table(&[&["{#items}{name}", "{title}"], &["{price}", "{/items}"]]);
    assert_eq!(text(&two, ITEMS), "A¶T¶1.5¶¶B¶T¶1234.5¶");
    let inside = table(&[&["{name}", "{#items}{price}", "{/}"]]);
    assert_eq!(text(&inside, ITEMS), "A¶1.5¶¶B¶1234.5¶", "all of the row belongs to the section");
    for count in [0, 1, 1000] {
        let data = format!(r#"{{"items":[{}]}}"#, vec!["{\"name\":7}"; count].join(","));
        let filled = fill(&table(&[&["head"], &["{#items}{name}"], &["{/items}"]]), &data);
        assert_eq!(filled.matches("<w:tr>").count(), 1 + 2 * count);
    }
}

#[test]
fn a_table_without_rows_vanishes() {
    let body = format!("{}{}", table(&[&["{#no}{name}", "{/no}"]]), p("end"));
    assert_eq!(fill(&body, ITEMS), p("end"));
}

#[test]
fn paragraphs_repeat_and_those_of_tags_alone_vanish() {
    let body = [p("{#items}"), p("Name: {name}"), p("{/items}"), p("end")].concat();
    assert_eq!(text(&body, ITEMS), "Name: A¶Name: B¶end");
    let body = [p("{#items}"), p("{#tags}"), p("{.}{$parent.name}"), p("{/tags}{/items}"), p("end")].concat();
    assert_eq!(text(&body, ITEMS), "xA¶yA¶end");
    let body = [p("{#ok}"), p("yes"), p("{/ok}{^ok}"), p("no"), p("{/ok}")].concat();
    assert_eq!(text(&body, ITEMS), "yes");
    let body = [p("{#items}Name {name}"), p("Price {price}{/items}"), p("end")].concat();
    assert_eq!(text(&body, ITEMS), "Name A¶Price 1.5¶Name B¶Price 1234.5¶end");
    let body = [p("{#items}"), table(&[&["{#tags}{.}", "{name}{/}"]]), p("{/items}")].concat();
    assert_eq!(text(&body, ITEMS), "x¶A¶y¶A", "a table inside of a section over paragraphs");
}

#[test]
fn a_section_that_shares_its_paragraphs_with_text_is_what_stands_between_its_tags() {
    let body = [p("a {#ok}b"), p("c{/ok} d")].concat();
    assert_eq!(text(&body, ITEMS), "a b¶c d");
    let body = [p("a {#no}b"), p("c{/no} d")].concat();
    assert_eq!(text(&body, ITEMS), "a  d");
    let body = [p("a {#items}b{name}"), p("c{/items} d")].concat();
    assert_eq!(text(&body, ITEMS), "a bA¶cbB¶c d");
    let body = [p("a {#items}"), p("{#tags}{.}"), p("{/tags}c{/items} d")].concat();
    assert_eq!(text(&body, ITEMS), "a ¶x¶y¶c¶c d");
}

#[test]
fn sections_in_a_paragraph_repeat_runs() {
    assert_eq!(say("{#items}{name}, {/items}end", ITEMS), "A, B, end");
    assert_eq!(say("{#items}{#tags}{.}{/}{^tags}-{/};{/}", ITEMS), "xy;-;");
    let runs = "<w:p><w:r><w:t>a{#items}</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>{name}</w:t></w:r>\
                <w:hyperlink><w:r><w:rPr><w:i/></w:rPr><w:t>l{/items}m</w:t></w:r></w:hyperlink></w:p>";
    assert_eq!(text(runs, ITEMS), "aAlBlm");
    assert_eq!(fill(runs, ITEMS).matches("<w:b/>").count(), 2);
}

#[test]
fn a_cell_or_text_box_never_becomes_empty() {
    let cell = |content: &str| format!("<w:tbl><w:tr><w:tc><w:tcPr/>{content}</w:tc></w:tr></w:tbl>");
    let loop_of = |list: &str| {
        let open = "<w:p><w:pPr><w:jc w:val=\"right\"/></w:pPr><w:r><w:t>{#LIST}</w:t></w:r></w:p>";
        let close = open.replace('#', "/");
        format!("{}{}{}", open, p("{name}"), close).replace("LIST", list)
    };
    assert_eq!(
        fill(&cell(&loop_of("no")), ITEMS),
        cell("<w:p><w:pPr><w:jc w:val=\"right\"/></w:pPr></w:p>"),
        "it keeps a paragraph, aligned as before"
    );
    assert_eq!(text(&cell(&loop_of("items")), ITEMS), "A¶B");
    let ends_with_table = cell(&[p("{#items}"), table(&[&["{name}"]]), p("{/items}")].concat());
    assert!(fill(&ends_with_table, ITEMS).ends_with("</w:tbl><w:p></w:p></w:tc></w:tr></w:tbl>"));
    let text_box = |content: &str| {
        format!(
            "<w:p><w:r><w:pict><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></w:pict></w:r></w:p>"
        )
    };
    assert_eq!(text(&text_box(&loop_of("no")), ITEMS), "¶");
    assert_eq!(text(&text_box(&loop_of("items")), ITEMS), "¶A¶B");
}

#[test]
fn both_twins_of_a_text_box_are_filled() {
    let content = p("{title}");
    let body = format!(
        "<w:p><w:r><w:t>{{ti</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><wps:txbx><w:txbxContent>{content}\
         </w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox>\
         </w:pict></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>tle}}</w:t></w:r></w:p>"
    );
    assert_eq!(text(&body, ITEMS), "T¶T¶T");
}

#[test]
fn what_must_stand_once_stands_once() {
    let body = "<w:p w14:paraId=\"1A\" w14:textId=\"2B\"><w:r><w:t>{#items}</w:t></w:r></w:p>\
        <w:p w14:paraId=\"3C\" w14:textId=\"77777777\" w:rsidR=\"00\"><w:bookmarkStart w:id=\"4\" w:name=\"b\"/><w:r><w:drawing>\
        <wp:inline><wp:docPr id=\"9\" name=\"Picture 9\"/></wp:inline></w:drawing></w:r><w:bookmarkEnd w:id=\"4\"/></w:p>\
        <w:sdt><w:sdtPr><w:id w:val=\"5\"/><w:alias w:val=\"a\"/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>{name}</w:t></w:r></w:p></w:sdtContent></w:sdt>\
        <w:p><w:pPr><w:sectPr><w:type w:val=\"nextPage\"/></w:sectPr></w:pPr></w:p><w:p><w:r><w:t>{/items}</w:t></w:r></w:p>";
    let data = r#"{"items":[{"name":1},{"name":2},{"name":3}]}"#;
    let filled = fill(body, data);
    for (what, count) in [
        ("w14:paraId=\"3C\"", 1),
        ("w14:textId", 1),
        ("w:rsidR=\"00\"", 3),
        ("<w:bookmarkStart", 3),
        ("<w:bookmarkEnd", 3),
        ("<w:sectPr>", 3),
        ("<w:id w:val=\"5\"/>", 1),
        ("<w:alias", 3),
        ("<wp:docPr id=\"9\"", 1),
        ("<wp:docPr id=", 3),
    ] {
        assert_eq!(filled.matches(what).count(), count, "{what} in {filled}");
    }
    for (element, attribute) in
        [("wp:docPr", "id"), ("w:bookmarkStart", "w:id"), ("w:bookmarkStart", "w:name")]
    {
        let ids: std::collections::BTreeSet<_> = values(&filled, element, attribute).into_iter().collect();
        assert_eq!(ids.len(), 3, "{element} in {filled}");
    }
}

#[test]
fn the_element_to_repeat_can_be_named() {
    let body = table(&[&["{-w:tr items}{name}{/items}", "{price}"]]);
    assert_eq!(text(&body, ITEMS), "A¶1.5¶B¶1234.5");
    assert_eq!(text(&p("{-w:p items}{name}{/}"), ITEMS), "A¶B");
    let message = fault(&p("{-w:tr items}{name}{/}"), ITEMS, "{}");
    assert!(message.contains("do not both stand in a <w:tr>"), "{message}");
}

#[test]
fn tags_of_headers_footers_and_notes_are_filled() {
    let parts = [
        ("header1.xml", "header", "hdr", p("{title} {#items}{name}{/}")),
        ("footer1.xml", "footer", "ftr", p("{title}")),
        (
            "footnotes.xml",
            "footnotes",
            "footnotes",
            format!("<w:footnote w:id=\"1\">{}</w:footnote>", p("{title}")),
        ),
        (
            "endnotes.xml",
            "endnotes",
            "endnotes",
            format!("<w:endnote w:id=\"1\">{}</w:endnote>", p("{title}")),
        ),
    ];
    let others: Vec<_> =
        parts.iter().map(|(name, kind, root, text)| (*name, *kind, *root, text.as_str())).collect();
    let filled = try_fill(docx_with(&p("{title}"), &others), ITEMS, "{}").expect("it is filled");
    let texts = parts
        .iter()
        .map(|(name, ..)| support::paragraphs(&part(&filled.file, &format!("word/{name}"))).concat());
    assert_eq!(texts.collect::<Vec<_>>(), ["T AB", "T", "T", "T"]);
}

#[test]
fn what_no_tag_touches_is_copied_as_it_is_packed() {
    let header = ("header1.xml", "header", "hdr", "<w:p><w:pPr/></w:p>");
    let template = docx_with(&p("{title}"), &[header]);
    let filled = try_fill(template.clone(), ITEMS, "{}").expect("it is filled").file;
    let raw = |file: &[u8], name: &str| {
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(file)).expect("an archive");
        let index = archive.index_for_name(name).expect("the part");
        let mut entry = archive.by_index_raw(index).expect("the part");
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).expect("the part is whole");
        content
    };
    for name in ["[Content_Types].xml", "_rels/.rels", "word/header1.xml"] {
        assert_eq!(raw(&filled, name), raw(&template, name), "{name}");
    }
    let plain = docx(&p("no tag"));
    assert_eq!(try_fill(plain.clone(), ITEMS, "{}").expect("it is filled").file, plain);
}

#[test]
fn texts_that_are_no_tags_stay() {
    let body = "<w:p><w:r><w:instrText>{title}</w:instrText></w:r><w:del><w:r><w:delText>{title}</w:delText></w:r></w:del>\
                <w:moveFrom><w:r><w:t>{title}</w:t></w:r></w:moveFrom><w:r><w:t>}</w:t></w:r></w:p>";
    assert_eq!(fill(body, ITEMS), body);
}

#[test]
fn delimiters_are_changed_given_or_found() {
    assert_eq!(text(&[p("{title}{=[[ ]]=}"), p("[[title]] {title}")].concat(), ITEMS), "T¶T {title}");
    let filled =
        try_fill(docx(&p("{{title}} {{#items}}{{name}}{{/items}}")), ITEMS, "{}").expect("it is filled");
    assert_eq!(support::paragraphs(&part(&filled.file, support::DOCUMENT)), ["T AB"]);
    assert!(filled.warnings[0].contains("written {{…}}"), "{:?}", filled.warnings);
    let template = office_template::Template::read(
        docx(&p("<title> {x}")),
        Some(support::delimiters("<", ">")),
        &support::limits(),
    );
    let template = template.expect("it is read");
    let answer = support::run(template.program(), ITEMS, "{}");
    let filled = template.fill(&answer, &mut office_template::NoFiles).expect("it is filled");
    assert_eq!(support::paragraphs(&part(&filled.file, support::DOCUMENT)), ["T {x}"]);
}

#[test]
fn faults_are_reported_all_at_once_with_their_places() {
    let body = [p("{ok"), p("{#items}"), p("{:lnik a b}"), p("{/nothing}"), p("{/}{#no}{a | 3}")].concat();
    let message = fault(&body, ITEMS, "{}");
    for part in [
        "word/document.xml, paragraph 1, {ok: the tag has no } in its paragraph",
        "paragraph 3, {:lnik a b}: there is no command",
        "paragraph 4, {/nothing}: it stands where {#items} of paragraph 2 is to be closed, by {/items}",
        "paragraph 5, {/}: no section is open here",
        "paragraph 5, {#no}: the section is never closed; {/no} is missing",
        "paragraph 5, {a | 3}: \"3\" is no filter",
    ] {
        assert!(message.contains(part), "{part}\n{message}");
    }
    let many = fault(&p(&"{a |}".repeat(500)), ITEMS, "{}");
    let told = many.matches("word/document.xml, paragraph 1, {a |}: ").count();
    assert!(many.ends_with(&format!("; and {} more", 500 - told)) && told > 20, "{many}");
    assert!(many.len() < 8 << 10, "the service cuts a longer sentence, and with it how many more there are");
    let crossing = [table(&[&["{#items}"]]), p("{/items}")].concat();
    assert!(fault(&crossing, ITEMS, "{}").contains(
        "{#items}: it and {/items} of paragraph 2 must stand both inside or both outside of a table"
    ));
}

#[test]
fn faults_of_expressions_and_of_what_they_answer_are_told_at_once() {
    let body = [
        p("{:color \"reddish\"}"),
        p("{a | nofilter}{%picture}{%'other.png'}"),
        p("{:link 'x' 'javascript:x'}"),
    ];
    let message = fault(&body.concat(), r#"{"a":1,"picture":"not Base64 !"}"#, "{}");
    let told = ["paragraph 1, {:color", "paragraph 2, {a | nofilter}", "paragraph 3, {:link"];
    let places: Vec<_> = told.iter().map(|told| message.find(told)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}: {message}");
    assert!(!message.contains("{%'other.png'}: "), "a picture that was not asked for is no fault: {message}");
    assert!(!message.contains('\u{1}'), "{message}");
}

#[test]
fn faults_of_expressions_name_their_tags() {
    let message = fault(
        &[p("{title}"), p("{price | curency}{customer.name.first()}")].concat(),
        r#"{"price":1}"#,
        "{}",
    );
    assert!(
        message.contains("paragraph 2, {price | curency}: 'curency' is neither a filter (there are default,"),
        "{message}"
    );
    assert!(message.contains("paragraph 2, {customer.name.first()}: 'customer' is not defined"), "{message}");
    assert!(
        fault(&p("{a b +}"), "{}", "{}").contains("'a b +' is neither a name in the data nor an expression")
    );
    assert_eq!(say_with("{a b}", r#"{"a b":5}"#, "{strict:true}"), "5");
}

#[test]
fn ten_thousand_rows_are_counted_and_not_measured() {
    let body = table(&[&["Item", "Price"], &["{#items}{$index}", "{name} & {this.name}{/items}"]]);
    let sized = |rows: usize| {
        let data = format!(r#"{{"items":[{}]}}"#, vec![r#"{"name":"<&>"}"#; rows].join(","));
        let template = Template::read(docx(&body), None, &support::limits()).expect("it is read");
        let answer = support::run(template.program(), &data, "{}");
        let filled = part(
            &template.fill(&answer, &mut office_template::NoFiles).expect("it is filled").file,
            DOCUMENT,
        );
        (answer.len(), filled.len(), filled.matches("<w:tr>").count())
    };
    let (none, one, thousand, many) = (sized(0), sized(1), sized(1000), sized(10_000));
    assert_eq!([none.2, one.2, thousand.2, many.2], [1, 2, 1001, 10_001]);
    // A row takes what the first one does, and the digits of its number.
    let more = |rows: usize| (1..rows).map(|row| row.to_string().len() - 1).sum::<usize>();
    for (rows, size) in [(1000, thousand), (10_000, many)] {
        assert_eq!(size.1, none.1 + rows * (one.1 - none.1) + more(rows));
        assert_eq!(size.0, none.0 + rows * (one.0 + 1 - none.0) - 1 + more(rows));
    }
}

#[test]
fn hyphens_blanks_and_quotes_of_word_are_read_through_its_runs() {
    let run = |content: &str| format!("<w:r>{content}</w:r>");
    let text = |text: &str| run(&format!("<w:t xml:space=\"preserve\">{text}</w:t>"));
    let element = |name: &str| run(&format!("<w:{name}/>"));
    let hyphen = element("noBreakHyphen");
    let soft = element("softHyphen");
    let paragraph = |runs: &[&str]| format!("<w:p>{}</w:p>", runs.concat());
    let data = r#"{"first name":"N","a":7,"b":2}"#;
    for (runs, said) in [
        (vec![text("{fir"), soft.clone(), text("st\u{a0}na"), soft.clone(), text("me}")], "N"),
        (vec![text("{a\u{a0}"), hyphen.clone(), text(" b}")], "5"),
        (vec![text("{\u{201e}x\u{201c} + "), text("\u{2018}y"), text("\u{2019}}")], "xy"),
        (vec![text("{fi\u{ad}rst\u{202f}name | upper}\u{ad}!")], "N\u{ad}!"),
    ] {
        let pieces: Vec<&str> = runs.iter().map(String::as_str).collect();
        assert_eq!(support::text(&paragraph(&pieces), data), said);
    }
    let cut = paragraph(&[&text("<"), &hyphen, &text("a"), &hyphen, &text("> and "), &hyphen, &text(".")])
        .replace("><<", ">&lt;<")
        .replace(">> and", ">&gt; and");
    let template = Template::read(docx(&cut), Some(support::delimiters("<-", "->")), &support::limits());
    let template = template.expect("it is read");
    let answer = support::run(template.program(), data, "{}");
    let filled =
        part(&template.fill(&answer, &mut office_template::NoFiles).expect("it is filled").file, DOCUMENT);
    assert_eq!(support::paragraphs(&filled), ["7 and ."]);
    assert_eq!(filled.matches("noBreakHyphen").count(), 1, "the hyphen of the text stays: {filled}");
}

#[test]
fn numbers_of_changes_are_not_those_of_other_parts() {
    let header = "<w:p><w:ins w:author=\"a\" w:id = '41'><w:r><w:t>x</w:t></w:r></w:ins></w:p>";
    let body = p("{#l}") + "<w:p><w:del w:id=\"5\"/><w:r><w:t>{.}</w:t></w:r></w:p>" + &p("{/l}");
    let file = docx_with(&body, &[("header1.xml", "header", "hdr", header)]);
    let filled = support::try_fill(file, r#"{"l":[1,2,3]}"#, "{}").expect("it is filled");
    let body = part(&filled.file, DOCUMENT);
    for id in ["\"5\"", "\"42\"", "\"43\""] {
        assert_eq!(body.matches(&format!("<w:del w:id={id}")).count(), 1, "{id}: {body}");
    }
}
