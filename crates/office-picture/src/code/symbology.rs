//! The kinds of barcodes: from a text to dark and light modules.

mod code128;
mod retail;
mod two_widths;

use std::ops::Range;

use crate::excerpt;

/// A kind of barcode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// Code 128: all of ASCII.
    #[default]
    Code128,
    /// Code 39: digits, capitals and `-.$/+%` and blanks.
    Code39,
    /// EAN-13: 12 digits and a check digit.
    Ean13,
    /// EAN-8: 7 digits and a check digit.
    Ean8,
    /// UPC-A: 11 digits and a check digit.
    UpcA,
    /// Interleaved 2 of 5: an even number of digits.
    Itf,
    /// Codabar: digits and `-$:/.+`, between letters A to D.
    Codabar,
}

impl Kind {
    /// Reads a kind's name, in any case, with or without hyphens and blanks.
    ///
    /// # Errors
    /// A sentence for the author with all kinds.
    pub fn read(text: &str) -> Result<Self, String> {
        let name: String = text.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        match name.to_ascii_lowercase().as_str() {
            "code128" => Ok(Self::Code128),
            "code39" => Ok(Self::Code39),
            "ean13" => Ok(Self::Ean13),
            "ean8" => Ok(Self::Ean8),
            "upca" => Ok(Self::UpcA),
            "itf" | "interleaved2of5" => Ok(Self::Itf),
            "codabar" => Ok(Self::Codabar),
            _ => Err(format!(
                "\"{}\" is no kind of barcode; write code128, code39, ean13, ean8, upca, itf or codabar",
                excerpt(text)
            )),
        }
    }

    /// Whether this is a code of shops, which has its digits below the bars.
    pub(super) fn is_retail(self) -> bool {
        match self {
            Self::Ean13 | Self::Ean8 | Self::UpcA => true,
            Self::Code128 | Self::Code39 | Self::Itf | Self::Codabar => false,
        }
    }

    pub(super) fn symbol(self, text: &str) -> Result<Symbol, String> {
        if text.is_empty() {
            return Err("the barcode has no text; give it one".to_owned());
        }
        if text.chars().count() > LONGEST {
            return Err(format!(
                "the barcode's text \"{}\" is too long: {LONGEST} characters are allowed; a QR code takes more",
                excerpt(text)
            ));
        }
        match self {
            Self::Code128 => code128::symbol(text),
            Self::Code39 => two_widths::code39(text),
            Self::Ean13 => retail::ean13(text),
            Self::Ean8 => retail::ean8(text),
            Self::UpcA => retail::upca(text),
            Self::Itf => two_widths::itf(text),
            Self::Codabar => two_widths::codabar(text),
        }
    }
}

/// Longer barcodes fit on no page and before no scanner.
const LONGEST: usize = 80;

/// The bars of a text.
pub(super) struct Symbol {
    /// From left to right; true is dark.
    pub modules: Vec<bool>,
    /// Modules left free on the left and on the right.
    pub quiet: (usize, usize),
    /// The nominal height of the bars, in modules.
    pub height: f64,
    /// The bars that reach into the text.
    pub guards: Vec<Range<usize>>,
    /// The text below the bars.
    pub labels: Vec<Label>,
}

/// A piece of the text below the bars.
pub(super) struct Label {
    pub text: String,
    /// Where its middle is, in modules from the first bar; before it if negative.
    pub middle: f64,
}

impl Symbol {
    /// Bars with the usual quiet zones and height, and the whole text in their middle.
    fn plain(modules: Vec<bool>, text: &str) -> Self {
        let middle = f64::from(u32::try_from(modules.len()).unwrap_or_default()) / 2.0;
        let labels = vec![Label { text: text.to_owned(), middle }];
        Self { modules, quiet: (10, 10), height: 15.0 / 0.33, guards: Vec::new(), labels }
    }

    /// All of the text below the bars.
    pub(super) fn label_text(&self) -> String {
        self.labels.iter().map(|label| label.text.as_str()).collect()
    }
}

/// Bars and spaces by turns, each as wide as its number, into modules.
fn push_widths(modules: &mut Vec<bool>, widths: impl IntoIterator<Item = usize>) {
    for (index, width) in widths.into_iter().enumerate() {
        modules.extend(std::iter::repeat_n(index % 2 == 0, width));
    }
}
