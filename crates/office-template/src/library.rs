//! The JavaScript that runs the programs of templates: a core, and parts that only some programs need. Each document gets a fresh
//! JavaScript machine, and parsing this script is most of a small document's cost, so parts that are not needed are left out.

use std::collections::BTreeSet;

/// What every program needs.
const CORE: &str = include_str!("library/core.js");
const EXACT: &str = include_str!("library/exact.js");
const NAMES: &str = include_str!("library/names.js");
const WORDS: &str = include_str!("library/words.js");
const TYPED: &str = include_str!("library/typed.js");
const FORMATS: &str = include_str!("library/formats.js");
const DATES: &str = include_str!("library/dates.js");
const CHARTS: &str = include_str!("library/charts.js");
const CELLS: &str = include_str!("library/cells.js");
const DAYS: &str = include_str!("library/days.js");
const FORMS: &str = include_str!("library/forms.js");

/// A part with filters.
struct Filters {
    script: &'static str,
    names: &'static [&'static str],
    /// Whether it needs [`FORMATS`].
    formats: bool,
}

const FILTERS: [Filters; 4] = [
    Filters {
        script: include_str!("library/numbers.js"),
        names: &["number", "currency", "percent"],
        formats: true,
    },
    Filters { script: DATES, names: &["date"], formats: true },
    Filters {
        script: include_str!("library/texts.js"),
        names: &["upper", "lower", "title", "trim", "text"],
        formats: false,
    },
    Filters {
        script: include_str!("library/lists.js"),
        names: &["join", "sort", "group", "first", "last", "sum"],
        formats: false,
    },
];

impl Filters {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

/// The filters, each with the most arguments that it takes and how it is written.
const USAGE: [(&str, usize, &str); 17] = [
    ("default", 1, r#"default("none")"#),
    ("count", 0, "count"),
    ("sum", 1, r#"sum("price")"#),
    (
        "number",
        3,
        r#"number("0,0.00", "de-DE", { signDisplay: "always" }), where a pattern is written as 0,0.00 or #,##0.## or 0%"#,
    ),
    ("currency", 3, r#"currency("EUR", "de-DE", { currencyDisplay: "code" })"#),
    ("percent", 3, r#"percent(1, "de-DE", { signDisplay: "always" })"#),
    (
        "date",
        4,
        r#"date("YYYY-MM-DD", "de-DE"), date("long", "short", "de-DE") or date({ month: "long" }, "de-DE"): date takes a pattern, one of full, long, medium and short, or options"#,
    ),
    ("upper", 0, "upper"),
    ("lower", 0, "lower"),
    ("title", 0, "title"),
    ("trim", 0, "trim"),
    ("text", 0, "text"),
    ("join", 2, r#"join(", ", "name")"#),
    ("sort", 2, r#"sort("price", "desc")"#),
    ("group", 1, r#"group("city")"#),
    ("first", 0, "first"),
    ("last", 0, "last"),
];

/// Whether there is a filter of this name; otherwise it is a method of the value.
pub(crate) fn is_filter(name: &str) -> bool {
    USAGE.iter().any(|(filter, ..)| *filter == name)
}

/// The names of all filters, and how the program's own are written, as JavaScript.
fn usage(program: &str) -> String {
    let names: Vec<_> = USAGE.iter().map(|(name, ..)| *name).collect();
    let own: BTreeSet<&str> = values(program, "name").collect();
    let used = USAGE.iter().filter(|(filter, ..)| own.contains(filter));
    let used = used.map(|(name, most, written)| format!("{name}: [{most}, '{written}'], "));
    let (names, used) = (names.join(", "), used.collect::<String>());
    format!("const FILTER_NAMES = \"{names}\";\nconst WRITTEN = {{ __proto__: null, {used}}};\n")
}

/// The kinds of steps that the core does without further parts.
const CORE_KINDS: [&str; 5] = ["value", "section", "otherwise", "rows", "columns"];

/// The kinds of steps of cells.
const CELL_KINDS: [&str; 3] = ["cell", "day", "formula"];

/// A script that evaluates to a function `(program, data, settings) => string`, for one program and its data.
///
/// Must be evaluated before any of the job's own code, in a machine used for this job only. `program` is the text of
/// [`Template::program`](crate::Template::program), `data` the parsed JSON, `settings` `{ locale: string | undefined, timeZone:
/// string | undefined, strict: boolean, items: number | undefined }`, where `items` is the most repetitions of all sections
/// together ([`Limits::items`](crate::Limits::items)). Its result is for [`Template::fill`](crate::Template::fill).
///
/// Where the data have [long numbers](Needs::long_numbers), its member `read` is `(text) => data`: it parses like `JSON.parse`,
/// but its integers print as they are written.
pub fn library(program: &str, needs: Needs) -> String {
    let has_days = values(program, "kind").any(|kind| kind == "day");
    // Charts need the dates too: their categories may be days.
    let is_needed = |part: &&Filters| {
        (needs.charts || has_days) && part.script == DATES
            || values(program, "name").any(|name| part.has(name))
    };
    let needed: Vec<_> = FILTERS.iter().filter(is_needed).collect();
    let mut script = ["\"use strict\"; {\n", CORE].concat();
    if needs.long_numbers {
        script.push_str(EXACT);
    }
    if program.contains("\"loose\":[") {
        script.push_str(NAMES);
    }
    if values(program, "name").next().is_some() {
        script.push_str(&usage(program));
    }
    let alters = program.contains("\"alters\":true");
    let computes = alters || program.contains("\"computes\":true");
    let has_forms =
        values(program, "kind").any(|kind| !CORE_KINDS.contains(&kind) && !CELL_KINDS.contains(&kind));
    let is_wordy = needs.words || alters;
    if is_wordy || computes {
        script.push_str(WORDS);
    }
    // Expressions make values with a type too, and forms take bytes.
    if needs.typed || needs.charts || computes || has_forms {
        script.push_str(TYPED);
    }
    if is_wordy {
        script.push_str("isWordy = true;\n");
    }
    if needed.iter().any(|part| part.formats) {
        script.push_str(FORMATS);
    }
    script.extend(needed.iter().map(|part| part.script));
    if needs.charts {
        script.push_str(CHARTS);
    }
    if values(program, "kind").any(|kind| CELL_KINDS.contains(&kind)) {
        script.push_str(CELLS);
    }
    if has_days {
        script.push_str(DAYS);
    }
    if has_forms {
        script.push_str(FORMS);
    }
    script.push_str("fill; }");
    script
}

/// The values of all members `name` in the JSON. A match inside of a string is not possible: its quotes would be escaped.
fn values<'a>(json: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!("\"{name}\":\"");
    let mut rest = json;
    std::iter::from_fn(move || {
        let (_, behind) = rest.split_once(&begin)?;
        let (value, after) = behind.split_once('"')?;
        rest = after;
        Some(value)
    })
}

/// Which parts of the library the data need.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether one part of the library is needed")]
pub struct Needs {
    /// There may be integers that `JSON.parse` would round; they are printed as they are written.
    pub long_numbers: bool,
    /// There may be values that say their type, such as pictures and links.
    pub typed: bool,
    /// There may be values that are charts.
    pub charts: bool,
    /// There may be texts such as `NaN`, which say that something went wrong before.
    pub words: bool,
}

/// The name of the member that says a value's type, and an escaped letter, which may be of it.
const TYPE_NAMES: [&[u8]; 2] = [b"\"_type\"", b"\\u00"];

/// The same as `GIVEN` of `words.js`: what such texts have in common, with a capital or without; and an escaped letter, which may
/// be of any of them.
const WRONG_WORDS: [&str; 5] = ["NaN", "nfinity", "ndefined", "[object ", "\\u00"];

impl Needs {
    /// The needs of data, given as JSON.
    pub fn of(json: &[u8]) -> Self {
        Self {
            long_numbers: has_long_numbers(json),
            typed: TYPE_NAMES.iter().any(|name| memchr::memmem::find(json, name).is_some()),
            charts: memchr::memmem::find(json, b"\"chart\"").is_some(),
            words: WRONG_WORDS.iter().any(|word| memchr::memmem::find(json, word.as_bytes()).is_some()),
        }
    }
}

/// Whether JSON may have integers beyond 2^53, which `JSON.parse` would round: 16 digits or more, not behind a quote.
fn has_long_numbers(json: &[u8]) -> bool {
    const DIGITS: usize = 16;
    let mut digits = json.split(|byte| !byte.is_ascii_digit());
    let mut at: usize = 0;
    digits.any(|run| {
        let is_in_quotes = at.checked_sub(1).and_then(|before| json.get(before)) == Some(&b'"');
        at += run.len() + 1;
        run.len() >= DIGITS && !is_in_quotes
    })
}
