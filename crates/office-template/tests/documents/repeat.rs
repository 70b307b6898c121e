//! What a section may repeat, and what its copies must not have in common.

use crate::support::{DOCUMENT, docx_with, fault, fill, p, paragraphs, part, table, text, try_fill};

const DATA: &str = r#"{"items":[{"name":"A","l":[1,2]},{"name":"B","l":[]}],"no":[],"two":[1,2],"x":"X"}"#;

fn cell(content: &str) -> String {
    format!("<w:tc><w:tcPr/>{content}</w:tc>")
}

fn rows(cells: &[&str]) -> String {
    format!(
        "<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{}</w:tr></w:tbl>",
        cells.iter().map(|content| cell(content)).collect::<String>()
    )
}

#[test]
fn only_elements_that_may_be_missing_can_be_named() {
    for name in
        ["w:t", "w:document", "w:body", "w:hdr", "w:sdtContent", "w:txbxContent", "w:rPr", "w:sdt", "a:p"]
    {
        let message = fault(&p(&format!("{{-{name} no}}x{{/no}}")), DATA, "{}");
        assert!(
            message.contains(&format!("cannot repeat a <{name}>; what can be named is w:p, w:tr")),
            "{message}"
        );
    }
    assert_eq!(text(&p("a{-w:r two}b{/}"), DATA), "abab");
    let control = "<w:p><w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t>{-w:r no}x{/}</w:t></w:r></w:sdtContent></w:sdt></w:p>";
    assert_eq!(fill(control, DATA).matches("<w:p>").count(), 1, "no paragraph inside of one");
}

#[test]
fn a_row_whose_cells_have_all_vanished_vanishes() {
    assert_eq!(text(&table(&[&["{-w:tc two}{.}{/}", "k"]]), DATA), "1¶2¶k");
    assert_eq!(text(&table(&[&["{-w:tc no}x{/}", "k"]]), DATA), "k");
    let both = table(&[&["{-w:tc no}x{/}"], &["k"]]);
    assert_eq!(fill(&both, DATA), table(&[&["k"]]));
    assert_eq!(fill(&(table(&[&["{-w:tc no}x{/}"]]) + &p("end")), DATA), p("end"));
}

#[test]
fn a_cell_whose_table_has_vanished_keeps_a_paragraph() {
    let inner = table(&[&["{#no}a", "b{/no}"]]);
    assert_eq!(fill(&rows(&["", &inner]), DATA), rows(&["", "<w:p></w:p>"]));
    assert_eq!(fill(&rows(&[&(inner + &p("k"))]), DATA), rows(&[&p("k")]), "and no second one");
}

#[test]
fn the_paragraph_that_a_cell_keeps_has_no_bullet() {
    let tag = |tag: &str| {
        format!(
            "<w:p><w:pPr><w:pStyle w:val=\"ListBullet\"/><w:numPr><w:ilvl w:val=\"0\"/></w:numPr><w:jc w:val=\"right\"/></w:pPr>\
             <w:r><w:t>{tag}</w:t></w:r></w:p>"
        )
    };
    let filled = fill(&rows(&[&[tag("{#no}"), tag("{/no}")].concat()]), DATA);
    assert_eq!(filled, rows(&["<w:p><w:pPr><w:jc w:val=\"right\"/></w:pPr></w:p>"]));
}

#[test]
fn copies_of_a_table_are_not_joined() {
    let body = [p("{#two}"), table(&[&["{.}"]]), p("{/two}"), table(&[&["k"]])].concat();
    let filled = fill(&body, DATA);
    assert_eq!(filled.matches("</w:tbl><w:p></w:p><w:tbl>").count(), 2, "{filled}");
    let side_by_side = [table(&[&["{x}"]]), table(&[&["k"]])].concat();
    assert!(fill(&side_by_side, DATA).contains("</w:tbl><w:tbl>"), "what its author wrote stays");
}

#[test]
fn a_section_neither_begins_nor_ends_within_a_field() {
    let mark = |kind: &str| format!("<w:r><w:fldChar w:fldCharType=\"{kind}\"/></w:r>");
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let field = |code: &str, result: &str| {
        [
            &mark("begin"),
            code,
            "<w:r><w:instrText>PAGE</w:instrText></w:r>",
            &mark("separate"),
            result,
            &mark("end"),
        ]
        .concat()
    };
    let paragraph = |content: &[&str]| format!("<w:p>{}</w:p>", content.concat());
    for body in [
        paragraph(&[&run("{#two}"), &field("", &run("1{/two}"))]),
        paragraph(&[&field("", &run("{#two}1")), &run("{/two}")]),
        paragraph(&[&field("", &run("{#two}1")), &field("", &run("2{/two}"))]),
        [p("{#two}"), paragraph(&[&mark("begin"), &run("x")]), p("{/two}"), paragraph(&[&mark("end")])]
            .concat(),
    ] {
        let message = fault(&body, DATA, "{}");
        assert!(message.contains("must stand both inside or both outside of a field"), "{message}");
    }
    let around = paragraph(&[&run("{#two}"), &field("", &run("1")), &run("{/two}")]);
    assert_eq!(fill(&around, DATA).matches("fldCharType").count(), 6);
    let inside = paragraph(&[&field("", &run("{#two}{.}{/two}"))]);
    assert_eq!(paragraphs(&fill(&inside, DATA)), ["12"]);
}

#[test]
fn a_section_does_not_tear_what_cannot_be_divided() {
    let ruby = "<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>a{#two}b</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>c{/two}d</w:t></w:r>\
                </w:rubyBase></w:ruby></w:r></w:p>";
    let message = fault(ruby, DATA, "{}");
    assert!(message.contains("must stand both inside or both outside of a <w:rt>"), "{message}");
}

#[test]
fn in_nested_sections_the_first_copy_is_that_of_all() {
    let section = "<w:p><w:pPr><w:sectPr><w:type w:val=\"nextPage\"/></w:sectPr></w:pPr><w:r><w:t>{.}</w:t></w:r></w:p>";
    let bookmark = "<w:p><w:bookmarkStart w:id=\"4\" w:name=\"b\"/><w:bookmarkEnd w:id=\"4\"/></w:p>";
    let body = [&p("{#items}"), &p("{#l}"), section, bookmark, &p("{/l}"), &p("{/items}")]
        .map(ToOwned::to_owned)
        .concat();
    for data in [r#"{"items":[{"l":[1,2]},{"l":[]}]}"#, r#"{"items":[{"l":[]},{"l":[1,2]}]}"#] {
        let filled = fill(&body, data);
        assert_eq!(filled.matches("<w:sectPr>").count(), 2, "{filled}");
        assert_eq!(filled.matches("w:name=\"b\"").count(), 1, "{filled}");
        assert_eq!(filled.matches("<w:bookmarkStart").count(), 2, "{filled}");
    }
    // What a table without rows had in it comes with the next one that has some.
    let inside = "<w:tbl><w:bookmarkStart w:id=\"4\" w:name=\"b\"/><w:tr><w:tc><w:p><w:r><w:t>{#l}{.}</w:t></w:r></w:p></w:tc><w:tc>\
                  <w:p><w:r><w:t>{/l}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    let body = [&p("{#items}"), inside, &p("{/items}")].concat();
    let filled = fill(&body, r#"{"items":[{"l":[]},{"l":[1,2]}]}"#);
    assert_eq!(filled.matches("<w:bookmarkStart").count(), 1, "{filled}");
}

#[test]
fn ids_of_comments_permissions_and_changes_are_not_repeated() {
    let body = "<w:p><w:r><w:t>{#two}</w:t></w:r><w:commentRangeStart w:id=\"1\"/><w:permStart w:id=\"2\"/><w:ins w:id=\"7\">\
        <w:r><w:t>{.}</w:t></w:r></w:ins><w:del w:id=\"8\"/><w:permEnd w:id=\"2\"/><w:commentRangeEnd w:id=\"1\"/>\
        <w:r><w:commentReference w:id=\"1\"/></w:r><w:r><w:pict><v:shape id=\"s1\" o:spid=\"s2\" style=\"x\"/></w:pict></w:r>\
        <w:ins w:id=\"9\"><w:r><w:t>c{/two}d</w:t></w:r></w:ins></w:p>";
    let filled = fill(body, DATA);
    for once in [
        "commentRangeStart",
        "commentRangeEnd",
        "commentReference",
        "permStart",
        "permEnd",
        " id=\"s1\"",
        "spid",
    ] {
        assert_eq!(filled.matches(once).count(), 1, "{once}: {filled}");
    }
    let ids: Vec<&str> =
        filled.split("<w:ins w:id=\"").skip(1).chain(filled.split("<w:del w:id=\"").skip(1)).collect();
    let ids: Vec<&str> = ids.into_iter().map(|rest| rest.split('"').next().expect("an id")).collect();
    let different: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), different.len()), (7, 7), "{filled}");
}

#[test]
fn a_control_that_is_filled_is_no_longer_bound() {
    let control = |content: &str| {
        format!(
            "<w:p><w:sdt><w:sdtPr><w:id w:val=\"5\"/><w:showingPlcHdr/><w:dataBinding w:xpath=\"/a\"/><w:text/></w:sdtPr><w:sdtContent>\
             <w:r><w:t xml:space=\"preserve\">{content}</w:t></w:r></w:sdtContent></w:sdt></w:p>"
        )
    };
    let free = control("X").replace("<w:showingPlcHdr/><w:dataBinding w:xpath=\"/a\"/>", "");
    assert_eq!(fill(&(control("{x}") + &control("k")), DATA), free + &control("k"));
}

#[test]
fn a_paragraph_of_new_delimiters_alone_vanishes() {
    assert_eq!(
        fill(&(p("{=[[ ]]=}") + &p("[[x]]")), DATA),
        p("X").replace("<w:t>", "<w:t xml:space=\"preserve\">")
    );
    assert_eq!(fill(&rows(&[&p("{=[[ ]]=}")]), DATA), rows(&["<w:p></w:p>"]));
}

#[test]
fn the_end_of_a_section_may_have_other_blanks_around_its_filters() {
    assert_eq!(text(&p("{#items | sort('name')}{name}{/ items |sort('name') }"), DATA), "AB");
}

/// A table with its grid; cells are parted by `|`, and one that begins with a number and `×` takes so many columns.
fn grid(rows: &[&str]) -> String {
    let cell = |text: &str| {
        let (columns, text) = text.split_once('×').unwrap_or(("1", text));
        let span = if columns == "1" { String::new() } else { format!("<w:gridSpan w:val=\"{columns}\"/>") };
        format!("<w:tc><w:tcPr><w:tcW w:w=\"700\" w:type=\"dxa\"/>{span}</w:tcPr>{}</w:tc>", p(text))
    };
    let row = |row: &&str| format!("<w:tr>{}</w:tr>", row.split('|').map(cell).collect::<String>());
    let widths = "<w:gridCol w:w=\"700\"/>".repeat(rows[0].split('|').count());
    format!(
        "<w:tbl><w:tblPr/><w:tblGrid>{widths}</w:tblGrid>{}</w:tbl>",
        rows.iter().map(row).collect::<String>()
    )
}

#[test]
fn in_one_column_the_column_is_repeated() {
    let body = grid(&["|{#two}{.}|sum", "a|{this * 10}|b", "c|{this + x}{/two}|d"]);
    let filled = fill(&body, DATA);
    let plain = filled.replace(" xml:space=\"preserve\"", "").replace("<w:r><w:t></w:t></w:r>", "");
    let expected = grid(&["|1|2|sum", "a|10|20|b", "c|1X|2X|d"]).replace("<w:r><w:t></w:t></w:r>", "");
    assert_eq!(plain, expected);
    let none = fill(&body.replace("two}", "no}"), DATA);
    assert_eq!(none, grid(&["|sum", "a|b", "c|d"]), "an empty list takes the column away");
    let alone = grid(&["{#no}a|{#two}b", "c{/no}|d{/two}"]);
    assert!(
        fault(&alone, DATA, "{}").contains("each that is repeated needs a table of its own"),
        "two columns do not cross"
    );
    let table_in_cell = grid(&["{#two}a|b", "c|d{/two}", "e|f"]);
    assert_eq!(text(&table_in_cell, DATA), "a¶b¶c¶d¶a¶b¶c¶d¶e¶f", "other columns: rows");
    assert_eq!(
        text(&grid(&["x|y", "{#two}a|b", "c{/two}|d"]), DATA),
        "x¶y¶a¶b¶c¶d¶a¶b¶c¶d",
        "not from the first row"
    );
    assert_eq!(text(&grid(&["{#two}a", "b{/two}"]), DATA), "a¶b¶a¶b", "one column: rows");
    assert_eq!(text(&grid(&["{-w:tr two}a|b", "c{/two}|d"]), DATA), "a¶b¶c¶d¶a¶b¶c¶d", "rows that are named");
}

#[test]
fn sections_of_rows_and_columns_make_a_matrix() {
    let body = grid(&["|{#cols}{.}", "{#rows}{name}|{name}{this * 2}{/rows}", "|{/cols}"]);
    let filled = fill(&body, r#"{"cols":[1,2,3],"rows":[{"name":"a"},{"name":"b"}]}"#);
    assert_eq!(paragraphs(&filled).join("¶"), "¶1¶2¶3¶a¶a2¶a4¶a6¶b¶b2¶b4¶b6¶¶¶¶");
    assert_eq!(filled.matches("<w:gridCol ").count(), 4);
}

#[test]
fn a_column_with_a_merged_cell_is_not_repeated() {
    for rows in [&["a|{#two}b|c", "2×d|e", "f|{/two}|g"], &["2×{#two}b|c", "d|e|f", "2×{/two}|g"]] {
        let message = fault(&grid(rows), DATA, "{}");
        assert!(message.contains("split it, or write {-w:tr …} to repeat the rows"), "{message}");
    }
    let behind = grid(&["a|{#two}b|c", "d|{.}|e", "f|g{/two}|h"]).replacen(
        "<w:tr>",
        "<w:tr><w:trPr><w:gridBefore w:val=\"2\"/></w:trPr>",
        1,
    );
    assert!(text(&behind, DATA).starts_with("a¶b¶c¶"), "the cells of the first row stand in other columns");
    let tall = grid(&["a|{#two}b", "c|{.}", "d|{/two}"]).replace("<w:tcPr>", "<w:tcPr><w:vMerge/>");
    assert_eq!(text(&tall, DATA), "a¶b¶b¶c¶1¶2¶d¶¶", "what is merged downwards stays so");
    // A table in the column goes with it.
    let inner = grid(&["{#two}{.}{/two}|x"]);
    let nested = grid(&["a|{#two}b|c", "d|§|e", "f|{/two}|g"]).replace(&p("§"), &(inner + &p("")));
    assert_eq!(text(&nested, DATA), "a¶b¶b¶c¶d¶12¶x¶¶12¶x¶¶e¶f¶¶¶g");
}

fn bullet(text: &str, list: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
    )
}

#[test]
fn in_a_list_items_are_repeated() {
    let items = |texts: &[&str]| texts.iter().map(|text| bullet(text, "3")).collect::<String>();
    for (body, said) in [
        (items(&["{#two}{.};{/two}"]), "1;¶2;"),
        (items(&["{#two}{.}{/two};"]), "1;¶2;"),
        (items(&["a", "{#no}{.}{/no}.", "b"]), "a¶b"),
        (items(&["{#two}", "{.}", "{/two}"]), "1¶2"),
        (items(&["a {#two}{.}", "b{/two} c"]), "a 1¶b c¶a 2¶b c"),
        (items(&["{#two}{#items}{name}{/items}{/two}"]), "A¶B¶A¶B"),
        (items(&["{#two}x{/two}{^two}y{/two}"]), "xx"),
        (items(&["of: {#two}{.}{/two}"]), "of: 12"),
        (items(&["{#two}{.}{/two} each"]), "12 each"),
        (items(&["{#two}{#items}{name}{/items}!", "b{/two}"]), "A!¶B!¶b¶A!¶B!¶b"),
        (items(&["a{#two}b", "c{/two}{#two}d", "e{/two}f"]), "abccd"),
        (p("{#two}{.};{/two}"), "1;2;"),
        (bullet("{#two}{.};{/two}", "0"), "1;2;"),
        (bullet("a{#two}", "3") + &bullet("b{/two}c", "4"), "a¶b¶bc"),
        (
            p("{#two}{.}{/two}").replace("<w:p>", "<w:p><w:pPr><w:pStyle w:val=\"ListBullet2\"/></w:pPr>"),
            "1¶2",
        ),
    ] {
        let filled = text(&body, DATA);
        if said == "abccd" {
            assert!(
                filled.starts_with("ab¶cb¶cd"),
                "sections that share an item are what stands between the tags: {filled}"
            );
        } else {
            assert_eq!(filled, said, "{body}");
        }
    }
}

#[test]
fn styles_say_which_paragraphs_are_items() {
    let style = |id: &str, based_on: &str, list: &str| {
        let list = if list.is_empty() { String::new() } else { format!("<w:numId w:val=\"{list}\"/>") };
        format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"{id}\"><w:basedOn w:val=\"{based_on}\"/>\
             <w:pPr><w:numPr>{list}</w:numPr></w:pPr></w:style>"
        )
    };
    let styles = [
        style("Aufzhlung", "", "4"),
        style("Punkte", "Aufzhlung", ""),
        style("Ohne", "Punkte", "0"),
        style("Kreis", "Kreis", ""),
    ];
    for (name, said) in
        [("Aufzhlung", "1¶2"), ("Punkte", "1¶2"), ("Ohne", "12"), ("Kreis", "12"), ("Nie", "12")]
    {
        let of_style = format!("<w:p><w:pPr><w:pStyle w:val=\"{name}\"/></w:pPr>");
        let body = p("{#two}{.}{/two}").replace("<w:p>", &of_style);
        let file = docx_with(&body, &[("styles.xml", "styles", "styles", &styles.concat())]);
        let filled = try_fill(file, DATA, "{}").expect("filled").file;
        assert_eq!(paragraphs(&part(&filled, DOCUMENT)).join("¶"), said, "{name}");
    }
}

#[test]
fn every_copy_has_its_own_section_break() {
    let end = "<w:pPr><w:sectPr><w:headerReference w:type=\"default\" r:id=\"rId1\"/></w:sectPr></w:pPr>";
    let ends = |text: &str| p(text).replace("<w:p>", &format!("<w:p>{end}"));
    let breaks = |body: &str| {
        let filled = fill(body, DATA);
        (paragraphs(&filled).join("¶"), filled.matches("<w:sectPr><w:headerReference").count())
    };
    assert_eq!(breaks(&[p("{#two}"), ends("{.}"), p("{/two}")].concat()), ("1¶2".to_owned(), 2));
    assert_eq!(breaks(&[p("{#two}"), p("{.}"), ends(""), p("{/two}")].concat()), ("1¶¶2¶".to_owned(), 2));
    assert_eq!(
        breaks(&[ends("{#two}"), p("{.}{/two}")].concat()),
        ("¶1¶¶2".to_owned(), 2),
        "behind the opening tag"
    );
    assert_eq!(
        breaks(&[p("{#two}"), p("{.}"), ends("{/two}")].concat()),
        ("1¶2¶".to_owned(), 1),
        "behind the closing tag"
    );
    assert_eq!(breaks(&ends("{#two}{.}{/two}")), ("12".to_owned(), 1));
}

#[test]
fn tags_in_equations_are_filled() {
    let equation = "<w:p><m:oMath><m:r><m:rPr><m:sty/></m:rPr><w:rPr><w:b/></w:rPr><m:t>y={#two}{</m:t></m:r><m:r><m:t>.}{x}+{/two}</m:t></m:r></m:oMath></w:p>";
    let filled = fill(equation, r#"{"two":[1,2],"x":"a<\nb"}"#);
    let said: String = filled
        .split("m:t xml:space=\"preserve\">")
        .skip(1)
        .filter_map(|rest| rest.split('<').next())
        .collect();
    assert_eq!(said, "y=1a&lt;b+2a&lt;b+", "{filled}");
    assert!(filled.contains("</m:t><w:br/><m:t xml:space=\"preserve\">"), "{filled}");
}
