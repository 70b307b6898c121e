//! A workbook with all that names cells from outside of formulas, filled: each of it is where its cells are.

use super::book::{Sheet, book};
use super::limits::{SHEET, changed};
use super::names::with_parts;
use crate::support::{entries, part, try_fill};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// What stands before the cells: the columns' widths, and two rows that stay in sight, the list among them.
const BEFORE: &str = "<sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"2\" topLeftCell=\"A3\" activePane=\"bottomLeft\" state=\"frozen\"/>\
     <selection pane=\"bottomLeft\" activeCell=\"B3\" sqref=\"B3\"/></sheetView></sheetViews><cols><col min=\"2\" max=\"3\" width=\"12\"/></cols>";

/// What stands behind them.
const BEHIND: &str = "<protectedRanges><protectedRange name=\"p\" sqref=\"B2\"/></protectedRanges><autoFilter ref=\"A1:C2\"/>\
     <mergeCells count=\"1\"><mergeCell ref=\"D2:E2\"/></mergeCells>\
     <conditionalFormatting sqref=\"C2\"><cfRule type=\"expression\" priority=\"1\"><formula>C2&gt;$B$3</formula></cfRule></conditionalFormatting>\
     <dataValidations count=\"1\"><dataValidation type=\"list\" sqref=\"E3\"><formula1>$A$2:$A$2</formula1></dataValidation></dataValidations>\
     <hyperlinks><hyperlink ref=\"A2\" location=\"S!B3\"/></hyperlinks>\
     <rowBreaks count=\"2\" manualBreakCount=\"1\"><brk id=\"2\" man=\"1\"/><brk id=\"3\"/></rowBreaks><colBreaks count=\"1\"><brk id=\"3\"/></colBreaks>\
     <extLst><ext uri=\"{05C60535-1F16-4fd2-B633-F4F36F0B64E0}\" xmlns:x14=\"x\" xmlns:xm=\"y\"><x14:sparklineGroups><x14:sparklineGroup>\
     <x14:sparklines><x14:sparkline><xm:f>S!B2:C2</xm:f><xm:sqref>F2</xm:sqref></x14:sparkline></x14:sparklines></x14:sparklineGroup>\
     </x14:sparklineGroups></ext></extLst>";

fn workbook() -> Vec<u8> {
    let rows = "name|q|double\n{#xs}{.}|{.}|=B2*2|x||{/xs}\nsum|=SUM(B2)|=SUM(C2:C2)";
    let sheet = Sheet { behind: BEHIND.to_owned(), ..Sheet::new("S").rows("A1", rows) };
    let names = [("All", "S!$B$2:$B$2"), ("Below", "S!$B$3"), ("Whole", "S!$B:$B"), ("Half", "S!$B$2*0.5")];
    let file = changed(&book(&[sheet], &names), SHEET, |xml| {
        xml.replace("<sheetData>", &format!("{BEFORE}<sheetData>"))
            .replace("<row r=\"2\">", "<row r=\"2\" ht=\"30\" customHeight=\"1\" outlineLevel=\"1\">")
    });
    let file = changed(&file, "xl/workbook.xml", |xml| {
        let own = "<definedName name=\"_xlnm.Print_Area\" localSheetId=\"0\">S!$A$1:$C$3</definedName>\
                   <definedName name=\"_xlnm.Print_Titles\" localSheetId=\"0\">S!$A:$A,S!$1:$2</definedName>";
        xml.replace("<definedNames>", &format!("<definedNames>{own}"))
            .replace("</workbook>", "<calcPr calcId=\"1\"/></workbook>")
    });
    let link = |id: &str, kind: &str, target: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let links = link("rId8", "calcChain", "calcChain.xml")
        + &link("rId9", "pivotCacheDefinition", "pivotCache/pivotCacheDefinition1.xml");
    let file = changed(&file, "xl/_rels/workbook.xml.rels", |xml| {
        xml.replace("</Relationships>", &format!("{links}</Relationships>"))
    });
    let file = changed(&file, "_rels/.rels", |xml| {
        xml.replace(
            "</Relationships>",
            &format!("{}</Relationships>", link("rId9", "extended-properties", "docProps/app.xml")),
        )
    });
    with_parts(
        &file,
        &[
            ("xl/calcChain.xml", "<calcChain><c r=\"C2\" i=\"1\"/></calcChain>"),
            (
                "xl/pivotCache/pivotCacheDefinition1.xml",
                "<pivotCacheDefinition><cacheSource type=\"worksheet\"><worksheetSource ref=\"A1:C2\" sheet=\"S\"/></cacheSource></pivotCacheDefinition>",
            ),
            (
                "docProps/app.xml",
                "<Properties><Company>C</Company><TitlesOfParts><lpstr>S</lpstr></TitlesOfParts></Properties>",
            ),
        ],
    )
}

#[test]
fn all_that_names_cells_is_where_its_cells_are() {
    let file = try_fill(workbook(), "{\"xs\":[1,2,3]}", "{}").expect("it is filled").file;
    let (sheet, main) = (part(&file, SHEET), part(&file, "xl/workbook.xml"));
    let cache = part(&file, "xl/pivotCache/pivotCacheDefinition1.xml");
    for (part, expected) in [
        (&sheet, "<pane ySplit=\"4\" topLeftCell=\"A5\""),
        (&sheet, "activeCell=\"B5\" sqref=\"B5\""),
        (&sheet, "<col min=\"2\" max=\"3\" width=\"12\"/>"),
        (&sheet, "<row r=\"4\" ht=\"30\" customHeight=\"1\" outlineLevel=\"1\">"),
        (&sheet, "<c r=\"C5\"><f>SUM(C2:C4)</f></c>"),
        (&sheet, "<protectedRange name=\"p\" sqref=\"B2:B4\"/>"),
        (&sheet, "<autoFilter ref=\"A1:C4\"/>"),
        (
            &sheet,
            "<mergeCells count=\"3\"><mergeCell ref=\"D2:E2\"/><mergeCell ref=\"D3:E3\"/><mergeCell ref=\"D4:E4\"/></mergeCells>",
        ),
        (
            &sheet,
            "<conditionalFormatting sqref=\"C2:C4\"><cfRule type=\"expression\" priority=\"1\"><formula>C2&gt;$B$5</formula>",
        ),
        (&sheet, "sqref=\"E5\"><formula1>$A$2:$A$4</formula1>"),
        (&sheet, "<hyperlink ref=\"A4\" location=\"S!B5\"/></hyperlinks>"),
        (
            &sheet,
            "<rowBreaks count=\"4\" manualBreakCount=\"3\"><brk id=\"2\" man=\"1\"/><brk id=\"3\" man=\"1\"/><brk id=\"4\" man=\"1\"/><brk id=\"5\"/>",
        ),
        (&sheet, "<colBreaks count=\"1\"><brk id=\"3\"/></colBreaks>"),
        (&sheet, "<xm:f>S!B4:C4</xm:f><xm:sqref>F4</xm:sqref></x14:sparkline></x14:sparklines>"),
        (&main, "localSheetId=\"0\">S!$A$1:$C$5<"),
        (&main, "localSheetId=\"0\">S!$A:$A,S!$1:$4<"),
        (&main, "name=\"All\">S!$B$2:$B$4<"),
        (&main, "name=\"Below\">S!$B$5<"),
        (&main, "name=\"Whole\">S!$B:$B<"),
        (&main, "fullCalcOnLoad=\"1\""),
        (&cache, "refreshOnLoad=\"1\""),
        (&cache, "<worksheetSource ref=\"A1:C4\" sheet=\"S\"/>"),
    ] {
        assert!(part.contains(expected), "{expected} is not in {part}");
    }
    assert!(!sheet.contains("<v>-1</v>"), "no formula keeps its value: {sheet}");
    let app = part(&file, "docProps/app.xml");
    assert!(app.contains("<Company>C</Company>") && !app.contains("TitlesOfParts"), "{app}");
    let named = |word: &str| {
        entries(&file)
            .iter()
            .any(|(name, content)| name.contains(word) || String::from_utf8_lossy(content).contains(word))
    };
    assert!(!named("calcChain"), "in which order cells were calculated is nowhere");
}

#[test]
fn formats_of_rows_go_on_above_and_below_repeated_columns() {
    let rows = "a|title|b\nx|{-columns xs}{.}|y\nsum|{/}|=SUM(B2)";
    let file = changed(&book(&[Sheet::new("S").rows("A1", rows)], &[]), SHEET, |xml| {
        ["A1", "B1", "B3", "C3"].iter().fold(xml, |xml, cell| {
            xml.replace(&format!("<c r=\"{cell}\""), &format!("<c r=\"{cell}\" s=\"1\""))
        })
    });
    let file = try_fill(file, "{\"xs\":[5,6,7]}", "{}").expect("it is filled").file;
    let text = |text: &str| format!(" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let sheet = part(&file, SHEET);
    let expected = [
        format!("<row r=\"1\"><c r=\"A1\" s=\"1\"{}<c r=\"B1\" s=\"1\"{}", text("a"), text("title")),
        format!("<c r=\"C1\" s=\"1\"/><c r=\"D1\" s=\"1\"/><c r=\"E1\"{}</row>", text("b")),
        "<c r=\"B3\" s=\"1\"/><c r=\"C3\" s=\"1\"/><c r=\"D3\" s=\"1\"/><c r=\"E3\" s=\"1\"><f>SUM(B2:D2)</f></c></row>".to_owned(),
    ];
    for expected in expected {
        assert!(sheet.contains(&expected), "{expected} is not in {sheet}");
    }
    // Columns in columns, crossed by rows: every row has its formats in all of them, in their order.
    let rows = "x|Plan\n|{-columns xs}{.}\n{#xs}k|{-columns xs}{.}{/}|{/xs}\n|{/}";
    let file = changed(&book(&[Sheet::new("S").rows("A1", rows)], &[]), SHEET, |xml| {
        xml.replace("<c r=\"B", "<c s=\"1\" r=\"B")
    });
    let file = try_fill(file, "{\"xs\":[5,6,7]}", "{}").expect("it is filled").file;
    let sheet = part(&file, SHEET);
    for row in 1..=6 {
        let cells = sheet.split(&format!("<row r=\"{row}\">")).nth(1).expect("a row").split("</row>").next();
        let cells: Vec<&str> = cells.expect("cells").split("<c r=\"").skip(1).collect();
        let formatted = cells.iter().filter(|cell| cell.contains(" s=\"1\""));
        let columns: String = formatted.filter_map(|cell| cell.chars().next()).collect();
        assert_eq!(columns, "BCDEFGHIJ", "{row}: {sheet}");
    }
}
