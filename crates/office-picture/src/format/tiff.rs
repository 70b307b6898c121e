//! TIFF: the first page.

use super::bytes::{place, slice};
use super::{Flaw, Measures, exif};

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    let facts = exif::read(bytes)?;
    let (Some(width), Some(height)) = (facts.width, facts.height) else {
        return Err(Flaw::Wrong("doesn't say its size; save it again"));
    };
    let (Some(offsets), Some(lengths)) = (facts.offsets, facts.lengths) else {
        return Err(Flaw::Wrong("doesn't say where its pixels are; save it again"));
    };
    if offsets.count != lengths.count {
        return Err(Flaw::Wrong("doesn't say where its pixels end; save it again"));
    }
    for index in 0..offsets.count {
        slice(bytes, place(offsets.value(bytes, index)?)?, place(lengths.value(bytes, index)?)?)?;
    }
    Ok(Measures { dpi: facts.dpi, ..Measures::new(width, height) })
}
