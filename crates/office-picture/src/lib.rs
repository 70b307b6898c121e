//! Pictures, QR codes and barcodes as Office files take them.
//!
//! ```text
//! text of the data ──source──▶ bytes, an address, or a file's path      (addresses and files are fetched by the caller)
//!                                │
//!                              bytes ──picture──▶ Picture: format, pixels, resolution, turn, bytes to store
//! text, kind ──code──▶ PNG ──────┘                   │
//!                     size: what the author wants ───┼──▶ Placement: width and height in EMU, crop, turn
//!                                                    └──drawing──▶ the XML of an inline picture of Word
//! ```
//!
//! * [`Source::read`] tells what a text of the data means: a data URI, base64, an address, or a file beside the template.
//! * [`Picture::read`] recognises and measures bytes. PNG, JPEG, GIF, BMP, TIFF, EMF and WMF are stored as they came; WebP as PNG.
//! * [`Wanted::read`] reads sizes as authors write them (`4cm`, `50%`, `120`), [`Wanted::place`] makes a [`Placement`] of them.
//! * [`Drawing`] writes the XML; the caller adds the part, its content type and its relationships.
//! * [`code::qr`] and [`code::barcode`] draw codes as PNG, to be read like any other picture.
//!
//! SVG is refused, with a sentence that says to send PNG. Word needs a drawn picture beside the SVG, other programs show only that one, and to draw
//! it takes a renderer with fonts (without them text is lost silently) that bounds what filters, patterns and nested uses may cost: not
//! to be had for the price of the rest of this crate.
//!
//! Bytes go in and come out: this crate knows no files, network, threads or clocks. Everything it's given may be hostile: pixels are counted
//! before anything is decoded, and every fault is a sentence for the author, with the remedy.

pub mod code;
mod drawing;
mod extent;
mod format;
mod limits;
mod picture;
mod size;
mod source;
mod turn;

pub use drawing::Drawing;
pub use extent::{EMU_PER_INCH, Extent};
pub use format::{Format, is_cut_short};
pub use limits::Limits;
pub use picture::Picture;
pub use size::{Crop, Fit, LARGEST_SIDE, Placement, Texts, Wanted};
pub use source::Source;
pub use turn::Turn;

/// A text of the author's as it may stand in a sentence: its beginning, on one line.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String =
        text.chars().take(LONGEST).map(|sign| if sign.is_control() { ' ' } else { sign }).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}
