//! Colours as CSS and HTML write them.

use crate::model::Colour;

/// The colour that a value names; `None` for no colour, a transparent one and what is none. A translucent colour is taken as it looks on
/// white.
pub fn colour(value: &str) -> Option<Colour> {
    let value = value.trim().to_ascii_lowercase();
    if let Some(digits) = value.strip_prefix('#') {
        return hexadecimal(digits);
    }
    if let Some((name, rest)) = value.split_once('(') {
        return function(name.trim(), rest.trim_end_matches(')'));
    }
    named(&value)
}

/// The colour of an old attribute, which may leave the `#` out.
pub fn attribute(value: &str) -> Option<Colour> {
    colour(value).or_else(|| hexadecimal(value.trim()).filter(|_| value.trim().len() == 6))
}

fn hexadecimal(digits: &str) -> Option<Colour> {
    let nibbles: Vec<u8> = digits
        .chars()
        .map(|one| one.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    // Short notations say each digit once.
    let short = nibbles.len() < 5;
    let bytes: Vec<u8> = match (short, nibbles.len()) {
        (true, 3 | 4) => nibbles.iter().map(|nibble| nibble * 17).collect(),
        (false, 6 | 8) => {
            nibbles.chunks(2).map(|pair| pair.iter().fold(0, |sum, nibble| sum * 16 + nibble)).collect()
        }
        _ => return None,
    };
    match *bytes.as_slice() {
        [red, green, blue] => Some(Colour(red, green, blue)),
        [red, green, blue, alpha] => on_white([red, green, blue].map(f64::from), f64::from(alpha) / 255.0),
        _ => None,
    }
}

fn function(name: &str, arguments: &str) -> Option<Colour> {
    let parts: Vec<&str> =
        arguments.split([',', '/', ' ']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let (one, two, three, alpha) = match *parts.as_slice() {
        [one, two, three] => (one, two, three, "1"),
        [one, two, three, alpha] => (one, two, three, alpha),
        _ => return None,
    };
    let alpha = number(alpha, 1.0)?;
    match name {
        "rgb" | "rgba" => on_white([number(one, 255.0)?, number(two, 255.0)?, number(three, 255.0)?], alpha),
        "hsl" | "hsla" => {
            let hue = number(one.trim_end_matches("deg"), 360.0)?;
            on_white(from_hue(hue, number(two, 1.0)?, number(three, 1.0)?), alpha)
        }
        _ => None,
    }
}

/// A number, or a percentage of `whole`.
fn number(value: &str, whole: f64) -> Option<f64> {
    let number = match value.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0 * whole,
        None => value.parse::<f64>().ok()?,
    };
    number.is_finite().then_some(number)
}

/// Hue in degrees, saturation and lightness from 0 to 1.
fn from_hue(hue: f64, saturation: f64, lightness: f64) -> [f64; 3] {
    let (saturation, lightness) = (saturation.clamp(0.0, 1.0), lightness.clamp(0.0, 1.0));
    let chroma = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let place = (offset + hue.rem_euclid(360.0) / 30.0) % 12.0;
        (lightness - chroma * (place - 3.0).min(9.0 - place).clamp(-1.0, 1.0)) * 255.0
    })
}

fn on_white(channels: [f64; 3], alpha: f64) -> Option<Colour> {
    let alpha = alpha.clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "held between 0 and 255")]
    let [red, green, blue] =
        channels.map(|one| (one.clamp(0.0, 255.0) * alpha + 255.0 * (1.0 - alpha)).round() as u8);
    (alpha > 0.0).then_some(Colour(red, green, blue))
}

fn named(name: &str) -> Option<Colour> {
    let place = NAMES.binary_search_by_key(&name, |&(name, _)| name).ok()?;
    let &(_, value) = NAMES.get(place)?;
    let [_, red, green, blue] = u32::to_be_bytes(value);
    Some(Colour(red, green, blue))
}

/// The named colours of CSS Color 4 and Word's `windowtext`, in the order of their names.
#[rustfmt::skip]
const NAMES: &[(&str, u32)] = &[
    ("aliceblue", 0x00F0_F8FF), ("antiquewhite", 0x00FA_EBD7), ("aqua", 0x0000_FFFF),
    ("aquamarine", 0x007F_FFD4), ("azure", 0x00F0_FFFF), ("beige", 0x00F5_F5DC), ("bisque", 0x00FF_E4C4),
    ("black", 0x0000_0000), ("blanchedalmond", 0x00FF_EBCD), ("blue", 0x0000_00FF),
    ("blueviolet", 0x008A_2BE2), ("brown", 0x00A5_2A2A), ("burlywood", 0x00DE_B887),
    ("cadetblue", 0x005F_9EA0), ("chartreuse", 0x007F_FF00), ("chocolate", 0x00D2_691E),
    ("coral", 0x00FF_7F50), ("cornflowerblue", 0x0064_95ED), ("cornsilk", 0x00FF_F8DC),
    ("crimson", 0x00DC_143C), ("cyan", 0x0000_FFFF), ("darkblue", 0x0000_008B), ("darkcyan", 0x0000_8B8B),
    ("darkgoldenrod", 0x00B8_860B), ("darkgray", 0x00A9_A9A9), ("darkgreen", 0x0000_6400),
    ("darkgrey", 0x00A9_A9A9), ("darkkhaki", 0x00BD_B76B), ("darkmagenta", 0x008B_008B),
    ("darkolivegreen", 0x0055_6B2F), ("darkorange", 0x00FF_8C00), ("darkorchid", 0x0099_32CC),
    ("darkred", 0x008B_0000), ("darksalmon", 0x00E9_967A), ("darkseagreen", 0x008F_BC8F),
    ("darkslateblue", 0x0048_3D8B), ("darkslategray", 0x002F_4F4F), ("darkslategrey", 0x002F_4F4F),
    ("darkturquoise", 0x0000_CED1), ("darkviolet", 0x0094_00D3), ("deeppink", 0x00FF_1493),
    ("deepskyblue", 0x0000_BFFF), ("dimgray", 0x0069_6969), ("dimgrey", 0x0069_6969),
    ("dodgerblue", 0x001E_90FF), ("firebrick", 0x00B2_2222), ("floralwhite", 0x00FF_FAF0),
    ("forestgreen", 0x0022_8B22), ("fuchsia", 0x00FF_00FF), ("gainsboro", 0x00DC_DCDC),
    ("ghostwhite", 0x00F8_F8FF), ("gold", 0x00FF_D700), ("goldenrod", 0x00DA_A520), ("gray", 0x0080_8080),
    ("green", 0x0000_8000), ("greenyellow", 0x00AD_FF2F), ("grey", 0x0080_8080), ("honeydew", 0x00F0_FFF0),
    ("hotpink", 0x00FF_69B4), ("indianred", 0x00CD_5C5C), ("indigo", 0x004B_0082), ("ivory", 0x00FF_FFF0),
    ("khaki", 0x00F0_E68C), ("lavender", 0x00E6_E6FA), ("lavenderblush", 0x00FF_F0F5),
    ("lawngreen", 0x007C_FC00), ("lemonchiffon", 0x00FF_FACD), ("lightblue", 0x00AD_D8E6),
    ("lightcoral", 0x00F0_8080), ("lightcyan", 0x00E0_FFFF), ("lightgoldenrodyellow", 0x00FA_FAD2),
    ("lightgray", 0x00D3_D3D3), ("lightgreen", 0x0090_EE90), ("lightgrey", 0x00D3_D3D3),
    ("lightpink", 0x00FF_B6C1), ("lightsalmon", 0x00FF_A07A), ("lightseagreen", 0x0020_B2AA),
    ("lightskyblue", 0x0087_CEFA), ("lightslategray", 0x0077_8899), ("lightslategrey", 0x0077_8899),
    ("lightsteelblue", 0x00B0_C4DE), ("lightyellow", 0x00FF_FFE0), ("lime", 0x0000_FF00),
    ("limegreen", 0x0032_CD32), ("linen", 0x00FA_F0E6), ("magenta", 0x00FF_00FF), ("maroon", 0x0080_0000),
    ("mediumaquamarine", 0x0066_CDAA), ("mediumblue", 0x0000_00CD), ("mediumorchid", 0x00BA_55D3),
    ("mediumpurple", 0x0093_70DB), ("mediumseagreen", 0x003C_B371), ("mediumslateblue", 0x007B_68EE),
    ("mediumspringgreen", 0x0000_FA9A), ("mediumturquoise", 0x0048_D1CC), ("mediumvioletred", 0x00C7_1585),
    ("midnightblue", 0x0019_1970), ("mintcream", 0x00F5_FFFA), ("mistyrose", 0x00FF_E4E1),
    ("moccasin", 0x00FF_E4B5), ("navajowhite", 0x00FF_DEAD), ("navy", 0x0000_0080),
    ("oldlace", 0x00FD_F5E6), ("olive", 0x0080_8000), ("olivedrab", 0x006B_8E23), ("orange", 0x00FF_A500),
    ("orangered", 0x00FF_4500), ("orchid", 0x00DA_70D6), ("palegoldenrod", 0x00EE_E8AA),
    ("palegreen", 0x0098_FB98), ("paleturquoise", 0x00AF_EEEE), ("palevioletred", 0x00DB_7093),
    ("papayawhip", 0x00FF_EFD5), ("peachpuff", 0x00FF_DAB9), ("peru", 0x00CD_853F), ("pink", 0x00FF_C0CB),
    ("plum", 0x00DD_A0DD), ("powderblue", 0x00B0_E0E6), ("purple", 0x0080_0080),
    ("rebeccapurple", 0x0066_3399), ("red", 0x00FF_0000), ("rosybrown", 0x00BC_8F8F),
    ("royalblue", 0x0041_69E1), ("saddlebrown", 0x008B_4513), ("salmon", 0x00FA_8072),
    ("sandybrown", 0x00F4_A460), ("seagreen", 0x002E_8B57), ("seashell", 0x00FF_F5EE),
    ("sienna", 0x00A0_522D), ("silver", 0x00C0_C0C0), ("skyblue", 0x0087_CEEB), ("slateblue", 0x006A_5ACD),
    ("slategray", 0x0070_8090), ("slategrey", 0x0070_8090), ("snow", 0x00FF_FAFA),
    ("springgreen", 0x0000_FF7F), ("steelblue", 0x0046_82B4), ("tan", 0x00D2_B48C), ("teal", 0x0000_8080),
    ("thistle", 0x00D8_BFD8), ("tomato", 0x00FF_6347), ("turquoise", 0x0040_E0D0), ("violet", 0x00EE_82EE),
    ("wheat", 0x00F5_DEB3), ("white", 0x00FF_FFFF), ("whitesmoke", 0x00F5_F5F5),
    ("windowtext", 0x0000_0000), ("yellow", 0x00FF_FF00), ("yellowgreen", 0x009A_CD32),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_in_all_notations() {
        for (value, expected) in [
            ("red", Some(Colour(255, 0, 0))),
            ("RebeccaPurple", Some(Colour(0x66, 0x33, 0x99))),
            ("#0af", Some(Colour(0, 0xAA, 0xFF))),
            ("#00aaff", Some(Colour(0, 0xAA, 0xFF))),
            ("#ff000080", Some(Colour(255, 127, 127))),
            ("rgb(1, 2, 3)", Some(Colour(1, 2, 3))),
            ("rgb(10% 20% 30% / 100%)", Some(Colour(26, 51, 77))),
            ("rgba(0,0,0,.5)", Some(Colour(128, 128, 128))),
            ("hsl(120, 100%, 25%)", Some(Colour(0, 128, 0))),
            ("hsl(240deg 100% 50%)", Some(Colour(0, 0, 255))),
            ("transparent", None),
            ("rgba(1,2,3,0)", None),
            ("currentcolor", None),
            ("#12", None),
            ("#é12345", None),
            ("rgb(1,2)", None),
            ("rgb(NaN,1,1)", None),
        ] {
            assert_eq!(colour(value), expected, "{value}");
        }
        assert_eq!(attribute("ff0000"), Some(Colour(255, 0, 0)));
        assert_eq!(attribute("fff"), None);
    }

    #[test]
    fn names_are_in_order() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
