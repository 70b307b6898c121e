//! The elements before and behind a sheet's cells.

use workbook_parts::{Book, Error, Report, worksheet};

use crate::support::{FIRST, copy, head, moved, moved_in, sheet, tail, workbook};

#[test]
fn what_names_no_cell_and_what_did_not_move_stays_byte_for_byte() {
    let before = "<sheetPr><tabColor rgb=\"FF00B0F0\"/></sheetPr><dimension ref=\"A1:D9\"/><sheetViews><sheetView workbookViewId='0' \
                  tabSelected=\"1\"><pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/><selection \
                  pane=\"bottomLeft\" activeCell=\"B2\" sqref=\"B2:C4\"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight=\"15\"/>\
                  <cols><col min=\"1\" max=\"3\" width=\"9.5\" customWidth=\"1\"/></cols>";
    let behind = "<sheetProtection sheet=\"1\"/><mergeCells count=\"1\"><mergeCell ref=\"A1:B1\"/></mergeCells>\
                  <!-- a > comment --><conditionalFormatting sqref=\"A2:A9\"><cfRule type=\"expression\" dxfId=\"0\" priority=\"1\">\
                  <formula>A2&lt;&gt;\"x\"</formula></cfRule></conditionalFormatting><printOptions gridLines=\"1\"/>\
                  <pageMargins left=\"0.7\"/><unknown ref=\"B7\"><deeper/></unknown><tableParts count=\"1\"><tablePart r:id=\"rId1\"/></tableParts>";
    for blocks in ["", "20-21*3"] {
        let (head, tail, report) = moved(blocks, (before, behind));
        assert_eq!((head.as_str(), tail.as_str()), (before, behind));
        assert_eq!(report, Report::default());
    }
}

#[test]
fn views_and_columns_follow_their_cells() {
    let cases = [
        ("3*4", "<dimension ref=\"A1:D5\"/>", "<dimension ref=\"A1:D8\"/>"),
        ("1-9*0", "<dimension ref=\"A1:D5\"/>", "<dimension ref=\"A1\"/>"),
        // Frozen rows and columns are as many as they became; the rest begins where its first cell is.
        (
            "2*3",
            "<sheetView><pane xSplit=\"1\" ySplit=\"3\" topLeftCell=\"B4\" activePane=\"bottomRight\" state=\"frozen\"/></sheetView>",
            "<sheetView><pane xSplit=\"1\" ySplit=\"5\" topLeftCell=\"B6\" activePane=\"bottomRight\" state=\"frozen\"/></sheetView>",
        ),
        (
            "3*9",
            "<sheetView topLeftCell=\"A2\"><pane ySplit=\"1\" topLeftCell=\"A3\" state=\"frozenSplit\"/></sheetView>",
            "<sheetView topLeftCell=\"A2\"><pane ySplit=\"1\" topLeftCell=\"A3\" state=\"frozenSplit\"/></sheetView>",
        ),
        (
            "1-2*0",
            "<sheetView><pane xSplit=\"1\" ySplit=\"2\" topLeftCell=\"B3\" activePane=\"bottomRight\" state=\"frozen\"/><selection \
             pane=\"bottomRight\" activeCell=\"C5\" sqref=\"C5\"/></sheetView>",
            "<sheetView><pane xSplit=\"1\" topLeftCell=\"B1\" activePane=\"topRight\" state=\"frozen\"/></sheetView>",
        ),
        (
            "3*4",
            "<selection activeCell=\"B7\" sqref=\"B7:C8\"/>",
            "<selection activeCell=\"B10\" sqref=\"B10\"/>",
        ),
        (
            "C-D*2",
            "<cols><col min=\"1\" max=\"2\" width=\"5\"/><col min=\"3\" max=\"3\" width=\"7\"/><col min=\"4\" max=\"9\" width=\"8\"/></cols>",
            "<cols><col min=\"1\" max=\"2\" width=\"5\"/><col min=\"3\" max=\"3\" width=\"7\"/><col min=\"4\" max=\"4\" width=\"8\"/>\
             <col min=\"5\" max=\"5\" width=\"7\"/><col min=\"6\" max=\"11\" width=\"8\"/></cols>",
        ),
        ("A-Z*0", "<cols><col min=\"1\" max=\"3\" width=\"5\"/></cols>", ""),
    ];
    for (blocks, before, after) in cases {
        assert_eq!(head(blocks, before), after, "{before} with {blocks}");
    }
}

#[test]
fn a_copy_of_a_sheet_is_not_selected_with_it() {
    let mut workbook = workbook("", "");
    workbook.sheets[0].copies.push(copy("Items (2)", "3*2"));
    let view = "<sheetPr codeName=\"Sheet1\"/><sheetView tabSelected=\"1\" workbookViewId=\"0\"/>";
    let at = workbook_parts::At { sheet: 0, copy: 1 };
    assert_eq!(moved_in(&workbook, at, (view, "")).0, "<sheetPr/><sheetView workbookViewId=\"0\"/>");
    assert_eq!(moved_in(&workbook, FIRST, (view, "")).0, view);
}

#[test]
fn merged_cells_are_copied_with_their_turn_and_never_overlap() {
    let merges = |ranges: &str| {
        let all = ranges
            .split(' ')
            .map(|range| format!("<mergeCell ref=\"{range}\"/>"))
            .collect::<Vec<_>>()
            .concat();
        format!("<mergeCells count=\"{}\">{all}</mergeCells>", ranges.split(' ').count())
    };
    let cases = [
        ("3*3", "A1:B1 A3:C3 A5:B6", "A1:B1 A3:C3 A4:C4 A5:C5 A7:B8"),
        ("3-4*2", "A3:A4 B2:B3", "B2:B5 A3:A4 A5:A6"),
        ("3-5*2 /0:4*3,0", "A3:A5 B4:C4", "A3:A7 B4:C4 B5:C5 B6:C6 A8:A9"),
        ("C*2", "C1:C2 B4:C4", "C1:C2 D1:D2 B4:D4"),
        // One cell is not merged.
        ("3*0", "A1:B1 A2:A3 B3:C3", "A1:B1"),
    ];
    for (blocks, before, after) in cases {
        assert_eq!(tail(blocks, &merges(before)), merges(after), "{before} with {blocks}");
    }
    assert_eq!(tail("3*0", &merges("A3:B3")), "");
    let (_, written, report) = moved("A3:B3*3", ("", &merges("B3:C3 C4:D4")));
    assert_eq!(written, merges("B3:C5"));
    assert_eq!(report.sentences(), ["left out: merged cells that would overlap on 'Items'"]);
}

#[test]
fn rules_hold_for_all_that_their_cells_became() {
    let format = |areas: &str, formula: &str| {
        format!(
            "<conditionalFormatting sqref=\"{areas}\"><cfRule type=\"expression\" dxfId=\"0\" priority=\"1\"><formula>{formula}</formula>\
             </cfRule></conditionalFormatting>"
        )
    };
    let cases = [
        ("3*4", "A3:E3", "$C3&gt;$B$1", "A3:E6", "$C3&gt;$B$1"),
        ("3*4", "A3:E3", "$C3&gt;$B$9", "A3:E6", "$C3&gt;$B$12"),
        ("3-4*2", "A3", "A4=1", "A3 A5", "A4=1"),
        ("2*3", "B5:B6", "B5&gt;SUM($B$2)", "B7:B8", "B7&gt;SUM($B$2:$B$4)"),
        // The first cell that is left is another one: what is relative to it moves along.
        ("2*0", "B2:B6", "B2&gt;$C2", "B2:B5", "B2&gt;$C2"),
        ("2-3*0", "B2:B3 C5:C6", "B2&gt;A2", "C3:C4", "C3&gt;B3"),
    ];
    for (blocks, areas, formula, now, after) in cases {
        assert_eq!(
            tail(blocks, &format(areas, formula)),
            format(now, after),
            "{areas} {formula} with {blocks}"
        );
    }
    assert_eq!(tail("2-3*0", &format("B2:C3", "B2&gt;1")), "");
    let scale = |value: &str, areas: &str| {
        format!(
            "<conditionalFormatting sqref=\"{areas}\"><cfRule type=\"colorScale\" priority=\"2\"><colorScale><cfvo type=\"min\"/>\
             <cfvo type=\"num\" val=\"{value}\"/><color rgb=\"FFF8696B\"/></colorScale></cfRule></conditionalFormatting>"
        )
    };
    assert_eq!(tail("3*2", &scale("$D$9", "B3")), scale("$D$10", "B3:B4"));
}

#[test]
fn validations_grow_with_their_lists_and_are_counted() {
    let before = "<dataValidations count=\"3\"><dataValidation type=\"list\" allowBlank=\"1\" sqref=\"C3 C9\"><formula1>$F$3</formula1>\
                  </dataValidation><dataValidation type=\"list\" sqref=\"D3\"><formula1>\"yes,no\"</formula1></dataValidation>\
                  <dataValidation type=\"whole\" sqref=\"E20\"><formula1>E3</formula1><formula2>Data!B2</formula2></dataValidation></dataValidations>";
    let after = "<dataValidations count=\"3\"><dataValidation type=\"list\" allowBlank=\"1\" sqref=\"C3:C4 C10\"><formula1>$F$3:$F$4</formula1>\
                 </dataValidation><dataValidation type=\"list\" sqref=\"D3:D4\"><formula1>\"yes,no\"</formula1></dataValidation>\
                 <dataValidation type=\"whole\" sqref=\"E21\"><formula1>E4</formula1><formula2>Data!B2</formula2></dataValidation></dataValidations>";
    assert_eq!(tail("3*2", before), after);
    let (_, gone, report) = moved("3-20*0", ("", before));
    assert_eq!(gone, "");
    assert_eq!(report, Report::default());
    let (_, some, _) = moved("4-30*0", ("", before));
    assert!(
        some.starts_with(
            "<dataValidations count=\"2\"><dataValidation type=\"list\" allowBlank=\"1\" sqref=\"C3\">"
        ),
        "{some}"
    );
}

#[test]
fn what_excel_2010_added_moves_as_well() {
    let rules = |areas: &str, first: &str, list: &str, lines: &str| {
        format!(
            "<extLst><ext uri=\"{{78C0D931-6437-407d-A8EE-F0AAD7539E65}}\"><x14:conditionalFormattings><x14:conditionalFormatting><x14:cfRule \
             type=\"dataBar\" id=\"{{1}}\"><x14:dataBar><x14:cfvo type=\"num\"><xm:f>{first}</xm:f></x14:cfvo></x14:dataBar></x14:cfRule>\
             <xm:sqref>{areas}</xm:sqref></x14:conditionalFormatting></x14:conditionalFormattings></ext><ext uri=\"{{CCE6A557}}\">\
             <x14:dataValidations count=\"1\"><x14:dataValidation type=\"list\"><x14:formula1><xm:f>{list}</xm:f></x14:formula1>\
             <xm:sqref>{areas}</xm:sqref></x14:dataValidation></x14:dataValidations></ext><ext uri=\"{{05C60535}}\"><x14:sparklineGroups>\
             <x14:sparklineGroup><x14:colorSeries rgb=\"FF376092\"/><x14:sparklines>{lines}</x14:sparklines></x14:sparklineGroup></x14:sparklineGroups></ext></extLst>"
        )
    };
    let line = |data: &str, cell: &str| {
        format!("<x14:sparkline><xm:f>{data}</xm:f><xm:sqref>{cell}</xm:sqref></x14:sparkline>")
    };
    let before = rules("B3", "$C$9", "Data!$A$2", &(line("Items!B3:E3", "F3") + &line("Items!B2:B4", "B6")));
    let lines: String = (3..6).map(|row| line(&format!("Items!B{row}:E{row}"), &format!("F{row}"))).collect();
    let after = rules("B3:B5", "$C$11", "Data!$A$2:$A$6", &(lines + &line("Items!B2:B6", "B8")));
    assert_eq!(moved_in(&workbook("3*3", "2*5"), FIRST, ("", &before)).1, after);
    assert_eq!(tail("1-40*0", &before), "");
}

#[test]
fn hyperlinks_breaks_and_filters_follow() {
    let cases = [
        (
            "3*2",
            "<hyperlinks><hyperlink ref=\"A3\" r:id=\"rId1\" xr:uid=\"{1}\"/><hyperlink ref=\"B9\" location=\"Items!C3\" display=\"C3\"/>\
             <hyperlink ref=\"C3\" location=\"'Items'!D3\"/></hyperlinks>",
            "<hyperlinks><hyperlink ref=\"A3\" r:id=\"rId1\" xr:uid=\"{1}\"/><hyperlink ref=\"A4\" r:id=\"rId1\"/>\
             <hyperlink ref=\"B10\" location=\"Items!C4\" display=\"C3\"/><hyperlink ref=\"C3\" location=\"'Items'!D3\"/>\
             <hyperlink ref=\"C4\" location=\"'Items'!D4\"/></hyperlinks>",
        ),
        ("3*0", "<hyperlinks><hyperlink ref=\"A3\" r:id=\"rId1\"/></hyperlinks>", ""),
        (
            "3-4*3",
            "<rowBreaks count=\"2\" manualBreakCount=\"2\"><brk id=\"4\" max=\"16383\" man=\"1\"/><brk id=\"9\" max=\"16383\" man=\"1\"/></rowBreaks>",
            "<rowBreaks count=\"4\" manualBreakCount=\"4\"><brk id=\"4\" max=\"16383\" man=\"1\"/><brk id=\"6\" max=\"16383\" man=\"1\"/>\
             <brk id=\"8\" max=\"16383\" man=\"1\"/><brk id=\"13\" max=\"16383\" man=\"1\"/></rowBreaks>",
        ),
        (
            "C*3",
            "<colBreaks count=\"1\" manualBreakCount=\"1\"><brk id=\"5\" man=\"1\"/></colBreaks>",
            "<colBreaks count=\"1\" manualBreakCount=\"1\"><brk id=\"7\" man=\"1\"/></colBreaks>",
        ),
        (
            "3*4 B*2",
            "<autoFilter ref=\"A2:D3\"><filterColumn colId=\"2\"/><sortState ref=\"A3:D3\"><sortCondition ref=\"C3\"/></sortState></autoFilter>",
            "<autoFilter ref=\"A2:E6\"><filterColumn colId=\"3\"/><sortState ref=\"A3:E6\"><sortCondition ref=\"D3:D6\"/></sortState></autoFilter>",
        ),
        (
            "3*2",
            "<protectedRanges><protectedRange sqref=\"B3\" name=\"open\"/></protectedRanges><ignoredErrors><ignoredError sqref=\"B9 C3\" numberStoredAsText=\"1\"/></ignoredErrors>",
            "<protectedRanges><protectedRange sqref=\"B3:B4\" name=\"open\"/></protectedRanges><ignoredErrors><ignoredError sqref=\"B10 C3:C4\" numberStoredAsText=\"1\"/></ignoredErrors>",
        ),
        (
            "3*0",
            "<scenarios><scenario name=\"a\" count=\"2\"><inputCells r=\"B3\" val=\"1\"/><inputCells r=\"B4\" val=\"2\"/></scenario></scenarios>",
            "<scenarios><scenario name=\"a\" count=\"1\"><inputCells r=\"B3\" val=\"2\"/></scenario></scenarios>",
        ),
    ];
    for (blocks, before, after) in cases {
        assert_eq!(tail(blocks, before), after, "{before} with {blocks}");
    }
}

#[test]
fn what_grows_beyond_a_limit_says_which() {
    let workbook = workbook("3*500", "");
    let book = Book::new(&workbook, 100);
    let many = |tail: &str| {
        let xml = sheet("", tail);
        worksheet(xml.as_bytes(), &book, FIRST, (&[], &|_| false), &mut Report::default())
            .map(|_| ())
            .unwrap_err()
    };
    let merged = many("<mergeCells><mergeCell ref=\"A3:B3\"/></mergeCells>");
    assert_eq!(
        merged.to_string(),
        "the sheet 'Items' would have more than 100 merged cells; repeat fewer rows with them"
    );
    assert!(matches!(
        many("<hyperlinks><hyperlink ref=\"A3\"/></hyperlinks>"),
        Error::Many { what: "hyperlinks", .. }
    ));
    // Excel's own limit is no error: the rest of the page breaks is left out, and reported.
    let breaks = "<rowBreaks count=\"1\"><brk id=\"3\" man=\"1\"/></rowBreaks>";
    let (_, written, report) = moved("3*2000", ("", breaks));
    assert_eq!(written.matches("<brk ").count(), 1026);
    assert_eq!(report.dropped.count, 2000 - 1026);
    // A list of a thousand areas is one range.
    let rule = "<conditionalFormatting sqref=\"A3\"><cfRule><formula>A3&gt;1</formula></cfRule></conditionalFormatting>";
    let (_, written, report) = moved("3-4*5000", ("", rule));
    assert!(written.starts_with("<conditionalFormatting sqref=\"A3:A10001\">"), "{written}");
    assert_eq!(report.widened.count, 1);
}

#[test]
fn broken_parts_are_errors_and_dropped_relationships_leave() {
    let workbook = workbook("", "");
    let book = Book::new(&workbook, 100);
    let read = |xml: &[u8], dropped: &[&str]| {
        worksheet(xml, &book, FIRST, (dropped, &|_| false), &mut Report::default())
    };
    assert!(matches!(read(b"<worksheet><sheetData></worksheet>", &[]), Err(Error::Xml(_))));
    assert!(matches!(read(b"<!DOCTYPE a><worksheet><sheetData/></worksheet>", &[]), Err(Error::Xml(_))));
    assert!(matches!(read(b"<worksheet>\xff<sheetData/></worksheet>", &[]), Err(Error::Xml(_))));
    assert!(matches!(read(b"<chartsheet/>", &[]), Err(Error::Missing("sheetData"))));
    let xml = sheet(
        "",
        "<drawing r:id=\"rId1\"/><tableParts count=\"2\"><tablePart r:id=\"rId2\"/><tablePart r:id=\"rId3\"/></tableParts>",
    );
    let written = String::from_utf8(read(xml.as_bytes(), &["rId1", "rId3"]).unwrap().tail).unwrap();
    assert_eq!(written, "<tableParts count=\"1\"><tablePart r:id=\"rId2\"/></tableParts></worksheet>");
    // A mark of the byte order, names with prefixes, and no cells at all.
    let written =
        read("\u{feff}<x:worksheet><x:sheetData/><x:picture/></x:worksheet>".as_bytes(), &[]).unwrap();
    assert_eq!(written.head, "\u{feff}<x:worksheet>".as_bytes());
    assert_eq!(written.tail, b"<x:picture/></x:worksheet>");
}
