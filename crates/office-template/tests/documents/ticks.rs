//! Tick boxes with tags: content controls and form fields.

use crate::support::{GUID, fault, fill, p, paragraphs};

/// A control that is a tick box, with this title.
fn tick_box(names: &str) -> String {
    format!(
        "<w:p><w:sdt><w:sdtPr>{names}<w:id w:val=\"5\"/><w14:checkbox><w14:checked w14:val=\"0\"/><w14:checkedState w14:val=\"2612\" w14:font=\"MS Gothic\"/>\
         <w14:uncheckedState w14:val=\"2610\" w14:font=\"MS Gothic\"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:rPr><w:rFonts w:hint=\"eastAsia\"/>\
         <w:b/></w:rPr><w:t>☐</w:t></w:r></w:sdtContent></w:sdt></w:p>"
    )
}

#[test]
fn tick_boxes_say_whether_it_is_true() {
    let named = tick_box("<w:alias w:val=\"{paid}\"/>");
    for (value, is_true) in [
        ("true", true),
        ("\"x\"", true),
        ("[1,2]", true),
        ("false", false),
        ("0", false),
        ("[]", false),
        ("null", false),
    ] {
        let filled = fill(&named, &format!("{{\"paid\":{value}}}"));
        let (digit, letter) = if is_true { ("1", "☒") } else { ("0", "☐") };
        assert!(filled.contains(&format!("<w14:checked w14:val=\"{digit}\"/>")), "{value}: {filled}");
        assert!(
            filled.contains(&format!("<w:b/></w:rPr><w:t>{letter}</w:t></w:r></w:sdtContent>")),
            "{value}: {filled}"
        );
        assert!(filled.contains("<w:alias w:val=\"paid\"/>"), "{filled}");
    }
    let tagged =
        fill(&tick_box("<w:alias w:val=\"Is it?\"/><w:tag w:val=\"{total &gt; 5}\"/>"), "{\"total\":7}");
    assert!(tagged.contains("<w:tag w:val=\"total &gt; 5\"/>") && tagged.contains('☒'), "{tagged}");
    let symbols =
        named.replace("w14:val=\"2612\" w14:font=\"MS Gothic\"", "w14:val=\"F0FE\" w14:font=\"Wingdings\"");
    assert!(fill(&symbols, "{\"paid\":1}").contains("<w:sym w:font=\"Wingdings\" w:char=\"F0FE\"/></w:r>"));
}

#[test]
fn a_mark_in_many_runs_becomes_one() {
    let named = tick_box("<w:alias w:val=\"{paid}\"/>");
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    for runs in [
        run("") + &run("☐"),
        run("☐") + "<w:r/><w:proofErr w:type=\"spellEnd\"/>" + &run(""),
        run("☐") + &run("☐"),
    ] {
        let body = named.replace("<w:sdtContent>", &format!("<w:sdtContent>{runs}"));
        assert_eq!(paragraphs(&fill(&body, r#"{"paid":true}"#)), ["☒"], "{runs}");
        assert_eq!(paragraphs(&fill(&body, r#"{"paid":false}"#)), ["☐"], "{runs}");
    }
}

#[test]
fn tick_boxes_of_copies_are_their_own() {
    let body = format!("{}{}{}", p("{#l}"), tick_box("<w:alias w:val=\"{.ok}\"/>"), p("{/l}"));
    let filled = fill(&body, r#"{"l":[{"ok":true},{"ok":false},{"ok":true}]}"#);
    assert_eq!(paragraphs(&filled).concat(), "☒☐☒");
    assert_eq!(filled.matches("<w:id w:val=\"5\"/>").count(), 1);
}

#[test]
fn titles_that_are_no_tags_stay() {
    for title in [GUID, "paid {x}", "{#x}{/x}", "{"] {
        let filled =
            fill(&format!("{}{}", tick_box(&format!("<w:alias w:val=\"{title}\"/>")), p("{x}")), "{\"x\":1}");
        assert!(
            filled.contains(&format!("<w:alias w:val=\"{title}\"/>")) && filled.contains('☐'),
            "{filled}"
        );
    }
    // No tick box.
    let other = "<w:sdt><w:sdtPr><w:alias w:val=\"{x}\"/><w:text/></w:sdtPr><w:sdtContent><w:p/></w:sdtContent></w:sdt>";
    assert!(fill(&format!("{other}{}", p("{x}")), "{\"x\":1}").contains("<w:alias w:val=\"{x}\"/>"));
    let message = fault(&tick_box("<w:alias w:val=\"{a.b.c}\"/>"), "{\"a\":{}}", "{\"strict\":true}");
    assert!(message.starts_with("word/document.xml, paragraph 1, {a.b.c}: "), "{message}");
}

#[test]
fn form_fields_are_ticked() {
    let field = |inside: &str| {
        format!(
            "<w:p><w:r><w:fldChar w:fldCharType=\"begin\"><w:ffData><w:name w:val=\"c\"/><w:enabled/><w:statusText w:type=\"text\" w:val=\"{{paid}}\"/>\
             {inside}</w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"end\"/></w:r></w:p>"
        )
    };
    let say = |inside: &str, value: &str| fill(&field(inside), &format!("{{\"paid\":{value}}}"));
    let box_of = |inside: &str| format!("<w:checkBox>{inside}</w:checkBox>");
    let without = box_of("<w:sizeAuto/><w:default w:val=\"0\"/>");
    assert!(
        say(&without, "true")
            .contains(&box_of("<w:sizeAuto/><w:default w:val=\"0\"/><w:checked w:val=\"1\"/>"))
    );
    assert!(say(&box_of("<w:checked/>"), "false").contains(&box_of("<w:checked w:val=\"0\"/>")));
    assert!(say("<w:checkBox/>", "true").contains(&box_of("<w:checked w:val=\"1\"/>")));
    assert!(say("<w:textInput/>", "true").contains("w:val=\"{paid}\""));
}
