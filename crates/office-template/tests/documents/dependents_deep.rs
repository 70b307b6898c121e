//! What hangs on a section by more than one step: charts in notes, controls with parts of their own, drawings of `SmartArt`.

use crate::audit::{audit, values};
use crate::dependents::{DATA, FOOTNOTES, filled, noted, section};
use crate::slide_parts::with;
use crate::support::{DOCUMENT, docx_with, entries, p, part, try_fill, zipped};

const CHART: &str = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml";
const EMPTY: &str =
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"></Relationships>";

/// A file with empty lists of relationships of these parts of the folder `word`.
pub fn listed(file: &[u8], names: &[&str]) -> Vec<u8> {
    let mut files = entries(file);
    for name in names {
        let (folder, name) = name.rsplit_once('/').map_or(("", *name), |(folder, name)| (folder, name));
        let slash = if folder.is_empty() { "" } else { "/" };
        files.push((format!("word/{folder}{slash}_rels/{name}.rels"), EMPTY.as_bytes().to_vec()));
    }
    let files: Vec<_> = files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    zipped(&files)
}

/// The parts that the part `word/{name}` refers to by these ids, in their order: their names.
fn targets(file: &[u8], name: &str, ids: &[String]) -> Vec<String> {
    let (folder, own) = name.rsplit_once('/').map_or(("", name), |(folder, name)| (folder, name));
    let slash = if folder.is_empty() { "" } else { "/" };
    let links = part(file, &format!("word/{folder}{slash}_rels/{own}.rels"));
    let of_id = |id: &String| {
        let line = links.split("<Relationship ").find(|line| line.contains(&format!("Id=\"{id}\"")));
        let target = line.and_then(|line| line.split("Target=\"").nth(1)?.split('"').next());
        let target = target.unwrap_or_else(|| panic!("{id} is in {links}"));
        match target.strip_prefix('/') {
            Some(whole) => whole.to_owned(),
            None => format!("word/{folder}{slash}{target}"),
        }
    };
    ids.iter().map(of_id).collect()
}

fn chart(title: &str) -> String {
    format!(
        "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"><c:title><a:p><a:r><a:t>{title}</a:t></a:r></a:p></c:title></c:chartSpace>"
    )
}

fn frame(id: u32, relationship: &str) -> String {
    format!(
        "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"{id}\" name=\"c\"/><c:chart r:id=\"{relationship}\"/></wp:inline></w:drawing></w:r></w:p>"
    )
}

/// A document whose notes of this kind have a chart; the note 1 is the last one.
fn charted(body: &str, kind: &str, before: &str) -> Vec<u8> {
    let notes = format!("{kind}s");
    let text = format!("{before}<w:{kind} w:id=\"1\">{}{}</w:{kind}>", p("{n}"), frame(7, "rId7"));
    let name = format!("{notes}.xml");
    let file = docx_with(body, &[(&name, &notes, &notes, &text)]);
    let links = [(format!("word/{name}"), "rId7", "chart", "charts/chart1.xml")];
    let links: Vec<_> = links.iter().map(|(of, id, kind, to)| (of.as_str(), *id, *kind, *to)).collect();
    with(&listed(&file, &[&name]), &[("word/charts/chart1.xml", CHART, &chart("Of {n}"))], &links)
}

/// The titles of the charts of a part, in the order in which it shows them.
fn titles(file: &[u8], name: &str) -> Vec<String> {
    let ids = values(&part(file, &format!("word/{name}")), "c:chart", "r:id");
    let title = |name: String| {
        let xml = part(file, &name);
        xml.split("<a:t>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or_default().to_owned()
    };
    targets(file, name, &ids).into_iter().map(title).collect()
}

#[test]
fn a_chart_in_a_note_is_each_turns_own() {
    let commented = "<w:p><w:r><w:t>{n}</w:t></w:r><w:r><w:commentReference w:id=\"1\"/></w:r></w:p>";
    for (kind, reference) in [
        ("footnote", noted("{n}", 1)),
        ("endnote", noted("{n}", 1).replace("footnote", "endnote")),
        ("comment", commented.to_owned()),
    ] {
        let body = [p("{#items}"), reference.clone(), p("{/items}")].concat();
        let file = filled(charted(&body, kind, ""));
        assert_eq!(titles(&file, &format!("{kind}s.xml")), ["Of A", "Of B"], "{kind}");
        // Without turns neither is left.
        let none = filled(charted(&body.replace("items", "none"), kind, ""));
        assert!(entries(&none).iter().all(|(name, _)| !name.contains("charts/")), "{kind}");
    }
    // In a row, in sections of sections, and beside a note outside of the section with the same chart.
    let row = |cell: &str| format!("<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc>{cell}</w:tc></w:tr></w:tbl>");
    let row = row(&[noted("{#items}{n}", 1), p("{/items}")].concat()) + &p("");
    assert_eq!(titles(&filled(charted(&row, "footnote", "")), "footnotes.xml"), ["Of A", "Of B"]);
    let nested = [p("{#items}"), p("{#l}"), noted("{n}", 1), p("{/l}"), p("{/items}")].concat();
    assert_eq!(titles(&filled(charted(&nested, "footnote", "")), "footnotes.xml"), ["Of A", "Of A", "Of B"]);
    let both = [noted("{t}", 1), p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    assert_eq!(titles(&filled(charted(&both, "footnote", "")), "footnotes.xml"), ["Of ", "Of A", "Of B"]);
    let other = format!("<w:footnote w:id=\"2\">{}</w:footnote>", frame(8, "rId7"));
    let two = [noted("{t}", 2), p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    let file = filled(charted(&two, "footnote", &other));
    assert_eq!(titles(&file, "footnotes.xml"), ["Of ", "Of A", "Of B"]);
}

#[test]
fn the_data_of_a_chart_in_a_note_are_its_turns() {
    let body = [p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    let inline = "<wp:inline><wp:docPr id=\"7\" name=\"c\" descr=\"{sales}\"/><a:graphic><a:graphicData uri=\"http://schemas.openxmlformats.org/drawingml/2006/chart\"><c:chart r:id=\"rId7\"/></a:graphicData></a:graphic></wp:inline>";
    let text =
        format!("<w:footnote w:id=\"1\"><w:p><w:r><w:drawing>{inline}</w:drawing></w:r></w:p></w:footnote>");
    let file = docx_with(&body, &[("footnotes.xml", "footnotes", "footnotes", &text)]);
    let plot = "<c:chart><c:plotArea><c:barChart><c:ser><c:idx val=\"0\"/><c:order val=\"0\"/><c:cat><c:strRef><c:f>S!$A$2:$A$2</c:f></c:strRef></c:cat><c:val><c:numRef><c:f>S!$B$2:$B$2</c:f></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart>";
    let chart = format!(
        "<c:chartSpace xmlns:c=\"http://schemas.openxmlformats.org/drawingml/2006/chart\">{plot}</c:chartSpace>"
    );
    let file = with(
        &listed(&file, &["footnotes.xml"]),
        &[("word/charts/chart1.xml", CHART, &chart)],
        &[("word/footnotes.xml", "rId7", "chart", "charts/chart1.xml")],
    );
    let sales = |value: u32| {
        format!(
            "{{\"n\":1,\"sales\":{{\"_type\":\"chart\",\"title\":\"T\",\"categories\":{{\"names\":[\"a\"]}},\"series\":[{{\"name\":\"S\",\"values\":[{value}]}}]}}}}"
        )
    };
    let data = format!("{{\"items\":[{},{}]}}", sales(41), sales(42));
    let file = try_fill(file, &data, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    assert_eq!(audit(&file), Vec::<String>::new());
    let ids = values(&part(&file, FOOTNOTES), "c:chart", "r:id");
    let shown: Vec<String> = targets(&file, "footnotes.xml", &ids)
        .iter()
        .map(|name| part(&file, name).split("<c:v>").last().unwrap_or_default()[..2].to_owned())
        .collect();
    assert_eq!(shown, ["41", "42"]);
}

#[test]
fn a_link_of_a_note_leaves_no_address_with_tags() {
    let text = "<w:footnote w:id=\"1\"><w:p><w:hyperlink r:id=\"rId7\"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p></w:footnote>";
    let body = [p("{#items}"), noted("{n}", 1), p("{/items}")].concat();
    let file = docx_with(&body, &[("footnotes.xml", "footnotes", "footnotes", text)]);
    let file = with(
        &listed(&file, &["footnotes.xml"]),
        &[],
        &[("word/footnotes.xml", "rId7", "hyperlink", "https://a.example/{q}")],
    );
    let links = part(&filled(file), "word/_rels/footnotes.xml.rels");
    assert!(links.contains("a.example/qa\"") && links.contains("a.example/qb\""), "{links}");
    assert!(!links.contains("{q}"), "{links}");
}

#[test]
fn comments_that_refer_to_each_other_end() {
    let refers = |id: u32, to: u32| {
        format!(
            "<w:comment w:id=\"{id}\"><w:p><w:r><w:t>{{n}}</w:t></w:r><w:r><w:commentReference w:id=\"{to}\"/></w:r></w:p></w:comment>"
        )
    };
    let comments = refers(1, 2) + &refers(2, 1);
    let reference = "<w:p><w:r><w:commentReference w:id=\"1\"/></w:r></w:p>";
    let body = [p("{#items}"), reference.to_owned(), p("{/items}")].concat();
    let file = docx_with(&body, &[("comments.xml", "comments", "comments", &comments)]);
    let file = try_fill(file, DATA, "{}").unwrap_or_else(|error| panic!("{error}")).file;
    assert_eq!(values(&part(&file, DOCUMENT), "w:commentReference", "w:id").len(), 2);
}

const CONTROL: &str =
    "<v:shape id=\"_x0000_i1025\"/><w:control r:id=\"rId8\" w:name=\"Box\" w:shapeid=\"_x0000_i1025\"/>";

/// A control with its settings, which have a part of their own.
fn controlled(body: &str) -> Vec<u8> {
    let file = listed(&docx_with(body, &[]), &["activeX/activeX1.xml"]);
    let settings = "<ax:ocx xmlns:ax=\"http://schemas.microsoft.com/office/2006/activeX\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" r:id=\"rId1\"/>";
    with(
        &file,
        &[
            ("word/activeX/activeX1.xml", "application/vnd.ms-office.activeX+xml", settings),
            ("word/activeX/activeX1.bin", "application/vnd.ms-office.activeX", "settings"),
        ],
        &[
            (DOCUMENT, "rId8", "control", "activeX/activeX1.xml"),
            (
                "word/activeX/activeX1.xml",
                "rId1",
                "http://schemas.microsoft.com/office/2006/relationships/activeXControlBinary",
                "activeX1.bin",
            ),
        ],
    )
}

#[test]
fn a_control_is_copied_with_the_part_of_its_settings() {
    let control = &format!("<w:p><w:r><w:object>{CONTROL}</w:object></w:r></w:p>");
    let row = format!(
        "<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
        [&p("{#items}"), control, &p("{n}"), &p("{/items}")].map(ToOwned::to_owned).concat()
    ) + &p("");
    let simple = [&p("{#items}"), control, &p("{/items}")].map(ToOwned::to_owned).concat();
    let nested =
        [&p("{#items}"), &p("{#l}"), control, &p("{/l}"), &p("{/items}")].map(ToOwned::to_owned).concat();
    for (body, turns) in [(row, 2), (simple.clone(), 2), (nested, 3), (simple.replace("items", "one"), 1)] {
        let file = filled(controlled(&body));
        let document = part(&file, DOCUMENT);
        let mut ids = values(&document, "w:control", "r:id");
        let settings = targets(&file, "document.xml", &ids);
        ids.dedup();
        assert_eq!((ids.len(), settings.len()), (turns, turns));
        let bins: std::collections::BTreeSet<String> = { settings.iter() }
            .flat_map(|name| targets(&file, name.trim_start_matches("word/"), &["rId1".to_owned()]))
            .collect();
        assert_eq!(bins.len(), turns, "{bins:?}");
        assert!(bins.iter().all(|name| part(&file, name) == "settings"));
        assert_eq!(values(&document, "v:shape", "id"), values(&document, "w:control", "w:shapeid"));
    }
    // Without turns nothing of it is left.
    let none = filled(controlled(&simple.replace("items", "none")));
    assert!(entries(&none).iter().all(|(name, _)| !name.contains("activeX")));
}

#[test]
fn other_prefixes_of_relationships_are_known() {
    let space = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let strict = "http://purl.oclc.org/ooxml/officeDocument/relationships";
    for (prefix, space) in [("rel", space), ("ns3", strict)] {
        let control = format!(
            "<w:p><w:r><w:object xmlns:{prefix} = '{space}'><w:control {prefix}:id=\"rId8\"/></w:object></w:r></w:p>"
        );
        let file = filled(controlled(&[p("{#items}"), control, p("{/items}")].concat()));
        let mut ids = values(&part(&file, DOCUMENT), "w:control", &format!("{prefix}:id"));
        ids.dedup();
        assert_eq!(ids.len(), 2, "{prefix}");
    }
}

/// A header with `SmartArt`, whose drawing is related from the header.
fn smart(header: &str, body: &str) -> Vec<u8> {
    const DIAGRAM: &str = "application/vnd.openxmlformats-officedocument.drawingml";
    const DRAWING: &str = "application/vnd.ms-office.drawingml.diagramDrawing+xml";
    let a = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"";
    let text = |element: &str| format!("<{element}><a:p><a:r><a:t>Of {{n}}</a:t></a:r></a:p></{element}>");
    let data = format!(
        "<dgm:dataModel xmlns:dgm=\"http://schemas.openxmlformats.org/drawingml/2006/diagram\" {a}>{}<dgm:extLst><a:ext uri=\"u\"><dsp:dataModelExt xmlns:dsp=\"http://schemas.microsoft.com/office/drawing/2008/diagram\" relId=\"rId5\" minVer=\"x\"/></a:ext></dgm:extLst></dgm:dataModel>",
        text("dgm:t")
    );
    let drawing = format!(
        "<dsp:drawing xmlns:dsp=\"http://schemas.microsoft.com/office/drawing/2008/diagram\" {a}>{}</dsp:drawing>",
        text("dsp:txBody")
    );
    let file = listed(&docx_with(body, &[("header1.xml", "header", "hdr", header)]), &["header1.xml"]);
    let kinds = [("layout", "diagramLayout"), ("quickStyle", "diagramStyle"), ("colors", "diagramColors")];
    let others: Vec<_> = { kinds.iter() }
        .map(|(name, kind)| (format!("word/diagrams/{name}1.xml"), format!("{DIAGRAM}.{kind}+xml")))
        .collect();
    let mut parts = vec![
        (
            "word/diagrams/data1.xml",
            "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
            data.as_str(),
        ),
        ("word/diagrams/drawing1.xml", DRAWING, drawing.as_str()),
    ];
    parts.extend(others.iter().map(|(name, kind)| (name.as_str(), kind.as_str(), "<x/>")));
    let of = "word/header1.xml";
    with(
        &file,
        &parts,
        &[
            (of, "rId1", "diagramData", "diagrams/data1.xml"),
            (of, "rId2", "diagramLayout", "diagrams/layout1.xml"),
            (of, "rId3", "diagramQuickStyle", "diagrams/quickStyle1.xml"),
            (of, "rId4", "diagramColors", "diagrams/colors1.xml"),
            (
                of,
                "rId5",
                "http://schemas.microsoft.com/office/2007/relationships/diagramDrawing",
                "diagrams/drawing1.xml",
            ),
        ],
    )
}

#[test]
fn smart_art_in_a_header_is_each_turns_own_with_its_drawing() {
    let shown = p("{n}")
        + "<w:p><w:r><w:drawing><wp:inline><wp:docPr id=\"9\" name=\"S\"/><dgm:relIds r:dm=\"rId1\" r:lo=\"rId2\" r:qs=\"rId3\" r:cs=\"rId4\"/></wp:inline></w:drawing></w:r></w:p>";
    let inner = [p("{#l}"), shown.clone(), p("{/l}")].concat();
    let turns = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    for (header, body, own) in [
        (&shown, turns.clone(), vec!["A", "B"]),
        (&inner, turns.clone(), vec!["A", "A", "B"]),
        (&shown, turns.clone() + &section(&[("header", 1)]), vec!["", "A", "B"]),
    ] {
        let file = filled(smart(header, &body));
        let headers = entries(&file).into_iter().filter(|(name, _)| name.starts_with("word/header"));
        let (mut data, mut drawings) = (Vec::new(), Vec::new());
        for (name, xml) in headers {
            let xml = String::from_utf8(xml).expect("UTF-8");
            let name = name.trim_start_matches("word/");
            for of in targets(&file, name, &values(&xml, "dgm:relIds", "r:dm")) {
                let model = part(&file, &of);
                let text = |xml: &str| {
                    xml.split("<a:t>").nth(1).and_then(|rest| rest.split('<').next()).map(str::to_owned)
                };
                let drawing = targets(&file, name, &values(&model, "dsp:dataModelExt", "relId"));
                data.push(text(&model).expect("a text"));
                drawings.push(text(&part(&file, &drawing[0])).expect("a text"));
            }
        }
        assert_eq!(data, drawings);
        data.sort();
        let own: Vec<String> = own.iter().map(|name| format!("Of {name}")).collect();
        assert_eq!(data, own);
        let links = part(&file, "word/_rels/document.xml.rels");
        assert!(!links.contains("diagramDrawing"), "{links}");
        let count =
            entries(&file).iter().filter(|(name, _)| name.starts_with("word/diagrams/drawing")).count();
        assert_eq!(count, own.len());
    }
}

#[test]
fn the_parts_of_turns_are_limited() {
    let body = [p("{#items}"), section(&[("header", 1)]), p("{/items}")].concat();
    let file = docx_with(&body, &[("header1.xml", "header", "hdr", &p("{n}"))]);
    let with_limit = |value: u64| {
        let mut limits = crate::support::limits();
        limits.own_parts.value = value;
        let template = office_template::Template::read(file.clone(), None, &limits).expect("it is read");
        let items: Vec<_> = (0..4).map(|n| format!("{{\"n\":{n}}}")).collect();
        let data = format!("{{\"items\":[{}]}}", items.join(","));
        let answer = crate::support::run(template.program(), &data, "{}");
        template.fill(&answer, &mut office_template::NoFiles).map(|filled| filled.file)
    };
    // The first turn has the template's.
    assert_eq!(audit(&with_limit(3).expect("it is filled")), Vec::<String>::new());
    let message = with_limit(2).expect_err("too many parts").to_string();
    assert!(
        message.contains("headers, charts and embedded files") && message.contains("test.parts = 2"),
        "{message}"
    );
}
