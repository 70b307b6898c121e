//! BMP: the header says how long the pixels are, if they aren't packed.

use super::bytes::{Order, place, slice};
use super::{Flaw, Measures};

const LITTLE: Order = Order::Little;

/// Whether a header of a known length follows the two letters.
pub(super) fn has_header(bytes: &[u8]) -> bool {
    matches!(LITTLE.four(bytes, 14), Ok(12 | 40 | 52 | 56 | 64 | 108 | 124))
}

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    let pixels_at = place(LITTLE.four(bytes, 10)?)?;
    if LITTLE.four(bytes, 14)? == 12 {
        let (width, height) = (LITTLE.two(bytes, 18)?, LITTLE.two(bytes, 20)?);
        whole(bytes, pixels_at, u32::from(width), u32::from(height), LITTLE.two(bytes, 24)?)?;
        return Ok(Measures::new(u32::from(width), u32::from(height)));
    }
    // A negative height means that the rows run downwards.
    let (width, height) = (LITTLE.four(bytes, 18)?, LITTLE.four_signed(bytes, 22)?.unsigned_abs());
    let is_packed = !matches!(LITTLE.four(bytes, 30)?, 0 | 3 | 6);
    if is_packed {
        slice(bytes, pixels_at, place(LITTLE.four(bytes, 34)?)?)?;
    } else {
        whole(bytes, pixels_at, width, height, LITTLE.two(bytes, 28)?)?;
    }
    let per_inch = |at| LITTLE.four(bytes, at).map(|per_metre| f64::from(per_metre) * 0.0254);
    Ok(Measures { dpi: Some((per_inch(38)?, per_inch(42)?)), ..Measures::new(width, height) })
}

/// Whether all rows are there; each is filled up to four bytes.
fn whole(bytes: &[u8], at: usize, width: u32, height: u32, bits: u16) -> Result<(), Flaw> {
    let row = u64::from(width).saturating_mul(u64::from(bits)).div_ceil(32).saturating_mul(4);
    let length = usize::try_from(row.saturating_mul(u64::from(height))).map_err(|_| Flaw::CutShort)?;
    slice(bytes, at, length).map(|_| ())
}
