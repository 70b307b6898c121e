//! What lies over the cells of a sheet, and which of LibreOffice's pictures shows it.
//!
//! Hazard: Calc's HTML names no picture, so only their order tells what they show, and one too many or too few would give a
//! chart the picture of another. That order is known: what lies over empty cells only stands in the first of them, the rest
//! behind the table, from the lowest to the uppermost. So it is foretold, and believed where number, places and sizes agree;
//! otherwise only what has a size that nothing else has gets a picture.

use roxmltree::{Node, NodeId};

use crate::css::points;
use crate::drawings::is_drawing;
use crate::grid::{Area, Grid, cells};
use crate::pictures::{Image, sum};
use crate::writer::Writer;
use crate::xml::{attribute, child, name};

/// Pixels by which a size may differ: both are rounded.
const ROUNDED: f64 = 3.0;

/// Something that lies over cells.
struct Object<'a, 'i> {
    node: Node<'a, 'i>,
    /// How far above the others it lies.
    level: usize,
    area: Area,
    /// How large its picture is, in pixels, where that is sure.
    size: Option<(f64, f64)>,
    /// The checksum of its picture in the package.
    sum: Option<String>,
}

impl Writer<'_, '_> {
    /// Finds the pictures of what lies over a sheet's cells; the sheet is the document's `number`th.
    pub(crate) fn find_pictures(&mut self, number: usize, sheet: Node<'_, '_>, grid: &Grid<'_, '_>) {
        let mut objects = self.objects(sheet, grid);
        if objects.is_empty() {
            return;
        }
        let images = self.drawn.images(number);
        objects.sort_by_key(|object| object.level);
        for (node, place) in paired(&objects, &images, grid) {
            if let Some(picture) = images.get(place).and_then(|image| image.picture.clone()) {
                self.drawn.give(node, picture);
            }
        }
    }

    fn objects<'a, 'i>(&self, sheet: Node<'a, 'i>, grid: &Grid<'a, 'i>) -> Vec<Object<'a, 'i>> {
        let mut objects = Vec::new();
        let mut add = |parent: Node<'a, 'i>, from| {
            for node in parent.children().filter(|one| is_drawing(*one)) {
                // A link around what is drawn.
                let inner =
                    if name(node).1 == "a" { node.children().find(Node::is_element) } else { Some(node) };
                objects.extend(inner.map(|node| self.object(node, from, grid)));
            }
        };
        for shapes in sheet.children().filter(|one| name(*one) == ("table", "shapes")) {
            add(shapes, (0, 0));
        }
        for rows in &grid.rows {
            for (columns, cell) in cells(rows.row) {
                add(cell, (rows.start, columns.start));
            }
        }
        objects
    }

    fn object<'a, 'i>(
        &self,
        node: Node<'a, 'i>,
        from: (usize, usize),
        grid: &Grid<'_, '_>,
    ) -> Object<'a, 'i> {
        let [left, top, right, bottom] = bounds(node).unwrap_or_default();
        let line = self.line_width(node);
        let (x, y) = (left - line / 2.0, top - line / 2.0);
        let (width, height) = (right - left + line, bottom - top + line);
        let area = grid.area(from, (x, y), (width, height));
        let hides = (area.first.0..=area.last.0).any(|row| grid.hides_row(row))
            || (area.first.1..=area.last.1).any(|column| grid.hides_column(column));
        let image = child(node, "draw", "image").and_then(|image| attribute(image, "xlink", "href"));
        // Of a drawing also shadows and ends of lines are in the picture; in a file a size goes on under what is hidden.
        let sure =
            name(node) == ("draw", "frame") && attribute(node, "draw", "transform").is_none() && !hides;
        Object {
            node,
            level: attribute(node, "draw", "z-index").and_then(|one| one.parse().ok()).unwrap_or(usize::MAX),
            area,
            size: sure.then_some((width / 0.75, height / 0.75)),
            sum: image.and_then(sum),
        }
    }

    /// How wide the line around something is, in points.
    fn line_width(&self, node: Node<'_, '_>) -> f64 {
        let drawn = self.graphic(node, ("draw", "stroke")).is_some_and(|stroke| stroke != "none");
        let width = self.graphic(node, ("svg", "stroke-width")).filter(|_| drawn).and_then(points);
        width.unwrap_or(0.0).max(0.0)
    }
}

/// Where something begins and ends, in points from the corner of its cell: left, top, right, bottom. A group goes around all
/// of its parts.
fn bounds(node: Node<'_, '_>) -> Option<[f64; 4]> {
    let parts = node.descendants().filter(|one| name(*one).0 == "draw");
    own_bounds(node).or_else(|| {
        parts.filter_map(own_bounds).reduce(|[left, top, right, bottom], other| {
            [left.min(other[0]), top.min(other[1]), right.max(other[2]), bottom.max(other[3])]
        })
    })
}

fn own_bounds(node: Node<'_, '_>) -> Option<[f64; 4]> {
    let length = |name| attribute(node, "svg", name).and_then(points);
    if let (Some(width), Some(height)) = (length("width"), length("height")) {
        let (x, y) = (length("x").unwrap_or(0.0), length("y").unwrap_or(0.0));
        return Some([x, y, x + width, y + height]);
    }
    let (x1, y1, x2, y2) = (length("x1")?, length("y1")?, length("x2")?, length("y2")?);
    Some([x1.min(x2), y1.min(y2), x1.max(x2), y1.max(y2)])
}

/// Which picture belongs to what.
fn paired(objects: &[Object<'_, '_>], images: &[Image], grid: &Grid<'_, '_>) -> Vec<(NodeId, usize)> {
    let foretold = in_order(objects, grid);
    let agree = foretold.len() == images.len()
        && foretold
            .iter()
            .zip(images)
            .all(|((in_cell, object), image)| *in_cell == image.in_cell && object.fits(image));
    if agree {
        return foretold.iter().enumerate().map(|(place, (_, object))| (object.node.id(), place)).collect();
    }
    let sure: Vec<_> = objects.iter().filter(|object| object.size.is_some()).collect();
    let only = |object: &&&Object<'_, '_>| {
        let mut fitting =
            (0..images.len()).filter(|place| images.get(*place).is_some_and(|image| object.fits(image)));
        let place = fitting.next().filter(|_| fitting.next().is_none())?;
        let image = images.get(place)?;
        (sure.iter().filter(|other| other.fits(image)).count() == 1).then_some((object.node.id(), place))
    };
    sure.iter().filter_map(|object| only(&object)).collect()
}

/// The objects in the order of their pictures, and whether each stands in a cell.
fn in_order<'o, 'a, 'i>(
    objects: &'o [Object<'a, 'i>],
    grid: &Grid<'_, '_>,
) -> Vec<(bool, &'o Object<'a, 'i>)> {
    let (mut over_empty, mut in_cells, mut behind) = (Vec::<&Area>::new(), Vec::new(), Vec::new());
    for object in objects {
        let first = object.area.first;
        let is_empty = grid.is_empty(&object.area);
        let is_taken = over_empty.iter().any(|area| area.holds(first));
        if is_empty && !is_taken && !grid.hides_row(first.0) && !grid.hides_column(first.1) {
            in_cells.push((true, object));
        } else {
            behind.push((false, object));
        }
        if is_empty {
            over_empty.push(&object.area);
        }
    }
    in_cells.sort_by_key(|(_, object)| object.area.first);
    in_cells.extend(behind);
    in_cells
}

impl Object<'_, '_> {
    /// Whether a picture may be of it.
    fn fits(&self, image: &Image) -> bool {
        let alike = |one: f64, other: f64| (one - other).abs() <= ROUNDED;
        let large = match (self.size, image.size) {
            (Some(own), Some(other)) => alike(own.0, other.0) && alike(own.1, other.1),
            _ => true,
        };
        large && (!image.is_packed || self.sum == image.sum)
    }
}
