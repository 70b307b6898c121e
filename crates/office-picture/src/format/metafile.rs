//! EMF and WMF: drawings, whose headers say how large they want to be. Their pixels are those of 96 an inch.

use super::bytes::{Order, place, slice};
use super::{Flaw, Measures};

const LITTLE: Order = Order::Little;

/// The frame is in hundredths of a millimetre.
pub(super) fn measure_enhanced(bytes: &[u8]) -> Result<Measures, Flaw> {
    let side = |from: usize| {
        let (start, end) = (LITTLE.four_signed(bytes, from)?, LITTLE.four_signed(bytes, from + 8)?);
        pixels(f64::from(end) - f64::from(start), 2540.0)
    };
    let (width, height) = (side(24)?, side(28)?);
    slice(bytes, 0, place(LITTLE.four(bytes, 48)?)?)?;
    Ok(Measures::new(width, height))
}

/// The placeable header: a box, and how many of its units make an inch.
pub(super) fn measure_placeable(bytes: &[u8]) -> Result<Measures, Flaw> {
    if !bytes.starts_with(b"\xd7\xcd\xc6\x9a") {
        return Err(Flaw::Wrong("has no placeable header and so no size; save it as EMF or PNG"));
    }
    let signed = |at| LITTLE.two(bytes, at).map(|number| f64::from(number.cast_signed()));
    let per_inch = f64::from(LITTLE.two(bytes, 14)?);
    let width = pixels(signed(10)? - signed(6)?, per_inch)?;
    let height = pixels(signed(12)? - signed(8)?, per_inch)?;
    // The length stands in the header behind the placeable one, in words.
    slice(bytes, 22, place(LITTLE.four(bytes, 28)?.saturating_mul(2))?)?;
    Ok(Measures::new(width, height))
}

fn pixels(length: f64, per_inch: f64) -> Result<u32, Flaw> {
    let pixels = (length.abs() / per_inch * 96.0).round();
    if !(1.0..=1e6).contains(&pixels) {
        return Err(Flaw::Wrong("says a size that cannot be; save it again, or as PNG"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and a million, see above"
    )]
    Ok(pixels as u32)
}
