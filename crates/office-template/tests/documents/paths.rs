//! Tags that are only names: what is found without an engine is what the engine's library says, or nothing at all.

use office_template::{Data, Error, Filled, NoFiles, PathLimits, Template};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{DOCUMENT, docx, limits, p, part, run, table};
use crate::{real, shattered};

/// Names that are looked for, and such that data have.
const NAMES: [&str; 20] = [
    "a",
    "b",
    "c",
    "ä1",
    "_x",
    "$y",
    "length",
    "constructor",
    "toString",
    "__proto__",
    "hasOwnProperty",
    "Date",
    "NaN",
    "undefined",
    "$index",
    "$first",
    "$last",
    "$parent",
    "_type",
    "at",
];

/// What is not a path, or is one in another way.
const OTHERS: [&str; 12] = [
    "First Name",
    "a.b",
    ".",
    "0",
    "this",
    "true",
    "null",
    "$parent.a",
    "$$item",
    "a . b",
    "a[0]",
    "a | upper",
];

const NUMBERS: [&str; 27] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e5",
    "1",
    "-1",
    "1.0",
    "1e2",
    "1E+2",
    "120e-1",
    "0.1",
    "-0.30000000000000004",
    "1e-6",
    "9.999999999999999e-7",
    "1e-7",
    "1e20",
    "123456789012345680000.0",
    "1e21",
    "999999999999999900000.5",
    "1e300",
    "5e-324",
    "1e-400",
    "9007199254740993",
    "-12345678901234567890123",
    "9007199254740991",
    "4503599627370497.5",
];

/// What only an engine reads.
const UNREAD: [&str; 4] = ["1e400", "\"\\uD83D\"", "\"\\ude00\\ud83d\"", "{\"__proto__\":1}"];

const TEXTS: [&str; 12] = [
    "",
    "x",
    "a&b<c>\\\"",
    "line\\nfeed\\ttab",
    "\\ud83d\\ude00",
    "é\u{1f600}",
    "\\u0000\\u001f",
    "\\/",
    "0",
    "false",
    "12345678901234567",
    " {a} ",
];

#[test]
fn whatever_is_found_without_an_engine_is_what_the_engine_says() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 5_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let alone = std::cell::Cell::new(0);
    let cases = (body(), value(), any::<bool>());
    let outcome = runner.run(&cases, |(body, data, strict)| {
        let found = both(&docx(&body), &data, strict).map_err(TestCaseError::fail)?;
        alone.set(alone.get() + u32::from(found));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(alone.get() > 1_000, "only {} were answered without an engine", alone.get());
}

#[test]
fn numbers_are_printed_as_the_engine_prints_them() {
    let mut runner =
        TestRunner::new(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() });
    let plain = (any::<i64>(), -9..10_i32).prop_map(|(digits, exponent)| format!("{digits}e{exponent}"));
    let any = any::<f64>().prop_filter("JSON has no others", |number| number.is_finite());
    let number = prop_oneof![
        plain,
        any.prop_map(|number| format!("{number:e}")),
        (1e-7..1e22).prop_map(|number: f64| number.to_string())
    ];
    let outcome = runner.run(&prop::collection::vec(number, 200), |numbers| {
        let document = docx(&p("{#l}{v};{/}"));
        // One that is written with an exponent takes the engine for all, so each has a document as well.
        let items: Vec<String> = numbers.iter().map(|number| format!("{{\"v\":{number}}}")).collect();
        let expected = run(program(&document).program(), &format!("{{\"l\":[{}]}}", items.join(",")), "{}");
        let texts: serde_json::Value = serde_json::from_str(&expected).expect("an answer is JSON");
        for (item, text) in items.iter().zip(texts["tree"][0].as_array().expect("a section")) {
            let Some(file) = without(&docx(&p("{v}")), item, false) else { continue };
            let file = file.map_err(|why| TestCaseError::fail(why.to_string()))?.file;
            let said = part(&file, DOCUMENT);
            let text = text[0].as_str().expect("a text");
            prop_assert!(said.contains(&format!(">{text}<")), "{item}: not {text}");
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn real_templates_are_the_same_both_ways() {
    let (mut alone, mut all) = (Vec::new(), 0);
    for (name, file, data) in shattered::templates() {
        for strict in [false, true] {
            match both(&file, &data, strict) {
                Ok(true) => alone.push(name.clone()),
                Ok(false) => {}
                Err(why) => panic!("{name}: {why}"),
            }
        }
        all += 1;
    }
    println!("{} of {all} templates with their data, twice each, took no engine", alone.len());
    // Those that lie here all take one; of the corpus many do not.
    assert_eq!(alone.is_empty(), all == real::all().count());
}

#[test]
fn what_is_plain_takes_no_engine_and_what_is_not_takes_one() {
    let data = r#"{"a":1,"o":{"b":"x","l":[1,2]},"l":[{"a":2},{"c":null}],"First Name":"Ann","a.b":0.5,"n":12345678901234567890}"#;
    let plain = [
        "{a}{o.b}{missing}{o.missing.b}{First Name}{a.b}{n}",
        "{#l}{a}{$index}{$first}{$last}{$parent.a}{.a}{/}{^l}none{/}",
        "{#o}{b}{#l}{.}{/}{/}{^missing}{a}{/}{o.l.length}",
    ];
    let engine = [
        "{a + 1}",
        "{a | upper}",
        "{o}",
        "{o.l}",
        "{o.b.length}",
        "{Date}",
        "{o.b.trim()}",
        "{:pagebreak}",
        "{%a}",
        "{0}",
    ];
    for (tags, is_plain) in plain.map(|tags| (tags, true)).into_iter().chain(engine.map(|tags| (tags, false)))
    {
        let document = docx(&p(tags));
        assert_eq!(without(&document, data, false).is_some(), is_plain, "{tags}");
        assert_eq!(both(&document, data, false), Ok(is_plain), "{tags}");
    }
    for data in [
        r#"{"__proto__":1}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":1e999}"#,
        "{\"a\":1,}",
        "{\"a\":01}",
        "{\"a\":\"\t\"}",
        "",
        "1 2",
    ] {
        assert!(without(&docx(&p("x{a}")), data, false).is_none(), "{data}");
    }
    assert!(without(&docx(&p("{missing}")), data, true).is_none(), "the engine tells of it");
}

#[test]
fn what_becomes_too_much_is_for_the_engine() {
    let template = program(&docx(&p("{#l}{#l}{a}{/}{/}")));
    let data = br#"{"l":[1,2,3,4]}"#;
    let asked = |items, answers, values| {
        let data = Data::read(data, values)?;
        template.answers(&data, PathLimits { strict: false, items, answers }).map(drop)
    };
    assert!(asked(20, 21, 6).is_some());
    assert!(asked(19, 21, 6).is_none() && asked(20, 20, 6).is_none() && asked(20, 21, 5).is_none());
    let deep = [&b"[".repeat(200)[..], &b"]".repeat(200)[..]].concat();
    assert!(Data::read(&deep, usize::MAX).is_none());
}

/// Whether it took no engine; an error where that made a difference.
fn both(file: &[u8], data: &str, strict: bool) -> Result<bool, String> {
    let Some(alone) = without(file, data, strict) else { return Ok(false) };
    let template = program(file);
    let answer = run(template.program(), data, if strict { "{strict:true}" } else { "{}" });
    match (alone, template.fill(&answer, &mut NoFiles)) {
        (Ok(alone), Ok(other)) if alone.file == other.file && alone.warnings == other.warnings => Ok(true),
        (Err(alone), Err(other)) if alone.to_string() == other.to_string() => Ok(true),
        (alone, other) => Err(format!("without an engine {:?}, with one {:?}", alone.err(), other.err())),
    }
}

/// The document, where it takes no engine.
pub fn without(file: &[u8], data: &str, strict: bool) -> Option<Result<Filled, Error>> {
    let template = Template::read(file.to_vec(), None, &limits()).ok()?;
    let data = Data::read(data.as_bytes(), 1 << 20)?;
    let answers =
        template.answers(&data, PathLimits { strict, items: limits().items.value, answers: 1 << 20 })?;
    Some(template.fill_paths(&answers, &mut NoFiles))
}

fn program(file: &[u8]) -> Template {
    Template::read(file.to_vec(), None, &limits()).expect("it can be read")
}

/// Paragraphs and rows with tags.
fn body() -> impl Strategy<Value = String> {
    let paragraph = prop::collection::vec(tags(), 1..4).prop_map(|tags| p(&tags.concat()));
    let row = (name(), name(), name()).prop_map(|(list, one, other)| {
        table(&[&[&format!("{{#{list}}}{{{one}}}"), &format!("{{{other}}}{{/}}")]])
    });
    prop::collection::vec(prop_oneof![3 => paragraph, 1 => row], 1..4).prop_map(|body| body.concat())
}

fn tags() -> impl Strategy<Value = String> {
    let leaf = name().prop_map(|name| format!("{{{name}}} "));
    leaf.prop_recursive(3, 12, 3, |inner| {
        (prop::sample::select(&["#", "#", "^"][..]), name(), prop::collection::vec(inner, 0..3))
            .prop_map(|(sign, name, inner)| format!("{{{sign}{name}}}{}{{/}}", inner.concat()))
    })
}

fn name() -> impl Strategy<Value = String> {
    let known = || prop::sample::select(&NAMES[..]);
    let first = || prop_oneof![12 => prop::sample::select(&NAMES[..4]), 2 => known()];
    prop_oneof![
        24 => first().prop_map(str::to_owned),
        6 => (first(), first()).prop_map(|(one, other)| format!("{one}.{other}")),
        2 => known().prop_map(|name| format!(".{name}")),
        1 => prop::sample::select(&OTHERS[..]).prop_map(str::to_owned),
    ]
}

/// JSON, as somebody may write it.
fn value() -> impl Strategy<Value = String> {
    let inner = leaf().prop_recursive(3, 24, 5, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let list = list.prop_map(|items| format!("[{}]", items.join(" , ")));
        prop_oneof![2 => list, 3 => object(inner)]
    });
    // Mostly an object, and in it mostly what has a text.
    prop_oneof![9 => object(prop_oneof![3 => leaf().boxed(), 2 => inner.clone().boxed()]), 1 => inner]
}

/// Of few members, or of more than are looked through one by one.
fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = prop_oneof![
        16 => prop::sample::select(&NAMES[..5]),
        1 => prop::sample::select(&NAMES[..]),
        1 => prop::sample::select(&OTHERS[..])
    ];
    prop::collection::vec((key, inner), 0..12).prop_map(|members| {
        let members = members.iter().map(|(key, value)| format!("\n\"{key}\": {value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    })
}

fn leaf() -> impl Strategy<Value = String> {
    let known = |list: &'static [&'static str]| prop::sample::select(list).prop_map(str::to_owned);
    prop_oneof![
        12 => known(&NUMBERS),
        12 => any::<i32>().prop_map(|number| number.to_string()),
        12 => any::<i32>().prop_map(|number| (f64::from(number) / 1000.0).to_string()),
        36 => prop::sample::select(&TEXTS[..]).prop_map(|text| format!("\"{text}\"")),
        24 => known(&["null", "true", "false", "[]", "{}"]),
        1 => known(&UNREAD),
    ]
}
