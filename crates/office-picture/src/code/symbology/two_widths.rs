//! The codes whose bars and spaces are narrow or wide: Code 39 (ISO/IEC 16388), interleaved 2 of 5 (ISO/IEC 16390) and Codabar (EN 798).

use super::{Symbol, push_widths};
use crate::excerpt;

/// A wide bar is three narrow ones.
const WIDE: usize = 3;

/// The signs of Code 39, bars and spaces by turns; 1 is wide.
const CODE39: [(char, &str); 44] = [
    ('0', "000110100"),
    ('1', "100100001"),
    ('2', "001100001"),
    ('3', "101100000"),
    ('4', "000110001"),
    ('5', "100110000"),
    ('6', "001110000"),
    ('7', "000100101"),
    ('8', "100100100"),
    ('9', "001100100"),
    ('A', "100001001"),
    ('B', "001001001"),
    ('C', "101001000"),
    ('D', "000011001"),
    ('E', "100011000"),
    ('F', "001011000"),
    ('G', "000001101"),
    ('H', "100001100"),
    ('I', "001001100"),
    ('J', "000011100"),
    ('K', "100000011"),
    ('L', "001000011"),
    ('M', "101000010"),
    ('N', "000010011"),
    ('O', "100010010"),
    ('P', "001010010"),
    ('Q', "000000111"),
    ('R', "100000110"),
    ('S', "001000110"),
    ('T', "000010110"),
    ('U', "110000001"),
    ('V', "011000001"),
    ('W', "111000000"),
    ('X', "010010001"),
    ('Y', "110010000"),
    ('Z', "011010000"),
    ('-', "010000101"),
    ('.', "110000100"),
    (' ', "011000100"),
    ('$', "010101000"),
    ('/', "010100010"),
    ('+', "010001010"),
    ('%', "000101010"),
    // The start and the end.
    ('*', "010010100"),
];

/// The signs of Codabar.
const CODABAR: [(char, &str); 20] = [
    ('0', "0000011"),
    ('1', "0000110"),
    ('2', "0001001"),
    ('3', "1100000"),
    ('4', "0010010"),
    ('5', "1000010"),
    ('6', "0100001"),
    ('7', "0100100"),
    ('8', "0110000"),
    ('9', "1001000"),
    ('-', "0001100"),
    ('$', "0011000"),
    (':', "1000101"),
    ('/', "1010001"),
    ('.', "1010100"),
    ('+', "0010101"),
    ('A', "0011010"),
    ('B', "0101001"),
    ('C', "0001011"),
    ('D', "0001110"),
];

/// The digits of interleaved 2 of 5.
const ITF: [&str; 10] =
    ["00110", "10001", "01001", "11000", "00101", "10100", "01100", "00011", "10010", "01010"];

pub(super) fn code39(text: &str) -> Result<Symbol, String> {
    if text.contains('*') {
        return Err(format!(
            "Code 39 sets * before and behind the text itself; leave it off in \"{}\"",
            excerpt(text)
        ));
    }
    let modules = signs(&format!("*{text}*"), &CODE39).map_err(|sign| {
        format!("Code 39 has no {sign:?}, which is in \"{}\": digits, capitals, blanks and -.$/+% only; code128 takes more", excerpt(text))
    })?;
    Ok(Symbol::plain(modules, text))
}

/// The text may bring its own letters before and behind; without them it gets A and A.
pub(super) fn codabar(text: &str) -> Result<Symbol, String> {
    let text = text.to_ascii_uppercase();
    let is_guard = |sign: char| matches!(sign, 'A'..='D');
    let inner = text.strip_prefix(is_guard).and_then(|rest| rest.strip_suffix(is_guard));
    let (whole, inner) = match inner {
        Some(inner) => (text.clone(), inner),
        None => (format!("A{text}A"), text.as_str()),
    };
    if inner.is_empty() || inner.contains(is_guard) {
        return Err(format!(
            "Codabar has its letters A to D only before and behind the digits; write \"{}\" so",
            excerpt(&text)
        ));
    }
    let modules = signs(&whole, &CODABAR).map_err(|sign| {
        format!(
            "Codabar has no {sign:?}, which is in \"{}\": digits and -$:/.+ only; code128 takes more",
            excerpt(&text)
        )
    })?;
    Ok(Symbol::plain(modules, inner))
}

/// Each pair of digits is one of bars with one of spaces between them.
pub(super) fn itf(text: &str) -> Result<Symbol, String> {
    let digits: Option<Vec<&str>> =
        text.chars().map(|sign| ITF.get(usize::try_from(sign.to_digit(10)?).ok()?).copied()).collect();
    let digits = digits.ok_or_else(|| {
        format!("Interleaved 2 of 5 has digits only, and \"{}\" has more: code128 takes all", excerpt(text))
    })?;
    if !digits.len().is_multiple_of(2) {
        return Err(format!(
            "Interleaved 2 of 5 needs an even number of digits; write a 0 before \"{}\"",
            excerpt(text)
        ));
    }
    let mut modules = Vec::new();
    push_widths(&mut modules, [1; 4]);
    for pair in digits.chunks_exact(2) {
        if let [bars, spaces] = pair {
            push_widths(
                &mut modules,
                bars.bytes().zip(spaces.bytes()).flat_map(|(bar, space)| [width(bar), width(space)]),
            );
        }
    }
    push_widths(&mut modules, [WIDE, 1, 1]);
    Ok(Symbol::plain(modules, text))
}

/// The signs of a text with a narrow space between them, or the first that the table doesn't have.
fn signs(text: &str, table: &[(char, &str)]) -> Result<Vec<bool>, char> {
    let mut modules = Vec::new();
    for sign in text.chars() {
        let (_, widths) = table.iter().find(|(known, _)| *known == sign).ok_or(sign)?;
        if !modules.is_empty() {
            modules.push(false);
        }
        push_widths(&mut modules, widths.bytes().map(width));
    }
    Ok(modules)
}

fn width(bit: u8) -> usize {
    if bit == b'1' { WIDE } else { 1 }
}
