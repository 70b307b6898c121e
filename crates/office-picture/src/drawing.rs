//! The XML of a picture that stands in a line of a Word document.

use std::fmt::Write;

use crate::size::{Crop, Placement};

/// An inline picture. All namespaces are declared on the elements themselves, for the part may not have them.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The prefix of the part's own elements, mostly `w`; empty if they have none.
    pub prefix: &'a str,
    /// The relationship to the part that holds the picture.
    pub relationship: &'a str,
    /// The drawing's number, unlike every other `docPr` of the document.
    pub number: u32,
    /// The drawing's name, as Word's selection pane shows it.
    pub name: &'a str,
    /// What the picture shows, for those who don't see it. An empty text says that it's mere decoration.
    pub alt: Option<&'a str>,
    /// Size, crop and turn.
    pub placement: &'a Placement,
    /// The relationship to the address that a click opens.
    pub link: Option<&'a str>,
}

const WORD: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const INLINE: &str = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing";
const MAIN: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
const PICTURE: &str = "http://schemas.openxmlformats.org/drawingml/2006/picture";
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// The mark of mere decoration, since Word 2019.
const DECORATIVE: &str = concat!(
    r#"<a:extLst><a:ext uri="{C183D7F6-B498-43B3-948B-1728B52AA6E4}"><adec:decorative "#,
    r#"xmlns:adec="http://schemas.microsoft.com/office/drawing/2017/decorative" val="1"/></a:ext></a:extLst>"#
);
/// A quarter turn, in 60,000ths of a degree.
const QUARTER: u32 = 90 * 60_000;

impl Drawing<'_> {
    /// The `w:drawing` element, to stand in a run.
    pub fn xml(&self) -> String {
        let mut out = String::with_capacity(2048);
        // Writing to a text never fails.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (element, declared) = if self.prefix.is_empty() {
            ("drawing".to_owned(), "xmlns".to_owned())
        } else {
            (format!("{}:drawing", self.prefix), format!("xmlns:{}", self.prefix))
        };
        let (width, height) = self.stored_size();
        write!(
            out,
            r#"<{element} {declared}="{WORD}"><wp:inline xmlns:wp="{INLINE}" xmlns:a="{MAIN}" xmlns:r="{RELATIONSHIPS}" "#
        )?;
        write!(out, r#"distT="0" distB="0" distL="0" distR="0"><wp:extent cx="{width}" cy="{height}"/>"#)?;
        self.write_overhang(out)?;
        self.write_properties(out, "wp:docPr")?;
        out.write_str(
            r#"<wp:cNvGraphicFramePr><a:graphicFrameLocks noChangeAspect="1"/></wp:cNvGraphicFramePr>"#,
        )?;
        write!(
            out,
            r#"<a:graphic><a:graphicData uri="{PICTURE}"><pic:pic xmlns:pic="{PICTURE}"><pic:nvPicPr>"#
        )?;
        write!(out, r#"<pic:cNvPr id="{}" name="{}"/>"#, self.number, escaped(self.name))?;
        out.write_str(r#"<pic:cNvPicPr><a:picLocks noChangeAspect="1"/></pic:cNvPicPr></pic:nvPicPr>"#)?;
        write!(out, r#"<pic:blipFill><a:blip r:embed="{}"/>"#, escaped(self.relationship))?;
        write_crop(out, self.placement.crop)?;
        out.write_str("<a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr>")?;
        self.write_transform(out)?;
        out.write_str(r#"<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic>"#)?;
        write!(out, "</wp:inline></{element}>")
    }

    /// The size before the turn, which is what Word's extents mean.
    fn stored_size(&self) -> (u32, u32) {
        let Placement { width, height, turn, .. } = *self.placement;
        if turn.is_sideways() { (height, width) } else { (width, height) }
    }

    /// How far a picture that lies on its side reaches over its own extent. Without it Word would lay the lines into the picture.
    fn write_overhang(&self, out: &mut String) -> std::fmt::Result {
        let (width, height) = self.stored_size();
        let (sides, ends) = if self.placement.turn.is_sideways() {
            (height.saturating_sub(width) / 2, width.saturating_sub(height) / 2)
        } else {
            (0, 0)
        };
        write!(out, r#"<wp:effectExtent l="{sides}" t="{ends}" r="{sides}" b="{ends}"/>"#)
    }

    fn write_properties(&self, out: &mut String, element: &str) -> std::fmt::Result {
        write!(out, r#"<{element} id="{}" name="{}""#, self.number, escaped(self.name))?;
        if let Some(alt) = self.alt {
            write!(out, r#" descr="{}""#, escaped(alt))?;
        }
        out.write_char('>')?;
        if let Some(link) = self.link {
            write!(out, r#"<a:hlinkClick r:id="{}"/>"#, escaped(link))?;
        }
        if self.alt == Some("") {
            out.write_str(DECORATIVE)?;
        }
        write!(out, "</{element}>")
    }

    fn write_transform(&self, out: &mut String) -> std::fmt::Result {
        let turn = self.placement.turn;
        out.write_str("<a:xfrm")?;
        if turn.quarters > 0 {
            write!(out, r#" rot="{}""#, u32::from(turn.quarters) * QUARTER)?;
        }
        if turn.mirrored {
            out.write_str(r#" flipH="1""#)?;
        }
        let (width, height) = self.stored_size();
        write!(out, r#"><a:off x="0" y="0"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>"#)
    }
}

fn write_crop(out: &mut String, crop: Crop) -> std::fmt::Result {
    if crop.is_none() {
        return Ok(());
    }
    let Crop { left, top, right, bottom } = crop;
    write!(out, r#"<a:srcRect l="{left}" t="{top}" r="{right}" b="{bottom}"/>"#)
}

/// A text as an attribute's value. Line ends are written by number: as they are, XML would read them as blanks. What XML cannot hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            other => out.push(other),
        }
    }
    out
}
