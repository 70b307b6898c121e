//! PNG: its chunks are walked to `IEND`; their contents are left to whoever draws it.

use super::bytes::{Order, array, place, slice};
use super::{Flaw, Measures};

const SIGNATURE: usize = 8;
/// Length, name and checksum of a chunk.
const AROUND: usize = 12;

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    if slice(bytes, SIGNATURE + 4, 4)? == b"CgBI" {
        return Err(Flaw::Wrong("is of Apple's own kind, which only iPhones read; save it again as PNG"));
    }
    if slice(bytes, SIGNATURE + 4, 4)? != b"IHDR" {
        return Err(Flaw::Wrong("doesn't begin with its header; save it again"));
    }
    let mut measures =
        Measures::new(Order::Big.four(bytes, SIGNATURE + 8)?, Order::Big.four(bytes, SIGNATURE + 12)?);
    let (mut at, mut has_pixels) = (SIGNATURE, false);
    loop {
        let length = place(Order::Big.four(bytes, at)?)?;
        let data = slice(bytes, at + 8, length)?;
        match &array::<4>(bytes, at + 4)? {
            b"pHYs" => measures.dpi = resolution(data)?,
            b"IDAT" => has_pixels = true,
            b"IEND" if has_pixels => return slice(bytes, at, AROUND).map(|_| measures),
            b"IEND" => return Err(Flaw::Wrong("has no pixels; save it again")),
            _ => {}
        }
        at += AROUND + length;
    }
}

/// Whether every chunk has its checksum, the header is the first and the only one, and nothing lies behind the last one.
pub(super) fn has_checksums(bytes: &[u8]) -> bool {
    let mut at = SIGNATURE;
    while let Ok(length) = Order::Big.four(bytes, at).and_then(place) {
        let Ok(chunk) = slice(bytes, at + 4, length.saturating_add(4)) else { return false };
        let is_header = chunk.starts_with(b"IHDR");
        if array(bytes, at + 8 + length) != Ok(crc32fast::hash(chunk).to_be_bytes())
            || is_header != (at == SIGNATURE)
        {
            return false;
        }
        at += AROUND + length;
    }
    at == bytes.len()
}

/// Pixels per metre, if the unit is the metre and not merely the pixel's shape.
fn resolution(data: &[u8]) -> Result<Option<(f64, f64)>, Flaw> {
    let per_inch = |at| Ok(f64::from(Order::Big.four(data, at)?) * 0.0254);
    let is_metre = array::<1>(data, 8)? == [1];
    Ok(if is_metre { Some((per_inch(0)?, per_inch(4)?)) } else { None })
}
