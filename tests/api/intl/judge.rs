//! Whether two answers to the same call differ as two versions of the locale data do, or as only a fault makes them.
//!
//! Translators change words, blanks, separators and the order of the parts from version to version, but never
//! a number. So digits must be the same in the same order, whatever numbering system they are written in; in dates
//! zeros before a number do not count (`05.03.` and `5.3.`). A number keeps its sign. Sort orders, letter case,
//! normal forms, plurals, decimal and currency signs, segments, refusals and what was resolved must be the same.
//! Further known differences between versions are in [`KNOWN`], each with its reason.

use serde::Deserialize;
use serde_json::Value;

/// Of the answers at most so many hundredths may differ at all: were the engine without data of some locales, it would
/// write them as English, with the right digits.
const DIFFERENT_PER_CENT: usize = 6;

/// Differences that the rules do not let pass: a locale (or what it begins with), a part of the call's text, the reason.
/// CLDR 42 is ICU 72's (asked by its C interface), CLDR 48 is Chromium's; a line of a version that is gone does no harm.
const KNOWN: [(&str, &str, &str); 21] = [
    ("ar-SA", "day(l", "CLDR 42: its calendar is Umm al-Qura's; CLDR 48: the Gregorian"),
    ("ar-SA", "DAY.to", "the calendar, as above"),
    ("ar-SA", "SUMMER.to", "the calendar, as above"),
    ("ar-SA", "new Intl.DateTimeFormat", "the calendar, as above"),
    ("es-MX", "time(l", "CLDR 42: Mexico writes 13:30; CLDR 48: 1:30 p.m."),
    ("es-MX", "DAY.to", "the hours, as above"),
    ("es-MX", "SUMMER.to", "the hours, as above"),
    ("es-MX", "hourCycle", "the hours, as above"),
    ("sl", "dateStyle: 'short'", "CLDR 42: 5. 03. 24; CLDR 48: 5. 3. 2024"),
    ("vi", "dateStyle: 'short'", "CLDR 42: 05/03/2024; CLDR 48: 5/3/24"),
    ("fi", "month: 'short'", "CLDR 42: 5. maalisk.; CLDR 48: 5.3."),
    ("he", "'hour', { unitDisplay: 'long' }", "CLDR 42 writes one hour without its digit"),
    ("he", "DurationFormat", "one hour, as above"),
    ("zh-Hans-CN", "'shortOffset'", "CLDR 48 writes no blank: GMT+907:30:00"),
    ("lv", "Collator(l", "CLDR 42: y is a variant of i; CLDR 48: a letter of its own"),
    ("lv", "localeCompare", "y, as above"),
    (
        "da",
        "Collator(l",
        "JavaScriptCore sorts `a` before `A` unless caseFirst is said; the data has A first",
    ),
    ("da", "localeCompare", "the letter case, as above"),
    ("tr-TR", "toLocaleUpperCase()", "V8 does not ask for the default locale there, as ECMA-402 has it"),
    ("ko", "formatRange", "JavaScriptCore writes a range of long dates in numbers"),
    (
        "zh-Han",
        "Collator(l).resolvedOptions",
        "JavaScriptCore calls the usual order `default`, V8 by its name",
    ),
];

/// A call, and its answer for each locale.
#[derive(Deserialize)]
pub struct IntlCall {
    kind: Kind,
    call: String,
    answers: Vec<Value>,
}

/// What two versions of the data may answer differently.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// All but digits and sign.
    Number,
    /// All but digits, where zeros before a number do not count.
    Date,
    /// All but digits.
    Words,
    /// Nothing.
    Exact,
}

/// What came of all pairs.
#[derive(Default)]
pub struct Report {
    compared: usize,
    /// A line each.
    passed: Vec<String>,
    known: Vec<String>,
    failed: Vec<String>,
}

impl Report {
    /// Adds the answers for these locales.
    pub fn compare(&mut self, locales: &[String], template: &[IntlCall], script: &[IntlCall]) {
        assert_eq!(template.len(), script.len());
        for (ours, theirs) in template.iter().zip(script) {
            assert_eq!((&ours.call, ours.kind), (&theirs.call, theirs.kind));
            assert_eq!((ours.answers.len(), theirs.answers.len()), (locales.len(), locales.len()));
            for (at, locale) in locales.iter().enumerate() {
                self.add(locale, ours, (&ours.answers[at], &theirs.answers[at]));
            }
        }
    }

    /// How many pairs there were.
    pub fn compared(&self) -> usize {
        self.compared
    }

    /// What differs and passes.
    pub fn differences(&self) -> String {
        let Self { compared, passed, known, .. } = self;
        format!(
            "of {compared} answers {} differ between the versions of the data:\n{}\nand {} as is known:\n{}",
            passed.len(),
            passed.join("\n"),
            known.len(),
            known.join("\n")
        )
    }

    /// Fails where something must not differ.
    pub fn judge(&self) {
        let Self { compared, passed, known, failed } = self;
        assert!(
            failed.is_empty(),
            "{} answers of template code are not Chromium's. Are they of a new version of the locale data, then \
             KNOWN wants a line:\n{}",
            failed.len(),
            failed.join("\n")
        );
        let differing = passed.len() + known.len();
        assert!(differing * 100 < compared * DIFFERENT_PER_CENT, "{differing} of {compared} differ");
    }

    fn add(&mut self, locale: &str, asked: &IntlCall, (ours, theirs): (&Value, &Value)) {
        self.compared += 1;
        if ours == theirs {
            return;
        }
        let call = &asked.call;
        let line = format!("{locale}  {call}  ours: {ours}  Chromium's: {theirs}");
        let is_known = KNOWN.iter().find(|(of, part, _)| locale.starts_with(of) && call.contains(part));
        match (ours.as_str(), theirs.as_str(), is_known) {
            (Some(ours), Some(theirs), _) if may_differ(asked.kind, ours, theirs) => self.passed.push(line),
            // Where one refuses and the other answers no data are to blame.
            (Some(_), Some(_), Some((.., why))) => self.known.push(format!("{line}  ({why})")),
            _ => self.failed.push(line),
        }
    }
}

fn may_differ(kind: Kind, ours: &str, theirs: &str) -> bool {
    let same = |read: fn(&str) -> String| read(ours) == read(theirs);
    match kind {
        Kind::Exact => false,
        Kind::Words => same(digits),
        Kind::Date => same(digits_of_dates),
        Kind::Number => same(digits) && is_negative(ours) == is_negative(theirs),
    }
}

/// All digits, written as 0 to 9.
fn digits(text: &str) -> String {
    text.chars().filter_map(digit).collect()
}

/// The same without the zeros that numbers begin with.
fn digits_of_dates(text: &str) -> String {
    let plain: String = text.chars().map(|letter| digit(letter).unwrap_or(' ')).collect();
    plain.split(' ').map(|number| number.trim_start_matches('0')).collect()
}

fn is_negative(text: &str) -> bool {
    text.contains(['-', '\u{2212}', '('])
}

/// The zeros of the numbering systems that the locales have, and of some more.
const ZEROS: [char; 21] = [
    '0', '\u{660}', '\u{6f0}', '\u{7c0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}',
    '\u{c66}', '\u{ce6}', '\u{d66}', '\u{de6}', '\u{e50}', '\u{ed0}', '\u{f20}', '\u{1040}', '\u{17e0}',
    '\u{1810}', '\u{ff10}',
];

fn digit(letter: char) -> Option<char> {
    let value =
        ZEROS.iter().find_map(|&zero| u32::from(letter).checked_sub(u32::from(zero)).filter(|it| *it < 10));
    value.and_then(|value| char::from_digit(value, 10))
}

#[test]
fn changed_translations_pass_and_changed_amounts_do_not() {
    let cases = [
        (Kind::Number, "1.234,50 €", "€ 1 234,50", true),
        (Kind::Number, "१,२३४.५०", "1,234.50", true),
        (Kind::Number, "1.234,50 €", "1.234,5 €", false),
        (Kind::Number, "1.034,50 €", "134,50 €", false),
        (Kind::Number, "-1.234,50 €", "1.234,50 €", false),
        (Kind::Number, "(5.00)", "\u{2212}5.00", true),
        (Kind::Date, "05.03.2024", "5/3/2024", true),
        (Kind::Date, "3/5/2024", "5/3/2024", false),
        (Kind::Date, "12:30 a.m.", "00:30", false),
        (Kind::Words, "Tedesco", "tedesco", true),
        (Kind::Exact, "a A", "A a", false),
    ];
    for (kind, ours, theirs, wanted) in cases {
        assert_eq!(may_differ(kind, ours, theirs), wanted, "{kind:?} {ours} {theirs}");
    }
    let asked = IntlCall { kind: Kind::Number, call: String::new(), answers: Vec::new() };
    let mut report = Report::default();
    report.add("de", &asked, (&Value::from("1"), &serde_json::json!({"thrown": "RangeError"})));
    assert_eq!((report.failed.len(), report.passed.len()), (1, 0), "one refuses, the other does not");
}
