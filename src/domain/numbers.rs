//! Numbers of the data that lose digits: what reads JSON as JavaScript does holds each as a double (IEEE 754).

use std::fmt::Write as _;
use std::ops::Range;

use memchr::memchr2;

/// Most numbers that are told with their paths.
const TOLD_LIMIT: usize = 20;
/// Longest path that is told, in characters; of a longer one the end is.
const PATH_LIMIT_CHARS: usize = 120;
/// So much of a key is looked at, its end: more than a path shows of it. It may be 100 MB long, and is told for each number.
const KEY_LIMIT_BYTES: usize = 8 * PATH_LIMIT_CHARS;
/// So many characters hold at most 15 digits, which a double always keeps.
const KEPT_CHARS: usize = 15;

/// So many digits tell each double from all others.
const DOUBLE_DIGITS: usize = 17;

/// Where the scan is in an array or object.
enum Level {
    Element(usize),
    /// The key, with its quotes.
    Member(Range<usize>),
}

/// A warning for each number of valid JSON whose value is not that of the double nearest to it. With `integers_are_kept` only
/// for those with a fraction or an exponent.
pub fn warnings(json: &[u8], integers_are_kept: bool) -> Vec<String> {
    let mut at = 0;
    let (mut levels, mut string) = (Vec::new(), 0..0);
    let (mut told, mut more) = (Vec::new(), 0_usize);
    while let Some(&byte) = json.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'"' => {
                at = string_end(json, at);
                string = begin..at;
            }
            b':' => {
                if let Some(Level::Member(key)) = levels.last_mut() {
                    key.clone_from(&string);
                }
            }
            b',' => {
                if let Some(Level::Element(number)) = levels.last_mut() {
                    *number += 1;
                }
            }
            b'[' => levels.push(Level::Element(0)),
            b'{' => levels.push(Level::Member(0..0)),
            b']' | b'}' => drop(levels.pop()),
            b'-' | b'0'..=b'9' => {
                at += json[at..].iter().take_while(|byte| is_of_number(**byte)).count();
                let number = str::from_utf8(&json[begin..at]).unwrap_or_default();
                if is_kept(number) || integers_are_kept && !number.contains(['.', 'e', 'E']) {
                    continue;
                }
                if told.len() < TOLD_LIMIT {
                    told.push(sentence(&path(json, &levels)));
                } else {
                    more += 1;
                }
            }
            _ => {}
        }
    }
    told.extend((more > 0).then(|| format!("number loses digits: and {more} more")));
    told
}

/// The end of the string whose text begins at `at`.
fn string_end(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = json.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if json[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    json.len()
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')
}

fn is_kept(number: &str) -> bool {
    let is_short = number.len() <= KEPT_CHARS && !number.contains(['e', 'E']);
    is_short || digits(number).eq(digits(&shortest(number))) || is_printed_double(number)
}

/// Whether it is the double nearest to it as other programs print doubles, with 17 digits (`0.10000000000000001`).
fn is_printed_double(number: &str) -> bool {
    let count = digits(number).count();
    let printed = || format!("{:.*e}", count - 1, nearest(number));
    (1..=DOUBLE_DIGITS).contains(&count) && digits(number).eq(digits(&printed()))
}

fn shortest(number: &str) -> String {
    // JSON has no infinity, so it is written as `null`.
    serde_json::to_string(&nearest(number)).unwrap_or_default()
}

fn nearest(number: &str) -> f64 {
    number.parse().unwrap_or(f64::NAN)
}

/// The digits without zeros around them. Where those of a number and of the double nearest to it are the same, the two differ
/// by no power of ten either; zero and infinity have none.
fn digits(number: &str) -> impl Iterator<Item = u8> {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let around = mantissa.trim_start_matches(['-', '0', '.']).trim_end_matches(['0', '.']);
    around.bytes().filter(u8::is_ascii_digit)
}

/// Hazard: the number may be a secret, and a warning stays in the job's record. So it is not told.
fn sentence(path: &str) -> String {
    format!("number loses digits: {path} has more than JavaScript keeps; send it as a string")
}

/// The last bytes of a key, from a whole letter on.
fn end_of(key: &[u8]) -> &[u8] {
    let end = &key[key.len().saturating_sub(KEY_LIMIT_BYTES)..];
    let rest_of_letter = end.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    &end[rest_of_letter..]
}

/// The path as template code writes it: `items[3].price`.
fn path(json: &[u8], levels: &[Level]) -> String {
    let mut path = String::new();
    for level in levels {
        let key = match level {
            Level::Element(number) => {
                let _ = write!(path, "[{number}]");
                continue;
            }
            Level::Member(key) => String::from_utf8_lossy(end_of(&json[key.clone()])),
        };
        let name = key.trim_matches('"');
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
        if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(is_name) {
            let _ = write!(path, "[{key}]");
        } else {
            path.push_str(if path.is_empty() { "" } else { "." });
            path.push_str(name);
        }
    }
    let cut = path.chars().count().saturating_sub(PATH_LIMIT_CHARS);
    match path.char_indices().nth(cut) {
        Some((start, _)) if start > 0 => format!("…{}", &path[start..]),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(json: &str) -> Vec<String> {
        json_members::check(json.as_bytes(), 64).unwrap();
        warnings(json.as_bytes(), false)
    }

    #[test]
    fn a_number_that_a_double_holds_is_not_told() {
        for number in [
            "0",
            "-0",
            "-0.0",
            "0e999",
            "0.1",
            "1.10",
            "-1.5",
            "1e2",
            "1E+2",
            "100e-2",
            "1e23",
            "9007199254740992",
            "9007199254740994",
            "-9007199254740991",
            "100000000000000000000",
            "1.00000000000000000000",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "5e-324",
            "2.2250738585072014E-308",
            "123456789012345",
            "1234567890.12345",
            "0.000000000000000000000000000001",
            "12345678901234567000",
            "3.141592653589793",
            "0.00000000000000012345",
            "0.10000000000000001",
            "19.989999999999998",
        ] {
            assert_eq!(told(&format!("{{\"a\":{number}}}")), Vec::<String>::new(), "{number}");
        }
    }

    #[test]
    fn a_number_that_no_double_holds_is_told_by_its_path() {
        for number in [
            "12345678901234567890",
            "-12345678901234567890",
            "9007199254740993",
            "0.1234567890123456789",
            "12345678901234567890e-19",
            "100000000000000.01",
            "1e400",
            "-1e400",
            "1e99999999999999999999",
            "1e-400",
            "3e-324",
            "1234567890123456789012345",
            "0.00000000012345678901234567891",
            "18446744073709551616",
        ] {
            for json in [format!("{{\"a\":{number}}}"), format!(" {{ \"a\" :\n{number}\t}} ")] {
                assert_eq!(told(&json), [sentence("a")], "{number}");
            }
        }
    }

    #[test]
    fn digits_in_strings_and_keys_are_none_of_a_number() {
        let long = "12345678901234567890";
        for json in [
            format!("{{\"a\":\"{long}\"}}"),
            format!("{{\"{long}\":1}}"),
            format!("{{\"a\":\"\\\\\\\"{long}\"}}"),
            format!("{{\"a\":[\"x\\\"\",\"{long},\",\"\\\\\"],\"b\":\"1e400\"}}"),
            "{\"a\":\"\\u0031e400\"}".to_owned(),
        ] {
            assert_eq!(told(&json), Vec::<String>::new(), "{json}");
        }
        let json = format!("{{\"a\":\"\\\\\",\"b\":{long}}}");
        assert!(told(&json)[0].contains(": b has "), "{json}");
    }

    #[test]
    fn the_path_is_that_of_template_code() {
        let json = r#"{"a":[1,{"b":[[],{"x":[]},[1,1e999]]},1e999],"c d":{"e\"":1e999,"":{"7":1e999}},"größe":1e999,"f":{"a":"b","g":1e999},"h":1e999}"#;
        let paths = ["a[1].b[2][1]", "a[2]", r#"["c d"]["e\""]"#, r#"["c d"][""]["7"]"#, "größe", "f.g", "h"];
        let wanted: Vec<_> = paths.map(|path| format!("number loses digits: {path} has more")).into();
        let told = told(json);
        assert_eq!(told.len(), wanted.len(), "{told:?}");
        for (told, wanted) in told.iter().zip(&wanted) {
            assert!(told.starts_with(wanted), "{told}");
        }
    }

    #[test]
    fn only_the_first_are_told_and_a_sentence_stays_short() {
        let many = format!("[{}]", vec!["1e999"; 25].join(","));
        let all = told(&many);
        assert_eq!(
            (all.len(), all[19].contains(" [19] has "), all[20].as_str()),
            (21, true, "number loses digits: and 5 more")
        );
        assert_eq!(told(&format!("[{}]", vec!["1e999"; 20].join(","))).len(), 20);
        let deep = format!("{{\"{}\":{{\"end\":{}}}}}", "ä".repeat(500), "1".repeat(100_000));
        let sentence = told(&deep).remove(0);
        assert!(sentence.contains("äää.end has more"), "{sentence}");
        assert!(sentence.chars().count() <= crate::domain::error::WARNING_LIMIT_CHARS, "{sentence}");
    }

    #[test]
    fn integers_may_be_kept() {
        let json =
            b"[12345678901234567890,-9007199254740993,1.2345678901234567890,1e999,12345678901234567890.0]";
        assert_eq!(warnings(json, true).len(), 3);
        assert_eq!(warnings(json, false).len(), 5);
    }
}
