//! Numbered lists in sections: each turn's list begins again, and a list that is longer than the turn runs on.

use std::collections::BTreeMap;

use crate::support::{DOCUMENT, docx_with, p, part, try_fill};

const DATA: &str = r#"{"groups":[{"name":"A","rules":["x","y"]},{"name":"B","rules":["z"]},{"name":"C","rules":[]}],
    "items":[{"name":"a","text":"s"},{"name":"b","text":"t"}],"yes":true,"one":[{"rules":["x"]},{"rules":["y"]}]}"#;

/// An item of a list at a level.
fn at(level: u8, list: u32, text: &str) -> String {
    format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
    )
}

fn item(text: &str) -> String {
    at(0, 1, text)
}

fn styled(style: &str, text: &str) -> String {
    p(text)
        .replace("<w:p>", &format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/><w:jc w:val=\"left\"/></w:pPr>"))
}

fn row(cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("<w:tc><w:tcPr/>{cell}</w:tc>")).collect();
    format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr>{cells}</w:tr></w:tbl>")
}

/// A numbering part with a list of numbers (1), one of bullets (2), one that begins at 5 by its own override (3), and one of a style (4).
fn numbering() -> String {
    let levels = |format: &str| {
        (0..3)
            .map(|level| {
                format!(
                    "<w:lvl w:ilvl=\"{level}\"><w:start w:val=\"1\"/><w:numFmt w:val=\"{format}\"/><w:lvlText w:val=\"%{}.\"/></w:lvl>",
                    level + 1
                )
            })
            .collect::<String>()
    };
    let looks = [(0, "decimal"), (1, "bullet"), (2, "lowerLetter"), (3, "decimal")];
    let looks: String = looks
        .iter()
        .map(|(id, format)| {
            format!("<w:abstractNum w:abstractNumId=\"{id}\"><w:multiLevelType w:val=\"multilevel\"/>{}</w:abstractNum>", levels(format))
        })
        .collect();
    let own = "<w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"5\"/></w:lvlOverride>";
    let lists: String = [(1, 0, ""), (2, 1, ""), (3, 2, own), (4, 3, "")]
        .iter()
        .map(|(id, look, own)| {
            format!("<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"{look}\"/>{own}</w:num>")
        })
        .collect();
    looks + &lists
}

const STYLES: &str = "<w:style w:type=\"paragraph\" w:styleId=\"ListNumber\"><w:name w:val=\"List Number\"/><w:pPr><w:numPr><w:numId w:val=\"4\"/></w:numPr></w:pPr></w:style>\
     <w:style w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/><w:pPr><w:numPr><w:numId w:val=\"4\"/></w:numPr></w:pPr></w:style>";

fn file(body: &str, others: &[(&str, &str, &str, &str)]) -> Vec<u8> {
    let numbering = numbering();
    let own = [
        ("numbering.xml", "numbering", "numbering", numbering.as_str()),
        ("styles.xml", "styles", "styles", STYLES),
    ];
    docx_with(body, &[&own, others].concat())
}

/// Each list as Word counts it: lists of one look count on, unless one says where it begins.
fn counted(file: &[u8], name: &str) -> Vec<String> {
    let between = |text: &str, before: &str| {
        text.split_once(before).and_then(|(_, rest)| Some(rest.split_once('"')?.0.to_owned()))
    };
    let numbering = part(file, "word/numbering.xml");
    let lists: BTreeMap<String, (String, BTreeMap<String, u32>)> = { numbering.split("<w:num ").skip(1) }
        .map(|list| {
            let starts = list.split("<w:lvlOverride ").skip(1).filter_map(|level| {
                let start = between(level, "<w:startOverride w:val=\"")?.parse().expect("a number");
                Some((between(level, "w:ilvl=\"")?, start))
            });
            let look = between(list, "<w:abstractNumId w:val=\"").expect("a look");
            (between(list, "w:numId=\"").expect("an id"), (look, starts.collect()))
        })
        .collect();
    let (mut counts, mut begun) =
        (BTreeMap::<(String, String), u32>::new(), std::collections::BTreeSet::new());
    let document = part(file, name);
    let mut said = Vec::new();
    for paragraph in document.split("<w:p>").skip(1) {
        let text: String = paragraph
            .split("</w:p>")
            .next()
            .unwrap_or_default()
            .split("<w:t")
            .skip(1)
            .filter_map(|text| Some(text.split_once('>')?.1.split('<').next()?.to_owned()))
            .collect();
        let style = between(paragraph, "<w:pStyle w:val=\"");
        let list = between(paragraph, "<w:numId w:val=\"").or_else(|| style.map(|_| "4".to_owned()));
        let Some(list) = list else {
            said.push(text);
            continue;
        };
        let level = between(paragraph, "<w:ilvl w:val=\"").unwrap_or_else(|| "0".to_owned());
        let (look, starts) = &lists[&list];
        let count = counts.entry((look.clone(), level.clone())).or_default();
        *count += 1;
        if let Some(&start) = starts.get(&level).filter(|_| begun.insert((list, level.clone()))) {
            *count = start;
        }
        let shown = if look == "1" { "•".to_owned() } else { count.to_string() };
        said.push(format!("{shown} {text}"));
        // A deeper level begins again behind each item of this one.
        counts.retain(|(of, deeper), _| of != look || *deeper <= level);
    }
    said
}

fn said(body: &[String]) -> String {
    let filled = try_fill(file(&body.concat(), &[]), DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    counted(&filled.file, DOCUMENT).join("¶")
}

#[test]
fn each_turns_list_begins_again() {
    let groups = [p("{#groups}"), p("Team {name}"), item("First"), item("Second"), p("{/groups}")];
    assert_eq!(said(&groups), "Team A¶1 First¶2 Second¶Team B¶1 First¶2 Second¶Team C¶1 First¶2 Second");
    let lists = [p("{#groups}"), p("Team {name}"), item("{#rules}{.}{/rules}"), p("{/groups}")];
    assert_eq!(said(&lists), "Team A¶1 x¶2 y¶Team B¶1 z¶Team C");
    // The tags of the inner section in paragraphs of their own, and no introduction.
    let bare = [p("{#groups}"), p("{#rules}"), item("{.}"), p("{/rules}"), p("{/groups}")];
    assert_eq!(said(&bare), "1 x¶2 y¶1 z");
    // Two sections with a list each, one of them with an own beginning.
    let two = [groups.concat(), p("{#items}"), at(0, 3, "{name}"), at(0, 3, "{text}"), p("{/items}")];
    assert!(said(&two).ends_with("¶5 a¶6 s¶5 b¶6 t"), "{}", said(&two));
    assert!(said(&two).starts_with("Team A¶1 First¶2 Second¶Team B¶1 First"));
}

#[test]
fn a_list_in_a_cell_a_header_and_a_text_begins_again() {
    let cell = row(&[p("{#groups}{name}"), [item("one"), item("two")].concat() + &p("{/groups}")]);
    assert_eq!(said(&[cell]), "A¶1 one¶2 two¶¶B¶1 one¶2 two¶¶C¶1 one¶2 two¶");
    let content = [p("{#groups}"), p("{name}"), item("one"), item("two"), p("{/groups}")].concat();
    let filled =
        try_fill(file(&p("x"), &[("header1.xml", "header", "hdr", &content)]), DATA, "{}").expect("filled");
    assert_eq!(
        counted(&filled.file, "word/header1.xml").join("¶"),
        "A¶1 one¶2 two¶B¶1 one¶2 two¶C¶1 one¶2 two"
    );
    // Between the tags amid of texts.
    let torn = [p("all {#groups}of"), item("one"), item("two"), p("end{/groups}")];
    assert_eq!(said(&torn), "all of¶1 one¶2 two¶endof¶1 one¶2 two¶endof¶1 one¶2 two¶end");
}

#[test]
fn levels_and_styles_begin_again_too() {
    let levels = [
        p("{#groups}"),
        p("{name}"),
        item("one"),
        at(1, 1, "{#rules}{.}{/rules}"),
        item("two"),
        p("{/groups}"),
    ];
    assert_eq!(said(&levels), "A¶1 one¶1 x¶2 y¶2 two¶B¶1 one¶1 z¶2 two¶C¶1 one¶2 two");
    let of_style = [
        p("{#groups}"),
        p("{name}"),
        styled("ListNumber", "one"),
        styled("ListNumber", "two"),
        p("{/groups}"),
    ];
    assert_eq!(said(&of_style), "A¶1 one¶2 two¶B¶1 one¶2 two¶C¶1 one¶2 two");
    let filled = try_fill(file(&of_style.concat(), &[]), DATA, "{}").expect("filled");
    let order =
        "<w:pStyle w:val=\"ListNumber\"/><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"5\"/></w:numPr><w:jc";
    assert!(part(&filled.file, DOCUMENT).contains(order));
}

#[test]
fn a_list_that_is_longer_than_the_turn_runs_on() {
    let whole = |body: &[String]| said(body);
    assert_eq!(whole(&[p("{#items}"), item("{name}"), p("{/items}")]), "1 a¶2 b", "an item a turn");
    assert_eq!(whole(&[p("{#items}"), item("{name}"), p("{text}"), p("{/items}")]), "1 a¶s¶2 b¶t");
    assert_eq!(
        whole(&[p("{#items}"), item("{name}"), at(1, 1, "{text}"), p("{/items}")]),
        "1 a¶1 s¶2 b¶1 t",
        "its second level is that of the item"
    );
    assert_eq!(whole(&[item("{#items}{name}{/items}")]), "1 a¶2 b");
    assert_eq!(
        whole(&[item("{#items}{name}"), item("{text}{/items}")]),
        "1 a¶2 s¶3 b¶4 t",
        "tags in its items"
    );
    assert_eq!(
        whole(&[item("zero"), p("{#items}"), p("{name}"), item("one"), item("two"), p("{/items}")]),
        "1 zero¶a¶2 one¶3 two¶b¶4 one¶5 two",
        "it began before"
    );
    assert_eq!(
        whole(&[p("{#items}"), p("{name}"), item("one"), item("two"), p("{/items}"), item("end")]),
        "a¶1 one¶2 two¶b¶3 one¶4 two¶5 end",
        "it goes on behind"
    );
    let numbered = row(&[p("{#items}{name}"), item("{text}"), p("{/items}")]);
    assert_eq!(whole(&[numbered]), "a¶1 s¶¶b¶2 t¶", "rows with a number");
    assert_eq!(
        whole(&[
            p("{#items}"),
            p("{name}"),
            styled("Heading1", "one"),
            styled("Heading1", "two"),
            p("{/items}")
        ]),
        "a¶1 one¶2 two¶b¶3 one¶4 two",
        "headings"
    );
    assert_eq!(
        whole(&[p("{#items}"), p("{#yes}"), item("{name}"), p("{/yes}"), p("{/items}")]),
        "1 a¶2 b",
        "a condition makes no list of one item"
    );
    assert_eq!(whole(&[p("{#one}"), p("{#rules}"), item("{.}"), p("{/rules}"), p("{/one}")]), "1 x¶2 y");
}

#[test]
fn only_what_stands_in_each_turn_introduces_a_list() {
    let turns = |before: &str| said(&[p("{#items}"), before.to_owned(), item("{name}"), p("{/items}")]);
    for before in [
        p("{#no}Note: {no}{/no}"),
        p("{#yes}Title{/yes}"),
        p("{^no}Title{/no}") + &p("{#yes}More{/yes}"),
        p("{#yes}") + &p("Title") + &p("{/yes}"),
        p(" {#yes}Title{/yes} {#no}Other{/no}"),
        "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>".to_owned(),
        "<w:p><w:r><w:drawing/></w:r></w:p>".to_owned(),
        row(&[p("{#yes}x"), p("{/yes}")]),
    ] {
        let said = turns(&before);
        assert!(said.contains("1 a") && said.contains("2 b"), "{before}: {said}");
    }
    for before in [
        p("Title"),
        p("{text}"),
        p("{#no}Note{/no}: {text}"),
        p("{#yes}Title{/yes}") + &p("Text"),
        row(&[p("Cell")]),
        p("{#yes}Title{/yes} and more"),
    ] {
        let said = turns(&before);
        assert!(said.contains("1 a") && said.contains("1 b"), "{before}: {said}");
    }
}

#[test]
fn bullets_need_no_list_of_their_own() {
    let bullets = [p("{#groups}"), p("{name}"), at(0, 2, "one"), at(0, 2, "two"), p("{/groups}")].concat();
    let filled = try_fill(file(&bullets, &[]), DATA, "{}").expect("filled");
    assert_eq!(part(&filled.file, "word/numbering.xml").matches("<w:num ").count(), 4);
    let twice = [p("{#groups}"), p("{name}"), item("one"), item("two"), p("{/groups}")].concat();
    let filled = try_fill(file(&twice, &[]), DATA, "{}").expect("filled");
    assert_eq!(
        part(&filled.file, "word/numbering.xml").matches("<w:num ").count(),
        6,
        "two more for three turns"
    );
    // A list that the document does not define stays as it is.
    let unknown = [p("{#groups}"), p("{name}"), at(0, 9, "one"), at(0, 9, "two"), p("{/groups}")].concat();
    let filled = try_fill(file(&unknown, &[]), DATA, "{}").expect("filled");
    assert_eq!(part(&filled.file, DOCUMENT).matches("<w:numId w:val=\"9\"/>").count(), 6);
}

#[test]
fn lists_of_notes_begin_again_with_each_note() {
    let note = format!("<w:footnote w:id=\"1\">{}{}</w:footnote>", item("one"), item("two"));
    let reference = "<w:p><w:r><w:footnoteReference w:id=\"1\"/></w:r></w:p>".to_owned();
    let body = [p("{#items}"), reference, p("{/items}")].concat();
    let notes = [("footnotes.xml", "footnotes", "footnotes", note.as_str())];
    let filled = try_fill(file(&body, &notes), DATA, "{}").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(counted(&filled.file, "word/footnotes.xml").join("¶"), "1 one¶2 two¶1 one¶2 two");
}
