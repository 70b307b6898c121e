//! The arguments of filters: a locale is heeded, and what is not understood is refused with how the filter is written.

use crate::slides;
use crate::support::{fault, p, part, say, say_with, try_fill};
use crate::workbooks::one_cell;

const DATA: &str = r#"{"n":1234.5,"d":"2026-11-02","t":"2026-11-02T23:05:00","s":"x","l":[1,2]}"#;

#[test]
fn a_locale_is_heeded_in_every_filter_that_formats() {
    for (tag, said) in [
        ("{n | currency(\"EUR\", \"de-DE\")}", "1.234,50\u{a0}€"),
        ("{n | currency(\"EUR\", \"de-DE\", { currencyDisplay: 'code' })}", "1.234,50\u{a0}EUR"),
        ("{n | currency(\"EUR\", { currencyDisplay: 'code' }, \"de-DE\")}", "1.234,50\u{a0}EUR"),
        ("{n | currency:\"CHF\", \"de-CH\"}", "CHF\u{a0}1’234.50"),
        ("{n | currency(\"EUR\", null)}", "€1,234.50"),
        ("{n | number(\"de-DE\")} {n | number(\"0,0.00\", \"de-DE\")}", "1.234,5 1.234,50"),
        ("{n | number(0)} {n | number(0, \"de-DE\")} {n | number:0}", "1235 1235 1235"),
        ("{n | number({ minimumFractionDigits: 3 }, \"de-DE\")}", "1.234,500"),
        ("{n / 1000 | percent(\"de-DE\")} {n / 1000 | percent(1, \"de-DE\")}", "123\u{a0}% 123,5\u{a0}%"),
        ("{d | date(\"long\", \"de-DE\")}", "2. November 2026"),
        ("{d | date(\"de-DE\")}", "02.11.2026"),
        ("{d | date(\"de\")} {d | date(\"fr\")} {d | date(\"es\")}", "02.11.2026 2 nov. 2026 2 nov 2026"),
        ("{d | date(\"ja\", \"long\")}", "2026年11月2日"),
        // A pattern's letters are a pattern, though they are a language's as well.
        ("{t | date(\"ms\")} {t | date(\"ss\")} {t | date(\"D\")} {t | date(\"[at] H\")}", "50 00 2 at 23"),
        ("{t | date(\"long\", \"short\", \"de-DE\")}", "2. November 2026 um 23:05"),
        ("{d | date(\"D MMMM YYYY\", \"pl\")}", "2 listopada 2026"),
        ("{d | date({ month: 'long' }, \"de-DE\")}", "November"),
        ("{d | date(\"\")} {d | date(\"\", \"de-DE\")}", "Nov 2, 2026 02.11.2026"),
        // The next tag has the document's locale again, and so has each turn.
        ("{n | number(\"de-DE\")} {n | number}", "1.234,5 1,234.5"),
        ("{#l}{n | currency(\"EUR\", $first ? \"de-DE\" : \"en-US\")} {/l}", "1.234,50\u{a0}€ €1,234.50 "),
    ] {
        assert_eq!(say(tag, DATA), said, "{tag}");
    }
    let both = "{n | currency(\"EUR\", \"en-US\")} {n | currency(\"EUR\")}";
    assert_eq!(say_with(both, DATA, r#"{locale:"de-DE"}"#), "€1,234.50 1.234,50\u{a0}€");
}

#[test]
fn an_argument_that_is_not_understood_is_refused_with_how_the_filter_is_written() {
    for (tag, what, written) in [
        ("{n | currency(\"EUR\", \"de_DE\")}", "'de_DE'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", \"qq-QQ\")}", "'qq-QQ'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", 2)}", "'2'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", true)}", "'true'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", [1])}", "a list", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EURO\")}", "'EURO'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", \"de-DE\", \"fr-FR\")}", "'fr-FR'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | currency(\"EUR\", \"de-DE\", {}, 2)}", "'2'", "currency(\"EUR\", \"de-DE\", {"),
        ("{n | number(\"0,0.00\", \"0.0\")}", "'0.0'", "number(\"0,0.00\", \"de-DE\", {"),
        ("{n | number(2)}", "'2'", "number(\"0,0.00\", \"de-DE\", {"),
        ("{n | percent(\"many\")}", "'many'", "percent(1, \"de-DE\", {"),
        ("{n | percent(1, 2)}", "'2'", "percent(1, \"de-DE\", {"),
        ("{d | date(\"YYYY\", \"short\")}", "'short'", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{d | date(\"YYYY\", {})}", "an object", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{d | date(\"long\", \"HH:mm\")}", "'HH:mm'", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{d | date(\"foo\")}", "'foo'", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{d | date(\"[YYYY]\")}", "'[YYYY]'", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{d | date('' + s.gone)}", "'undefined'", "date(\"YYYY-MM-DD\", \"de-DE\")"),
        ("{s | upper(\"de-DE\")}", "'de-DE'", "it is written upper"),
        ("{l | join(\", \", \"name\", 3)}", "'3'", "it is written join("),
        ("{l | first(3)}", "'3'", "it is written first"),
    ] {
        let message = fault(&p(tag), DATA, "{}");
        let name = tag.split(['|', '(', '}']).nth(1).unwrap_or_default().trim();
        assert!(message.contains(&format!("{tag}: {name} does not ")), "{tag}: {message}");
        assert!(message.contains(what) && message.contains(written), "{tag}: {message}");
    }
}

#[test]
fn workbooks_and_presentations_heed_it_as_well() {
    let tag = "Sum: {n | currency(\"EUR\", \"de-DE\")}";
    let deck = slides::pptx(&[&slides::shape(2, &[tag])], "");
    let filled = try_fill(deck, DATA, "{}").expect("it is filled").file;
    assert_eq!(slides::says(&filled, "ppt/slides/slide1.xml"), "Sum: 1.234,50\u{a0}€");
    let filled = try_fill(one_cell(tag), DATA, "{}").expect("it is filled").file;
    assert!(part(&filled, "xl/worksheets/sheet1.xml").contains("Sum: 1.234,50\u{a0}€"));
    for file in [one_cell("{n | number(2)}"), slides::pptx(&[&slides::shape(2, &["{n | number(2)}"])], "")] {
        let message = try_fill(file, DATA, "{}").expect_err("it is refused").to_string();
        assert!(message.contains("number does not understand '2'; it is written number("), "{message}");
    }
}
