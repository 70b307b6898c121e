//! The signs below the bars, as strokes of a pen: no font is needed, and they are sharp at any size.
//!
//! A sign is four units wide and six high; descenders reach down to eight. Strokes are lists of points, each its column and row: `~` before
//! them makes a curve of them (a quadratic B-spline, which begins and ends at the outer points), `o` a closed curve.

use super::canvas::Canvas;

/// From one sign to the next.
const ADVANCE: f64 = 6.0;
/// Half the width of the pen.
const PEN: f64 = 0.42;
/// How high signs are, without descenders.
pub(super) const HEIGHT: f64 = 6.0;

/// The strokes of every sign that is drawn.
const STROKES: [(char, &str); 79] = [
    (' ', ""),
    ('0', "o 00 40 43 46 06 03"),
    ('1', "11 30 36"),
    ('2', "~ 02 00 40 43 06|06 46"),
    ('3', "~ 01 00 40 43 23|~ 23 43 46 06 05"),
    ('4', "36 30 04 44"),
    ('5', "40 00 02|~ 02 42 46 06 05"),
    ('6', "~ 41 40 00 06 46 42 02 04"),
    ('7', "00 40 16"),
    ('8', "o 00 40 43 03|o 03 43 46 06"),
    ('9', "~ 05 06 46 40 00 04 44 42"),
    ('A', "06 20 46|13 33"),
    ('B', "06 00|~ 00 40 43 03|~ 03 43 46 06"),
    ('C', "~ 41 40 00 06 46 45"),
    ('D', "06 00|~ 00 40 43 46 06"),
    ('E', "40 00 06 46|03 33"),
    ('F', "40 00 06|03 33"),
    ('G', "~ 41 40 00 06 46 43|43 23"),
    ('H', "00 06|40 46|03 43"),
    ('I', "20 26"),
    ('J', "~ 40 46 06 04"),
    ('K', "00 06|40 03 46"),
    ('L', "00 06 46"),
    ('M', "06 00 23 40 46"),
    ('N', "06 00 46 40"),
    ('O', "o 00 40 46 06"),
    ('P', "06 00|~ 00 40 43 03"),
    ('Q', "o 00 40 46 06|24 46"),
    ('R', "06 00|~ 00 40 43 03|23 46"),
    ('S', "~ 41 40 00 03 43 46 06 05"),
    ('T', "00 40|20 26"),
    ('U', "~ 00 06 46 40"),
    ('V', "00 26 40"),
    ('W', "00 16 23 36 40"),
    ('X', "00 46|40 06"),
    ('Y', "00 23 40|23 26"),
    ('Z', "00 40 06 46"),
    ('a', "o 02 42 46 06|42 46"),
    ('b', "00 06|o 02 42 46 06"),
    ('c', "~ 43 42 02 06 46 45"),
    ('d', "40 46|o 02 42 46 06"),
    ('e', "04 44|~ 44 42 02 06 46 45"),
    ('f', "~ 40 10 16|02 32"),
    ('g', "o 02 42 46 06|~ 42 48 08 07"),
    ('h', "00 06|~ 04 02 42 46"),
    ('i', "22 26|20 20"),
    ('j', "~ 32 38 08|30 30"),
    ('k', "00 06|32 04 36"),
    ('l', "20 26"),
    ('m', "02 06|~ 03 02 22 26|~ 23 22 42 46"),
    ('n', "02 06|~ 04 02 42 46"),
    ('o', "o 02 42 46 06"),
    ('p', "02 08|o 02 42 46 06"),
    ('q', "42 48|o 02 42 46 06"),
    ('r', "02 06|~ 04 02 32"),
    ('s', "~ 43 42 02 04 44 46 06 05"),
    ('t', "~ 10 16 36|02 32"),
    ('u', "~ 02 06 46 42|42 46"),
    ('v', "02 26 42"),
    ('w', "02 16 24 36 42"),
    ('x', "02 46|42 06"),
    ('y', "02 26|42 18"),
    ('z', "02 42 06 46"),
    ('-', "13 33"),
    ('_', "06 46"),
    ('.', "26 26"),
    (',', "26 17"),
    (':', "22 22|26 26"),
    ('/', "06 40"),
    ('+', "03 43|21 25"),
    ('=', "02 42|04 44"),
    ('*', "21 25|12 34|14 32"),
    ('$', "~ 41 40 00 03 43 46 06 05|20 26"),
    ('%', "06 40|o 00 20 22 02|o 24 44 46 26"),
    ('(', "~ 30 13 36"),
    (')', "~ 10 33 16"),
    ('#', "10 16|30 36|02 42|04 44"),
    ('!', "20 24|26 26"),
    ('?', "~ 01 00 40 43 23 24|26 26"),
];

fn strokes(sign: char) -> Option<&'static str> {
    STROKES.into_iter().find(|(known, _)| *known == sign).map(|(_, strokes)| strokes)
}

/// The first sign of a text that has no strokes.
pub(super) fn unknown(text: &str) -> Option<char> {
    text.chars().find(|sign| strokes(*sign).is_none())
}

/// How deep a text reaches below its line, in units.
pub(super) fn depth(text: &str) -> f64 {
    if text.contains(['g', 'j', 'p', 'q', 'y', ',']) { 2.0 } else { 0.0 }
}

/// How wide a text is, in units.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(|_| ADVANCE).sum::<f64>() - 2.0
}

/// Draws a text with its left upper corner at a place; `unit` is in pixels.
pub(super) fn draw(canvas: &mut Canvas, text: &str, (left, top): (f64, f64), unit: f64) {
    let mut at = left;
    for sign in text.chars() {
        for stroke in strokes(sign).unwrap_or_default().split('|') {
            let points: Vec<(f64, f64)> =
                points(stroke).iter().map(|(x, y)| (at + x * unit, top + y * unit)).collect();
            for (from, to) in points.iter().zip(points.iter().skip(1)) {
                canvas.line(*from, *to, PEN * unit);
            }
        }
        at += ADVANCE * unit;
    }
}

/// The line through a stroke's points, in units; of a curve many short pieces.
fn points(stroke: &str) -> Vec<(f64, f64)> {
    let corners: Vec<(f64, f64)> = stroke
        .split(' ')
        .filter_map(|pair| {
            let mut digits = pair.chars().filter_map(|digit| digit.to_digit(10)).map(f64::from);
            Some((digits.next()?, digits.next()?))
        })
        .collect();
    match stroke.chars().next() {
        Some('~') => curve(&corners, false),
        Some('o') => curve(&corners, true),
        _ => corners,
    }
}

/// Between the middles of neighbouring edges, each corner bends the curve.
fn curve(corners: &[(f64, f64)], is_closed: bool) -> Vec<(f64, f64)> {
    const PIECES: u8 = 8;
    let (Some(&first), Some(&last)) = (corners.first(), corners.last()) else { return Vec::new() };
    let bends: Vec<(f64, f64)> = if is_closed {
        std::iter::once(last).chain(corners.iter().copied()).chain([first]).collect()
    } else {
        corners.to_vec()
    };
    let mut line = if is_closed { Vec::new() } else { vec![first] };
    for ((before, bend), after) in bends.iter().zip(bends.iter().skip(1)).zip(bends.iter().skip(2)) {
        let (start, end) = (middle(*before, *bend), middle(*bend, *after));
        for piece in 0..=PIECES {
            let part = f64::from(piece) / f64::from(PIECES);
            line.push(between(between(start, *bend, part), between(*bend, end, part), part));
        }
    }
    if !is_closed {
        line.push(last);
    }
    line
}

fn middle(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    between(one, other, 0.5)
}

fn between(one: (f64, f64), other: (f64, f64), part: f64) -> (f64, f64) {
    (one.0 + (other.0 - one.0) * part, one.1 + (other.1 - one.1) * part)
}
