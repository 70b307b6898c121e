//! AVIF: boxes one after the other (ISO/IEC 14496-12, 4.2), which Office doesn't draw.

use super::bytes::{Order, place};

/// Whether these are the boxes of an AVIF whose last one isn't whole.
pub(super) fn is_cut_short(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let is_avif = bytes.get(4..12).is_some_and(|brand| matches!(brand, b"ftypavif" | b"ftypavis"));
    while is_avif && !rest.is_empty() {
        let Ok(length) = Order::Big.four(rest, 0).and_then(place) else { return true };
        // The last box may say no length, and a large one says it elsewhere.
        if length < 8 {
            return false;
        }
        let Some(behind) = rest.get(length..) else { return true };
        rest = behind;
    }
    false
}
