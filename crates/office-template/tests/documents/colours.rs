//! `{:color}`: colours from data.

use office_template::{NoFiles, Template};

use crate::effort::assert_linear;
use crate::support::{docx, fault, fill, limits, p, paragraphs, table, try_fill};

/// The texts of runs with their colours.
fn coloured(xml: &str) -> Vec<(String, String)> {
    let runs = xml.split("<w:r>").skip(1);
    let runs = runs.filter_map(|run| {
        let text = run.split_once("<w:t xml:space=\"preserve\">").or_else(|| run.split_once("<w:t>"))?.1;
        let colour = run.split_once("<w:color w:val=\"").map_or("", |(_, rest)| &rest[..6]);
        Some((text.split('<').next().unwrap_or_default().to_owned(), colour.to_owned()))
    });
    runs.filter(|(text, _)| !text.is_empty()).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|&(text, colour)| (text.to_owned(), colour.to_owned())).collect()
}

#[test]
fn the_rest_of_the_paragraph_takes_the_colour() {
    let filled = fill(&[p("a {:color c}b {x}"), p("next")].concat(), r#"{"c":"crimson","x":"c"}"#);
    assert_eq!(coloured(&filled), pairs(&[("a ", ""), ("b c", "DC143C"), ("next", "")]), "{filled}");
    assert!(!filled.contains("<?"), "{filled}");
}

#[test]
fn other_runs_and_what_tags_made_take_it_too() {
    let body = "<w:p><w:r><w:t>a{:color c}</w:t></w:r><w:r><w:rPr><w:b/><w:color w:val=\"00FF00\" w:themeColor=\"accent1\"/>\
                <w:sz w:val=\"20\"/></w:rPr><w:t>b</w:t></w:r><w:r><w:t>{:link \"l\" \"https://a.example\"}{#s}{.}{/s}</w:t></w:r></w:p>";
    let filled = fill(body, r##"{"c":"#00f","s":["1","2"]}"##);
    assert_eq!(
        coloured(&filled),
        pairs(&[("a", ""), ("b", "0000FF"), ("l", "0000FF"), ("12", "0000FF")]),
        "{filled}"
    );
    assert!(
        filled.contains("<w:rPr><w:b/><w:color w:val=\"0000FF\"/><w:sz w:val=\"20\"/></w:rPr>"),
        "{filled}"
    );
}

#[test]
fn the_next_colour_ends_the_one_before() {
    let filled = fill(&p("{:color \"red\"}a{:color \"rgb(0, 0, 255)\"}b{:color null}c"), "{}");
    assert_eq!(coloured(&filled), pairs(&[("a", "FF0000"), ("bc", "0000FF")]), "{filled}");
    assert_eq!(paragraphs(&filled), ["abc"]);
}

#[test]
fn blocks_in_the_midst_of_the_paragraph_take_the_colour() {
    let xml = "<w:p><w:r><w:t>new</w:t></w:r></w:p>";
    let data = serde_json::json!({ "x": xml }).to_string();
    let filled = fill(&[p("a{:color \"red\"}b{@x}c"), p("d")].concat(), &data);
    let expected = [("a", ""), ("b", "FF0000"), ("new", "FF0000"), ("c", "FF0000"), ("d", "")];
    assert_eq!(coloured(&filled), pairs(&expected), "{filled}");
    let alone = fill(&[p("{:color \"red\"}{@x}"), p("d")].concat(), &data);
    assert_eq!(coloured(&alone), pairs(&[("new", "FF0000"), ("d", "")]), "{alone}");
    assert_eq!(paragraphs(&alone), ["new", "d"]);
}

#[test]
fn cells_and_rows_take_a_colour_from_each_item() {
    let body = table(&[&["{#l}{:color c \"row\"}{n}", "{:color d \"cell\"}x{/l}"]]);
    let filled = fill(
        &body,
        r##"{"l":[{"n":1,"c":"#eee"},{"n":2,"c":null,"d":"gold"},{"n":3,"c":"EEEEEE","d":"gold"}]}"##,
    );
    let fills: Vec<&str> = filled
        .split("<w:tc>")
        .skip(1)
        .map(|cell| cell.split_once("w:fill=\"").map_or("", |(_, rest)| &rest[..6]))
        .collect();
    assert_eq!(fills, ["EEEEEE", "EEEEEE", "", "FFD700", "EEEEEE", "FFD700"], "{filled}");
    assert!(filled.contains("<w:tcPr><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"EEEEEE\"/></w:tcPr>"));
    assert!(!filled.contains("<?"), "{filled}");
}

#[test]
fn a_row_is_coloured_where_its_paragraph_vanishes() {
    let data = serde_json::json!({ "x": "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>" }).to_string();
    let filled = fill(&table(&[&["{:color \"red\" \"row\"}{@x}", "b"]]), &data);
    assert_eq!(filled.matches("w:fill=\"FF0000\"").count(), 2, "{filled}");
    assert!(filled.contains("<w:tr><w:tc><w:p/></w:tc></w:tr>"), "the inner row is another one: {filled}");
}

#[test]
fn what_is_no_colour_and_what_is_no_cell_are_faults() {
    for (tag, why) in [
        ("{:color \"reddish\"}", "\"reddish\" is no colour; write it as CSS does"),
        ("{:color \"red\" \"page\"}", "\"text\", \"cell\" or \"row\""),
        ("{:color \"red\" \"cell\"}", "it stands in no table"),
    ] {
        let message = fault(&p(tag), "{}", "{}");
        assert!(message.contains(why), "{tag}: {message}");
    }
}

#[test]
fn a_templates_own_instructions_stay_what_they_are() {
    let body = format!(
        "<w:p><?platen0 0?>{}<?platen1?><?platen 0 from?></w:p>",
        "<w:r><w:t>a{:color \"red\"}b</w:t></w:r>"
    );
    let filled = fill(&body, "{}");
    assert_eq!(coloured(&filled), pairs(&[("a", ""), ("b", "FF0000")]), "{filled}");
    assert!(filled.contains("<?platen0 0?>") && filled.contains("<?platen1?><?platen 0 from?>"), "{filled}");
    assert!(!filled.contains("<?platen2"), "{filled}");
}

#[test]
fn many_colours_take_as_long_as_they_are_many() {
    assert_linear(2_000, |colours| {
        let data = format!("{{\"l\":[{}]}}", vec!["\"red\""; colours].join(","));
        let filled = fill(&p("{#l}{:color .}x{/l}"), &data);
        assert_eq!(filled.matches("FF0000").count(), colours);
        let rows = fill(&table(&[&["{#l}{:color . \"row\"}{:color . \"cell\"}{/l}"]]), &data);
        assert_eq!(rows.matches("w:fill=").count(), 1);
    });
}

#[test]
fn colours_of_large_properties_are_bounded() {
    let body = format!(
        "<w:p><w:r><w:rPr>{}</w:rPr><w:t>{{#l}}{{:color .}}{{/l}}</w:t></w:r></w:p>",
        "<w:b/>".repeat(100_000)
    );
    let mut limits = limits();
    (limits.output_bytes.value, limits.ratio.value) = (5 << 20, 100_000);
    let template = Template::read(docx(&body), None, &limits).expect("it is read");
    let answer = crate::support::run(
        template.program(),
        &format!("{{\"l\":[{}\"red\"]}}", "\"red\",".repeat(1000)),
        "{}",
    );
    let error = template.fill(&answer, &mut NoFiles).expect_err("it is too large").to_string();
    assert!(error.contains("test.output"), "{error}");
}

#[test]
fn a_document_without_marks_has_none() {
    let filled = try_fill(docx(&p("{:color null}{a}")), r#"{"a":1}"#, "{}").expect("a text");
    assert!(filled.warnings.is_empty());
}
