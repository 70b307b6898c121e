//! Code 128 (ISO/IEC 15417): three sets of characters, the third with two digits a sign.

use super::{Symbol, push_widths};
use crate::excerpt;

/// The widths of bars and spaces of each value; the last is the stop.
const WIDTHS: &str = "212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 \
    113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 \
    111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 \
    213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 \
    112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 \
    421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 \
    211232 2331112";
const STOP: u32 = 106;
/// The start of set A; those of B and C follow.
const START: u32 = 103;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    /// Capitals, digits and control characters.
    A,
    /// Capitals and small letters.
    B,
    /// Pairs of digits.
    C,
}

impl Set {
    fn start(self) -> u32 {
        match self {
            Self::A => START,
            Self::B => START + 1,
            Self::C => START + 2,
        }
    }

    /// The value that changes to this set.
    fn change(self) -> u32 {
        match self {
            Self::A => 101,
            Self::B => 100,
            Self::C => 99,
        }
    }
}

pub(super) fn symbol(text: &str) -> Result<Symbol, String> {
    if let Some(sign) = text.chars().find(|sign| !sign.is_ascii()) {
        return Err(format!(
            "Code 128 has no {sign:?}, which is in \"{}\": only ASCII characters; a QR code takes all",
            excerpt(text)
        ));
    }
    let values = values(text.as_bytes());
    let weighted = values.iter().zip(std::iter::once(1).chain(1..)).map(|(value, weight)| value * weight);
    let check = weighted.sum::<u32>() % 103;
    let mut modules = Vec::new();
    for value in values.into_iter().chain([check, STOP]) {
        let widths = usize::try_from(value)
            .ok()
            .and_then(|index| WIDTHS.split_ascii_whitespace().nth(index))
            .unwrap_or_default();
        push_widths(&mut modules, widths.bytes().map(|digit| usize::from(digit - b'0')));
    }
    // Control characters are in the bars, and not below them.
    let label: String = text.chars().filter(|sign| !sign.is_control()).collect();
    Ok(Symbol::plain(modules, &label))
}

/// The start and the signs, with pairs of digits where they make the code shorter.
fn values(mut rest: &[u8]) -> Vec<u32> {
    let mut set = first_set(rest);
    let mut values = vec![set.start()];
    while let Some((&byte, after)) = rest.split_first() {
        let wanted = next_set(set, rest);
        if wanted != set {
            set = wanted;
            values.push(set.change());
        }
        if let (Set::C, [tens, ones, after @ ..]) = (set, rest) {
            values.push(u32::from(tens - b'0') * 10 + u32::from(ones - b'0'));
            rest = after;
        } else {
            values.push(value(byte, set));
            rest = after;
        }
    }
    values
}

fn first_set(text: &[u8]) -> Set {
    let digits = digits(text);
    if digits >= 4 || (digits == 2 && text.len() == 2) { Set::C } else { letters(text) }
}

/// The set for what comes next: digits of an odd number leave their first one to the set before.
fn next_set(set: Set, rest: &[u8]) -> Set {
    let digits = digits(rest);
    let is_end = digits == rest.len();
    match set {
        Set::C if digits >= 2 => Set::C,
        Set::C => letters(rest),
        Set::A | Set::B if digits.is_multiple_of(2) && (digits >= 6 || (is_end && digits >= 4)) => Set::C,
        Set::A if rest.first().is_some_and(|byte| *byte >= 0x60) => Set::B,
        Set::B if rest.first().is_some_and(|byte| *byte < 0x20) => Set::A,
        Set::A | Set::B => set,
    }
}

/// Set A if a control character comes before any small letter.
fn letters(text: &[u8]) -> Set {
    match text.iter().find(|byte| **byte < 0x20 || **byte >= 0x60) {
        Some(byte) if *byte < 0x20 => Set::A,
        _ => Set::B,
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The value of a character: set A has the control characters where B has the small letters.
fn value(byte: u8, set: Set) -> u32 {
    let byte = u32::from(byte);
    if set == Set::A && byte < 0x20 { byte + 64 } else { byte.saturating_sub(32) }
}
