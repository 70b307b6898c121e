//! Tiny pictures of every format, whole and drawable.

use std::io::Cursor;

/// Red, green, blue and alpha of every pixel, all unlike.
pub fn pixels(width: u8, height: u8) -> Vec<u8> {
    (0..height).flat_map(|y| (0..width).flat_map(move |x| [x * 40, y * 60, 200, 255 - x * 9 - y])).collect()
}

/// 300 dots an inch across and 150 down.
pub fn png(width: u8, height: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width.into(), height.into());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: 11_811, yppu: 5_906, unit: png::Unit::Meter }));
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&pixels(width, height)).unwrap();
    writer.finish().unwrap();
    out
}

pub fn decode_png(bytes: &[u8]) -> (Vec<u8>, png::OutputInfo) {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (pixels, info)
}

pub fn webp(width: u8, height: u8) -> Vec<u8> {
    let mut out = Vec::new();
    image_webp::WebPEncoder::new(&mut out)
        .encode(&pixels(width, height), width.into(), height.into(), image_webp::ColorType::Rgba8)
        .unwrap();
    out
}

/// Grey, 16 × 8 pixels, 72 dots an inch across and 144 down.
pub fn jpeg(orientation: Option<u8>) -> Vec<u8> {
    let mut out = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x02\x01\0\x48\0\x90\0\0".to_vec();
    if let Some(orientation) = orientation {
        out.extend(b"\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0");
        out.extend([orientation, 0, 0, 0, 0, 0, 0]);
    }
    out.extend(b"\xff\xdb\0\x43\0");
    out.extend([1; 64]);
    out.extend(b"\xff\xc0\0\x0b\x08\0\x08\0\x10\x01\x01\x11\0");
    // One code in each table: no difference, end of the block.
    for table in [0x00, 0x10] {
        out.extend(b"\xff\xc4\0\x14");
        out.extend([table, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    out.extend(b"\xff\xda\0\x08\x01\x01\0\0\x3f\0\x0f\xff\xd9");
    out
}

pub fn gif() -> Vec<u8> {
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
        .to_vec()
}

/// 200 dots an inch.
pub fn bmp(width: u32, height: u32) -> Vec<u8> {
    let row = (width * 3).div_ceil(4) * 4;
    let mut out = b"BM".to_vec();
    for number in [54 + row * height, 0, 54, 40, width, height] {
        out.extend(number.to_le_bytes());
    }
    out.extend([1, 0, 24, 0]);
    for number in [0, row * height, 7874, 7874, 0, 0] {
        out.extend(number.to_le_bytes());
    }
    out.extend(vec![90; (row * height) as usize]);
    out
}

/// 100 dots a centimetre across and 50 down.
pub fn tiff(width: u32, height: u32) -> Vec<u8> {
    let entries: [(u16, u16, u32); 12] = [
        (0x100, 4, width),
        (0x101, 4, height),
        (0x102, 3, 8),
        (0x103, 3, 1),
        (0x106, 3, 1),
        (0x111, 4, 174),
        (0x115, 3, 1),
        (0x116, 4, height),
        (0x117, 4, width * height),
        (0x11a, 5, 158),
        (0x11b, 5, 166),
        (0x128, 3, 3),
    ];
    let mut out = b"II*\0\x08\0\0\0\x0c\0".to_vec();
    for (tag, kind, value) in entries {
        out.extend(tag.to_le_bytes());
        out.extend(kind.to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend(value.to_le_bytes());
    }
    for number in [0_u32, 100, 1, 50, 1] {
        out.extend(number.to_le_bytes());
    }
    out.extend(vec![120; (width * height) as usize]);
    out
}

/// 1 × 0.5 inches, empty.
pub fn emf() -> Vec<u8> {
    let mut out = Vec::new();
    for number in [
        1_u32,
        88,
        0,
        0,
        95,
        47,
        0,
        0,
        2540,
        1270,
        0x464d_4520,
        0x1_0000,
        108,
        2,
        1,
        0,
        0,
        0,
        1920,
        1080,
        508,
        286,
    ] {
        out.extend(number.to_le_bytes());
    }
    for number in [14_u32, 20, 0, 16, 20] {
        out.extend(number.to_le_bytes());
    }
    out
}

/// 2 × 1 inches, empty.
pub fn wmf() -> Vec<u8> {
    let mut words: Vec<u16> = vec![0xcdd7, 0x9ac6, 0, 0, 0, 2880, 1440, 1440, 0, 0];
    words.push(words.iter().fold(0, |sum, word| sum ^ word));
    words.extend([1, 9, 0x300, 12, 0, 0, 3, 0, 0, 3, 0, 0]);
    words.into_iter().flat_map(u16::to_le_bytes).collect()
}
