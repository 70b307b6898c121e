//! A drawn page as a file: PNG or JPEG.

use hayro::vello_cpu::Pixmap;
use image::codecs::jpeg::{JpegEncoder, PixelDensity};
use image::{ExtendedColorType, ImageError};
use png::{BitDepth, ColorType, Compression, Encoder, PixelDimensions, Unit};
use serde::{Deserialize, Serialize};

use crate::resolution::Resolution;

/// What a picture becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// PNG.
    Png,
    /// JPEG of this quality, 1 to 100.
    Jpeg(u8),
}

impl Format {
    /// How names of such files end, without the point.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg(_) => "jpg",
        }
    }

    /// The file of an opaque picture, which says of itself how large it is meant to be.
    pub(crate) fn encode(self, picture: Pixmap, resolution: Resolution) -> Result<Vec<u8>, String> {
        let (width, height) = (picture.width(), picture.height());
        let colours = colours(&picture);
        drop(picture);
        match self {
            Self::Png => encode_png(&colours, (width, height), resolution).map_err(|error| error.to_string()),
            Self::Jpeg(quality) => {
                let size = (u32::from(width), u32::from(height));
                encode_jpeg(&colours, size, resolution, quality).map_err(|error| error.to_string())
            }
        }
    }
}

/// Red, green and blue of each pixel. Nothing is transparent, so nothing is to be divided by.
fn colours(picture: &Pixmap) -> Vec<u8> {
    let pixels = picture.data_as_u8_slice();
    let mut colours = Vec::with_capacity(pixels.len() / 4 * 3);
    for pixel in pixels.chunks_exact(4) {
        colours.extend(pixel.iter().take(3));
    }
    colours
}

fn encode_png(
    colours: &[u8],
    (width, height): (u16, u16),
    resolution: Resolution,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, u32::from(width), u32::from(height));
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let per_metre = resolution.per_metre();
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(colours)?;
    writer.finish()?;
    Ok(file)
}

/// What has no colour is written without: it takes a third of the time.
fn encode_jpeg(
    colours: &[u8],
    (width, height): (u32, u32),
    resolution: Resolution,
    quality: u8,
) -> Result<Vec<u8>, ImageError> {
    let mut file = Vec::new();
    let mut jpeg = JpegEncoder::new_with_quality(&mut file, quality);
    jpeg.set_pixel_density(PixelDensity::dpi(resolution.dpi()));
    let is_grey = |pixel: &[u8]| matches!(pixel, [red, green, blue] if red == green && green == blue);
    if colours.chunks_exact(3).all(is_grey) {
        let greys: Vec<u8> = colours.iter().step_by(3).copied().collect();
        jpeg.encode(&greys, width, height, ExtendedColorType::L8)?;
    } else {
        jpeg.encode(colours, width, height, ExtendedColorType::Rgb8)?;
    }
    Ok(file)
}
