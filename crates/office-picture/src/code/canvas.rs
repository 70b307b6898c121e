//! Pixels of one ink, and the PNG they become.

use super::colour::Colours;

/// How much ink each pixel has: 0 none, 255 all.
pub(super) struct Canvas {
    pub width: usize,
    height: usize,
    ink: Vec<u8>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, ink: vec![0; width.saturating_mul(height)] }
    }

    /// Fills a rectangle; what lies outside of the canvas is left out.
    pub(super) fn fill(&mut self, (left, top): (usize, usize), (width, height): (usize, usize)) {
        for row in self.ink.chunks_exact_mut(self.width.max(1)).skip(top).take(height) {
            row.iter_mut().skip(left).take(width).for_each(|pixel| *pixel = u8::MAX);
        }
    }

    /// Draws a line with round ends; its edges are smooth.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), radius: f64) {
        let reach = radius + 1.0;
        let (left, right) = (from.0.min(to.0) - reach, from.0.max(to.0) + reach);
        let (top, bottom) = (from.1.min(to.1) - reach, from.1.max(to.1) + reach);
        let rows = self.ink.chunks_exact_mut(self.width.max(1)).enumerate().skip(whole(top));
        for (y, row) in rows.take(whole(bottom - top) + 2) {
            for (x, pixel) in row.iter_mut().enumerate().skip(whole(left)).take(whole(right - left) + 2) {
                let distance = distance((centre(x), centre(y)), from, to);
                let cover = ((radius - distance + 0.5).clamp(0.0, 1.0)) * 255.0;
                *pixel = (*pixel).max(byte(cover));
            }
        }
    }

    /// The PNG: one bit a pixel, or four where edges are smooth.
    pub(super) fn png(&self, colours: Colours, pixels_per_metre: u32) -> Result<Vec<u8>, String> {
        let is_sharp = self.ink.iter().all(|&ink| ink == 0 || ink == u8::MAX);
        let (bits, depth) = if is_sharp { (1, png::BitDepth::One) } else { (4, png::BitDepth::Four) };
        let highest = (1_u8 << bits) - 1;
        let palette: Vec<u8> = (0..=highest)
            .flat_map(|step| colours.background.towards(colours.ink, step * (255 / highest)).0)
            .collect();
        let mut rows = Vec::with_capacity(self.ink.len() / 2);
        for row in self.ink.chunks_exact(self.width.max(1)) {
            for pixels in row.chunks(8 / bits) {
                let packed = pixels.iter().fold(0_u8, |packed, &ink| (packed << bits) | (ink >> (8 - bits)));
                rows.push(packed << (bits * (8 / bits - pixels.len())));
            }
        }
        self.write(&rows, palette, depth, pixels_per_metre)
            .map_err(|error| format!("the code cannot be written as PNG: {error}"))
    }

    fn write(
        &self,
        rows: &[u8],
        palette: Vec<u8>,
        depth: png::BitDepth,
        pixels_per_metre: u32,
    ) -> Result<Vec<u8>, png::EncodingError> {
        let mut out = Vec::new();
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        let mut encoder = png::Encoder::new(&mut out, side(self.width), side(self.height));
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(depth);
        encoder.set_palette(palette);
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: pixels_per_metre,
            yppu: pixels_per_metre,
            unit: png::Unit::Meter,
        }));
        let mut writer = encoder.write_header()?;
        writer.write_image_data(rows)?;
        writer.finish()?;
        Ok(out)
    }
}

/// How far a place is from a line.
fn distance(place: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (across, down) = (to.0 - from.0, to.1 - from.1);
    let length = across * across + down * down;
    let along =
        if length > 0.0 { ((place.0 - from.0) * across + (place.1 - from.1) * down) / length } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (place.0 - (from.0 + across * along)).hypot(place.1 - (from.1 + down * along))
}

#[expect(clippy::cast_precision_loss, reason = "a canvas has some thousand pixels a side")]
fn centre(pixel: usize) -> f64 {
    pixel as f64 + 0.5
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a negative place is the edge")]
fn whole(place: f64) -> usize {
    place.max(0.0) as usize
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
fn byte(cover: f64) -> u8 {
    cover.round() as u8
}
