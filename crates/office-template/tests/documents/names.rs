//! Names that JavaScript does not read as names, and warnings of texts that say that something went wrong.

use crate::slides;
use crate::support::{
    docx, docx_with, fault, p, package, paragraphs, part, say, say_with, table, text, try_fill,
};
use crate::workbooks::{Sheet, book, one_cell};

/// The warnings of a document with this body.
fn warnings(body: &str, data: &str) -> Vec<String> {
    try_fill(docx(body), data, "{}").unwrap_or_else(|error| panic!("{body}: {error}")).warnings
}

#[test]
fn a_name_that_the_data_lack_is_empty_however_it_is_written() {
    for name in [
        "first-name",
        "Middle Name",
        "größe",
        "gro\u{308}ße",
        "a.b c",
        "a-b.c-d",
        "customer.first-name",
        "x.first-name",
        "x.y.Middle Name",
        "Client's name",
        "2nd line",
        "Tel.",
        "Straße–Nr",
        "पूरा नाम",
        "new",
        "new price",
        "class name",
        "E-Mail",
        ".first-name",
        ".Middle Name",
        "this.first-name",
        "Nr. 5",
        "Made in Germany",
        "in stock",
        "first-name-2",
    ] {
        for data in ["{}", r#"{"name":"N","x":{"y":1},"c":2,"price":3,"Name":4}"#] {
            let tag = format!("Dear {{{name}}},");
            assert_eq!(say(&tag, data), "Dear ,", "{tag} {data}");
            assert_eq!(warnings(&p(&tag), data), [""; 0], "{tag} {data}");
            let message = fault(&p(&tag), data, "{strict:true}");
            assert!(message.contains(&format!("'{name}' is not defined")), "{tag}: {message}");
        }
        assert_eq!(say_with(&format!("{{{name} | default('x')}}"), "{}", "{strict:true}"), "x", "{name}");
    }
}

#[test]
fn names_with_hyphens_and_blanks_are_found_on_every_level() {
    let data = r#"{"first-name":"A","Middle Name":"B","größe":"C","a.b c":"D","customer":{"first-name":"E","Home Town":"F"},
        "l":[{"first-name":"G","a-b":{"c d":"H"}},{}],"a":9,"b":4,"c":{"d":2},"zero":0}"#;
    for (tag, said) in [
        ("{first-name}{Middle Name}{größe}{a.b c}", "ABCD"),
        ("{customer.first-name}{customer.Home Town}", "EF"),
        ("{#l}{first-name}{.first-name}{a-b.c d}{this.first-name};{/l}", "GGHG;A;"),
        ("{#l}{$parent.first-name}{/l}", "AA"),
        ("{a-b}{a - b}{a-c.d}{b-zero}{5-3}{10.5}", "5574210.5"),
        ("{first-name | upper}{Middle Name | lower}", "Ab"),
        ("{#Middle Name}{.}{/Middle Name}{#Last Name}x{/}{^last-name}none{/last-name}", "Bnone"),
        ("{#has-dog}yes{/has-dog}{^has-dog}no{/has-dog}", "no"),
        ("{true}{null}{this.a}{.a}", "true99"),
    ] {
        assert_eq!(say(tag, data), said, "{tag}");
    }
    let header = p("{first-name} {last-name}");
    let file = docx_with(
        &table(&[&["{#l}{first-name}", "{last-name}{/l}"]]),
        &[("header1.xml", "header", "hdr", &header)],
    );
    let filled = try_fill(file, data, "{}").expect("it is filled");
    assert_eq!(paragraphs(&part(&filled.file, "word/header1.xml")), ["A "]);
    assert_eq!(paragraphs(&part(&filled.file, "word/document.xml")), ["G", "", "A", ""]);
    let links = [("rId9", "https://a.example/%7Bfirst-name%7D")];
    let body = "<w:p><w:hyperlink r:id=\"rId9\"><w:r><w:t>{last-name}</w:t></w:r></w:hyperlink></w:p>";
    let filled = try_fill(package(body, &[], &links), data, "{}").expect("it is filled");
    assert!(part(&filled.file, "word/_rels/document.xml.rels").contains("https://a.example/A\""));
}

#[test]
fn what_is_computed_from_something_missing_fails_as_before() {
    for (tag, why) in [
        ("{x.first() - name}", "'x' is not defined"),
        ("{a +}", "nor an expression of JavaScript"),
        ("{a / b c}", "nor an expression of JavaScript"),
        ("{x.y.z - name}", "'x' is not defined"),
        // What Word and authors make of operators is no part of a name.
        ("{a × b}", "nor an expression of JavaScript"),
        ("{a÷b}", "nor an expression of JavaScript"),
        ("{a−b}", "nor an expression of JavaScript"),
        ("{a – b}", "nor an expression of JavaScript"),
        ("{a ≥ b}", "nor an expression of JavaScript"),
    ] {
        assert!(fault(&p(tag), "{}", "{}").contains(why), "{tag}");
    }
}

#[test]
fn a_difference_without_one_of_its_parts_is_empty_and_told() {
    let told = warnings(
        &p("{price-discount}{price-discount | currency('EUR')}{unit-name}"),
        r#"{"price":10,"name":"x"}"#,
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("{price-discount}: it is a name that the data lack"), "{told:?}");
    assert_eq!(say("{price-discount}{price-vat}", r#"{"price":10,"vat":4}"#), "6");
}

#[test]
fn a_word_that_the_author_wrote_is_no_accident() {
    for tag in ["{gone | default('NaN')}", "{n ? n : 'Infinity'}{n || 'undefined'}"] {
        assert_eq!(warnings(&p(tag), "{}"), [""; 0], "{tag}");
    }
    // Nor does a long text of the data hide an accident.
    let data = format!(r#"{{"logo":"{}NaN"}}"#, "A".repeat(2_000));
    assert_eq!(warnings(&p("{'Sum: ' + gone * 2}"), &data).len(), 1);
}

#[test]
fn a_text_that_says_that_something_went_wrong_is_told_with_its_tag_and_place() {
    let data = r#"{"o":{"x":1},"l":[{"n":1},{}],"title":"infinity pool","note":"left undefined","a":"x","n":5,
        "big":1e999}"#;
    for (tag, word) in [
        ("{a * 2}", "NaN"),
        ("{n - gone}", "NaN"),
        ("{a-n}", "NaN"),
        ("{'Sum: ' + gone * 2 + ' €'}", "NaN"),
        ("{gone * 2 | number}", "NaN"),
        ("{gone * 2 | currency('EUR', 'de-DE')}", "NaN"),
        ("{gone * 2 | percent}", "NaN"),
        ("{(gone * 2).toFixed(2)}", "NaN"),
        ("{n / 0}", "Infinity"),
        ("{n / -0}", "Infinity"),
        ("{n / 0 | number}", "Infinity"),
        ("{big}", "Infinity"),
        ("{#l}{n * gone}{/l}", "NaN"),
        ("{'Dear ' + o}", "[object Object]"),
        ("{o + '' | upper | lower | default(1)}{[o] + ''}", "[object Object]"),
        ("{`${o}`}", "[object Object]"),
        ("{[1, gone * 2] | join}", "NaN"),
        ("{l | sum('n') | number}{[n, NaN, 1]}", ""),
        ("{title | title}{title}{note}{note | trim}{o.x}{n * 2}{gone}{gone | number}", ""),
        ("{'as undefined'}{'Infinity & co'}", ""),
    ] {
        let told = warnings(&(p("x") + &p(tag)), data);
        if word.is_empty() {
            assert_eq!(told, [""; 0], "{tag}");
            continue;
        }
        assert_eq!(told.len(), tag.matches(" + ''").count().max(1), "{tag}: {told:?}");
        let shown = tag.trim_start_matches("{#l}").trim_end_matches("{/l}");
        let shown = shown.split_inclusive('}').next().filter(|_| tag.contains("}{")).unwrap_or(shown);
        let begin = format!("word/document.xml, paragraph 2, {shown}: it prints {word}: ");
        assert!(told[0].starts_with(&begin), "{told:?} does not begin with {begin}");
    }
    for word in ["NaN", "Infinity", "undefined", "[object Object]"] {
        let told = warnings(&p("{x}{#l}{.}{/l}"), &format!(r#"{{"x":"{word}","l":["of {word}"]}}"#));
        assert!(told.len() == 1 && told[0].contains(&format!("{{x}}: it prints {word}: ")), "{told:?}");
    }
    let missing = r#"{"a":{}}"#;
    let told = warnings(&p("{'Dear ' + gone}{a.x + a.y + ''}{`${gone}`}"), missing);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("{'Dear ' + gone}: it prints undefined: a name in it is missing"), "{told:?}");
}

#[test]
fn what_expressions_put_into_items_and_data_is_told_where_it_is_printed() {
    let data = r#"{"l":[{"n":1},{}],"o":{},"d":"2026-01-02","huge":[1e308,1e308]}"#;
    for (tags, told) in [
        ("{#l.map(r => ({t: (r.gone * 2).toFixed(2)}))}{t}{/}", "{t}: it prints NaN"),
        ("{#l.map(r => ({t: '' + r.gone}))}{t}{/}", "{t}: it prints undefined"),
        ("{l.forEach(r => { r.t = '' + r.gone }) || ''}{#l}{t}{/}", "{t}: it prints undefined"),
        ("{d | date('YYYY ' + o.gone)}", ": it prints undefined"),
        ("{huge | sum | text}", ": it prints Infinity"),
        ("{huge | sum}", ": it prints Infinity"),
    ] {
        let warnings = warnings(&p(tags), data);
        assert!(warnings.len() == 1 && warnings[0].contains(told), "{tags}: {warnings:?}");
    }
}

#[test]
fn warnings_of_wrong_texts_are_told_in_every_part_and_program() {
    let header = p("{n * gone}");
    let file = docx_with(&p("x"), &[("header1.xml", "header", "hdr", &header)]);
    let told = try_fill(file, r#"{"n":1}"#, "{}").expect("it is filled").warnings;
    assert!(told[0].starts_with("word/header1.xml, paragraph 1, {n * gone}: it prints NaN"), "{told:?}");
    let rich = r#"{"h":"<p>NaN undefined</p>"}"#;
    assert_eq!(warnings(&p("{~h}"), rich), [""; 0]);
    let told = warnings(&p("{~'<p>' + gone + '</p>'}"), "{}");
    assert!(told[0].contains("it prints undefined"), "{told:?}");
    let told = warnings(&p("{:link ('To ' + gone) \"https://a.example\"}"), "{}");
    assert!(told[0].contains("it prints undefined"), "{told:?}");
    for (cell, word) in
        [("{1 / gone}", "NaN"), ("Sum: {n / 0}", "Infinity"), ("{'=A1*' + gone | formula}", "undefined")]
    {
        let told = try_fill(one_cell(cell), r#"{"n":1}"#, "{}").expect("it is filled").warnings;
        assert!(told.len() == 1 && told[0].contains(&format!("it prints {word}")), "{cell}: {told:?}");
        assert!(told[0].contains("S!A1") || told[0].contains("A1"), "{cell}: {told:?}");
    }
    // The author wrote these.
    assert_eq!(warnings(&p("{NaN} {Infinity}"), "{}"), [""; 0]);
    // Nothing in this program computes, so only numbers are looked at.
    let mut sheet = Sheet::new("S");
    sheet.set("A1", "{big}");
    sheet.set("B1", "{name}");
    let told =
        try_fill(book(&[sheet], &[]), r#"{"big":1e999,"name":"x"}"#, "{}").expect("it is filled").warnings;
    assert!(told.len() == 1 && told[0].contains("{big}: it prints Infinity"), "{told:?}");
    let deck = slides::pptx(&[&slides::shape(2, &["{name}", "{1 / gone}"])], "{'x' + gone}");
    let told = try_fill(deck, "{}", "{}").expect("it is filled").warnings;
    assert!(told[0].starts_with("slide 1, paragraph 2, {1 / gone}: it prints NaN"), "{told:?}");
    assert!(
        told[1].starts_with("notes of slide 1, paragraph 1, {'x' + gone}: it prints undefined"),
        "{told:?}"
    );
}

#[test]
fn a_wrong_text_of_many_rows_is_told_once() {
    let rows = vec![r#"{"n":1}"#; 500].join(",");
    let told = warnings(&table(&[&["{#l}{n * gone}", "{n}{/l}"]]), &format!(r#"{{"l":[{rows}]}}"#));
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(text(&p("{a b}"), "{}"), "");
}
