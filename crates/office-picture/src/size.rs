//! How large a picture is to be, as authors write it, and what follows for the drawing.

use crate::excerpt;
use crate::extent::{EMU_PER_INCH, Extent};
use crate::picture::Picture;
use crate::turn::Turn;

/// The longest side of a picture: 22 inches, the largest page that Word makes (Microsoft, "Operating parameter limitations and specifications
/// in Word": maximum page size 22 inches).
pub const LARGEST_SIDE: f64 = 22.0 * EMU_PER_INCH;

/// The whole of a crop's scale, thousandths of a percent.
const WHOLE: f64 = 100_000.0;

/// What is done with a picture that has another shape than its box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fit {
    /// The whole picture, as large as the box allows.
    #[default]
    Contain,
    /// The whole box, with what stands over cut off on both sides.
    Cover,
    /// The whole picture in the whole box, stretched.
    Fill,
    /// Its own size, made smaller if the box is smaller.
    Down,
}

impl Fit {
    fn read(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "contain" => Ok(Self::Contain),
            "cover" => Ok(Self::Cover),
            "fill" => Ok(Self::Fill),
            "none" | "down" | "scale-down" => Ok(Self::Down),
            _ => Err(format!(
                "\"{}\" is no fit of a picture; write contain, cover, fill or none",
                excerpt(text)
            )),
        }
    }
}

/// The sizes as the author wrote them; empty texts say nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    /// How wide.
    pub width: Option<&'a str>,
    /// How high.
    pub height: Option<&'a str>,
    /// How wide at most.
    pub max_width: Option<&'a str>,
    /// How high at most.
    pub max_height: Option<&'a str>,
    /// `contain`, `cover`, `fill` or `none`.
    pub fit: Option<&'a str>,
}

/// What the author wants, understood.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wanted {
    width: Option<Length>,
    height: Option<Length>,
    max_width: Option<Length>,
    max_height: Option<Length>,
    fit: Fit,
}

/// A length in EMU, or a part of the space there is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    Fixed(f64),
    Part(f64),
}

impl Wanted {
    /// Reads what the author wrote: `4cm`, `40mm`, `2in`, `120px`, `90pt`, `50%` of the space there is; plain numbers are pixels, 96 an inch.
    ///
    /// # Errors
    /// A sentence for the author that names the text and shows how it's written.
    pub fn read(texts: &Texts<'_>) -> Result<Self, String> {
        Ok(Self {
            width: length("width", texts.width)?,
            height: length("height", texts.height)?,
            max_width: length("greatest width", texts.max_width)?,
            max_height: length("greatest height", texts.max_height)?,
            fit: texts
                .fit
                .filter(|text| !text.trim().is_empty())
                .map(Fit::read)
                .transpose()?
                .unwrap_or_default(),
        })
    }

    /// Places a picture where `space` is available.
    ///
    /// With a width and a height these are a box into which the picture is fitted; with one of them the other keeps the ratio. Without any
    /// the picture has its natural size, or less if the space is less. What the author asks for by figures may be larger than the space.
    ///
    /// # Errors
    /// A sentence for the author if the picture would be larger than Word allows.
    pub fn place(&self, picture: &Picture, space: Extent) -> Result<Placement, String> {
        let natural = picture.natural_size();
        let in_emu = |length: Option<Length>, whole: f64| length.map(|length| length.in_emu(whole));
        let wanted = (in_emu(self.width, space.width), in_emu(self.height, space.height));
        let limit = (in_emu(self.max_width, space.width), in_emu(self.max_height, space.height));
        let (size, shown) = match wanted {
            (Some(width), Some(height)) => fitted(natural, Extent::new(width, height), self.fit),
            (Some(width), None) => (natural.scaled(width / natural.width), UNCUT),
            (None, Some(height)) => (natural.scaled(height / natural.height), UNCUT),
            (None, None) => (natural.scaled(natural.factor_into(space.width, space.height).min(1.0)), UNCUT),
        };
        let within =
            size.factor_into(limit.0.unwrap_or(f64::INFINITY), limit.1.unwrap_or(f64::INFINITY)).min(1.0);
        let size = size.scaled(within);
        if !(size.width <= LARGEST_SIDE && size.height <= LARGEST_SIDE) {
            return Err(format!(
                "the picture would be {:.1} × {:.1} cm large, and Word allows 55.88 cm (22 inches) a side; give a smaller size",
                size.width / EMU_PER_INCH * 2.54,
                size.height / EMU_PER_INCH * 2.54
            ));
        }
        let turn = picture.turn;
        Ok(Placement {
            width: whole_emu(size.width),
            height: whole_emu(size.height),
            crop: Crop::new(shown, turn),
            turn,
        })
    }
}

/// The part of the picture that is shown, across and down, when nothing is cut off.
const UNCUT: (f64, f64) = (1.0, 1.0);

/// The size in a box, and which part of the picture is shown.
fn fitted(natural: Extent, space: Extent, fit: Fit) -> (Extent, (f64, f64)) {
    let factor = natural.factor_into(space.width, space.height);
    match fit {
        Fit::Contain => (natural.scaled(factor), UNCUT),
        Fit::Down => (natural.scaled(factor.min(1.0)), UNCUT),
        Fit::Fill => (space, UNCUT),
        Fit::Cover => {
            let factor = (space.width / natural.width).max(space.height / natural.height);
            let all = natural.scaled(factor);
            (space, (space.width / all.width, space.height / all.height))
        }
    }
}

impl Length {
    fn in_emu(self, whole: f64) -> f64 {
        match self {
            Self::Fixed(emu) => emu,
            Self::Part(part) => whole * part,
        }
    }
}

fn length(what: &str, text: Option<&str>) -> Result<Option<Length>, String> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let fault = |why: &str| format!("the picture's {what} \"{}\" {why}", excerpt(text));
    let unit_at = text.find(|sign: char| !matches!(sign, '0'..='9' | '.' | '-' | '+')).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at).unwrap_or((text, ""));
    if unit.starts_with(',') {
        return Err(fault("has a comma; write a point, as in 4.5cm"));
    }
    let number: f64 = number.parse().map_err(|_| {
        fault("is no length; write a number and cm, mm, in, pt, px or %, as in 4cm; a number alone is pixels")
    })?;
    if number <= 0.0 {
        return Err(fault("is not above zero; write it larger"));
    }
    let length = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "px" => Length::Fixed(number / 96.0 * EMU_PER_INCH),
        "in" => Length::Fixed(number * EMU_PER_INCH),
        "cm" => Length::Fixed(number / 2.54 * EMU_PER_INCH),
        "mm" => Length::Fixed(number / 25.4 * EMU_PER_INCH),
        "pt" => Length::Fixed(number / 72.0 * EMU_PER_INCH),
        "%" => Length::Part(number / 100.0),
        _ => return Err(fault("has a unit that isn't known; write cm, mm, in, pt, px or %, as in 4cm")),
    };
    let is_too_large = match length {
        Length::Fixed(emu) => emu > LARGEST_SIDE,
        Length::Part(part) => part > 10.0,
    };
    if is_too_large {
        return Err(fault("is more than Word allows; write at most 55.88cm (22in)"));
    }
    Ok(Some(length))
}

/// A picture's size and what is done with it, ready for the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// How wide it is seen, in EMU: after the turn. At least 1.
    pub width: u32,
    /// How high it is seen, in EMU: after the turn. At least 1.
    pub height: u32,
    /// What is cut off.
    pub crop: Crop,
    /// How it is turned.
    pub turn: Turn,
}

/// What is cut off each side of the stored picture (before the turn), in thousandths of a percent of its width or height.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Crop {
    /// Off the left.
    pub left: u32,
    /// Off the top.
    pub top: u32,
    /// Off the right.
    pub right: u32,
    /// Off the bottom.
    pub bottom: u32,
}

impl Crop {
    /// Cuts both sides alike, so that `shown` is left of what is seen.
    fn new(shown: (f64, f64), turn: Turn) -> Self {
        let (across, down) = if turn.is_sideways() { (shown.1, shown.0) } else { shown };
        let (sides, ends) = (half_cut(across), half_cut(down));
        Self { left: sides, top: ends, right: sides, bottom: ends }
    }

    /// Whether the whole picture is shown.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Never all of it: a thousandth of a percent is left at least, twice as much as rounding takes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 49,999")]
fn half_cut(shown: f64) -> u32 {
    ((1.0 - shown) / 2.0 * WHOLE).round().clamp(0.0, WHOLE / 2.0 - 1.0) as u32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most LARGEST_SIDE, about 20 million"
)]
fn whole_emu(emu: f64) -> u32 {
    emu.round().clamp(1.0, LARGEST_SIDE) as u32
}
