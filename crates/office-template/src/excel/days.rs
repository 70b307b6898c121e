//! Days as Excel counts them (ECMA-376 part 1, 18.17.4.1): since 1900, or since 1904 where the workbook says so.

use cell_references::Cell;

/// Days from 1899-12-30 to 1970-01-01.
const DAYS_TO_1970: f64 = 25_569.0;
/// Days from 1899-12-30 to 1904-01-01, which is 0 where days are counted since then.
const DAYS_TO_1904: f64 = 1_462.0;
/// What Excel calls 1900-03-01. It has a 29th of February in 1900, so the days before have one less than since 1899-12-30.
const MARCH_1900: f64 = 61.0;
/// The number behind 9999-12-31, the last day that Excel shows.
const END: f64 = 2_958_466.0;

/// What a cell has for a day.
pub(super) enum Day {
    Number(f64),
    /// 1900-01-01 to 1900-02-28: other programs count these without Excel's 29th of February.
    Disputed(f64),
    /// Excel has no number for it.
    Text,
}

/// The day that is `days` behind 1970-01-01.
pub(super) fn day(days: f64, is_1904: bool) -> Day {
    let serial = days + DAYS_TO_1970;
    let first = if is_1904 { DAYS_TO_1904 } else { 2.0 };
    if !(first..END).contains(&serial) {
        return Day::Text;
    }
    if is_1904 {
        Day::Number(serial - DAYS_TO_1904)
    } else if serial < MARCH_1900 {
        Day::Disputed(serial - 1.0)
    } else {
        Day::Number(serial)
    }
}

/// Days of a sheet that are not shown as others are.
#[derive(Default)]
pub(super) struct Told {
    texts: Option<First>,
    disputed: Option<First>,
}

/// The first cell of a kind with its day, and how many there are.
struct First {
    cell: Cell,
    day: String,
    count: usize,
}

impl Told {
    pub(super) fn text(&mut self, cell: Cell, day: &str) {
        add(&mut self.texts, cell, day);
    }

    pub(super) fn disputed(&mut self, cell: Cell, day: &str) {
        add(&mut self.disputed, cell, day);
    }

    /// The same in sentences; `sheet` is its name.
    pub(super) fn sentences(&self, sheet: &str, is_1904: bool) -> Vec<String> {
        let first = if is_1904 { 1904 } else { 1900 };
        let said = |found: &Option<First>, why: &str| {
            let First { cell, day, count } = found.as_ref()?;
            let more = if *count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
            Some(format!("{sheet}!{cell}: {day}{more} {why}"))
        };
        let texts = format!(
            "is none of the days of this workbook, {first} to 9999: its cell has a text, and formulas do not calculate with it"
        );
        let disputed = "is before 1900-03-01: Excel shows it, and LibreOffice, which makes PDF and pictures, the day before";
        [said(&self.texts, &texts), said(&self.disputed, disputed)].into_iter().flatten().collect()
    }
}

fn add(kind: &mut Option<First>, cell: Cell, day: &str) {
    match kind {
        Some(first) => first.count += 1,
        None => *kind = Some(First { cell, day: day.to_owned(), count: 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Day, day};

    #[test]
    fn a_day_has_the_number_that_excel_gives_it() {
        let number = |days: f64, is_1904| match day(days, is_1904) {
            Day::Number(number) | Day::Disputed(number) => Some(number),
            Day::Text => None,
        };
        // 1899-12-31, 1900-01-01, 1900-02-28, 1900-03-01.
        assert_eq!(
            [-25_568.0, -25_567.0, -25_509.0, -25_508.0].map(|days| number(days, false)),
            [None, Some(1.0), Some(59.0), Some(61.0)]
        );
        // 1903-12-31, 1904-01-01.
        assert_eq!([-24_108.0, -24_107.0].map(|days| number(days, true)), [None, Some(0.0)]);
        // 9999-12-31 and the day behind it.
        assert_eq!([2_932_896.5, 2_932_897.0].map(|days| number(days, false)), [Some(2_958_465.5), None]);
    }
}
