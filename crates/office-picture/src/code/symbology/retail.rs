//! The codes of shops: EAN-13, EAN-8 and UPC-A (ISO/IEC 15420). An UPC-A is an EAN-13 that begins with 0, written otherwise.

use super::{Label, Symbol};
use crate::excerpt;

/// The digits of the left half, of odd parity. Those of the right are their opposite; those of even parity the right ones backwards.
const ODD: [&str; 10] = [
    "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111",
    "0001011",
];
/// The first digit of an EAN-13 is in the parity of the six that follow: 1 is even.
const PARITY: [&str; 10] =
    ["000000", "001011", "001101", "001110", "010011", "011001", "011100", "010101", "010110", "011010"];
/// The nominal heights of the bars, 22.85 and 18.23 mm, in modules of 0.33 mm.
const HEIGHT: f64 = 22.85 / 0.33;
const SMALL_HEIGHT: f64 = 18.23 / 0.33;

pub(super) fn ean13(text: &str) -> Result<Symbol, String> {
    let digits = checked(text, "an EAN-13", 13)?;
    let pieces = |range| slice(&digits, range);
    let labels = vec![
        Label { text: pieces(0..1), middle: -7.0 },
        Label { text: pieces(1..7), middle: 24.0 },
        Label { text: pieces(7..13), middle: 71.0 },
    ];
    let guards = vec![0..3, 45..50, 92..95];
    Ok(Symbol { modules: thirteen(&digits), quiet: (11, 7), height: HEIGHT, guards, labels })
}

pub(super) fn upca(text: &str) -> Result<Symbol, String> {
    let digits = checked(text, "a UPC-A", 12)?;
    let pieces = |range| slice(&digits, range);
    let labels = vec![
        Label { text: pieces(0..1), middle: -5.0 },
        Label { text: pieces(1..6), middle: 27.5 },
        Label { text: pieces(6..11), middle: 67.5 },
        Label { text: pieces(11..12), middle: 100.0 },
    ];
    let thirteen = thirteen(&[&[0], digits.as_slice()].concat());
    Ok(Symbol {
        modules: thirteen,
        quiet: (9, 9),
        height: HEIGHT,
        guards: vec![0..10, 45..50, 85..95],
        labels,
    })
}

pub(super) fn ean8(text: &str) -> Result<Symbol, String> {
    let digits = checked(text, "an EAN-8", 8)?;
    let (left, right) = digits.split_at_checked(4).unwrap_or_default();
    let labels = vec![
        Label { text: slice(&digits, 0..4), middle: 17.0 },
        Label { text: slice(&digits, 4..8), middle: 50.0 },
    ];
    let modules = halves(left.iter().map(|digit| (*digit, false)), right);
    Ok(Symbol { modules, quiet: (7, 7), height: SMALL_HEIGHT, guards: vec![0..3, 31..36, 64..67], labels })
}

fn thirteen(digits: &[usize]) -> Vec<bool> {
    let (first, rest) = digits.split_first().unwrap_or((&0, &[]));
    let (left, right) = rest.split_at_checked(6).unwrap_or_default();
    let parity = PARITY.get(*first).copied().unwrap_or_default();
    halves(left.iter().copied().zip(parity.bytes().map(|bit| bit == b'1')), right)
}

/// Guards outside and in the middle, and the digits of both halves between them; with each of the left whether its parity is even.
fn halves(left: impl Iterator<Item = (usize, bool)>, right: &[usize]) -> Vec<bool> {
    let mut modules = bits("101");
    for (digit, is_even) in left {
        let odd = odd(digit);
        if is_even { modules.extend(odd.iter().rev().map(|bit| !bit)) } else { modules.extend(odd) }
    }
    modules.extend(bits("01010"));
    modules.extend(right.iter().flat_map(|digit| odd(*digit)).map(|bit| !bit));
    modules.extend(bits("101"));
    modules
}

fn odd(digit: usize) -> Vec<bool> {
    bits(ODD.get(digit).copied().unwrap_or_default())
}

fn bits(text: &str) -> Vec<bool> {
    text.bytes().map(|bit| bit == b'1').collect()
}

/// All `length` digits; the last one is checked, or found if it's missing.
fn checked(text: &str, what: &str, length: usize) -> Result<Vec<usize>, String> {
    let shown = excerpt(text);
    let digits: Option<Vec<usize>> = text
        .chars()
        .filter(|sign| !matches!(sign, ' ' | '-'))
        .map(|sign| sign.to_digit(10).and_then(|digit| usize::try_from(digit).ok()))
        .collect();
    let Some(mut digits) = digits.filter(|digits| digits.len() == length || digits.len() + 1 == length)
    else {
        return Err(format!(
            "{what} has {length} digits, or {} without the check digit: \"{shown}\" is none",
            length - 1
        ));
    };
    let given = if digits.len() == length { digits.pop() } else { None };
    let check = check_digit(&digits);
    if let Some(given) = given.filter(|given| *given != check) {
        return Err(format!(
            "the check digit of \"{shown}\" is {given} and should be {check}; look the number up again, or leave the digit off"
        ));
    }
    digits.push(check);
    Ok(digits)
}

/// From the right every other digit counts three times; the check digit fills up to tens.
fn check_digit(digits: &[usize]) -> usize {
    let sum: usize =
        digits.iter().rev().zip([3, 1].into_iter().cycle()).map(|(digit, weight)| digit * weight).sum();
    (10 - sum % 10) % 10
}

fn slice(digits: &[usize], range: std::ops::Range<usize>) -> String {
    digits.get(range).unwrap_or_default().iter().map(ToString::to_string).collect()
}
