//! Styles for documents that have none for a role.

use crate::model::Role;
use crate::numbering::with_colon;

/// The size of code.
pub const CODE_HALF_POINTS: u32 = 20;

/// The size of a heading of this level.
pub const fn heading_half_points(level: u8) -> u32 {
    match level {
        0 | 1 => 36,
        2 => 30,
        3 => 26,
        4 => 24,
        _ => 22,
    }
}

/// The name by which Word knows the role's style, whatever its id: what to look for in a document's styles.
pub const fn name(role: Role) -> &'static str {
    match role {
        Role::Normal => "Normal",
        Role::Heading(0 | 1) => "heading 1",
        Role::Heading(2) => "heading 2",
        Role::Heading(3) => "heading 3",
        Role::Heading(4) => "heading 4",
        Role::Heading(5) => "heading 5",
        Role::Heading(_) => "heading 6",
        Role::Quote => "Quote",
        Role::Preformatted => "HTML Preformatted",
        Role::ListItem => "List Paragraph",
        Role::Caption => "caption",
        Role::Hyperlink => "Hyperlink",
        Role::Code => "HTML Code",
        Role::Table => "Table Grid",
    }
}

/// The `w:type` of the role's style.
pub const fn kind(role: Role) -> &'static str {
    match role {
        Role::Normal
        | Role::Heading(_)
        | Role::Quote
        | Role::Preformatted
        | Role::ListItem
        | Role::Caption => "paragraph",
        Role::Hyperlink | Role::Code => "character",
        Role::Table => "table",
    }
}

/// A `w:style` for a role. `prefix` is without its colon; `based_on` is the id of the document's default style of this kind.
pub fn definition(prefix: &str, role: Role, id: &str, based_on: Option<&str>) -> String {
    let based_on = based_on.map(|id| format!("<w:basedOn w:val=\"{id}\"/>")).unwrap_or_default();
    let (kind, name, content) = (kind(role), name(role), content(role));
    let priority = priority(role);
    let style = format!(
        "<w:style w:type=\"{kind}\" w:customStyle=\"0\" w:styleId=\"{id}\"><w:name w:val=\"{name}\"/>{based_on}\
         <w:uiPriority w:val=\"{priority}\"/><w:unhideWhenUsed/><w:qFormat/>{content}</w:style>"
    );
    style
        .replace(" w:customStyle=\"0\"", "")
        .replace("<w:", &format!("<{}", with_colon(prefix)))
        .replace("</w:", &format!("</{}", with_colon(prefix)))
        .replace(" w:", &format!(" {}", with_colon(prefix)))
}

const fn priority(role: Role) -> u8 {
    match role {
        Role::Normal => 0,
        Role::Heading(_) => 9,
        Role::Quote => 29,
        Role::ListItem => 34,
        Role::Caption => 35,
        Role::Table => 39,
        Role::Preformatted | Role::Hyperlink | Role::Code => 99,
    }
}

/// The properties of a role's style.
fn content(role: Role) -> String {
    let mono = "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:eastAsia=\"Courier New\" w:cs=\"Courier New\"/>";
    let size = |half: u32| format!("<w:sz w:val=\"{half}\"/><w:szCs w:val=\"{half}\"/>");
    match role {
        Role::Normal => String::new(),
        Role::Heading(level) => {
            let before = if level <= 1 { 360 } else { 240 };
            let outline = level.clamp(1, 6) - 1;
            let italic = if level >= 6 { "<w:i/><w:iCs/>" } else { "" };
            format!(
                "<w:pPr><w:keepNext/><w:keepLines/><w:spacing w:before=\"{before}\" w:after=\"120\"/>\
                 <w:outlineLvl w:val=\"{outline}\"/></w:pPr><w:rPr><w:b/><w:bCs/>{italic}{}</w:rPr>",
                size(heading_half_points(level))
            )
        }
        Role::Quote => "<w:pPr><w:pBdr><w:left w:val=\"single\" w:sz=\"18\" w:space=\"10\" w:color=\"BFBFBF\"/></w:pBdr>\
                        <w:ind w:left=\"360\" w:right=\"360\"/></w:pPr><w:rPr><w:color w:val=\"595959\"/></w:rPr>"
            .to_owned(),
        Role::Preformatted => format!(
            "<w:pPr><w:shd w:val=\"clear\" w:color=\"auto\" w:fill=\"F5F5F5\"/><w:spacing w:before=\"60\" w:after=\"120\" \
             w:line=\"240\" w:lineRule=\"auto\"/></w:pPr><w:rPr>{mono}{}</w:rPr>",
            size(CODE_HALF_POINTS)
        ),
        Role::ListItem => "<w:pPr><w:ind w:left=\"720\"/><w:contextualSpacing/></w:pPr>".to_owned(),
        Role::Caption => format!(
            "<w:pPr><w:spacing w:before=\"60\" w:after=\"120\"/></w:pPr><w:rPr><w:i/><w:iCs/><w:color w:val=\"595959\"/>{}</w:rPr>",
            size(18)
        ),
        Role::Hyperlink => "<w:rPr><w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr>".to_owned(),
        Role::Code => format!("<w:rPr>{mono}{}</w:rPr>", size(CODE_HALF_POINTS)),
        Role::Table => {
            let border = |side| format!("<w:{side} w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"BFBFBF\"/>");
            let borders: String = ["top", "left", "bottom", "right", "insideH", "insideV"].map(border).concat();
            format!(
                "<w:pPr><w:spacing w:before=\"40\" w:after=\"40\"/></w:pPr><w:tblPr><w:tblBorders>{borders}</w:tblBorders>\
                 <w:tblCellMar><w:top w:w=\"0\" w:type=\"dxa\"/><w:left w:w=\"108\" w:type=\"dxa\"/>\
                 <w:bottom w:w=\"0\" w:type=\"dxa\"/><w:right w:w=\"108\" w:type=\"dxa\"/></w:tblCellMar></w:tblPr>"
            )
        }
    }
}
