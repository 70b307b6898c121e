//! Slides, notes and what notes are made after.

use crate::Slide;
use crate::fixed::{HEAD, NAMES};
use crate::size::{Frame, Size};
use crate::xml::escaped;

/// A printed page of notes: the slide's picture in its upper half, the text in its lower one.
const NOTES_PICTURE: Size = Size { width: 5_486_400, height: 3_886_200 };
const NOTES_LEFT: u32 = 685_800;
const NOTES_TOP: u32 = 685_800;
/// Twelve points: a page's text is long.
const NOTES_STYLE: &str = "<a:lstStyle><a:lvl1pPr><a:defRPr sz=\"1200\"/></a:lvl1pPr></a:lstStyle>";
const NOTES_TEXT: Frame = Frame { left: 685_800, top: 4_800_600, size: NOTES_PICTURE };

/// A tree of shapes needs this at its top.
const TREE: &str =
    "<p:nvGrpSpPr><p:cNvPr id=\"1\" name=\"\"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>";
const COLOURS: &str = "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr>";

/// A slide with its picture.
pub(crate) fn slide(slide: &Slide<'_>, size: Size) -> String {
    let Slide { name, text, .. } = slide;
    let says = if text.is_empty() { name } else { text };
    let (name, says) = (escaped(name), escaped(says));
    let place = place(size.frame(slide.size));
    format!(
        "{HEAD}<p:sld {NAMES}><p:cSld><p:spTree>{TREE}<p:pic><p:nvPicPr><p:cNvPr id=\"2\" name=\"{name}\" descr=\"{says}\"/><p:cNvPicPr>\
         <a:picLocks noChangeAspect=\"1\"/></p:cNvPicPr><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed=\"rId2\"/><a:stretch>\
         <a:fillRect/></a:stretch></p:blipFill><p:spPr>{place}<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr></p:pic>\
         </p:spTree></p:cSld>{COLOURS}</p:sld>"
    )
}

/// The notes of the slide with this number, a paragraph a line.
pub(crate) fn notes(text: &str, number: u32, size: Size) -> String {
    let paragraph = |line: &str| format!("<a:p><a:r><a:t>{}</a:t></a:r></a:p>", escaped(line));
    let mut paragraphs: String = text.lines().map(paragraph).collect();
    if paragraphs.is_empty() {
        paragraphs.push_str("<a:p/>");
    }
    let (picture, body) = (picture_holder(size), body_holder("<a:lstStyle/>", &paragraphs));
    format!(
        "{HEAD}<p:notes {NAMES}><p:cSld name=\"Notes {number}\"><p:spTree>{TREE}{picture}{body}</p:spTree></p:cSld>{COLOURS}</p:notes>"
    )
}

/// What notes are made after.
pub(crate) fn notes_master(size: Size) -> String {
    let (picture, body) = (picture_holder(size), body_holder(NOTES_STYLE, "<a:p/>"));
    format!(
        "{HEAD}<p:notesMaster {NAMES}><p:cSld><p:bg><p:bgRef idx=\"1001\"><a:schemeClr val=\"bg1\"/></p:bgRef></p:bg><p:spTree>{TREE}\
         {picture}{body}</p:spTree></p:cSld><p:clrMap bg1=\"lt1\" tx1=\"dk1\" bg2=\"lt2\" tx2=\"dk2\" accent1=\"accent1\" \
         accent2=\"accent2\" accent3=\"accent3\" accent4=\"accent4\" accent5=\"accent5\" accent6=\"accent6\" hlink=\"hlink\" \
         folHlink=\"folHlink\"/></p:notesMaster>"
    )
}

/// Where the slide's picture stands on a page of notes.
fn picture_holder(size: Size) -> String {
    let Frame { left, top, size } = NOTES_PICTURE.frame_of(size);
    let place = place(Frame { left: left + NOTES_LEFT, top: top + NOTES_TOP, size });
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"Slide\"/><p:cNvSpPr><a:spLocks noGrp=\"1\" noRot=\"1\" noChangeAspect=\"1\"/>\
         </p:cNvSpPr><p:nvPr><p:ph type=\"sldImg\"/></p:nvPr></p:nvSpPr><p:spPr>{place}<a:prstGeom prst=\"rect\"><a:avLst/>\
         </a:prstGeom></p:spPr></p:sp>"
    )
}

/// Where the text stands.
fn body_holder(style: &str, paragraphs: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id=\"3\" name=\"Notes\"/><p:cNvSpPr><a:spLocks noGrp=\"1\"/></p:cNvSpPr><p:nvPr><p:ph type=\"body\" \
         idx=\"1\"/></p:nvPr></p:nvSpPr><p:spPr>{}<a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/>\
         {style}{paragraphs}</p:txBody></p:sp>",
        place(NOTES_TEXT)
    )
}

fn place(Frame { left, top, size }: Frame) -> String {
    let Size { width, height } = size;
    format!("<a:xfrm><a:off x=\"{left}\" y=\"{top}\"/><a:ext cx=\"{width}\" cy=\"{height}\"/></a:xfrm>")
}
