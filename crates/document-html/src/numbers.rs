//! Numbers as formats of lists write them.

/// A number as a format writes it.
pub fn number_text(value: u32, format: &str) -> String {
    match format {
        "" => String::new(),
        "a" => letters(value),
        "A" => letters(value).to_uppercase(),
        "i" => roman(value).to_lowercase(),
        "I" => roman(value),
        _ => value.to_string(),
    }
}

/// `a` to `z`, then `aa`, `bb`.
fn letters(value: u32) -> String {
    let place = value.saturating_sub(1);
    let letter = char::from(b'a' + u8::try_from(place % 26).unwrap_or(0));
    let count = usize::try_from(place / 26).unwrap_or(0).min(20) + 1;
    std::iter::repeat_n(letter, count).collect()
}

fn roman(value: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    let mut rest = value.min(4_999);
    let mut text = String::new();
    for (worth, sign) in SIGNS {
        while rest >= worth {
            text.push_str(sign);
            rest -= worth;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_their_formats_say() {
        let texts: Vec<_> =
            ["1", "a", "A", "i", "I", ""].iter().map(|format| number_text(29, format)).collect();
        assert_eq!(texts, ["29", "cc", "CC", "xxix", "XXIX", ""]);
        assert_eq!(number_text(u32::MAX, "I"), "MMMMCMXCIX");
    }
}
