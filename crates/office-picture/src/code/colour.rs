//! The two colours of a code.

use crate::excerpt;

/// Red, green, blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self([0; 3]);
    /// White.
    pub const WHITE: Self = Self([255; 3]);

    /// Reads `#rgb` or `#rrggbb`; the `#` may be missing.
    ///
    /// # Errors
    /// A sentence for the author that shows how it's written.
    pub fn read(text: &str) -> Result<Self, String> {
        let digits: Option<Vec<u8>> = text
            .trim()
            .trim_start_matches('#')
            .chars()
            .map(|sign| sign.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        match digits.as_deref() {
            Some(&[red, green, blue]) => Ok(Self([red * 17, green * 17, blue * 17])),
            Some(&[red, red_low, green, green_low, blue, blue_low]) => {
                Ok(Self([red * 16 + red_low, green * 16 + green_low, blue * 16 + blue_low]))
            }
            _ => Err(format!("\"{}\" is no colour of a code; write it as #1a2b3c", excerpt(text))),
        }
    }

    /// How bright it's seen, from 0 to 255.
    fn brightness(self) -> f64 {
        let [red, green, blue] = self.0.map(f64::from);
        0.299 * red + 0.587 * green + 0.114 * blue
    }

    /// A colour between this and another, in 255 steps.
    pub(super) fn towards(self, other: Self, step: u8) -> Self {
        let mix = |from: u8, to: u8| {
            (u16::from(from) * u16::from(255 - step) + u16::from(to) * u16::from(step)) / 255
        };
        let ([red, green, blue], [to_red, to_green, to_blue]) = (self.0, other.0);
        let mixed = [mix(red, to_red), mix(green, to_green), mix(blue, to_blue)];
        Self(mixed.map(|part| u8::try_from(part).unwrap_or(u8::MAX)))
    }
}

/// The colours of a code: of its modules, and of what is behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours {
    /// Of the modules and the text.
    pub ink: Colour,
    /// Of what is behind them.
    pub background: Colour,
}

impl Default for Colours {
    fn default() -> Self {
        Self { ink: Colour::BLACK, background: Colour::WHITE }
    }
}

impl Colours {
    /// Scanners look for dark on light; a code that none can read isn't drawn.
    pub(super) fn check(self) -> Result<(), String> {
        if self.background.brightness() - self.ink.brightness() < 80.0 {
            return Err(
                "the code's colour must be clearly darker than its background, or no scanner reads it; take a darker colour".to_owned()
            );
        }
        Ok(())
    }
}
