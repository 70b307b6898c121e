//! Pictures of documents: reading, writing small, and what tells two of them apart.

use std::io::Cursor;

/// How far apart a colour of a pixel may be, of 255: what another version of the font rasteriser changes within
/// the edge of a letter, and the eye does not see.
const COLOUR_TOLERANCE: u8 = 24;

/// Red, green and blue of each pixel.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pixels: Vec<u8>,
}

impl Picture {
    /// The picture that a PNG holds.
    pub fn read(png: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(Cursor::new(png));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgba);
        let opaque = |pixel: &[u8]| pixel[3] == u8::MAX;
        assert!(pixels.chunks_exact(4).all(opaque), "a picture of a document is opaque");
        let pixels = pixels.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Self { width: info.width, height: info.height, pixels }
    }

    /// The picture as a PNG that is small.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.pixels).unwrap();
        writer.finish().unwrap();
        bytes
    }

    /// What differs: a picture in which it is red over the faded rest, and how many pixels it is. Pictures of
    /// another size differ in every pixel.
    pub fn difference(&self, other: &Self) -> (Self, usize) {
        if (self.width, self.height) != (other.width, other.height) {
            return (self.clone(), self.pixels.len() / 3);
        }
        let mut count = 0;
        let pairs = self.pixels.chunks_exact(3).zip(other.pixels.chunks_exact(3));
        let shown = pairs.flat_map(|(ours, theirs)| {
            let differs = ours.iter().zip(theirs).any(|(a, b)| a.abs_diff(*b) > COLOUR_TOLERANCE);
            count += usize::from(differs);
            if differs { [220, 0, 30] } else { [ours[0], ours[1], ours[2]].map(|colour| 191 + colour / 4) }
        });
        let pixels = shown.collect();
        (Self { pixels, ..*self }, count)
    }
}

#[test]
fn differing_pixels_are_counted_and_shown() {
    let picture = Picture { width: 2, height: 1, pixels: vec![255, 255, 255, 10, 20, 30] };
    assert!(Picture::read(&picture.write()) == picture);
    let near = Picture { pixels: vec![255, 231, 255, 34, 20, 30], ..picture };
    assert_eq!(picture.difference(&near).1, 0);
    let other = Picture { pixels: vec![255, 255, 230, 10, 20, 30], ..picture };
    let (shown, count) = picture.difference(&other);
    assert_eq!((shown.pixels[..3].to_vec(), count), (vec![220, 0, 30], 1));
    let larger = Picture { width: 1, height: 2, ..picture.clone() };
    assert_eq!(picture.difference(&larger).1, 2);
}
