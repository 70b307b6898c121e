//! One directory of fields as TIFF files and the Exif data of JPEGs have them.

use super::Flaw;
use super::bytes::{Order, array, place};

/// The fields a picture's measures are made of.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub width: Option<u32>,
    pub height: Option<u32>,
    pub dpi: Option<(f64, f64)>,
    /// 1 to 8; 0 if it isn't said.
    pub orientation: u32,
    /// Where the pixels are and how long, the first value of each; the whole list is `pieces` long.
    pub offsets: Option<Field>,
    pub lengths: Option<Field>,
}

/// A field of whole numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    order: Order,
    is_long: bool,
    pub count: usize,
    at: usize,
}

impl Field {
    pub(super) fn value(&self, bytes: &[u8], index: usize) -> Result<u32, Flaw> {
        let size = if self.is_long { 4 } else { 2 };
        let at =
            index.checked_mul(size).and_then(|offset| self.at.checked_add(offset)).ok_or(Flaw::CutShort)?;
        if self.is_long { self.order.four(bytes, at) } else { self.order.two(bytes, at).map(u32::from) }
    }
}

/// Reads the first directory of TIFF data.
pub(super) fn read(bytes: &[u8]) -> Result<Facts, Flaw> {
    let order = match &array::<2>(bytes, 0)? {
        b"II" => Order::Little,
        b"MM" => Order::Big,
        _ => return Err(Flaw::Wrong("says no order of its bytes; save it again")),
    };
    let directory = place(order.four(bytes, 4)?)?;
    let mut facts = Facts::default();
    let (mut resolution, mut unit) = ((None, None), 2);
    for index in 0..usize::from(order.two(bytes, directory)?) {
        let at = directory.checked_add(2 + 12 * index).ok_or(Flaw::CutShort)?;
        let tag = order.two(bytes, at)?;
        match tag {
            0x11a => resolution.0 = Some(ratio(bytes, order, at)?),
            0x11b => resolution.1 = Some(ratio(bytes, order, at)?),
            _ => {}
        }
        let Some(field) = whole_numbers(bytes, order, at)? else { continue };
        match tag {
            0x100 => facts.width = Some(field.value(bytes, 0)?),
            0x101 => facts.height = Some(field.value(bytes, 0)?),
            // Strips or tiles.
            0x111 | 0x144 => facts.offsets = Some(field),
            0x117 | 0x145 => facts.lengths = Some(field),
            0x112 => facts.orientation = field.value(bytes, 0)?,
            0x128 => unit = field.value(bytes, 0)?,
            _ => {}
        }
    }
    facts.dpi = match (resolution, unit) {
        ((Some(across), Some(down)), 2) => Some((across, down)),
        ((Some(across), Some(down)), 3) => Some((across * 2.54, down * 2.54)),
        _ => None,
    };
    Ok(facts)
}

/// A field of two- or four-byte numbers; they stand in the field itself when they fit.
fn whole_numbers(bytes: &[u8], order: Order, at: usize) -> Result<Option<Field>, Flaw> {
    let is_long = match order.two(bytes, at + 2)? {
        3 => false,
        4 => true,
        _ => return Ok(None),
    };
    let count = place(order.four(bytes, at + 4)?)?;
    let fits = count <= if is_long { 1 } else { 2 };
    let at = if fits { at + 8 } else { place(order.four(bytes, at + 8)?)? };
    Ok((count > 0).then_some(Field { order, is_long, count, at }))
}

fn ratio(bytes: &[u8], order: Order, at: usize) -> Result<f64, Flaw> {
    let at = place(order.four(bytes, at + 8)?)?;
    let (above, below) =
        (order.four(bytes, at)?, order.four(bytes, at.checked_add(4).ok_or(Flaw::CutShort)?)?);
    Ok(f64::from(above) / f64::from(below.max(1)))
}
