//! QR codes.

use qrcodegen::{QrCode, QrCodeEcc};

use super::MODULE_PIXELS;
use super::canvas::Canvas;
use super::colour::Colours;
use crate::excerpt;

/// How much of a QR code may be lost or dirty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Correction {
    /// About 7 %.
    Low,
    /// About 15 %.
    #[default]
    Medium,
    /// About 25 %.
    Quartile,
    /// About 30 %.
    High,
}

impl Correction {
    /// Reads `L`, `M`, `Q` or `H`.
    ///
    /// # Errors
    /// A sentence for the author that shows what may be written.
    pub fn read(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_uppercase().as_str() {
            "L" => Ok(Self::Low),
            "M" => Ok(Self::Medium),
            "Q" => Ok(Self::Quartile),
            "H" => Ok(Self::High),
            _ => {
                Err(format!("\"{}\" is no error correction of a QR code; write L, M, Q or H", excerpt(text)))
            }
        }
    }

    /// Bytes that the largest code holds.
    fn capacity(self) -> usize {
        match self {
            Self::Low => 2953,
            Self::Medium => 2331,
            Self::Quartile => 1663,
            Self::High => 1273,
        }
    }

    fn level(self) -> QrCodeEcc {
        match self {
            Self::Low => QrCodeEcc::Low,
            Self::Medium => QrCodeEcc::Medium,
            Self::Quartile => QrCodeEcc::Quartile,
            Self::High => QrCodeEcc::High,
        }
    }
}

/// How a QR code is drawn.
#[derive(Debug, Clone, Copy)]
pub struct QrOptions {
    /// At least this correction; more where it costs no larger code.
    pub correction: Correction,
    /// Modules left free on each side. The standard asks for 4; at most 20.
    pub quiet: u8,
    /// Of the modules, and behind them.
    pub colours: Colours,
}

impl Default for QrOptions {
    fn default() -> Self {
        Self { correction: Correction::default(), quiet: 4, colours: Colours::default() }
    }
}

/// Three centimetres a side, unless the modules would be smaller than a third of a millimetre.
const USUAL_MM: f64 = 30.0;
const SMALLEST_MODULE_MM: f64 = 0.33;
/// No code holds more of anything, digits included.
const LONGEST: usize = 7089;
/// A side that 600 dots an inch print sharply at its usual size.
const USUAL_PIXELS: usize = 708;

/// Draws a text as a QR code, in UTF-8.
///
/// # Errors
/// A sentence for the author: no text, too much of it, or colours that no scanner tells apart.
pub fn qr(text: &str, options: QrOptions) -> Result<Vec<u8>, String> {
    if text.is_empty() {
        return Err("the QR code has no text; give it one".to_owned());
    }
    if options.quiet > 20 {
        return Err(format!(
            "the QR code's quiet zone of {} modules is too wide; 4 are usual, 20 allowed",
            options.quiet
        ));
    }
    options.colours.check()?;
    let code = (text.len() <= LONGEST)
        .then(|| QrCode::encode_text(text, options.correction.level()).ok())
        .flatten()
        .ok_or_else(|| too_long(text, options.correction))?;
    draw(&code, options)
}

fn too_long(text: &str, correction: Correction) -> String {
    format!(
        "the QR code's text has {} bytes, and about {} fit with this error correction; shorten it, or write correction L (2,953 bytes)",
        text.len(),
        correction.capacity()
    )
}

fn draw(code: &QrCode, options: QrOptions) -> Result<Vec<u8>, String> {
    let quiet = i32::from(options.quiet);
    let modules = usize::try_from(code.size() + 2 * quiet).unwrap_or_default().max(1);
    let pixels = MODULE_PIXELS.max(USUAL_PIXELS.div_ceil(modules));
    let mut canvas = Canvas::new(modules * pixels, modules * pixels);
    for row in 0..modules {
        for column in 0..modules {
            let inside = |place: usize| i32::try_from(place).unwrap_or_default() - quiet;
            // Outside of the code there is no module.
            if code.get_module(inside(column), inside(row)) {
                canvas.fill((column * pixels, row * pixels), (pixels, pixels));
            }
        }
    }
    canvas.png(options.colours, resolution(modules, pixels))
}

/// Pixels per metre.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a code has 21 to 217 modules a side"
)]
fn resolution(modules: usize, pixels: usize) -> u32 {
    let side_mm = USUAL_MM.max(modules as f64 * SMALLEST_MODULE_MM);
    ((modules * pixels) as f64 / side_mm * 1000.0).round() as u32
}
