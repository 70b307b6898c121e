//! WebP: Office doesn't draw it, so it is decoded and stored as PNG, with every pixel as it was. Of a moving one the first frame is taken.

use std::io::Cursor;

use super::bytes::{Order, place, slice};
use super::{Flaw, Measures};

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    slice(bytes, 8, place(Order::Little.four(bytes, 4)?)?)?;
    let (width, height) = decoder(bytes)?.dimensions();
    Ok(Measures::new(width, height))
}

/// The picture as PNG. Its pixels were counted before.
pub(crate) fn to_png(bytes: &[u8], limit: usize) -> Result<Vec<u8>, Flaw> {
    let mut decoder = decoder(bytes)?;
    decoder.set_memory_limit(limit);
    let (width, height) = decoder.dimensions();
    let colour = if decoder.has_alpha() { png::ColorType::Rgba } else { png::ColorType::Rgb };
    let mut pixels = vec![0; decoder.output_buffer_size().ok_or(DAMAGED)?];
    decoder.read_image(&mut pixels).map_err(flaw)?;
    let mut stored = Vec::new();
    let mut encoder = png::Encoder::new(&mut stored, width, height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(|_| DAMAGED)?;
    writer.write_image_data(&pixels).map_err(|_| DAMAGED)?;
    writer.finish().map_err(|_| DAMAGED)?;
    Ok(stored)
}

const DAMAGED: Flaw = Flaw::Wrong("is damaged; save it again, or as PNG");

fn decoder(bytes: &[u8]) -> Result<image_webp::WebPDecoder<Cursor<&[u8]>>, Flaw> {
    image_webp::WebPDecoder::new(Cursor::new(bytes)).map_err(flaw)
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands over")]
fn flaw(error: image_webp::DecodingError) -> Flaw {
    if matches!(error, image_webp::DecodingError::IoError(_)) { Flaw::CutShort } else { DAMAGED }
}
