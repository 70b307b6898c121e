//! What each thing of HTML becomes.

use word_writer::model::{Marker, Role};
use word_writer::{Base, Content};

use super::support::{Docx, written, written_at, xml};

/// The texts of the runs, one after the other.
fn texts(xml: &str) -> String {
    let pieces = xml.split("<w:t xml:space=\"preserve\">").skip(1);
    pieces.map(|piece| piece.split("</w:t>").next().unwrap()).collect()
}

/// How many paragraphs there are, and their texts.
fn paragraphs(text: &str) -> Vec<String> {
    xml(text).split("</w:p>").filter(|piece| piece.contains("<w:p>")).map(texts).collect()
}

fn package(text: &str) -> Docx {
    written(text).1
}

#[test]
fn text_without_blocks_is_inline() {
    let (written, _) = written("a <b>b</b><br>c");
    let Content::Inline(xml) = written.content else { panic!("blocks") };
    assert!(xml.contains("<w:rPr><w:b/><w:bCs/></w:rPr><w:t xml:space=\"preserve\">b</w:t>"), "{xml}");
    assert!(xml.contains("<w:br/>") && !xml.contains("<w:p>"), "{xml}");
    assert!(matches!(super::support::written("<p>a</p>").0.content, Content::Blocks { .. }));
    assert!(matches!(super::support::written("").0.content, Content::Inline(xml) if xml.is_empty()));
}

#[test]
fn blanks_collapse_across_elements_as_in_a_browser() {
    assert_eq!(paragraphs("<p>  a <b> b </b> c\n\n d </p>  <p>e</p>"), ["a b c d", "e"]);
    assert_eq!(paragraphs("<div>a<p> b</p> c</div>"), ["a", "b", "c"]);
    assert_eq!(paragraphs("<p>a&nbsp; b</p>"), ["a\u{a0} b"]);
    assert_eq!(paragraphs("<p>x <a href='https://a'>y</a> z</p>"), ["x y z"]);
    let link = xml("<p>x <a href='https://a'>y</a></p>");
    assert!(link.contains(">x </w:t>"), "the blank stands before the link: {link}");
}

#[test]
fn preformatted_text_keeps_blanks_tabs_and_lines() {
    let xml = xml("<pre>a  b\n\tc\n</pre>");
    assert!(xml.contains(">a  b<") && xml.contains("<w:tab/>"), "{xml}");
    assert_eq!(xml.matches("<w:br/>").count(), 1);
    assert!(xml.contains("<w:pStyle w:val=\"HTMLPreformatted\"/>"));
}

#[test]
fn empty_lines_of_editors_are_kept_and_line_breaks_at_ends_are_not() {
    assert_eq!(paragraphs("<p>a</p><p><br></p><p></p><p>b<br></p>"), ["a", "", "", "b"]);
    assert_eq!(xml("<p>b<br></p>").matches("<w:br/>").count(), 0);
    assert_eq!(paragraphs("<p>a</div></p>b"), ["a", "b"]);
}

#[test]
fn characters_look_as_elements_and_styles_say() {
    for (html, expected) in [
        ("<i>x</i>", "<w:i/><w:iCs/>"),
        ("<u>x</u>", "<w:u w:val=\"single\"/>"),
        ("<s>x</s>", "<w:strike/>"),
        ("<sub>x</sub>", "<w:vertAlign w:val=\"subscript\"/>"),
        ("<code>x</code>", "<w:rStyle w:val=\"HTMLCode\"/>"),
        ("<span style='color:#f00'>x</span>", "<w:color w:val=\"FF0000\"/>"),
        ("<span style='background-color:yellow'>x</span>", "w:fill=\"FFFF00\""),
        ("<span style='font-size:16px'>x</span>", "<w:sz w:val=\"24\"/><w:szCs w:val=\"24\"/>"),
        ("<span style='font-size:150%'>x</span>", "<w:sz w:val=\"33\"/>"),
        ("<span style='font-family:\"My Font\",serif'>x</span>", "w:ascii=\"My Font\""),
        ("<span style='letter-spacing:1pt'>x</span>", "<w:spacing w:val=\"20\"/>"),
        ("<span style='text-transform:uppercase'>x</span>", "<w:caps/>"),
        ("<span style='text-decoration:line-through underline'>x</span>", "<w:u w:val=\"single\"/>"),
        ("<b><span style='font-weight:400'>x</span></b>", "<w:b w:val=\"0\"/><w:bCs w:val=\"0\"/>"),
        ("<font color=00ff00 size=7>x</font>", "<w:color w:val=\"00FF00\"/><w:sz w:val=\"72\"/>"),
        ("<span lang=fr>x</span>", "<w:lang w:val=\"fr\"/>"),
        ("a&shy;b", "<w:softHyphen/>"),
    ] {
        let xml = xml(html);
        assert!(xml.contains(expected), "{html}: {xml}");
    }
}

#[test]
fn paragraphs_stand_as_elements_and_styles_say() {
    for (html, expected) in [
        ("<h3>x</h3>", "<w:pStyle w:val=\"heading3\"/>"),
        ("<p align=right>x", "<w:jc w:val=\"right\"/>"),
        ("<p style='text-align:justify'>x", "<w:jc w:val=\"both\"/>"),
        ("<p class=ql-align-center>x", "<w:jc w:val=\"center\"/>"),
        ("<center>x</center>", "<w:jc w:val=\"center\"/>"),
        ("<p style='margin-left:36pt'>x", "w:left=\"720\""),
        ("<p style='text-indent:-1em'>x", "w:hanging=\"220\""),
        ("<p style='line-height:150%'>x", "w:line=\"360\" w:lineRule=\"auto\""),
        (
            "<p style='margin-top:6pt;margin-bottom:12pt'>x",
            "w:before=\"120\" w:afterAutospacing=\"0\" w:after=\"240\"",
        ),
        (
            "<p>x</p><p style='page-break-before:always'>y",
            "<w:pageBreakBefore/></w:pPr><w:r><w:t xml:space=\"preserve\">y",
        ),
        ("<div style='page-break-after:always'></div>y", "<w:pageBreakBefore/>"),
        ("<p style='background:#eee'>x", "w:fill=\"EEEEEE\""),
        ("<hr>", "<w:pBdr><w:bottom"),
        ("<blockquote>x</blockquote>", "<w:pStyle w:val=\"Quote\"/>"),
    ] {
        let xml = xml(html);
        assert!(xml.contains(expected), "{html}: {xml}");
    }
}

#[test]
fn what_runs_from_right_to_left_says_so() {
    let paragraph = xml("<p dir=rtl style='text-align:left'><b>שלום</b> Word</p>");
    assert!(paragraph.contains("<w:bidi/><w:jc w:val=\"right\"/>"), "{paragraph}");
    assert!(paragraph.contains("<w:b/><w:bCs/><w:rtl/>"), "{paragraph}");
    assert!(paragraph.contains("<w:r><w:t xml:space=\"preserve\">Word"), "{paragraph}");
    assert!(xml("<table dir=rtl><td>x</table>").contains("<w:bidiVisual/>"));
}

#[test]
fn lists_count_as_their_elements_say() {
    let docx = package("<ol start=3 type=a><li>x<ol><li>y</li></ol></li></ol>");
    let levels: Vec<(Marker, u32)> = docx.lists[0].iter().map(|level| (level.marker, level.start)).collect();
    assert_eq!(levels[..2], [(Marker::LowerLetter, 3), (Marker::Decimal, 1)]);
    assert_eq!(docx.lists.len(), 1);
    assert_eq!(package("<ol><li>a</ol><ol><li>b</ol>").lists.len(), 2, "each counts by itself");
    assert_eq!(package("<ul><li>a</ul><ul><li>b</ul>").lists.len(), 1, "bullets count nothing");
    let starts = package("<ol><li>a<li value=7>b<li>c</ol>").lists;
    assert_eq!(starts.iter().map(|levels| levels[0].start).collect::<Vec<_>>(), [1, 7]);
    let two = package("<ol><li>a<ol><li>b</ol><p>c</p><ol><li>d</ol></ol>").lists;
    assert_eq!(two.len(), 2, "a second list in an item begins anew");
}

#[test]
fn an_item_has_one_marker_and_its_other_paragraphs_its_indent() {
    let xml = xml("<ul><li><p>a</p><p>b</p></li><li></li></ul>");
    assert_eq!(xml.matches("<w:numPr>").count(), 2);
    assert!(xml.contains("<w:ind w:left=\"720\""), "{xml}");
}

#[test]
fn lists_of_editors_are_understood() {
    let first = |html: &str| package(html).lists[0].iter().map(|level| level.marker).collect::<Vec<_>>();
    assert_eq!(first("<ol><li data-list=bullet class=ql-indent-1>x</ol>")[1], Marker::Circle);
    assert_eq!(package("<ol><li data-list=checked>x</ol>").lists[0][0].marker, Marker::Checked);
    assert_eq!(
        package("<ul><li><label><input type=checkbox><span>x</ul>").lists[0][0].marker,
        Marker::Unchecked
    );
    let word = "<p style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>1.</span>x</p>";
    assert_eq!(first(word)[0], Marker::Decimal);
    assert_eq!(paragraphs(word), ["x"]);
}

#[test]
fn tables_have_a_grid_that_their_rows_fill() {
    let xml =
        xml("<table><thead><tr><th>a<th>b<th>c<tbody><tr><td rowspan=2>d<td colspan=2>e<tr><td>f</table>");
    assert_eq!(xml.matches("<w:gridCol ").count(), 3);
    assert_eq!(xml.matches("<w:tblHeader/>").count(), 1);
    assert_eq!(xml.matches("<w:vMerge w:val=\"restart\"/>").count(), 1);
    assert_eq!(xml.matches("<w:vMerge w:val=\"continue\"/>").count(), 1);
    assert!(xml.contains("<w:gridSpan w:val=\"2\"/>"));
}

#[test]
fn tables_are_as_wide_as_they_say() {
    let percent = xml("<table width='50%'><col width='25%'><col><td>a<td>b</table>");
    assert!(percent.contains("<w:tblW w:w=\"2500\" w:type=\"pct\"/>"), "{percent}");
    assert!(percent.contains("<w:gridCol w:w=\"1128\"/><w:gridCol w:w=\"3385\"/>"), "{percent}");
    assert!(xml("<table><td width=100>a</table>").contains("<w:tblW w:w=\"1500\" w:type=\"dxa\"/>"));
    assert!(xml("<table><td>a</table>").contains("<w:tblW w:w=\"0\" w:type=\"auto\"/>"));
}

#[test]
fn tables_have_the_lines_they_ask_for() {
    assert!(xml("<table><td>a</table>").contains("<w:tblStyle w:val=\"TableGrid\"/>"));
    assert!(xml("<table border=0><td>a</table>").contains("<w:insideV w:val=\"nil\"/>"));
    assert!(xml("<table border=1><td>a</table>").contains("<w:insideV w:val=\"single\""));
    assert!(
        xml("<table><td style='border:1px dotted red'>a</table>")
            .contains("<w:tcBorders><w:top w:val=\"dotted\"")
    );
    let row = xml("<table><tr bgcolor=#00ff00><td valign=middle>a</table>");
    assert!(row.contains("w:fill=\"00FF00\"/><w:vAlign w:val=\"center\"/>"), "{row}");
}

#[test]
fn tables_never_touch_and_what_ends_with_one_says_so() {
    let (written, _) = written("<table><td>a</table><table><td>b</table>");
    let Content::Blocks { xml, starts_with_table, ends_with_table } = written.content else { panic!() };
    super::support::check(&xml);
    assert!(xml.contains("</w:tbl><w:p></w:p><w:tbl>") && starts_with_table && ends_with_table, "{xml}");
}

#[test]
fn links_lead_only_where_nobody_is_harmed() {
    let (written, docx) = written(
        "<a href='https://a/?b&amp;c' title='T'>x</a><a href='#top'>y</a><a href='javascript:alert(1)'>z</a>",
    );
    assert_eq!(docx.links, ["https://a/?b&c"]);
    let Content::Inline(xml) = written.content else { panic!() };
    assert!(xml.contains("<w:hyperlink r:id=\"rLink1\" w:tooltip=\"T\" w:history=\"1\">"), "{xml}");
    assert!(xml.contains("<w:hyperlink w:anchor=\"top\""));
    assert_eq!(xml.matches("<w:hyperlink ").count(), 2);
    assert!(written.warnings[0].contains("javascript:alert(1)"), "{:?}", written.warnings);
}

#[test]
fn a_picture_that_is_not_there_becomes_its_words() {
    let (written, _) = written("<p><img src=x.png alt='A cat'></p>");
    assert!(written.warnings[0].contains("x.png") && written.warnings[0].ends_with("no picture is there"));
    assert_eq!(paragraphs("<p><img src=x.png alt='A cat'></p>"), ["A cat"]);
    assert!(xml("<img src='data:image/png;base64,x'>").contains("<w:drawing>"));
}

#[test]
fn what_is_not_shown_is_not_written() {
    let hidden = "<script>a</script><style>b</style><p hidden>c</p><p style='display:none'>d</p><template>e</template>\
                  <!-- f --><title>g</title><p>shown</p>";
    assert_eq!(paragraphs(hidden), ["shown"]);
}

#[test]
fn the_text_begins_with_the_properties_of_its_place() {
    let base = Base {
        run: Some("<w:b/><w:color w:val=\"112233\"/><w:sz w:val=\"40\"/>"),
        paragraph: Some(
            "<w:pStyle w:val=\"Body\"/><w:numPr><w:ilvl w:val=\"0\"/></w:numPr><w:spacing w:after=\"7\"/><w:sectPr/>",
        ),
        ..Base::default()
    };
    let (written, _) =
        written_at("<p style='color:red;line-height:2'>a <small>b</small></p><p>c</p><h1>d</h1>", &base);
    let Content::Blocks { xml, .. } = written.content else { panic!() };
    assert!(xml.contains("<w:b/><w:color w:val=\"FF0000\"/><w:sz w:val=\"40\"/>"), "{xml}");
    assert!(xml.contains("<w:sz w:val=\"33\"/>"), "{xml}");
    assert!(xml.contains("<w:spacing w:after=\"7\" w:line=\"480\" w:lineRule=\"auto\"/>"), "{xml}");
    assert_eq!(xml.matches("<w:numPr>").count(), 1, "the place's number stands once");
    assert!(!xml.contains("sectPr"));
    let heading = xml.rsplit("<w:p>").next().unwrap();
    assert!(!heading.contains("w:sz") && !heading.contains("Body"), "{heading}");
}

#[test]
fn another_prefix_is_written_throughout() {
    for prefix in ["x", ""] {
        let (written, _) = written_at(super::ALL, &Base { prefix, ..Base::default() });
        let Content::Blocks { xml, .. } = written.content else { panic!() };
        let own = xml.replace("<w:drawing>", "").replace("</w:drawing>", "");
        assert!(!own.contains("<w:") && !own.contains(" w:"), "{prefix}");
    }
}

#[test]
fn each_role_asks_for_its_style_once_and_only_if_used() {
    let docx = package("<h1>a</h1><h1>b</h1><p>c</p>");
    assert_eq!(docx.styles.keys().copied().collect::<Vec<_>>(), [Role::Heading(1)]);
}
