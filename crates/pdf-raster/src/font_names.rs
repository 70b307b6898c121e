//! What the name of a font in a PDF says: `ABCDEF+TimesNewRomanPS-BoldItalicMT` is Times New Roman, bold, italic.

/// What is wanted of a font.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its family by a key.
    pub family: String,
    /// 100 to 900.
    pub weight: u16,
    /// Slanted.
    pub is_italic: bool,
}

/// Words of a style and the weights they mean, the longer one of two that begin alike first.
const WEIGHTS: [(&str, u16); 15] = [
    ("extralight", 200),
    ("ultralight", 200),
    ("extrabold", 800),
    ("ultrabold", 800),
    ("semibold", 600),
    ("demibold", 600),
    ("hairline", 100),
    ("regular", 400),
    ("medium", 500),
    ("light", 300),
    ("black", 900),
    ("heavy", 900),
    ("demi", 600),
    ("thin", 100),
    ("bold", 700),
];

/// Letters and digits in small letters: names are written with and without blanks and hyphens.
pub fn key(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl Wanted {
    /// By a name such as `Arial,BoldItalic`, `ArialMT` or `Open Sans Semibold`.
    pub fn of_name(name: &str) -> Self {
        let (family, style) = name.split_once([',', '-']).unwrap_or((name, ""));
        let (mut family, style) = (key(family), key(style));
        let weight = WEIGHTS.iter().find(|(word, _)| style.contains(word)).map(|(_, weight)| *weight);
        let is_italic = ["italic", "oblique", "slanted"].iter().any(|word| style.contains(word));
        strip(&mut family, &["psmt", "mt", "ps"]);
        let mut wanted = Self { family, weight: weight.unwrap_or(400), is_italic };
        wanted.strip_style(weight.is_none());
        wanted
    }

    /// Takes the style off a family that ends with it: `Open Sans Semibold`, `ArialBold`.
    fn strip_style(&mut self, is_weight_open: bool) {
        if strip(&mut self.family, &["italic", "oblique"]) {
            self.is_italic = true;
        }
        if let Some((word, weight)) = WEIGHTS.iter().find(|(word, _)| self.family.ends_with(word)) {
            strip(&mut self.family, &[word]);
            if is_weight_open {
                self.weight = *weight;
            }
        }
    }
}

/// Takes the first of the words off the end, unless nothing would be left.
fn strip(name: &mut String, words: &[&str]) -> bool {
    let found = words.iter().find_map(|word| name.strip_suffix(word)).filter(|rest| !rest.is_empty());
    let Some(length) = found.map(str::len) else { return false };
    name.truncate(length);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_family_weight_and_slant() {
        for (name, family, weight, is_italic) in [
            ("Arial,BoldItalic", "arial", 700, true),
            ("ArialMT", "arial", 400, false),
            ("Arial-BoldMT", "arial", 700, false),
            ("TimesNewRomanPSMT", "timesnewroman", 400, false),
            ("TimesNewRomanPS-BoldItalicMT", "timesnewroman", 700, true),
            ("Open Sans Semibold", "opensans", 600, false),
            ("OpenSans-ExtraBoldItalic", "opensans", 800, true),
            ("Courier New,Italic", "couriernew", 400, true),
            ("Helvetica-Oblique", "helvetica", 400, true),
            ("Calibri-Light", "calibri", 300, false),
            ("Bold", "bold", 700, false),
            ("", "", 400, false),
        ] {
            let wanted = Wanted { family: family.to_owned(), weight, is_italic };
            assert_eq!(Wanted::of_name(name), wanted, "{name}");
        }
    }
}
