//! Pictures that no compression makes smaller.

use std::io;

/// A square PNG of random colours, three bytes a pixel.
pub fn picture(side_px: u32) -> io::Result<Vec<u8>> {
    let mut pixels = vec![0; 3 * side_px as usize * side_px as usize];
    getrandom::fill(&mut pixels).map_err(io::Error::other)?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side_px, side_px);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(io::Error::other)?;
    Ok(file)
}
