//! JPEG: the segments before the pixels are walked, the picture's end is looked for.

use super::bytes::{Order, array, slice};
use super::{Flaw, Measures, exif};
use crate::turn::Turn;

const BIG: Order = Order::Big;
const END: [u8; 2] = [0xff, 0xd9];

/// What the segments say, gathered.
#[derive(Default)]
struct Segments {
    size: Option<(u32, u32)>,
    density: Option<(f64, f64)>,
    exif: exif::Facts,
}

pub(super) fn measure(bytes: &[u8]) -> Result<Measures, Flaw> {
    let mut segments = Segments::default();
    let mut at = 2;
    loop {
        let [start, marker] = array(bytes, at)?;
        match (start, marker) {
            (0xff, 0xff) => {
                at += 1;
                continue;
            }
            // A marker without contents.
            (0xff, 0x01 | 0xd0..=0xd8) => {
                at += 2;
                continue;
            }
            (0xff, 0xd9) => return Err(Flaw::Wrong("ends before its pixels; save it again")),
            (0xff, _) => {}
            _ => return Err(Flaw::Wrong("is damaged between its segments; save it again")),
        }
        let length = usize::from(BIG.two(bytes, at + 2)?);
        let data = slice(
            bytes,
            at + 4,
            length.checked_sub(2).ok_or(Flaw::Wrong("has a segment without a length; save it again"))?,
        )?;
        segments.read(marker, data)?;
        at += 2 + length;
        if marker == 0xda {
            break;
        }
    }
    // Only bytes after the pixels' beginning: a small picture inside the Exif data has an end of its own.
    memchr::memmem::rfind(bytes.get(at..).unwrap_or_default(), &END).ok_or(Flaw::CutShort)?;
    segments.measures()
}

impl Segments {
    fn read(&mut self, marker: u8, data: &[u8]) -> Result<(), Flaw> {
        match marker {
            0xc0..=0xc2 => {
                if array(data, 0)? != [8] {
                    return Err(Flaw::Wrong(
                        "has more than 8 bits a colour, which Office doesn't draw; save it with 8 bits or as PNG",
                    ));
                }
                self.size = Some((u32::from(BIG.two(data, 3)?), u32::from(BIG.two(data, 1)?)));
            }
            0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Err(Flaw::Wrong(
                    "is of a kind that Office doesn't draw (lossless or arithmetic); save it as baseline JPEG or as PNG",
                ));
            }
            0xe0 if data.starts_with(b"JFIF\0") => self.density = jfif_density(data)?,
            // Exif data that cannot be read say nothing; the picture is drawn without them.
            0xe1 if data.starts_with(b"Exif\0\0") => {
                self.exif = exif::read(data.get(6..).unwrap_or_default()).unwrap_or_default();
            }
            _ => {}
        }
        Ok(())
    }

    fn measures(self) -> Result<Measures, Flaw> {
        let (width, height) = self.size.ok_or(Flaw::Wrong("doesn't say its size; save it again"))?;
        if height == 0 {
            return Err(Flaw::Wrong("says its height only after its pixels; save it again"));
        }
        Ok(Measures {
            dpi: self.density.or(self.exif.dpi),
            turn: Turn::from_exif(self.exif.orientation),
            ..Measures::new(width, height)
        })
    }
}

/// Dots per inch or per centimetre; `None` if only the pixel's shape is said.
fn jfif_density(data: &[u8]) -> Result<Option<(f64, f64)>, Flaw> {
    let [unit] = array(data, 7)?;
    let (across, down) = (f64::from(BIG.two(data, 8)?), f64::from(BIG.two(data, 10)?));
    Ok(match unit {
        1 => Some((across, down)),
        2 => Some((across * 2.54, down * 2.54)),
        _ => None,
    })
}
