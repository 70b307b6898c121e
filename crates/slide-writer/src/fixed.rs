//! Parts that are the same whatever the slides show, and lists that go by their number alone.

use crate::size::Size;

/// The first line of each part.
pub(crate) const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
/// The namespaces of slides and what they are made after.
pub(crate) const NAMES: &str = "xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
    xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\"";
/// The first number of a slide in the presentation's list.
const FIRST_ID: u32 = 256;
const OFFICE: &str = "application/vnd.openxmlformats-officedocument";

const THEME: &str = include_str!("parts/theme.xml");
const LINKS: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n\
    <Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";

/// A line of a list of relationships.
macro_rules! link {
    ($id:expr, $kind:expr, $target:expr) => {
        format!(
            "<Relationship Id=\"rId{}\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{}\" Target=\"{}\"/>",
            $id, $kind, $target
        )
    };
}

/// What a presentation has besides slides.
pub(crate) const PARTS: [(&str, &str); 10] = [
    ("ppt/slideMasters/slideMaster1.xml", include_str!("parts/master.xml")),
    ("ppt/slideMasters/_rels/slideMaster1.xml.rels", include_str!("parts/master.rels")),
    ("ppt/slideLayouts/slideLayout1.xml", include_str!("parts/layout.xml")),
    ("ppt/slideLayouts/_rels/slideLayout1.xml.rels", include_str!("parts/layout.rels")),
    ("ppt/theme/theme1.xml", THEME),
    ("ppt/notesMasters/_rels/notesMaster1.xml.rels", include_str!("parts/notes-master.rels")),
    // Each master has one of its own.
    ("ppt/theme/theme2.xml", THEME),
    ("ppt/presProps.xml", include_str!("parts/properties.xml")),
    ("ppt/viewProps.xml", include_str!("parts/view.xml")),
    ("ppt/tableStyles.xml", include_str!("parts/table-styles.xml")),
];

/// What the file itself refers to.
pub(crate) const ROOT_LINKS: &str = include_str!("parts/root.rels");

/// Of which kind each part is.
pub(crate) fn content_types(slides: u32) -> String {
    let one = |name: &str, kind: &str| {
        format!("<Override PartName=\"/{name}\" ContentType=\"{OFFICE}.{kind}+xml\"/>")
    };
    let of_slide = |number: u32| {
        one(&format!("ppt/slides/slide{number}.xml"), "presentationml.slide")
            + &one(&format!("ppt/notesSlides/notesSlide{number}.xml"), "presentationml.notesSlide")
    };
    [
        HEAD,
        "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"png\" \
         ContentType=\"image/png\"/>",
        &one("ppt/presentation.xml", "presentationml.presentation.main"),
        &one("ppt/presProps.xml", "presentationml.presProps"),
        &one("ppt/viewProps.xml", "presentationml.viewProps"),
        &one("ppt/tableStyles.xml", "presentationml.tableStyles"),
        &one("ppt/slideMasters/slideMaster1.xml", "presentationml.slideMaster"),
        &one("ppt/slideLayouts/slideLayout1.xml", "presentationml.slideLayout"),
        &one("ppt/notesMasters/notesMaster1.xml", "presentationml.notesMaster"),
        &one("ppt/theme/theme1.xml", "theme"),
        &one("ppt/theme/theme2.xml", "theme"),
        &one("docProps/app.xml", "extended-properties"),
        &(1..=slides).map(of_slide).collect::<String>(),
        "</Types>",
    ]
    .concat()
}

/// What the file says of itself.
pub(crate) fn properties(slides: u32) -> String {
    format!(
        "{HEAD}<Properties xmlns=\"http://schemas.openxmlformats.org/officeDocument/2006/extended-properties\"><Slides>{slides}</Slides>\
         <Notes>{slides}</Notes></Properties>"
    )
}

/// The list of the slides, and their size.
pub(crate) fn presentation(Size { width, height }: Size, slides: u32) -> String {
    let slide = |number: u32| {
        format!("<p:sldId id=\"{}\" r:id=\"rId{}\"/>", FIRST_ID + number - 1, number + BEFORE_SLIDES)
    };
    let list: String = (1..=slides).map(slide).collect();
    format!(
        "{HEAD}<p:presentation {NAMES}><p:sldMasterIdLst><p:sldMasterId id=\"2147483648\" r:id=\"rId1\"/></p:sldMasterIdLst>\
         <p:notesMasterIdLst><p:notesMasterId r:id=\"rId2\"/></p:notesMasterIdLst><p:sldIdLst>{list}</p:sldIdLst><p:sldSz \
         cx=\"{width}\" cy=\"{height}\"/><p:notesSz cx=\"6858000\" cy=\"9144000\"/></p:presentation>"
    )
}

/// The presentation refers to so many parts before its slides.
const BEFORE_SLIDES: u32 = 6;

/// What the presentation refers to.
pub(crate) fn presentation_links(slides: u32) -> String {
    let slide =
        |number: u32| link!(number + BEFORE_SLIDES, "slide", format_args!("slides/slide{number}.xml"));
    [
        LINKS,
        &link!(1, "slideMaster", "slideMasters/slideMaster1.xml"),
        &link!(2, "notesMaster", "notesMasters/notesMaster1.xml"),
        &link!(3, "theme", "theme/theme1.xml"),
        &link!(4, "presProps", "presProps.xml"),
        &link!(5, "viewProps", "viewProps.xml"),
        &link!(6, "tableStyles", "tableStyles.xml"),
        &(1..=slides).map(slide).collect::<String>(),
        "</Relationships>",
    ]
    .concat()
}

/// What a slide refers to: its layout, its picture, its notes.
pub(crate) fn slide_links(number: u32) -> String {
    [
        LINKS,
        &link!(1, "slideLayout", "../slideLayouts/slideLayout1.xml"),
        &link!(2, "image", format_args!("../media/image{number}.png")),
        &link!(3, "notesSlide", format_args!("../notesSlides/notesSlide{number}.xml")),
        "</Relationships>",
    ]
    .concat()
}

/// What notes refer to: what they are made after, and their slide.
pub(crate) fn notes_links(number: u32) -> String {
    [
        LINKS,
        &link!(1, "notesMaster", "../notesMasters/notesMaster1.xml"),
        &link!(2, "slide", format_args!("../slides/slide{number}.xml")),
        "</Relationships>",
    ]
    .concat()
}
