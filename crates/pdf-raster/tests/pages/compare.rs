//! Pictures and how much two of them differ.

use std::io::{Cursor, Write as _};
use std::process::{Command, Stdio};

/// Boxes of so many pixels a side are compared, so that a letter may be drawn a little otherwise.
const BOX: usize = 4;
/// Boxes that differ by more than this are apart.
const APART: f64 = 60.0;

/// Red, green and blue of each pixel.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub colours: Vec<u8>,
}

/// How much two pictures differ.
#[derive(Debug)]
pub struct Likeness {
    /// The mean difference of a colour, of 255.
    pub mean: f64,
    /// The part of the boxes that are apart.
    pub apart: f64,
}

impl Likeness {
    pub fn is_within(&self, most: &Self) -> bool {
        self.mean <= most.mean && self.apart <= most.apart
    }
}

impl Picture {
    pub fn decode(png: &[u8]) -> Self {
        let mut reader = png::Decoder::new(Cursor::new(png)).read_info().unwrap();
        let mut colours = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut colours).unwrap();
        let bytes = match info.color_type {
            png::ColorType::Rgb => 3,
            png::ColorType::Rgba => 4,
            other
            @ (png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha | png::ColorType::Indexed) => {
                panic!("a picture of {other:?}")
            }
        };
        let colours = colours.chunks_exact(bytes).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        Self { width: info.width as usize, height: info.height as usize, colours }
    }

    pub fn has_ink(&self) -> bool {
        self.colours.iter().any(|colour| *colour < 128)
    }

    /// What both have is compared: one may be a pixel wider, for programs round otherwise, or end before the other.
    pub fn compare(&self, other: &Self) -> Likeness {
        assert!(self.width.abs_diff(other.width) <= 1, "{} and {} pixels wide", self.width, other.width);
        let (columns, rows) = (self.width.min(other.width) / BOX, self.height.min(other.height) / BOX);
        let boxes = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        let (mut sum, mut apart) = (0.0, 0.0);
        for at in boxes {
            let (ours, theirs) = (self.mean_of(at), other.mean_of(at));
            let differences = [0, 1, 2].map(|colour| (ours[colour] - theirs[colour]).abs());
            sum += differences.iter().sum::<f64>() / 3.0;
            if differences.iter().any(|difference| *difference > APART) {
                apart += 1.0;
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a picture has fewer boxes than 2^52")]
        let count = (columns * rows) as f64;
        Likeness { mean: sum / count, apart: apart / count }
    }

    fn mean_of(&self, (column, row): (usize, usize)) -> [f64; 3] {
        let mut sums = [0_u32; 3];
        for y in row * BOX..(row + 1) * BOX {
            for x in column * BOX..(column + 1) * BOX {
                let at = (y * self.width + x) * 3;
                for (sum, colour) in sums.iter_mut().zip(&self.colours[at..at + 3]) {
                    *sum += u32::from(*colour);
                }
            }
        }
        sums.map(|sum| f64::from(sum) / 16.0)
    }
}

/// What poppler makes of the first page.
pub fn poppler(pdf: &[u8], dpi: u16) -> Vec<u8> {
    let mut child = Command::new("pdftoppm")
        .args(["-png", "-cropbox", "-r", &dpi.to_string(), "-f", "1", "-l", "1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("pdftoppm is missing (apt-get install poppler-utils): {error}"));
    child.stdin.take().unwrap().write_all(pdf).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}
