//! Which cells are formatted as dates: `styles.xml` (ECMA-376 part 1, 18.8.30 and 18.8.45).

use std::collections::BTreeSet;

use super::parts::{Left, elements};
use crate::error::Error;

/// The numbers of the built-in formats of dates and times.
const BUILT_IN: [std::ops::RangeInclusive<u32>; 4] = [14..=22, 27..=36, 45..=47, 50..=58];

/// The numbers of the cells' formats (the attribute `s`) that show a date.
pub(super) fn dates(name: &str, xml: &[u8], left: Left<'_>) -> Result<BTreeSet<u32>, Error> {
    let all = elements(name, xml, left)?;
    let own: BTreeSet<u32> = all
        .iter()
        .filter(|one| one.name == "numFmt" && is_date(one.value("formatCode")))
        .filter_map(|one| one.value("numFmtId").parse().ok())
        .collect();
    let formats =
        all.iter().find(|one| one.name == "cellXfs").map(|one| one.whole.clone()).unwrap_or_default();
    let formats = all.iter().filter(|one| one.name == "xf" && formats.contains(&one.tag.start));
    let is_of_date = |id: u32| own.contains(&id) || BUILT_IN.iter().any(|range| range.contains(&id));
    let of_dates = (0..).zip(formats).filter(|(_, one)| one.value("numFmtId").parse().is_ok_and(is_of_date));
    Ok(of_dates.map(|(number, _)| number).collect())
}

/// Whether a format's code shows a date or a time: by letters outside of quotes, brackets and escapes.
fn is_date(code: &str) -> bool {
    let (mut is_quoted, mut is_bracketed, mut letters) = (false, false, code.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\\' | '_' | '*' => {
                letters.next();
            }
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            _ if is_bracketed => {}
            ';' => return false,
            'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => return true,
            _ => {}
        }
    }
    // Elapsed time, as [hh], is a date; other words in brackets are colours.
    let mut words = code.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    words.any(|(word, _)| {
        let word = word.to_ascii_lowercase();
        ["h", "m", "s"].iter().any(|letter| !word.is_empty() && word.replace(letter, "").is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::is_date;

    #[test]
    fn a_date_is_known_by_its_format() {
        for code in ["yyyy-mm-dd", "d. mmmm", "h:mm", "[h]:mm", "[ss]", "[$-407]d. mmm yy;@", "\"on \"d"] {
            assert!(is_date(code), "{code}");
        }
        for code in ["0.00", "#,##0 \"days\"", "General", "[Red]0", "[Magenta]0.00", "0\\d", "@", "_d0"] {
            assert!(!is_date(code), "{code}");
        }
    }
}
