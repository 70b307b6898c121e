//! Further attacks of documents: links of formats and elements that `tries` has none of.

use super::made::{connected, field, formula, open_document, relationships, sheet, sheet_with, slide, word};
use super::tries::{Attack, linked};

/// All of them.
pub const LINKS: &[Attack] = &[
    Attack {
        name: "other fields",
        kind: "docx",
        make: |aim| {
            let fields = [
                format!("LINK Excel.Sheet.12 \"{}\" \"{}!R1C1\" \\a \\f 0", aim.workbook, aim.sheet),
                format!("IMPORT \"{}\"", aim.picture),
                format!("RD \"{}\"", aim.document),
                format!("DATABASE \\d \"{}\" \\s \"SELECT * FROM a\"", aim.workbook),
                format!("INCLUDE \"{}\"", aim.text),
                format!("HYPERLINK \"{}/r\"", aim.http),
                "MACROBUTTON Main own".to_owned(),
            ];
            word(&fields.map(|code| field(&code)).concat(), &[], &[])
        },
    },
    Attack {
        name: "linked picture",
        kind: "xlsx",
        make: |aim| {
            let picture = |id: &str| {
                format!(
                    "<xdr:twoCellAnchor><xdr:from><xdr:col>1</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>2</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>\
                     <xdr:to><xdr:col>5</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>12</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:to><xdr:pic><xdr:nvPicPr>\
                     <xdr:cNvPr id=\"2\" name=\"p\"/><xdr:cNvPicPr/></xdr:nvPicPr><xdr:blipFill><a:blip r:link=\"{id}\"/><a:stretch><a:fillRect/></a:stretch>\
                     </xdr:blipFill><xdr:spPr><a:prstGeom prst=\"rect\"/></xdr:spPr></xdr:pic><xdr:clientData/></xdr:twoCellAnchor>"
                )
            };
            let drawing = format!(
                "<xdr:wsDr xmlns:xdr=\"http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing\" \
                 xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
                 xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">{}{}</xdr:wsDr>",
                picture("r1"),
                picture("r2")
            );
            let of_sheet = relationships(&[("drawing", "../drawings/drawing1.xml")]);
            let of_drawing =
                relationships(&[("image", &aim.picture), ("image", &format!("{}/s.png", aim.http))]);
            sheet_with(
                (&formula("1+1"), "<drawing r:id=\"r1\"/>"),
                "",
                &[],
                &[
                    ("xl/worksheets/_rels/sheet1.xml.rels", of_sheet.as_bytes()),
                    ("xl/drawings/drawing1.xml", drawing.as_bytes()),
                    ("xl/drawings/_rels/drawing1.xml.rels", of_drawing.as_bytes()),
                ],
            )
        },
    },
    Attack {
        name: "linked object",
        kind: "xlsx",
        make: |aim| {
            let link = "<oleLink r:id=\"r1\" progId=\"Excel.Sheet.12\"><oleItems><oleItem name=\"A1\" advise=\"1\"/></oleItems></oleLink>";
            linked(aim, link, "[1]!A1")
        },
    },
    Attack {
        name: "web query",
        kind: "xlsx",
        make: |aim| {
            connected(
                "type=\"4\" background=\"0\"",
                &format!("<webPr sourceData=\"1\" parsePre=\"1\" url=\"{}/t\"/>", aim.http),
            )
        },
    },
    Attack {
        name: "formulas that fetch",
        kind: "xlsx",
        make: |aim| {
            let cells = [
                format!("_xlfn.IMAGE(\"{}/u.png\")", aim.http),
                format!("_xlfn.FILTERXML(_xlfn.WEBSERVICE(\"{}/v\"),\"//a\")", aim.http),
                format!("HYPERLINK(\"{}/w\",1)", aim.http),
                format!("INDIRECT(\"'{}'#${}.A1\")", aim.workbook, aim.sheet),
                format!("RTD(\"a.b\",\"{}\",\"x\")", aim.http),
                format!("CALL(\"{}x.dll\",\"main\",\"J\")", aim.folder),
            ];
            let cell = |code: &String| format!("<c><f>{}</f></c>", super::made::escaped(code));
            let cells = cells.iter().map(cell).collect::<Vec<_>>().concat();
            sheet(&format!("{}<row r=\"2\">{cells}</row>", formula("1+1")), "", &[], &[])
        },
    },
    Attack {
        name: "filled shape, and a program behind it",
        kind: "pptx",
        make: |aim| {
            slide(
                "<p:sp><p:nvSpPr><p:cNvPr id=\"7\" name=\"f\"><a:hlinkClick r:id=\"r3\" action=\"ppaction://program\"/><a:hlinkHover r:id=\"r2\"/></p:cNvPr><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"1000000\" y=\"2000000\"/><a:ext cx=\"3000000\" cy=\"3000000\"/></a:xfrm><a:prstGeom prst=\"rect\"/><a:blipFill><a:blip r:link=\"r1\"/><a:stretch/></a:blipFill></p:spPr></p:sp><p:sp><p:nvSpPr><p:cNvPr id=\"8\" name=\"g\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x=\"5000000\" y=\"2000000\"/><a:ext cx=\"3000000\" cy=\"3000000\"/></a:xfrm><a:prstGeom prst=\"rect\"/><a:blipFill><a:blip r:embed=\"r2\"/><a:stretch/></a:blipFill></p:spPr></p:sp>",
                &[
                    ("image", &aim.picture),
                    ("image", &format!("{}/x.png", aim.http)),
                    ("hyperlink", "file:///usr/bin/touch"),
                ],
            )
        },
    },
    Attack {
        name: "DDE of OpenDocument",
        kind: "xlsx",
        make: |aim| {
            open_document(
                "spreadsheet",
                &format!(
                    "<table:table table:name=\"T\"><table:table-row><table:table-cell><text:p>own text</text:p></table:table-cell><table:table-cell table:formula=\"of:=DDE(&quot;soffice&quot;;&quot;{0}&quot;;&quot;{1}.A1&quot;)\"/></table:table-row></table:table><table:dde-links><table:dde-link><office:dde-source office:dde-application=\"soffice\" office:dde-topic=\"{0}\" office:dde-item=\"{1}.A1\" office:automatic-update=\"true\"/><table:table/></table:dde-link></table:dde-links>",
                    aim.workbook, aim.sheet
                ),
                "",
                &[],
            )
        },
    },
    Attack {
        name: "DDE section, frames and objects",
        kind: "docx",
        make: |aim| {
            let frame = |inner: &str| {
                format!("<draw:frame svg:width=\"5cm\" svg:height=\"5cm\">{inner}</draw:frame>")
            };
            let link = "xlink:type=\"simple\" xlink:show=\"embed\" xlink:actuate=\"onLoad\"";
            let inner = [
                format!("<draw:object xlink:href=\"{}\" {link}/>", aim.workbook),
                format!("<draw:object xlink:href=\"{}/y.ods\" {link}/>", aim.http),
                format!("<draw:floating-frame xlink:href=\"{}\" {link}/>", aim.text),
                format!("<draw:floating-frame xlink:href=\"{}/z.html\" {link}/>", aim.http),
                format!(
                    "<draw:plugin xlink:href=\"{}/a.mp4\" draw:mime-type=\"application/vnd.sun.star.media\" {link}/>",
                    aim.http
                ),
                format!("<draw:applet xlink:href=\"{}/\" draw:code=\"A.class\" {link}/>", aim.http),
            ];
            open_document(
                "text",
                &format!(
                    "<text:p>own text{}</text:p><text:section text:name=\"d\"><office:dde-source office:dde-application=\"soffice\" office:dde-topic=\"{}\" office:dde-item=\"a\" office:automatic-update=\"true\"/><text:p/></text:section>",
                    inner.map(|inner| frame(&inner)).concat(),
                    aim.document
                ),
                "",
                &[],
            )
        },
    },
    Attack {
        name: "linked pictures and sounds",
        kind: "pptx",
        make: |aim| {
            let frame = |inner: &str| {
                format!("<draw:frame svg:width=\"9cm\" svg:height=\"9cm\">{inner}</draw:frame>")
            };
            let link = "xlink:type=\"simple\" xlink:show=\"embed\" xlink:actuate=\"onLoad\"";
            let inner = [
                "<draw:text-box><text:p>own text</text:p></draw:text-box>".to_owned(),
                format!("<draw:image xlink:href=\"{}\" {link}/>", aim.picture),
                format!("<draw:image xlink:href=\"{}/b.png\" {link}/>", aim.http),
                format!("<draw:object xlink:href=\"{}\" {link}/>", aim.workbook),
                format!(
                    "<draw:plugin xlink:href=\"{}/c.mp4\" draw:mime-type=\"application/vnd.sun.star.media\" {link}/>",
                    aim.http
                ),
            ];
            let sound = format!(
                "<presentation:notes/><presentation:show-shape><presentation:sound xlink:href=\"{}/d.wav\" {link}/></presentation:show-shape>",
                aim.http
            );
            open_document(
                "presentation",
                &format!(
                    "<draw:page draw:name=\"p\">{}{sound}</draw:page>",
                    inner.map(|inner| frame(&inner)).concat()
                ),
                "",
                &[],
            )
        },
    },
];
