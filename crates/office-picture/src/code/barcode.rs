//! Barcodes: the bars of a symbology, drawn.

use super::MODULE_PIXELS;
use super::canvas::Canvas;
use super::colour::Colours;
use super::glyphs;
use super::symbology::{Kind, Symbol};

/// How a barcode is drawn.
#[derive(Debug, Clone, Copy)]
pub struct BarcodeOptions {
    /// The width of the narrowest bar in millimetres, 0.1 to 2; 0.33 is the nominal one.
    pub module_mm: f64,
    /// How high the bars are in millimetres, 1 to 100; if not given, the nominal height of the kind.
    pub height_mm: Option<f64>,
    /// Whether what the bars say stands below them; if not given, only with EAN and UPC.
    pub text: Option<bool>,
    /// Of the bars and the text, and behind them.
    pub colours: Colours,
}

impl Default for BarcodeOptions {
    fn default() -> Self {
        Self { module_mm: 0.33, height_mm: None, text: None, colours: Colours::default() }
    }
}

/// Pixels of a unit of the signs: digits are six units high, 2.2 mm with the nominal module.
const UNIT: f64 = 9.0;
/// How far the guard bars of EAN and UPC reach into the text, in modules.
const GUARD: f64 = 5.0;

/// Draws a barcode.
///
/// # Errors
/// A sentence for the author: characters that the kind doesn't have, a wrong check digit with the right one, too long a text, or
/// measures and colours that no scanner reads.
pub fn barcode(text: &str, kind: Kind, options: &BarcodeOptions) -> Result<Vec<u8>, String> {
    options.colours.check()?;
    if !(0.1..=2.0).contains(&options.module_mm) {
        return Err(format!(
            "the barcode's narrowest bar of {} mm is not between 0.1 and 2 mm; 0.33 is usual",
            options.module_mm
        ));
    }
    if options.height_mm.is_some_and(|height| !(1.0..=100.0).contains(&height)) {
        return Err("the barcode's height is not between 1 and 100 mm; 15 is usual".to_owned());
    }
    let symbol = kind.symbol(text)?;
    let has_text = options.text.unwrap_or(kind.is_retail());
    let label = if has_text { symbol.label_text() } else { String::new() };
    if let Some(sign) = glyphs::unknown(&label) {
        return Err(format!(
            "the barcode's text cannot be written below its bars: there is no {sign:?}; leave the text off"
        ));
    }
    draw(&symbol, &label, options)
}

fn draw(symbol: &Symbol, label: &str, options: &BarcodeOptions) -> Result<Vec<u8>, String> {
    let height = options.height_mm.map_or(symbol.height, |millimetres| millimetres / options.module_mm);
    let bars_end = pixels(height);
    let text_top = bars_end + if label.is_empty() { 0 } else { MODULE_PIXELS };
    let text_height =
        if label.is_empty() { 0.0 } else { (glyphs::HEIGHT + glyphs::depth(label) + 1.0) * UNIT };
    let (left, right) = symbol.quiet;
    let width = (left + symbol.modules.len() + right) * MODULE_PIXELS;
    let mut canvas = Canvas::new(width, text_top + rounded(text_height));
    for (module, _) in symbol.modules.iter().enumerate().filter(|(_, is_bar)| **is_bar) {
        let is_guard = !label.is_empty() && symbol.guards.iter().any(|guard| guard.contains(&module));
        let end = if is_guard { pixels(height + GUARD) } else { bars_end };
        canvas.fill(((left + module) * MODULE_PIXELS, 0), (MODULE_PIXELS, end));
    }
    if !label.is_empty() {
        for label in &symbol.labels {
            let middle =
                label.middle * 8.0 + f64::from(u16::try_from(left * MODULE_PIXELS).unwrap_or_default());
            let unit = unit(&label.text, width);
            let start = middle - glyphs::width(&label.text) * unit / 2.0;
            let top = f64::from(u32::try_from(text_top).unwrap_or_default()) + UNIT / 2.0;
            glyphs::draw(&mut canvas, &label.text, (start, top), unit);
        }
    }
    canvas.png(options.colours, resolution(options.module_mm))
}

/// Signs become smaller where they would be wider than all: pairs of digits have short bars.
fn unit(text: &str, width: usize) -> f64 {
    UNIT.min(f64::from(u32::try_from(width).unwrap_or_default()) / (glyphs::width(text) + 2.0))
}

fn pixels(modules: f64) -> usize {
    rounded(modules * 8.0)
}

/// Pixels per metre.
fn resolution(module_mm: f64) -> u32 {
    u32::try_from(rounded(8000.0 / module_mm)).unwrap_or(u32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "measures are checked: some thousand pixels"
)]
fn rounded(pixels: f64) -> usize {
    pixels.max(0.0).round() as usize
}
