//! A picture that has been recognised and measured.

use crate::extent::{EMU_PER_INCH, Extent};
use crate::format::{self, Flaw, Format};
use crate::limits::Limits;
use crate::turn::Turn;

/// What Office assumes of a picture that doesn't say its resolution.
const USUAL_DPI: f64 = 96.0;

/// A picture as an Office file takes it.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The format in which it came.
    pub format: Format,
    /// Pixels across, as stored: before the turn.
    pub width: u32,
    /// Pixels down, as stored: before the turn.
    pub height: u32,
    /// Dots per inch, across and down, as stored.
    pub dpi: (f64, f64),
    /// How it has to be turned to be seen upright.
    pub turn: Turn,
    /// The bytes to store: those that came, or a PNG instead of a WebP.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Recognises a picture by its bytes, whatever its name says, and measures it.
    ///
    /// # Errors
    /// A sentence for the author: what the bytes are, and what to send instead.
    pub fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Self, String> {
        if bytes.is_empty() {
            return Err("the picture is empty".to_owned());
        }
        if bytes.len() > limits.bytes {
            return Err(format!(
                "the picture has {} bytes, and {} are allowed; make it smaller",
                bytes.len(),
                limits.bytes
            ));
        }
        let Some(format) = Format::recognise(&bytes) else { return Err(unknown(&bytes)) };
        let measures = format.measure(&bytes).map_err(|flaw| sentence(format, flaw))?;
        check_pixels(format, measures.width, measures.height, limits)?;
        let bytes = if format == Format::WebP {
            format::webp_to_png(&bytes, decoded_bytes(limits)).map_err(|flaw| sentence(format, flaw))?
        } else {
            bytes
        };
        let dpi = measures.dpi.filter(is_sane).unwrap_or((USUAL_DPI, USUAL_DPI));
        Ok(Self { format, width: measures.width, height: measures.height, dpi, turn: measures.turn, bytes })
    }

    /// The extension of the part that holds [`Picture::bytes`], without a dot.
    pub fn extension(&self) -> &'static str {
        self.format.stored().extension()
    }

    /// The content type of the part that holds [`Picture::bytes`].
    pub fn content_type(&self) -> &'static str {
        self.format.stored().content_type()
    }

    /// How large it is by itself, seen upright.
    pub fn natural_size(&self) -> Extent {
        let side = |pixels: u32, dpi: f64| f64::from(pixels) / dpi * EMU_PER_INCH;
        let stored = Extent::new(side(self.width, self.dpi.0), side(self.height, self.dpi.1));
        if self.turn.is_sideways() { stored.swapped() } else { stored }
    }
}

/// A resolution of one dot or of a million would make a picture of no use; such figures are slips of the program that wrote them.
fn is_sane((across, down): &(f64, f64)) -> bool {
    (10.0..=4800.0).contains(across) && (10.0..=4800.0).contains(down)
}

fn check_pixels(format: Format, width: u32, height: u32, limits: &Limits) -> Result<(), String> {
    if width == 0 || height == 0 {
        return Err(format!("this {} has no pixels; save it again", format.name()));
    }
    let allowed = match format {
        Format::WebP => limits.decoded_pixels,
        Format::Png | Format::Jpeg | Format::Gif | Format::Bmp | Format::Tiff | Format::Emf | Format::Wmf => {
            limits.pixels
        }
    };
    if u64::from(width) * u64::from(height) > allowed {
        let name = format.name();
        return Err(format!(
            "this {name} has {width} × {height} pixels, and {allowed} are allowed; make it smaller"
        ));
    }
    Ok(())
}

fn decoded_bytes(limits: &Limits) -> usize {
    usize::try_from(limits.decoded_pixels.saturating_mul(4)).unwrap_or(usize::MAX)
}

fn sentence(format: Format, flaw: Flaw) -> String {
    let name = format.name();
    match flaw {
        Flaw::CutShort => {
            format!("this {name} is cut short: its file ends before the picture does; send all of it")
        }
        Flaw::Wrong(what) => format!("this {name} {what}"),
    }
}

fn unknown(bytes: &[u8]) -> String {
    match format::refused(bytes) {
        Some((name, remedy)) => format!("the picture is {name}, which isn't taken: {remedy}"),
        None => {
            "these bytes are no picture that Office draws; send PNG, JPEG, GIF, BMP, TIFF, EMF, WMF or WebP"
                .to_owned()
        }
    }
}
