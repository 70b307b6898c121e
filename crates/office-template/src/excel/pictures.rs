//! `{%picture}` in a cell: a picture over the cell, or over all cells that are merged with it, as large as they allow (ECMA-376
//! part 1, 20.5.2).

use std::collections::HashMap;
use std::fmt::Write as _;

use cell_references::{Cell as At, Moves, Place, Range};
use memchr::memmem;
use office_picture::{Extent, Placement, Texts, Wanted};

use super::grid::{EMU_PER_PIXEL, Grid};
use super::sheet::Sheet;
use super::tail::{Drawing, LIST_LIMIT, drawing};
use crate::address::external;
use crate::answer::Content;
use crate::error::{Error, TagFaults};
use crate::files::Files;
use crate::forms::image::{self, Options};
use crate::package::entries::entries;
use crate::package::xml::{attribute_of, attribute_text, with_last};
use crate::package::{Package, Relation, Target, resolved};
use crate::written::Refusal;

/// What is left free on each side of a cell for its border, in English metric units.
const MARGIN: f64 = EMU_PER_PIXEL;

const KIND: &str = "application/vnd.openxmlformats-officedocument.drawing+xml";
const NAMESPACES: [(&str, &str); 3] = [
    ("xdr", "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"),
    ("a", "http://schemas.openxmlformats.org/drawingml/2006/main"),
    ("r", "http://schemas.openxmlformats.org/officeDocument/2006/relationships"),
];

/// A picture that a cell asks for.
pub(super) struct Wish<'a> {
    pub tag: usize,
    /// The cell in the template.
    pub cell: At,
    /// Where it is now.
    pub now: At,
    pub place: Place,
    pub content: &'a Content<'a>,
}

/// Where pictures are drawn.
pub(super) struct Canvas<'a> {
    pub sheet: &'a Sheet,
    /// What the sheet is called now.
    pub name: &'a str,
    pub moves: &'a Moves,
    /// The name of the sheet's part, and the bytes before its cells in the result.
    pub part: &'a str,
    pub head: &'a [u8],
}

/// The bytes behind the cells of a sheet, and tags whose pictures cannot be drawn.
type Drawn = (Vec<u8>, TagFaults);

/// Draws the pictures over their cells: the bytes behind the sheet's cells in the result, and tags whose pictures cannot be
/// drawn.
pub(super) fn draw(
    wishes: &[Wish<'_>],
    canvas: &Canvas<'_>,
    tail: Vec<u8>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Drawn, Error> {
    if wishes.is_empty() {
        return Ok((tail, TagFaults::default()));
    }
    if wishes.len() > LIST_LIMIT {
        let name = canvas.name;
        return Err(Error::Limit(format!(
            "the sheet '{name}' would have more than {LIST_LIMIT} pictures; repeat fewer cells with them"
        )));
    }
    let merges = merges(canvas.sheet);
    let (name, is_new, tail) = part(canvas, tail, package)?;
    let namespaces = NAMESPACES.map(|(prefix, address)| format!(" xmlns:{prefix}=\"{address}\"")).concat();
    let old = if is_new {
        package.in_its_form(format!("<xdr:wsDr{namespaces}></xdr:wsDr>")).into_bytes()
    } else {
        package.part(&name)?.unwrap_or_default()
    };
    let objects = entries(&name, &old)?;
    let numbers = objects.iter().filter(|one| one.name == "cNvPr");
    let mut painter = Painter {
        grid: Grid::read(canvas.part, canvas.head, canvas.sheet)?,
        merges,
        name: &name,
        number: numbers.filter_map(|one| one.value("id").parse().ok()).max().unwrap_or(0),
        own: if is_new { "" } else { &namespaces },
    };
    let (mut anchors, mut faults) = (String::new(), TagFaults::default());
    for wish in wishes {
        match painter.anchor(wish, canvas, (&mut *package, &mut *files)) {
            Ok(_) if anchors.len() > package.room() => return Err(package.full()),
            Ok(anchor) => anchors.push_str(&anchor),
            Err(refusal) => faults.extend(refusal.fault()?.map(|why| (wish.tag, why))),
        }
    }
    let anchors = package.in_its_form(anchors);
    package.put(&name, with_last(&old, &anchors))?;
    Ok((tail, faults))
}

/// The sheet's drawing, added where there is none: its name, whether it is new, and the bytes behind the cells, which refer to
/// it.
fn part(
    canvas: &Canvas<'_>,
    mut tail: Vec<u8>,
    package: &mut Package<'_>,
) -> Result<(String, bool, Vec<u8>), Error> {
    match drawing(&tail) {
        Drawing::There(id) => {
            let all = package.relationships_of(canvas.part)?;
            let target =
                all.iter().find(|one| one.id == id).and_then(|one| resolved(canvas.part, &one.target));
            let missing = || {
                Error::NotOffice(format!(
                    "{} refers to a drawing that is not there; save the file anew in Excel",
                    canvas.part
                ))
            };
            Ok((target.ok_or_else(missing)?, false, tail))
        }
        Drawing::At(at) => {
            let name = package.free_name("xl/drawings/drawing", ".xml");
            package.override_type(&name, KIND)?;
            let namespace = package.relationships_namespace();
            let id = package.relate_as(canvas.part, &format!("{namespace}/drawing"), Target::Part(&name))?;
            let element = format!("<{}drawing xmlns:r=\"{namespace}\" r:id=\"{id}\"/>", canvas.sheet.prefix);
            tail.splice(at..at, element.into_bytes());
            Ok((name, true, tail))
        }
    }
}

struct Painter<'a> {
    grid: Grid,
    /// The merged ranges of the template by their first cell, the only one that Excel shows.
    merges: HashMap<At, Range>,
    /// The drawing's part.
    name: &'a str,
    /// The last number of an object in it.
    number: u32,
    /// The namespaces that each anchor declares; none where the root of a new drawing does.
    own: &'a str,
}

impl Painter<'_> {
    fn anchor(
        &mut self,
        wish: &Wish<'_>,
        canvas: &Canvas<'_>,
        (package, files): (&mut Package<'_>, &mut dyn Files),
    ) -> Result<String, Refusal> {
        let options: Options = serde_json::from_str(wish.content.field(1)).unwrap_or_default();
        let given = |name: &str, index: usize| {
            options.get(name).and_then(|texts| texts.get(index)).map(String::as_str)
        };
        let stored = image::stored(wish.content, &options, (&mut *package, files))?;
        let merge = self.merges.get(&wish.cell).copied();
        let template = merge.unwrap_or(wish.cell.into());
        let cells = merge.and_then(|merge| canvas.moves.range(merge, wish.place)).unwrap_or(wish.now.into());
        let (width, height) = (self.grid.width(cells.columns), self.grid.height(template.rows, cells.rows));
        let pixels =
            |length: f64| format!("{:.4}", (length - 2.0 * MARGIN).max(EMU_PER_PIXEL) / EMU_PER_PIXEL);
        let is_sized = ["width", "height", "size"].iter().any(|name| options.contains_key(*name));
        let (own_width, own_height) = (pixels(width), pixels(height));
        let texts = Texts {
            width: if is_sized { given("width", 0).or_else(|| given("size", 0)) } else { Some(&own_width) },
            height: if is_sized {
                given("height", 0).or_else(|| given("size", 1))
            } else {
                Some(&own_height)
            },
            max_width: given("maxSize", 0),
            max_height: given("maxSize", 1),
            fit: given("fit", 0).or(Some("contain")),
        };
        let placement = Wanted::read(&texts)?.place(&stored.picture, Extent::new(width, height))?;
        let id = package.relate(self.name, Relation::Image, Target::Part(&stored.part))?;
        let click = match given("link", 0) {
            Some(address) => {
                let address = external(address)?;
                let id = package.relate(self.name, Relation::Hyperlink, Target::External(&address))?;
                format!("<a:hlinkClick r:id=\"{id}\"/>")
            }
            None => String::new(),
        };
        self.number = self.number.saturating_add(1);
        let frame = Frame::new(&placement, (width, height));
        let (column, left) = self.grid.column_at(cells.columns, frame.left);
        let (row, top) = self.grid.row_at(template.rows, cells.rows, frame.top);
        let alt = attribute_text(given("alt", 0).unwrap_or_default());
        let (number, own) = (self.number, self.own);
        Ok(format!(
            "<xdr:oneCellAnchor{own}><xdr:from><xdr:col>{column}</xdr:col><xdr:colOff>{left:.0}</xdr:colOff><xdr:row>{row}</xdr:row>\
             <xdr:rowOff>{top:.0}</xdr:rowOff></xdr:from><xdr:ext cx=\"{width:.0}\" cy=\"{height:.0}\"/><xdr:pic><xdr:nvPicPr>\
             <xdr:cNvPr id=\"{number}\" name=\"Picture {number}\" descr=\"{alt}\">{click}</xdr:cNvPr><xdr:cNvPicPr>\
             <a:picLocks noChangeAspect=\"1\"/></xdr:cNvPicPr></xdr:nvPicPr><xdr:blipFill><a:blip r:embed=\"{id}\"/>{crop}\
             <a:stretch><a:fillRect/></a:stretch></xdr:blipFill><xdr:spPr><a:xfrm{turn}><a:off x=\"0\" y=\"0\"/>\
             <a:ext cx=\"{width:.0}\" cy=\"{height:.0}\"/></a:xfrm><a:prstGeom prst=\"rect\"><a:avLst/></a:prstGeom></xdr:spPr>\
             </xdr:pic><xdr:clientData/></xdr:oneCellAnchor>",
            width = frame.width,
            height = frame.height,
            crop = crop(&placement),
            turn = turn(&placement),
        ))
    }
}

/// Where a picture is within its cells before it is turned, in English metric units.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    /// In the middle of cells of this size.
    fn new(placement: &Placement, (width, height): (f64, f64)) -> Self {
        let shown = (f64::from(placement.width), f64::from(placement.height));
        let (own_width, own_height) = if placement.turn.is_sideways() { (shown.1, shown.0) } else { shown };
        let begin = |whole: f64, own: f64| ((whole - own) / 2.0).max(0.0);
        Self {
            left: begin(width, own_width),
            top: begin(height, own_height),
            width: own_width,
            height: own_height,
        }
    }
}

fn crop(placement: &Placement) -> String {
    let crop = placement.crop;
    let mut sides = String::new();
    for (name, cut) in [("l", crop.left), ("t", crop.top), ("r", crop.right), ("b", crop.bottom)] {
        if cut > 0 {
            // Writing into a String does not fail.
            let _ = write!(sides, " {name}=\"{cut}\"");
        }
    }
    if sides.is_empty() { sides } else { format!("<a:srcRect{sides}/>") }
}

/// 60,000ths of a degree in a quarter turn.
const QUARTER: u32 = 5_400_000;

fn turn(placement: &Placement) -> String {
    let turn = placement.turn;
    let rotation = u32::from(turn.quarters) * QUARTER;
    let rotation = if rotation > 0 { format!(" rot=\"{rotation}\"") } else { String::new() };
    rotation + if turn.mirrored { " flipH=\"1\"" } else { "" }
}

/// The merged ranges of a sheet by their first cell.
fn merges(sheet: &Sheet) -> HashMap<At, Range> {
    let behind = sheet.xml.get(sheet.behind..).unwrap_or_default();
    let merges = memmem::find_iter(behind, b"mergeCell ").filter_map(|at| {
        let tag = behind.get(at..)?;
        let tag = tag.get(..=memchr::memchr(b'>', tag)?)?;
        let range = Range::parse(&attribute_of(tag, |name| name == b"ref")?)?;
        Some((range.first_cell(), range))
    });
    merges.collect()
}
