//! Templates with macros, signatures and templates of their own: what is filled is a plain document, and nothing in it refers
//! to what is gone.

use office_template::Filled;

use crate::support::{document, entries, p, paragraphs, part, try_fill, zipped};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MICROSOFT: &str = "http://schemas.microsoft.com/office/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const PLAIN: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml";

/// What a template is made of: parts by name, with their content types; empty: the default of their extension.
struct Parts(Vec<(&'static str, &'static str, String)>);

impl Parts {
    fn zipped(&self) -> Vec<u8> {
        let types: String = self
            .0
            .iter()
            .filter(|(_, kind, _)| !kind.is_empty())
            .map(|(name, kind, _)| format!("<Override PartName=\"/{name}\" ContentType=\"{kind}\"/>"))
            .collect::<Vec<_>>()
            .concat();
        let list = format!(
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
             <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
             <Default Extension=\"xml\" ContentType=\"application/xml\"/>\
             <Default Extension=\"bin\" ContentType=\"application/vnd.ms-office.vbaProject\"/>\
             <Default Extension=\"png\" ContentType=\"image/png\"/>{types}</Types>"
        );
        let mut all = vec![("[Content_Types].xml", list.as_bytes())];
        all.extend(self.0.iter().map(|(name, _, content)| (*name, content.as_bytes())));
        zipped(&all)
    }
}

fn relations(lines: &[(&str, &str, &str)]) -> String {
    let line = |(at, (kind, target, mode)): (usize, &(&str, &str, &str))| {
        format!("<Relationship Id=\"rId{}\" Type=\"{kind}\" Target=\"{target}\"{mode}/>", at + 1)
    };
    let lines: String = lines.iter().enumerate().map(line).collect();
    format!("<Relationships xmlns=\"{PACKAGE}\">{lines}</Relationships>")
}

/// A template with all that a plain document has not, and a linked picture, which it may have.
fn with_everything(body: &str) -> Parts {
    let external = " TargetMode=\"External\"";
    let root = relations(&[
        (&format!("{OFFICE}/officeDocument"), "word/document.xml", ""),
        (
            "http://schemas.microsoft.com/office/2007/relationships/ui/extensibility",
            "customUI/customUI14.xml",
            "",
        ),
        (&format!("{PACKAGE}/digital-signature/origin"), "_xmlsignatures/origin.sigs", ""),
    ]);
    let main = relations(&[
        // As a stranger may write it.
        (&format!("{MICROSOFT}/vbaProjec&#116;"), "vbaProject.bin", ""),
        (&format!("{OFFICE}/settings"), "settings.xml", ""),
        (&format!("{OFFICE}/image"), "https://a.example/x.png", external),
        (&format!("{MICROSOFT}/keyMapCustomizations"), "customizations.xml", ""),
        (&format!("{OFFICE}/image"), "media/logo.png", ""),
    ]);
    let attached = [("ATTACHED", "file:///C:\\Letter.dotm", external)];
    let attached = relations(&attached).replace("ATTACHED", &format!("{OFFICE}/attachedTemplate"));
    let interface = [
        (&*format!("{OFFICE}/image"), "images/one.png", ""),
        (&*format!("{OFFICE}/image"), "../word/media/logo.png", ""),
    ];
    let settings = "<w:settings xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><w:zoom w:percent=\"100\"/>\
         <w:attachedTemplate r:id=\"rId1\"/><w:defaultTabStop w:val=\"708\"/></w:settings>";
    let signature = "application/vnd.openxmlformats-package.digital-signature-xmlsignature+xml";
    Parts(vec![
        ("_rels/.rels", "", root),
        ("word/document.xml", "application/vnd.ms-word.document.macroEnabled.main+xml", document(body)),
        ("word/_rels/document.xml.rels", "", main),
        ("word/vbaProject.bin", "", "binary".to_owned()),
        (
            "word/_rels/vbaProject.bin.rels",
            "",
            relations(&[(&format!("{MICROSOFT}/wordVbaData"), "vbaData.xml", "")]),
        ),
        (
            "word/vbaData.xml",
            "application/vnd.ms-word.vbaData+xml",
            "<wne:vbaSuppData xmlns:wne=\"x\"/>".to_owned(),
        ),
        ("word/customizations.xml", "application/vnd.ms-word.keyMapCustomizations+xml", "<x/>".to_owned()),
        (
            "word/settings.xml",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml",
            settings.to_owned(),
        ),
        ("word/_rels/settings.xml.rels", "", attached),
        ("word/media/logo.png", "", "picture".to_owned()),
        ("customUI/customUI14.xml", "", "<customUI/>".to_owned()),
        ("customUI/_rels/customUI14.xml.rels", "", relations(&interface)),
        ("customUI/images/one.png", "", "picture".to_owned()),
        (
            "_xmlsignatures/origin.sigs",
            "application/vnd.openxmlformats-package.digital-signature-origin",
            String::new(),
        ),
        (
            "_xmlsignatures/_rels/origin.sigs.rels",
            "",
            relations(&[(&format!("{PACKAGE}/digital-signature/signature"), "sig1.xml", "")]),
        ),
        ("_xmlsignatures/sig1.xml", signature, "<Signature/>".to_owned()),
    ])
}

fn filled(file: Vec<u8>) -> Filled {
    try_fill(file, r#"{"name":"Ann"}"#, "{}").unwrap_or_else(|error| panic!("{error}"))
}

fn names(file: &[u8]) -> Vec<String> {
    entries(file).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn what_a_plain_document_has_not_is_left_out_with_all_that_belongs_to_it() {
    for body in [p("{name}"), p("no tag")] {
        let Filled { file, warnings } = filled(with_everything(&body).zipped());
        let mut left = names(&file);
        left.sort();
        assert_eq!(
            left,
            [
                "[Content_Types].xml",
                "_rels/.rels",
                "word/_rels/document.xml.rels",
                "word/_rels/settings.xml.rels",
                "word/document.xml",
                "word/media/logo.png",
                "word/settings.xml",
            ]
        );
        let types = part(&file, "[Content_Types].xml");
        assert!(
            types.contains(&format!("PartName=\"/word/document.xml\" ContentType=\"{PLAIN}\"")),
            "{types}"
        );
        for gone in ["vba", "macro", "bin", "signature", "customizations"] {
            assert!(!types.contains(gone), "{gone}: {types}");
        }
        assert_eq!(part(&file, "_rels/.rels").matches("<Relationship ").count(), 1);
        let main = part(&file, "word/_rels/document.xml.rels");
        assert_eq!(main.matches("<Relationship ").count(), 3, "{main}");
        assert!(main.contains("https://a.example/x.png") && main.contains("media/logo.png"), "{main}");
        assert!(!part(&file, "word/_rels/settings.xml.rels").contains("dotm"));
        let settings = part(&file, "word/settings.xml");
        assert!(settings.contains("<w:zoom w:percent=\"100\"/><w:defaultTabStop"), "{settings}");
        let told = ["has macros", "commands or keys", "attached to another", "is signed"];
        assert_eq!(warnings.len(), told.len(), "{warnings:?}");
        assert!(warnings.iter().zip(told).all(|(warning, words)| warning.contains(words)), "{warnings:?}");
    }
    let file = filled(with_everything(&p("{name}")).zipped()).file;
    assert_eq!(paragraphs(&part(&file, "word/document.xml")), ["Ann"]);
}

#[test]
fn a_template_type_becomes_a_documents_without_a_word() {
    for kind in [
        "vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml",
        "VND.ms-word.template.macroEnabledTemplate.main+xml",
    ] {
        let types = format!(
            "<Types><Override PartName='/word/document.xml' ContentType='application/{kind}'/></Types>"
        );
        let file = zipped(&[
            ("[Content_Types].xml", types.as_bytes()),
            ("word/document.xml", document(&p("x")).as_bytes()),
        ]);
        let filled = filled(file);
        assert_eq!(filled.warnings, [""; 0]);
        assert_eq!(
            part(&filled.file, "[Content_Types].xml"),
            types.replace(&format!("application/{kind}"), PLAIN)
        );
    }
}

#[test]
fn an_extension_that_others_use_stays_known() {
    let mut parts = with_everything(&p("x"));
    parts.0.push(("word/embeddings/ole.bin", "", "another".to_owned()));
    let file = filled(parts.zipped()).file;
    let types = part(&file, "[Content_Types].xml");
    assert!(types.contains("Extension=\"bin\" ContentType=\"application/octet-stream\""), "{types}");
    assert!(names(&file).contains(&"word/embeddings/ole.bin".to_owned()));
}

#[test]
fn a_plain_document_stays_byte_for_byte() {
    let types = format!("<Types><Override PartName='/word/document.xml' ContentType='{PLAIN}'/></Types>");
    let file = zipped(&[
        ("[Content_Types].xml", types.as_bytes()),
        ("word/document.xml", document(&p("x")).as_bytes()),
    ]);
    assert_eq!(filled(file.clone()).file, file);
}

/// Fuzzing found that such bytes came into the filled document.
#[test]
fn a_list_of_types_that_is_not_in_utf_8_is_refused() {
    let mut parts = entries(&with_everything(&p("{name}")).zipped());
    parts[0].1.extend(b"<!-- \xff -->");
    let parts: Vec<_> = parts.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
    let error = try_fill(zipped(&parts), "{}", "{}").unwrap_err().to_string();
    assert_eq!(error, "[Content_Types].xml cannot be read: it is not written in UTF-8");
}

#[test]
fn lists_that_hide_what_they_say_are_refused() {
    let wide: String = relations(&[]).chars().flat_map(|letter| [letter, '\0']).collect();
    for (content, words) in [
        ("<!DOCTYPE x [<!ENTITY a \"b\">]><Relationships/>".to_owned(), "document type"),
        ("<Relationships><Relationship Type=\"&a;\"/></Relationships>".to_owned(), "broken XML"),
        (wide, "not UTF-8"),
    ] {
        let mut parts = with_everything(&p("{name}"));
        parts.0.retain(|(name, ..)| *name != "word/_rels/settings.xml.rels");
        parts.0.push(("word/_rels/settings.xml.rels", "", content));
        let error = try_fill(parts.zipped(), "{}", "{}").unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("word/_rels/settings.xml.rels"), "{error}");
    }
}
