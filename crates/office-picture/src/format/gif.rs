//! GIF: its blocks are walked to the trailer.

use super::bytes::{Order, array, slice};
use super::{Flaw, Measures};

const LITTLE: Order = Order::Little;

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    let measures = Measures::new(u32::from(LITTLE.two(bytes, 6)?), u32::from(LITTLE.two(bytes, 8)?));
    let mut at = 13 + colours(array(bytes, 10)?);
    let mut has_frame = false;
    loop {
        match array(bytes, at)? {
            [b';'] if has_frame => return Ok(measures),
            [b';'] => return Err(Flaw::Wrong("has no frame; save it again")),
            [b'!'] => at = past_blocks(bytes, at + 2)?,
            [b','] => {
                at = past_blocks(bytes, at + 11 + colours(array(bytes, at + 9)?))?;
                has_frame = true;
            }
            _ => return Err(Flaw::Wrong("is damaged between its frames; save it again")),
        }
    }
}

/// Bytes of the colour table that these flags announce.
fn colours([flags]: [u8; 1]) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// Blocks of up to 255 bytes, up to one of none.
fn past_blocks(bytes: &[u8], mut at: usize) -> Result<usize, Flaw> {
    loop {
        let [length] = array(bytes, at)?;
        slice(bytes, at + 1, usize::from(length))?;
        at += 1 + usize::from(length);
        if length == 0 {
            return Ok(at);
        }
    }
}
