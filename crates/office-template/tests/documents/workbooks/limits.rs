//! Workbooks made to cost much: each is filled in a moment or ends at a limit that it names.

use std::fmt::Write as _;

use office_template::{Error, Limits, NoFiles, Template};

use super::book::{Sheet, book};
use crate::effort::in_a_moment;
use crate::support::{entries, limits, run, zipped};

pub const XS: &str = "{\"xs\":[1,2,3],\"text\":\"x\"}";

/// Limits for files that shrink well.
fn generous() -> Limits {
    let mut limits = limits();
    limits.ratio.value = 100_000;
    limits.attributes.value = 100_000;
    limits
}

/// Fills it, or says why not; in a moment.
pub fn filled(name: &str, file: Vec<u8>, data: &str) -> Result<Vec<u8>, Error> {
    in_a_moment(name, || {
        let template = Template::read(file, None, &generous())?;
        let answer = run(template.program(), data, "{}");
        Ok(template.fill(&answer, &mut NoFiles)?.file)
    })
}

pub fn one(sheet: Sheet) -> Vec<u8> {
    book(&[sheet], &[])
}

/// A sheet whose second row is there once for each item.
fn list(rows: &str) -> Sheet {
    Sheet::new("S").rows("A1", &format!("head\n{{#xs}}|{rows}|{{/xs}}"))
}

/// The same file with a part changed.
pub fn changed(file: &[u8], part: &str, change: impl Fn(String) -> String) -> Vec<u8> {
    let parts: Vec<(String, Vec<u8>)> = entries(file)
        .into_iter()
        .map(|(name, content)| {
            let text = String::from_utf8(content).expect("UTF-8");
            let text = if name == part { change(text) } else { text };
            (name, text.into_bytes())
        })
        .collect();
    let parts: Vec<(&str, &[u8])> =
        parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&parts)
}

pub const SHEET: &str = "xl/worksheets/sheet1.xml";

#[test]
fn what_grows_without_end_ends_at_a_limit_that_it_names() {
    let behind = |sheet: Sheet, behind: String| Sheet { behind, ..sheet };
    let merges: String = (0..20_000)
        .map(|at| {
            format!("<mergeCell ref=\"{}2:{}2\"/>", column(2 * at % 16_000 + 2), column(2 * at % 16_000 + 3))
        })
        .collect();
    let mut across = Sheet::new("S");
    across.set("A2", "{#xs}");
    across.set("XFD2", "{/xs}");
    let merges = format!("<mergeCells count=\"20000\">{merges}</mergeCells>");
    let wide = |row: u32| -> String {
        (1..=16_384).fold(String::new(), |mut cells, at| {
            write!(cells, "<c r=\"{}{row}\"><v>1</v></c>", column(at)).expect("a text grows");
            cells
        })
    };
    let wide = changed(&one(list("{.}")), SHEET, |xml| {
        xml.replace("<row r=\"1\">", "<row r=\"1\"><!---->").replace("</sheetData>", &format!("<row r=\"3\"><c r=\"A3\" t=\"inlineStr\"><is><t>{{#xs}}</t></is></c></row><row r=\"4\">{}</row><row r=\"5\"><c r=\"A5\" t=\"inlineStr\"><is><t>{{/xs}}</t></is></c></row></sheetData>", wide(4)))
    });
    let mut ruled = Sheet::new("S");
    ruled.set("A1", "{text.repeat(9000) | formula}");
    let thousands = format!("{{\"xs\":[{}]}}", vec!["0"; 4_000].join(","));
    let many = format!("{{\"xs\":[{}]}}", vec!["0"; 524_288].join(","));
    for (name, file, data, limit) in [
        ("items", one(Sheet::new("S").rows("A1", "{#Array(10000000).fill(1)}|{/}")), XS, "test.items"),
        (
            "rows",
            one(Sheet::new("S").rows("A1", "{#xs}\n{/xs}\nend")),
            many.as_str(),
            "S: the sheet would need 1048577 rows, and Excel allows 1048576; repeat less",
        ),
        (
            "columns",
            one(Sheet::new("S").rows("A1", "{-columns Array(8192).fill(1)}{.}|{/}|end")),
            XS,
            "S: the sheet would need 16385 columns, and Excel allows 16384; repeat less",
        ),
        (
            "cells to the right",
            one(Sheet::new("S").rows("A1", "{-right Array(20000).fill(1)}{.}|{/}")),
            XS,
            "16384",
        ),
        (
            "a table of a list of lists",
            one(Sheet::new("S")
                .rows("A1", "{-rows Array(3000).fill(Array(3000).fill(1))}{-right .}{.}{/}{/}")),
            XS,
            "test.items",
        ),
        ("cells", wide, thousands.as_str(), "test.output"),
        ("merged cells", one(behind(across, merges)), thousands.as_str(), "merge"),
        ("sheets", one(Sheet::new("S").rows("A1", "{:sheet Array(100000).fill(1)}")), XS, "test.slides"),
        (
            "pictures",
            one(Sheet::new("S").rows("A1", "{-rows Array(200001).fill(1)}{%qr 1}{/}")),
            XS,
            "the sheet 'S' would have more than 200000 pictures; repeat fewer cells with them",
        ),
        ("a long text", one(Sheet::new("S").rows("A1", "{text.repeat(40000)}")), XS, "32767"),
        ("a long name", one(Sheet::new("{text.repeat(32)}")), XS, "has 32 characters, and Excel allows 31"),
        ("a long formula", one(ruled), XS, "8192"),
    ] {
        match filled(name, file, data) {
            Ok(file) => panic!("{name}: it is filled, {} bytes", file.len()),
            Err(error) => assert!(error.to_string().contains(limit), "{name}: {error}"),
        }
    }
}

#[test]
fn what_only_looks_large_is_filled() {
    let nested = format!("={}1{}", "(".repeat(4_000), ")".repeat(4_000));
    let sums = format!("=SUM({})", vec!["B2"; 255].join(","));
    let thousands = format!("{{\"xs\":[{}]}}", vec!["0"; 4_000].join(","));
    let whole = "<mergeCells count=\"1\"><mergeCell ref=\"A5:XFD1048576\"/></mergeCells>".to_owned();
    let areas = (10..8_000).map(|row| format!("A{row}")).collect::<Vec<_>>().join(" ");
    let watched = format!(
        "<conditionalFormatting sqref=\"A2:XFD1048576 {areas}\"><cfRule type=\"expression\" priority=\"1\"><formula>A1</formula></cfRule></conditionalFormatting>"
    );
    for (name, sheet, data) in [
        ("brackets in brackets", list(&nested), XS),
        (
            "many arguments",
            Sheet::new("S").rows("A1", &format!("x\n{{#xs}}|{{.}}|{{/xs}}\n{sums}")),
            thousands.as_str(),
        ),
        ("the whole sheet merged", Sheet { behind: whole, ..list("{.}") }, XS),
        ("the whole sheet watched", Sheet { behind: watched, ..list("{.}") }, thousands.as_str()),
    ] {
        let made = filled(name, one(sheet), data);
        assert!(
            made.is_ok() || made.as_ref().is_err_and(|error| error.to_string().contains("Excel")),
            "{name}: {made:?}"
        );
    }
}

#[test]
fn what_is_no_sheet_is_refused_or_left_as_it_is() {
    let good = one(list("{.}|=SUM(B2)"));
    for (name, from, to) in [
        ("a row beyond the last", "<row r=\"2\">", "<row r=\"99999999999\">"),
        ("no row at all", "<row r=\"2\">", "<row r=\"-1\">"),
        ("a cell beyond the last", "r=\"B2\"", "r=\"ZZZZZZZ2\""),
        ("a cell of another row", "r=\"B2\"", "r=\"B7\""),
        ("a cell that is nowhere", "r=\"B2\"", "r=\"\""),
        (
            "a shared text that is not there",
            "t=\"inlineStr\"><is><t>head</t></is>",
            "t=\"s\"><v>4294967296</v>",
        ),
        ("a shared formula that is not there", "<f>", "<f t=\"shared\" si=\"99999999\">"),
        (
            "entities",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]>",
        ),
        ("an end too early", "</sheetData>", ""),
    ] {
        let file = changed(&good, SHEET, |xml| {
            assert!(xml.contains(from), "{name}: {xml}");
            xml.replacen(from, to, 1)
        });
        // It is refused, or filled: what it never does is to panic or to take for ever.
        match filled(name, file, XS) {
            Ok(file) => assert!(!file.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty(), "{name}"),
        }
    }
}

/// The letters of a column.
fn column(number: u32) -> String {
    super::read::address((1, number)).trim_end_matches('1').to_owned()
}
