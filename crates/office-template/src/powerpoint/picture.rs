//! `{%picture}` on a slide: a shape becomes a picture in the same frame, with the shape's form, outline and effects.

use std::collections::HashMap;
use std::sync::Arc;

use office_picture::{Extent, Placement, Texts, Wanted};

use crate::address::external;
use crate::answer::Content;
use crate::error::Error;
use crate::files::Files;
use crate::forms::image::{self, Options};
use crate::package::entries::Entry;
use crate::package::xml::attribute_text;
use crate::package::{Package, Relation, Target, resolved};
use crate::source::Source;
use crate::written::Refusal;

/// 60,000ths of a degree in a quarter turn, and in a whole one.
const QUARTER: i64 = 5_400_000;
const TURN: i64 = 4 * QUARTER;

/// English metric units (EMU) in a pixel (96 an inch), the unit of lengths without one.
const EMU_PER_PIXEL: f64 = 9_525.0;

/// The largest width or height of a frame in EMU; slides are not larger.
const LARGEST: f64 = 51_206_400.0;

/// A shape's place on its slide, in EMU.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// A shape's XML, with its elements.
struct Shape<'a> {
    xml: &'a str,
    elements: Vec<Entry>,
}

/// A shape of a layout or a master, and its elements.
pub(crate) type Piece = (String, Vec<Entry>);

/// What placeholders inherit, by the layout's name, their index and kind.
pub(crate) type Placeholders = HashMap<(String, String, String), Option<Arc<Piece>>>;

/// A picture in place of `shape`, a whole `p:sp` or `p:pic`. `is_named`: the tag is the shape's alternative text.
pub(crate) fn write(
    content: &Content<'_>,
    (shape, is_named): (&str, bool),
    source: Source<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<String, Refusal> {
    let options: Options = serde_json::from_str(content.field(1)).unwrap_or_default();
    let given =
        |name: &str, index: usize| options.get(name).and_then(|texts| texts.get(index)).map(String::as_str);
    let stored = image::stored(content, &options, (&mut *package, files))?;
    let shape = Shape { xml: shape, elements: package.elements(source.name, shape.as_bytes())? };
    let inherited = inherited(&shape, source.name, package)?;
    let inherited = inherited.as_deref().map(|(xml, elements)| Shape { xml, elements: elements.clone() });
    let frame = shape.frame().or_else(|| inherited.as_ref().and_then(Shape::frame)).ok_or_else(|| {
        "the shape has no size of its own; move it a little in PowerPoint, and save the file anew".to_owned()
    })?;
    // The frame of a picture is filled, cropping the new one; in the frame of a text nothing is cropped.
    let usual = if is_named { "cover" } else { "contain" };
    let pixels = |length: f64| format!("{:.4}", length / EMU_PER_PIXEL);
    let is_sized = ["width", "height", "size"].iter().any(|name| options.contains_key(*name));
    let (width, height) = (pixels(frame.width), pixels(frame.height));
    let texts = Texts {
        width: if is_sized { given("width", 0).or_else(|| given("size", 0)) } else { Some(&width) },
        height: if is_sized { given("height", 0).or_else(|| given("size", 1)) } else { Some(&height) },
        max_width: given("maxSize", 0),
        max_height: given("maxSize", 1),
        fit: given("fit", 0).or(Some(usual)),
    };
    let space = Extent::new(frame.width, frame.height);
    let placement = Wanted::read(&texts)?.place(&stored.picture, space)?;
    let id = package.relate(source.name, Relation::Image, Target::Part(&stored.part))?;
    let link = match given("link", 0) {
        Some(address) => {
            let address = external(address)?;
            Some(package.relate(source.name, Relation::Hyperlink, Target::External(&address))?)
        }
        None => None,
    };
    let written = Written {
        shape: &shape,
        inherited: inherited.as_ref(),
        frame,
        placement: &placement,
        drawing: source.prefix,
        namespace: package.relationships_namespace(),
    };
    Ok(written.xml(&id, link.as_deref(), given("alt", 0).unwrap_or_default()))
}

/// The layout's or master's shape that a placeholder inherits its frame from; `None` for other shapes.
fn inherited(shape: &Shape<'_>, slide: &str, package: &mut Package<'_>) -> Result<Option<Arc<Piece>>, Error> {
    let Some(placeholder) = shape.elements.iter().find(|element| element.name == "ph") else {
        return Ok(None);
    };
    let (index, kind) = (placeholder.value("idx").to_owned(), placeholder.value("type").to_owned());
    let Some(layout) = related(package, slide, "slideLayout")? else { return Ok(None) };
    let key = (layout, index, kind);
    if let Some(known) = package.placeholders.get(&key) {
        return Ok(known.clone());
    }
    let found = looked_up(&key, package)?.map(Arc::new);
    package.placeholders.insert(key, found.clone());
    Ok(found)
}

/// As [`inherited`], read from the layout or else from its master.
fn looked_up(
    (layout, index, kind): &(String, String, String),
    package: &mut Package<'_>,
) -> Result<Option<Piece>, Error> {
    let is_of_layout =
        |one: &Entry| if index.is_empty() { is_of(one, kind) } else { one.value("idx") == index };
    if let Some(found) = framed(layout, is_of_layout, package)? {
        return Ok(Some(found));
    }
    let Some(master) = related(package, layout, "slideMaster")? else { return Ok(None) };
    framed(&master, |one| is_of(one, kind), package)
}

fn is_of(placeholder: &Entry, kind: &str) -> bool {
    placeholder.value("type") == kind || kind.is_empty() && placeholder.value("type") == "body"
}

/// The shape in a part for whose placeholder `is_meant` is true; `None` where it has no size.
fn framed(
    part: &str,
    is_meant: impl Fn(&Entry) -> bool,
    package: &mut Package<'_>,
) -> Result<Option<Piece>, Error> {
    let xml = package.part(part)?.unwrap_or_default();
    let all = package.elements(part, &xml)?;
    let found = all.iter().find(|one| one.name == "ph" && is_meant(one));
    let around = found.and_then(|found| {
        let holds = |one: &&Entry| {
            matches!(one.name.as_str(), "sp" | "pic")
                && one.whole.start < found.whole.start
                && one.whole.end > found.whole.end
        };
        all.iter().rev().find(holds)
    });
    let piece = around.and_then(|around| xml.get(around.whole.clone()));
    let Some(piece) = piece.and_then(|piece| std::str::from_utf8(piece).ok()) else { return Ok(None) };
    let elements = package.elements(part, piece.as_bytes())?;
    let has_frame = Shape { xml: piece, elements: elements.clone() }.frame().is_some();
    Ok(has_frame.then(|| (piece.to_owned(), elements)))
}

impl<'a> Shape<'a> {
    /// The first element of this name inside of another.
    fn within(&self, around: &Entry, name: &str) -> Option<&Entry> {
        let is_inside = |one: &&Entry| {
            one.whole.start >= around.tag.end && one.whole.end <= around.whole.end && one.name == name
        };
        self.elements.iter().find(is_inside)
    }

    fn properties(&self) -> Option<&Entry> {
        self.elements.iter().find(|one| one.name == "spPr")
    }

    /// A child of the shape's properties.
    fn property(&self, name: &str) -> Option<&Entry> {
        self.within(self.properties()?, name)
    }

    fn frame(&self) -> Option<Frame> {
        let transform = self.property("xfrm")?;
        let (offset, extent) = (self.within(transform, "off")?, self.within(transform, "ext")?);
        let number = |entry: &Entry, name: &str| entry.value(name).parse::<f64>().ok();
        let frame = Frame {
            left: number(offset, "x")?,
            top: number(offset, "y")?,
            width: number(extent, "cx")?,
            height: number(extent, "cy")?,
        };
        let is_usable = |length: f64| (1.0..=LARGEST).contains(&length);
        (is_usable(frame.width) && is_usable(frame.height)).then_some(frame)
    }

    fn text(&self, entry: &Entry) -> &'a str {
        self.xml.get(entry.whole.clone()).unwrap_or_default()
    }

    fn start_tag(&self, entry: &Entry) -> &'a str {
        self.xml.get(entry.tag.clone()).unwrap_or_default()
    }
}

/// What a picture's XML is made from.
struct Written<'a> {
    shape: &'a Shape<'a>,
    inherited: Option<&'a Shape<'a>>,
    frame: Frame,
    placement: &'a Placement,
    /// The namespace prefix of drawings, with its colon.
    drawing: &'a str,
    namespace: &'a str,
}

impl Written<'_> {
    fn xml(&self, relationship: &str, link: Option<&str>, alt: &str) -> String {
        let (a, shape) = (self.drawing, self.shape);
        let root = shape.xml.get(1..).and_then(|name| name.split([' ', '>', '/', '\n', '\r', '\t']).next());
        let p = root.and_then(|name| name.strip_suffix("sp").or_else(|| name.strip_suffix("pic")));
        let p = p.unwrap_or("p:");
        let own = shape.elements.iter().find(|one| one.name == "cNvPr");
        let value = |name: &str| attribute_text(own.map(|own| own.value(name)).unwrap_or_default());
        let kept = || Some(shape.text(shape.within(own?, "hlinkClick")?).to_owned());
        let click =
            link.map(|id| format!("<{a}hlinkClick r:id=\"{id}\"/>")).or_else(kept).unwrap_or_default();
        let place = shape.elements.iter().find(|one| one.name == "nvPr").map(|one| shape.text(one));
        let place = place.map_or_else(|| format!("<{p}nvPr/>"), str::to_owned);
        let group = if place.contains("ph ") || place.contains("ph/") { " noGrp=\"1\"" } else { "" };
        let crop = self.placement.crop;
        let mut sides = String::new();
        for (name, cut) in [("l", crop.left), ("t", crop.top), ("r", crop.right), ("b", crop.bottom)] {
            if cut > 0 {
                sides.extend([" ", name, "=\"", &cut.to_string(), "\""]);
            }
        }
        let crop = if sides.is_empty() { String::new() } else { format!("<{a}srcRect{sides}/>") };
        let style = shape.elements.iter().find(|one| one.name == "style").map(|one| shape.text(one));
        format!(
            "<{p}pic xmlns:r=\"{namespace}\"><{p}nvPicPr><{p}cNvPr id=\"{id}\" name=\"{name}\" descr=\"{alt}\">{click}</{p}cNvPr>\
             <{p}cNvPicPr><{a}picLocks{group} noChangeAspect=\"1\"/></{p}cNvPicPr>{place}</{p}nvPicPr><{p}blipFill>\
             <{a}blip r:embed=\"{relationship}\"/>{crop}<{a}stretch><{a}fillRect/></{a}stretch></{p}blipFill>\
             {properties}{style}</{p}pic>",
            namespace = self.namespace,
            id = value("id"),
            name = value("name"),
            alt = attribute_text(alt),
            properties = self.properties(p),
            style = style.unwrap_or_default(),
        )
    }

    /// The shape's properties, with the picture's frame.
    fn properties(&self, p: &str) -> String {
        let (shape, a) = (self.shape, self.drawing);
        let mut geometry = String::new();
        let mut rest = String::new();
        if let Some(properties) = shape.properties() {
            let mut from = properties.tag.end;
            for one in shape.elements.iter().filter(|one| one.whole.end <= properties.whole.end) {
                if one.whole.start < from {
                    continue;
                }
                from = one.whole.end;
                match one.name.as_str() {
                    "xfrm" => {}
                    "prstGeom" | "custGeom" => shape.text(one).clone_into(&mut geometry),
                    _ => rest.push_str(shape.text(one)),
                }
            }
        }
        if geometry.is_empty() {
            let of_layout = self.inherited.and_then(|layout| {
                let found = layout.property("prstGeom").or_else(|| layout.property("custGeom"))?;
                Some(layout.text(found).to_owned())
            });
            geometry =
                of_layout.unwrap_or_else(|| format!("<{a}prstGeom prst=\"rect\"><{a}avLst/></{a}prstGeom>"));
        }
        let tag = shape.properties().map(|one| shape.start_tag(one)).unwrap_or_default();
        let tag = tag.trim_end_matches('>').trim_end_matches('/').trim_end();
        let open = if tag.is_empty() { format!("<{p}spPr") } else { tag.to_owned() };
        format!("{open}>{}{geometry}{rest}</{p}spPr>", self.transform())
    }

    /// The picture's frame, centred in the shape's.
    fn transform(&self) -> String {
        let (a, turn) = (self.drawing, self.placement.turn);
        let own = self.shape.property("xfrm").or_else(|| self.inherited.and_then(|one| one.property("xfrm")));
        let value = |name: &str| own.map(|own| own.value(name)).unwrap_or_default();
        let is_set = |name: &str| matches!(value(name), "1" | "true");
        let shown = (f64::from(self.placement.width), f64::from(self.placement.height));
        let (width, height) = if turn.is_sideways() { (shown.1, shown.0) } else { shown };
        let left = self.frame.left + (self.frame.width - width) / 2.0;
        let top = self.frame.top + (self.frame.height - height) / 2.0;
        let rotation = value("rot").parse::<i64>().unwrap_or_default().rem_euclid(TURN);
        let rotation = (rotation + i64::from(turn.quarters) * QUARTER).rem_euclid(TURN);
        let mut attributes = String::new();
        if rotation != 0 {
            attributes.extend([" rot=\"", &rotation.to_string(), "\""]);
        }
        if is_set("flipH") != turn.mirrored {
            attributes.push_str(" flipH=\"1\"");
        }
        if is_set("flipV") {
            attributes.push_str(" flipV=\"1\"");
        }
        format!(
            "<{a}xfrm{attributes}><{a}off x=\"{left:.0}\" y=\"{top:.0}\"/><{a}ext cx=\"{width:.0}\" cy=\"{height:.0}\"/></{a}xfrm>"
        )
    }
}

/// The part that `part` refers to by a relationship whose type has the last word `end`.
fn related(package: &mut Package<'_>, part: &str, end: &str) -> Result<Option<String>, Error> {
    let all = package.relationships_of(part)?;
    let found = all.iter().find(|one| !one.is_external && one.kind.rsplit('/').next() == Some(end));
    Ok(found.and_then(|found| resolved(part, &found.target)))
}
