//! Drawings, charts, and what old drawings show.

use cell_references::Place;
use workbook_parts::{Book, Report, chart, drawing, vml};

use crate::support::{FIRST, LIMIT, workbook};

/// An anchor as Excel writes it, over cells counted from 0.
fn anchor(from: (u32, u32), to: (u32, u32), content: &str) -> String {
    let corner = |name: &str, (column, row): (u32, u32), offset: u32| {
        format!(
            "<xdr:{name}><xdr:col>{column}</xdr:col><xdr:colOff>{offset}</xdr:colOff><xdr:row>{row}</xdr:row><xdr:rowOff>{offset}</xdr:rowOff></xdr:{name}>"
        )
    };
    let (from, to) = (corner("from", from, 38100), corner("to", to, 0));
    format!("<xdr:twoCellAnchor>{from}{to}{content}<xdr:clientData/></xdr:twoCellAnchor>")
}

fn chart_frame(id: u32, guid: &str, relation: &str) -> String {
    format!(
        "<xdr:graphicFrame macro=\"\"><xdr:nvGraphicFramePr><xdr:cNvPr id=\"{id}\" name=\"Gráfico 1\"><a:extLst><a:ext uri=\"{{FF2B5EF4}}\">\
         <a16:creationId id=\"{{4B37744A-FD09-3B48-AD1D-{guid}}}\"/></a:ext></a:extLst></xdr:cNvPr></xdr:nvGraphicFramePr><a:graphic>\
         <a:graphicData><c:chart r:id=\"{relation}\"/></a:graphicData></a:graphic></xdr:graphicFrame>"
    )
}

fn shape(id: u32, link: &str) -> String {
    format!(
        "<xdr:sp macro=\"\" textlink=\"{link}\"><xdr:nvSpPr><xdr:cNvPr id=\"{id}\" name=\"Box\"/></xdr:nvSpPr></xdr:sp>"
    )
}

fn drawn(blocks: &str, anchors: &[String]) -> (String, Vec<(String, String)>) {
    let workbook = workbook(blocks, "");
    let xml = format!("<xdr:wsDr>{}</xdr:wsDr>", anchors.concat());
    let book = Book::new(&workbook, LIMIT);
    let drawing = drawing(xml.as_bytes(), &book, FIRST, &mut Report::default()).unwrap();
    let charts = drawing.charts.into_iter().map(|chart| (chart.from, chart.id)).collect();
    let xml = String::from_utf8(drawing.xml).unwrap();
    (xml.replace("<xdr:wsDr>", "").replace("</xdr:wsDr>", ""), charts)
}

#[test]
fn what_stands_in_a_block_is_drawn_once_a_turn() {
    let frame = |id, guid, relation| chart_frame(id, guid, relation);
    let (xml, charts) = drawn("3-5*2", &[anchor((1, 2), (6, 5), &frame(2, "ECB9DA34C260", "rId1"))]);
    let first = anchor((1, 2), (6, 5), &frame(2, "ECB9DA34C260", "rId1"));
    assert_eq!(xml, first + &anchor((1, 5), (6, 8), &frame(3, "000000000001", "rId1_1")));
    let pair = |from: &str, id: &str| (from.to_owned(), id.to_owned());
    assert_eq!(charts, [pair("rId1", "rId1"), pair("rId1", "rId1_1")]);
    let (xml, charts) = drawn("3-5*0", &[anchor((1, 2), (6, 5), &frame(2, "ECB9DA34C260", "rId1"))]);
    assert_eq!((xml.as_str(), charts), ("", Vec::new()));
}

#[test]
fn beside_repeated_rows_a_shape_grows_and_a_chart_keeps_its_size() {
    let cases = [
        // A shape around the list, with what it shows.
        (anchor((0, 1), (3, 4), &shape(2, "Items!$B$3")), anchor((0, 1), (3, 13), &shape(2, "Items!$B$12"))),
        (
            anchor((5, 1), (9, 20), &chart_frame(3, "0", "rId1")),
            anchor((5, 1), (9, 20), &chart_frame(3, "0", "rId1")),
        ),
        (
            anchor((5, 8), (9, 20), &chart_frame(3, "0", "rId1")),
            anchor((5, 17), (9, 29), &chart_frame(3, "0", "rId1")),
        ),
    ];
    for (before, after) in cases {
        assert_eq!(drawn("3*10", &[before]).0, after);
    }
    let fixed = anchor((5, 8), (9, 20), &shape(4, ""))
        .replace("<xdr:twoCellAnchor>", "<xdr:twoCellAnchor editAs=\"absolute\">");
    assert_eq!(drawn("3*10", std::slice::from_ref(&fixed)).0, fixed);
    let one = "<xdr:oneCellAnchor><xdr:from><xdr:col>1</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>9</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>\
               <xdr:ext cx=\"9\" cy=\"9\"/><xdr:pic/><xdr:clientData/></xdr:oneCellAnchor>";
    assert_eq!(drawn("3*10", &[one.to_owned()]).0, one.replace("<xdr:row>9", "<xdr:row>18"));
}

/// A bar chart as Excel writes it, cut to what its data are.
fn bars(name: &str, categories: &str, values: &str, remembered: bool) -> String {
    let cache = |inner: &str| if remembered { inner.to_owned() } else { String::new() };
    let format = "<c:formatCode>General</c:formatCode>";
    let numbers = cache("<c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>4.3</c:v></c:pt>");
    let text =
        cache("<c:strCache><c:ptCount val=\"1\"/><c:pt idx=\"0\"><c:v>Serie 1</c:v></c:pt></c:strCache>");
    format!(
        "<c:chartSpace><c:chart><c:title><c:tx><c:strRef><c:f>{name}</c:f>{text}</c:strRef></c:tx></c:title><c:plotArea><c:barChart><c:ser>\
         <c:tx><c:strRef><c:f>{name}</c:f>{text}</c:strRef></c:tx><c:cat><c:strRef><c:f>{categories}</c:f>{text}</c:strRef></c:cat>\
         <c:val><c:numRef><c:f>{values}</c:f><c:numCache>{format}{numbers}</c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"
    )
}

fn charted(blocks: &str, place: Option<u32>, xml: &str) -> (String, Report) {
    let workbook = workbook(blocks, "3*4");
    let mut report = Report::default();
    let moves = &workbook.sheets[0].copies[0].moves;
    let place = place.map_or(Place::default(), |turn| moves.turn(Place::default(), 0, turn).unwrap());
    let book = Book::new(&workbook, LIMIT);
    let written = chart(xml.as_bytes(), &book, FIRST, place, &mut report).unwrap();
    (String::from_utf8(written).unwrap(), report)
}

#[test]
fn a_chart_draws_all_that_its_cells_became_and_forgets_their_values() {
    let before = bars("Data!$C$2", "Data!$B$3", "Data!$C$3", true);
    let after = bars("Data!$C$2", "Data!$B$3:$B$6", "Data!$C$3:$C$6", false);
    assert_eq!(charted("", None, &before).0, after);
    // In a turn of its own sheet it draws that turn.
    let own = bars("Items!$B$3", "Items!$C$3:$E$3", "Items!$C$4:$E$4", true);
    let second = bars("Items!$B$5", "Items!$C$5:$E$5", "Items!$C$6:$E$6", false);
    let written = charted("3-4*3", Some(1), &own.replace('$', "")).0;
    assert_eq!(written, second.replace('$', ""));
    // Of a block of two rows it draws those that it means, and not the others between them.
    let blocks = bars("Items!$B$3", "Items!$B$3", "Items!$C$3", true);
    let areas = |column: &str| format!("(Items!${column}$3,Items!${column}$5,Items!${column}$7)");
    assert_eq!(charted("3-4*3", None, &blocks).0, bars("Items!$B$7", &areas("B"), &areas("C"), false));
    let (lost, report) = charted("1-9*0", None, &own);
    assert!(lost.contains("<c:f>#REF!</c:f>"), "{lost}");
    assert_eq!(
        report.sentences(),
        ["4 references are #REF!, for all of their cells are gone: a chart on 'Items'"]
    );
}

#[test]
fn another_workbooks_values_are_kept() {
    let other = bars("[1]Hoja2!$C$2", "[1]Hoja2!$B$3:$B$6", "'[1]Hoja 2'!$C$3:$C$6", true);
    assert_eq!(charted("3*4", None, &other).0, other);
    let named = bars("[0]!Title", "[0]!Names", "[0]!Values", true);
    assert_eq!(charted("3*4", None, &named).0, bars("[0]!Title", "[0]!Names", "[0]!Values", false));
}

#[test]
fn charts_of_2016_follow_too() {
    let funnel = |values: &str, levels: &str| {
        format!(
            "<cx:chartSpace><cx:chartData><cx:data id=\"0\"><cx:strDim type=\"cat\"><cx:f>_xlchart.v2.7</cx:f></cx:strDim><cx:numDim type=\"val\">\
             <cx:f>{values}</cx:f>{levels}</cx:numDim></cx:data></cx:chartData></cx:chartSpace>"
        )
    };
    let levels = "<cx:lvl ptCount=\"1\"><cx:pt idx=\"0\">3</cx:pt></cx:lvl>";
    assert_eq!(charted("", None, &funnel("Data!$C$3", levels)).0, funnel("Data!$C$3:$C$6", ""));
}

#[test]
fn a_note_is_drawn_for_each_comment_and_a_control_keeps_its_cell() {
    let note = |id: u32, row: u32, top: u32| {
        format!(
            "<v:shape id=\"_x0000_s{id}\" type=\"#_x0000_t202\"><v:textbox><div>a<br>b</div></v:textbox><x:ClientData ObjectType=\"Note\">\
             <x:Anchor>1, 15, {top}, 10, 3, 31, {}, 9</x:Anchor><x:Row>{row}</x:Row><x:Column>0</x:Column></x:ClientData></v:shape>",
            top + 4
        )
    };
    let button = |top: u32, link: &str| {
        format!(
            "<v:shape id=\"_x0000_s1030\"><x:ClientData ObjectType=\"Checkbox\"><x:Anchor>1, 0, {top}, 0, 2, 0, {}, 0</x:Anchor>\
             <x:FmlaLink>{link}</x:FmlaLink></x:ClientData></v:shape>",
            top + 1
        )
    };
    let part = |shapes: &str, clusters: &str| {
        format!(
            "<xml><o:shapelayout><o:idmap v:ext=\"edit\" data=\"{clusters}\"/></o:shapelayout>{shapes}</xml>"
        )
    };
    let workbook = workbook("3*3", "");
    let written = |xml: &str| {
        let book = Book::new(&workbook, LIMIT);
        String::from_utf8(vml(xml.as_bytes(), &book, FIRST, &mut Report::default()).unwrap()).unwrap()
    };
    let before = part(&(note(1025, 2, 1) + &button(8, "$B$9")), "1");
    let notes = note(1025, 2, 1) + &note(1031, 3, 2) + &note(1032, 4, 3);
    assert_eq!(written(&before), part(&(notes + &button(10, "$B$11")), "1"));
    let last = part(&note(2047, 2, 1), "1");
    assert_eq!(written(&last), part(&(note(2047, 2, 1) + &note(2048, 3, 2) + &note(2049, 4, 3)), "1,2"));
}
