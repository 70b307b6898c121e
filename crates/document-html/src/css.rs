//! Values of OpenDocument as values of CSS: nothing of a document's own writing gets into a style, only what was understood.

/// A length in points.
pub fn points(value: &str) -> Option<f64> {
    let end = value.find(|one: char| !matches!(one, '0'..='9' | '.' | '-')).unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let number: f64 = number.parse().ok().filter(|one: &f64| one.is_finite())?;
    let factor = match unit {
        "pt" => 1.0,
        "in" => 72.0,
        "cm" => 72.0 / 2.54,
        "mm" => 72.0 / 25.4,
        "px" => 0.75,
        "pc" => 12.0,
        _ => return None,
    };
    // Longer than any sheet is a mistake or an attack.
    Some((number * factor).clamp(-5_000.0, 5_000.0))
}

/// A share: 1.0 for `100%`.
pub fn share(value: &str) -> Option<f64> {
    let number: f64 = value.strip_suffix('%')?.parse().ok()?;
    (number.is_finite() && number.abs() <= 10_000.0).then_some(number / 100.0)
}

/// A length as CSS writes it, to a tenth of a point.
pub fn written(points: f64) -> String {
    let tenths = (points * 10.0).round() / 10.0;
    if tenths == 0.0 { "0".to_owned() } else { format!("{tenths}pt") }
}

/// A colour; nothing for what is transparent.
pub fn colour(value: &str) -> Option<String> {
    let digits = value.strip_prefix('#')?;
    let hexadecimal = digits.len() == 6 && digits.bytes().all(|one| one.is_ascii_hexdigit());
    hexadecimal.then(|| format!("#{}", digits.to_ascii_lowercase()))
}

/// A border of one side; nothing for none.
pub fn border(value: &str) -> Option<String> {
    let mut words = value.split_whitespace();
    let width = points(words.next()?)?;
    let style = words.next()?;
    let style = ["solid", "dotted", "dashed", "double", "groove", "ridge", "inset", "outset"]
        .into_iter()
        .find(|one| *one == style)
        .unwrap_or("solid");
    let colour = colour(words.next()?)?;
    // A thinner line than this is drawn by some readers of mail and not by others.
    (width > 0.0).then(|| format!("{} {style} {colour}", written(width.max(0.75))))
}

/// Families with the same measures, which other systems have in their place.
const TWINS: [(&str, &str); 6] = [
    ("arial", "Liberation Sans"),
    ("calibri", "Carlito"),
    ("cambria", "Caladea"),
    ("courier new", "Liberation Mono"),
    ("helvetica", "Liberation Sans"),
    ("times new roman", "Liberation Serif"),
];
/// Families without serifs, of which documents often say nothing or the wrong thing.
const WITHOUT_SERIFS: [&str; 10] = [
    "aptos",
    "arial",
    "calibri",
    "carlito",
    "helvetica",
    "segoe ui",
    "tahoma",
    "trebuchet ms",
    "verdana",
    "corbel",
];

/// A family's name, in quotes; what stands in for it comes behind.
pub fn family(value: &str, generic: &str) -> Option<String> {
    let plain = value.trim().trim_matches(['\'', '"']);
    let fit = |one: char| one.is_alphanumeric() || matches!(one, ' ' | '-' | '_' | '.' | '&' | '+');
    if plain.is_empty() || plain.chars().count() > 100 || !plain.chars().all(fit) {
        return None;
    }
    let small = plain.to_lowercase();
    let generic = match generic {
        _ if small.contains("sans") || WITHOUT_SERIFS.contains(&small.as_str()) => "sans-serif",
        "roman" => "serif",
        "modern" => "monospace",
        _ => "sans-serif",
    };
    let twin =
        TWINS.iter().find(|(name, _)| *name == small).map_or(String::new(), |(_, twin)| format!("'{twin}',"));
    // Single quotes: the attribute around it has the double ones.
    Some(format!("'{plain}',{twin}{generic}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_colours_borders_and_families_are_understood_or_left_out() {
        assert_eq!(points("1in"), Some(72.0));
        assert_eq!(points("2.54cm").map(written).as_deref(), Some("72pt"));
        assert_eq!(points("1e9pt"), None);
        assert_eq!(points("99999in"), Some(5_000.0));
        assert_eq!(colour("#AAbb00").as_deref(), Some("#aabb00"));
        assert_eq!(colour("red;background:url(http://x)"), None);
        assert_eq!(border("1pt solid #000000").as_deref(), Some("1pt solid #000000"));
        assert_eq!(border("none"), None);
        assert_eq!(family("'Open Sans'", "swiss").as_deref(), Some("'Open Sans',sans-serif"));
        assert_eq!(family("Calibri", "roman").as_deref(), Some("'Calibri','Carlito',sans-serif"));
        assert_eq!(family("x';background:url(http://a)", "roman"), None);
    }
}
