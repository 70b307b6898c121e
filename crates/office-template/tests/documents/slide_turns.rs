//! What is repeated in a presentation: each turn has numbers, parts and texts of its own, and all faults are told at once.

use office_template::Error;

use crate::slide_parts::{filled, slide};
use crate::slides::{pptx, says, shape, shape_of};
use crate::support::{escape, part, try_fill};

const DATA: &str = r#"{"l":[{"n":"a","k":[1,2]},{"n":"b","k":[3]}],"none":[]}"#;

/// A paragraph: its level, how it is numbered (type and first number), and what it says.
type Paragraph<'a> = (u32, Option<(&'a str, u32)>, &'a str);

/// A text box of such paragraphs.
fn numbered(id: u32, paragraphs: &[Paragraph<'_>]) -> String {
    let whole: String = paragraphs.iter().map(paragraph).collect();
    shape(id, &["x"]).replace("<a:p><a:r><a:rPr b=\"1\"/><a:t>x</a:t></a:r></a:p>", &whole)
}

fn paragraph((level, number, text): &Paragraph<'_>) -> String {
    let bullet = number.map_or_else(
        || "<a:buNone/>".to_owned(),
        |(kind, first)| {
            format!("<a:buFont typeface=\"+mj-lt\"/><a:buAutoNum type=\"{kind}\" startAt=\"{first}\"/>")
        },
    );
    let level = if *level == 0 { String::new() } else { format!(" lvl=\"{level}\"") };
    format!("<a:p><a:pPr marL=\"457200\"{level}>{bullet}</a:pPr><a:r><a:t>{}</a:t></a:r></a:p>", escape(text))
}

/// What PowerPoint shows: each paragraph with its number. A list goes on over paragraphs of its level that are numbered alike, and
/// begins anew behind any other one of its level or of one above.
fn shown(xml: &str) -> Vec<String> {
    let mut all = Vec::new();
    for body in xml.split("txBody>").skip(1).step_by(2) {
        let mut lists: Vec<Option<(String, u32)>> = vec![None; 9];
        for paragraph in body.split("<a:p>").skip(1) {
            let value = |name: &str| {
                let (_, rest) = paragraph.split_once(&format!("{name}=\""))?;
                rest.split_once('"').map(|(value, _)| value.to_owned())
            };
            let text: String = paragraph
                .split("<a:t>")
                .skip(1)
                .filter_map(|run| run.split_once("</a:t>"))
                .map(|(text, _)| text)
                .collect();
            let level = value("lvl").map_or(0, |level| level.parse().expect("a level"));
            lists.truncate(level + 1);
            lists.resize(9, None);
            let list = paragraph.contains("<a:buAutoNum").then(|| {
                let first: u32 = value("startAt").map_or(1, |first| first.parse().expect("a number"));
                (format!("{:?} {first}", value("type")), first)
            });
            lists[level] = match (list, lists[level].take()) {
                (Some((kind, _)), Some((before, number))) if kind == before => Some((before, number + 1)),
                (list, _) => list,
            };
            all.push(
                lists[level].as_ref().map_or_else(|| text.clone(), |(_, number)| format!("{number} {text}")),
            );
        }
    }
    all
}

#[test]
fn numbered_lists_in_a_repeated_place_begin_as_they_should() {
    const ARABIC: Option<(&str, u32)> = Some(("arabicPeriod", 3));
    const LETTERS: Option<(&str, u32)> = Some(("alphaLcParenR", 1));
    const INNER: Option<(&str, u32)> = Some(("romanUcPeriod", 5));
    let of = |paragraphs: &[Paragraph<'_>]| {
        shown(&part(&filled(pptx(&[&numbered(2, paragraphs)], ""), DATA), &slide(1)))
    };
    // One list runs on, also from before the section and behind it.
    assert_eq!(of(&[(0, ARABIC, "{#l}{n}{/l}")]), ["3 a", "4 b"]);
    assert_eq!(
        of(&[(0, ARABIC, "x"), (0, ARABIC, "{#l}{n}{/l}"), (0, ARABIC, "y")]),
        ["3 x", "4 a", "5 b", "6 y"]
    );
    // A list of each turn begins anew behind the turn's heading, whole or on a level of its own.
    let turns = [
        (0, None, "{#l}"),
        (0, None, "{n}"),
        (0, ARABIC, "{#k}{.}{/k}"),
        (0, None, "{/l}"),
        (0, None, "end"),
    ];
    assert_eq!(of(&turns), ["a", "3 1", "4 2", "b", "3 3", "end"]);
    let levels = [(0, None, "{#l}"), (0, LETTERS, "{n}"), (1, INNER, "{#k}{.}{/k}"), (0, None, "{/l}")];
    assert_eq!(of(&levels), ["1 a", "5 1", "6 2", "2 b", "5 3"]);
    // A list without items leaves no number.
    assert_eq!(of(&[(0, ARABIC, "x"), (0, ARABIC, "{#none}{n}{/none}"), (0, ARABIC, "y")]), ["3 x", "4 y"]);
    // Lists of different kinds do not count each other.
    let kinds = [(0, ARABIC, "{#l}{n}{/l}"), (0, LETTERS, "{#l}{n}{/l}")];
    assert_eq!(of(&kinds), ["3 a", "4 b", "1 a", "2 b"]);
}

#[test]
fn numbered_lists_of_repeated_slides_and_rows_are_their_own() {
    let list = [(0, Some(("arabicPeriod", 2)), "{#k}{.}{/k}")];
    let slides = filled(pptx(&[&(shape(2, &["{:slides l}"]) + &numbered(3, &list)), ""], ""), DATA);
    for (number, expected) in [(1, &["2 1", "3 2"][..]), (3, &["2 3"])] {
        assert_eq!(shown(&part(&slides, &slide(number))), expected, "slide {number}");
    }
    let cell = |text: &str| format!("<a:tc><a:txBody><a:bodyPr/>{text}</a:txBody><a:tcPr/></a:tc>");
    let (name, items) =
        (paragraph(&(0, None, "{#l}{n}")), paragraph(&list[0]) + &paragraph(&(0, None, "{/l}")));
    let table = format!(
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"9\" name=\"T\"/></p:nvGraphicFramePr><a:graphic><a:graphicData uri=\"t\">\
         <a:tbl><a:tblPr/><a:tblGrid><a:gridCol w=\"1\"/><a:gridCol w=\"1\"/></a:tblGrid><a:tr h=\"1\">{}{}</a:tr></a:tbl>\
         </a:graphicData></a:graphic></p:graphicFrame>",
        cell(&name),
        cell(&items)
    );
    let shown = shown(&part(&filled(pptx(&[&table], ""), DATA), &slide(1)));
    let shown: Vec<&String> = shown.iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(shown, ["a", "2 1", "3 2", "b", "2 3"]);
}

#[test]
fn names_that_the_data_lack_are_empty_in_slides_and_notes() {
    let shapes = shape(2, &["<{first-name}> <{Middle Name}> <{größe}> <{a.b c}> {n}"]);
    let file = try_fill(pptx(&[&shapes], "{last-name}{n}"), r#"{"n":"x"}"#, "{}").expect("it is filled");
    assert_eq!(says(&file.file, &slide(1)), "&lt;&gt; &lt;&gt; &lt;&gt; &lt;&gt; x");
    assert_eq!(says(&file.file, "ppt/notesSlides/notesSlide1.xml"), "x");
    assert_eq!(file.warnings, Vec::<String>::new());
}

#[test]
fn all_faults_of_a_presentation_are_told_at_once() {
    let cell = crate::slides::table(&[&["a", "{n | shout}"]]);
    let item = shape_of(6, "", "<p:cNvSpPr/><p:nvPr><p:ph idx=\"1\"/></p:nvPr>", &["{a b c}"]);
    let slides = [
        shape(2, &["{#l}", "{n}"]),
        shape(3, &["{~html}"]) + &cell,
        item + &shape(4, &["{:slides l}", "x"]) + &shape(5, &["{1 +}"]),
    ];
    let slides: Vec<&str> = slides.iter().map(String::as_str).collect();
    let error = try_fill(pptx(&slides, "{/open}"), DATA, "{}").expect_err("it is refused");
    let told = error.to_string();
    for expected in
        ["slide 1, paragraph 1, {#l}", "{~html}", "notes of slide 1", "notes of slide 2", "{/open}"]
    {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    // What an engine says of the expressions is added.
    let Error::Tags(faults) = error else { panic!("faults of tags, and not {told}") };
    let steps = faults.expressions().expect("nothing was run");
    assert!(steps.contains("shout") && steps.contains("1 +"), "{steps}");
}
