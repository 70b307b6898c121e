//! QR codes and barcodes, drawn as PNG.
//!
//! Every module is a whole number of pixels, and the PNG says the resolution with which it has its natural size, so that it comes out
//! sharp. Below the bars stands what they say, in strokes of our own: no font is needed.

mod barcode;
mod canvas;
mod colour;
mod glyphs;
mod qr;
mod symbology;

pub use barcode::{BarcodeOptions, barcode};
pub use colour::{Colour, Colours};
pub use qr::{Correction, QrOptions, qr};
pub use symbology::Kind;

/// Pixels across a module: enough for any printer.
const MODULE_PIXELS: usize = 8;
