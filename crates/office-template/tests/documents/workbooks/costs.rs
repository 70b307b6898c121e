//! Workbooks whose parts cost much more than they hold: tags by the thousand, long formulas that many cells share, pieces without end.

use std::fmt::Write as _;

use office_template::{NoFiles, Template};

use super::book::Sheet;
use super::limits::{SHEET, XS, changed, filled, one};
use crate::support::{limits, part, run};

#[test]
fn thousands_of_sections_are_reported_of_once_each() {
    for (name, text, message) in [
        ("beside each other", "{-rows xs}{/}".repeat(2_400), "two lists cannot grow in the same rows"),
        ("in each other", format!("{}{}", "{#xs}".repeat(60), "{/}".repeat(60)), "no deeper than 50"),
        (
            "columns in each other",
            format!("{}{}", "{-columns xs}".repeat(60), "{/}".repeat(60)),
            "no deeper than 50",
        ),
        ("crossing", "{#xs}{-rows text}{/xs}{/text}".to_owned(), "sections do not cross"),
    ] {
        let error = filled(name, one(Sheet::new("S").rows("A1", &text)), XS).expect_err(name);
        assert!(error.to_string().contains(message), "{name}: {error}");
        assert!(error.to_string().len() < 10_000, "{name}");
    }
}

#[test]
fn of_many_wrong_tags_the_first_are_reported_and_how_many_more_there_are() {
    let wrong =
        |tag: &str| filled("wrong", one(Sheet::new("S").rows("A1", tag)), XS).expect_err(tag).to_string();
    for (name, tag, message) in [
        ("unreadable", "{:lnik a}", "there is no command"),
        ("no expression", "{a b +}", "'a b +' is neither"),
        ("nothing that can be written", "{text.repeat(40000)}", "32767"),
    ] {
        let all = wrong(&vec![tag; 150].join("\n"));
        let told = all.matches(message).count();
        assert!((20..=100).contains(&told), "{name}: {told} in {all}");
        assert!(all.ends_with(&format!("; and {} more", 150 - told)), "{name}: {all}");
        assert!(
            all.len() < 8 << 10,
            "{name}: the service cuts a longer sentence, and with it how many more there are"
        );
        assert_eq!(
            wrong(&format!("{{#Array(150).fill(1)}}|{tag}|{{/}}")).matches(message).count(),
            1,
            "{name}"
        );
    }
}

#[test]
fn a_long_formula_that_many_cells_share_is_theirs_though_not_all_is_kept() {
    let long = format!("A1+$B$1{}", "+1".repeat(4_000));
    let cells = (2..800).fold(String::new(), |mut rows, row| {
        write!(rows, "<row r=\"{row}\"><c r=\"C{row}\"><f t=\"shared\" si=\"0\"/></c></row>")
            .expect("a text grows");
        rows
    });
    let file = changed(&one(Sheet::new("S").rows("A1", "{text}")), SHEET, |xml| {
        let first = format!("<c r=\"C1\"><f t=\"shared\" ref=\"C1:C799\" si=\"0\">{long}</f></c></row>");
        xml.replace("</row>", &first).replace("</sheetData>", &format!("{cells}</sheetData>"))
    });
    let xml = part(&filled("shared", file, XS).expect("it is filled"), SHEET);
    for row in [1, 2, 799] {
        let own = format!("<c r=\"C{row}\"><f>A{row}+$B$1+1+1");
        assert!(xml.contains(&own), "{own}");
    }
}

#[test]
fn elements_that_nobody_looks_for_are_counted_too() {
    let mut limits = limits();
    limits.elements.value = 10_000;
    limits.ratio.value = 10_000;
    let many = "<a/>".repeat(11_000);
    for (part, end) in
        [(SHEET, "</worksheet>"), ("xl/workbook.xml", "</workbook>"), ("xl/tables/table1.xml", "</table>")]
    {
        let mut sheet = Sheet::new("S").rows("A1", "a|{text}\n{#xs}1|2{/xs}");
        sheet.table = Some(("T", "A1:B2", &["a", "{text}"], None));
        let file = changed(&one(sheet), part, |xml| xml.replace(end, &format!("{many}{end}")));
        let error = Template::read(file, None, &limits)
            .and_then(|template| {
                let answer = run(template.program(), XS, "{}");
                template.fill(&answer, &mut NoFiles)
            })
            .expect_err(part)
            .to_string();
        assert!(error.contains("elements"), "{part}: {error}");
    }
}

#[test]
fn what_is_there_once_a_turn_is_written_within_the_room_that_is_left() {
    let long = "x".repeat(1 << 20);
    let link = format!("<hyperlinks><hyperlink ref=\"B2\" display=\"{long}\"/></hyperlinks>");
    let thousand = format!("{{\"xs\":[{}]}}", vec!["0"; 1_000].join(","));
    let sheet = Sheet { behind: link, ..Sheet::new("S").rows("A1", "head\n{#xs}|{.}|{/xs}") };
    let error = filled("links", one(sheet), &thousand).expect_err("a gigabyte").to_string();
    assert!(error.contains("test.output"), "{error}");
}
