//! `pages`, `page` and `dpi`: which pages of a PDF become pictures, and their resolution.

use json_members::Members;

use super::{Key, PageOptions};

/// Most parts of `pages`.
const PARTS_LIMIT: usize = 1_000;
/// The error of a part that cannot be read.
const FORM: &str = "give \"all\", or pages and ranges from 1 on, such as \"2-4,7\" or \"3-\"";

/// Options for pictures of a PDF's pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RasterOptions {
    /// Dots per inch; `None`: the engine's default.
    pub dpi: Option<u16>,
    /// The pages, from 1, as they were written; empty: not given.
    pub pages: Vec<Pages>,
}

/// A range of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pages {
    /// The first one, from 1.
    pub first: u32,
    /// The last one, included; `None`: to the end.
    pub last: Option<u32>,
}

impl RasterOptions {
    /// Reads `dpi`, `page` and `pages`.
    pub(super) fn read(members: &mut Members<'_>) -> Self {
        let dpi = members.whole(Key::Dpi, 10..=1_200).and_then(|dpi| u16::try_from(dpi).ok());
        let page = members.count(Key::Page).map(|page| vec![Pages { first: page, last: Some(page) }]);
        let pages = read_pages(members);
        if page.is_some() && pages.is_some() {
            members.fault(Key::Page, "is given beside pages; leave one of the two out");
        }
        Self { dpi, pages: page.or(pages).unwrap_or_default() }
    }
}

/// The key by which these options may ask for more than one picture, where pictures are those of a PDF's pages.
pub fn key_for_several_pictures(options: &PageOptions) -> Option<Key> {
    let is_one = match options.raster.pages[..] {
        [] if options.from_page.or(options.to_page).is_none() => true,
        [] => options.to_page == Some(options.from_page.unwrap_or(1)),
        [pages] => pages.last == Some(pages.first),
        [..] => false,
    };
    let key = match (options.raster.pages.is_empty(), options.from_page) {
        (false, _) => Key::Pages,
        (true, Some(_)) => Key::FromPage,
        (true, None) => Key::ToPage,
    };
    (!is_one).then_some(key)
}

fn read_pages(members: &mut Members<'_>) -> Option<Vec<Pages>> {
    let text = members.text(Key::Pages)?;
    if text.trim().eq_ignore_ascii_case("all") {
        return Some(vec![Pages { first: 1, last: None }]);
    }
    let parts: Vec<&str> = text.split(',').take(PARTS_LIMIT + 1).collect();
    if parts.len() > PARTS_LIMIT {
        members.fault(Key::Pages, format!("has more than {PARTS_LIMIT} parts; name longer ranges"));
        return None;
    }
    let read: Result<Vec<Pages>, &str> = parts.into_iter().map(|part| part_of(part).ok_or(part)).collect();
    match read {
        Ok(pages) => Some(pages),
        Err(part) => {
            let shown: String = part.trim().chars().take(40).collect();
            members.fault(Key::Pages, format!("'{shown}' is neither a page nor a range; {FORM}"));
            None
        }
    }
}

/// `7`, `2-4` or `3-`.
fn part_of(part: &str) -> Option<Pages> {
    let (first, last) = match part.split_once('-') {
        None => (number(part)?, Some(number(part)?)),
        Some((first, last)) if last.trim().is_empty() => (number(first)?, None),
        Some((first, last)) => (number(first)?, Some(number(last)?)),
    };
    last.is_none_or(|last| first <= last).then_some(Pages { first, last })
}

fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number > 0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_error, options};
    use super::*;

    fn pages(text: &str) -> Vec<Pages> {
        options(text).raster.pages
    }

    #[test]
    fn pages_are_all_or_ranges() {
        let of = |first, last| Pages { first, last };
        assert_eq!(options("{}").raster, RasterOptions { dpi: None, pages: Vec::new() });
        assert_eq!(options(r#"{"dpi":300.0}"#).raster.dpi, Some(300));
        assert_eq!(pages(r#"{"pages":""}"#), []);
        assert_eq!(pages(r#"{"pages":" All"}"#), [of(1, None)]);
        assert_eq!(pages(r#"{"page":9}"#), [of(9, Some(9))]);
        let several = [of(2, Some(4)), of(7, Some(7)), of(9, None)];
        assert_eq!(pages(r#"{"pages":"2-4, 7 ,9-"}"#), several);
    }

    #[test]
    fn invalid_pages_are_refused() {
        for wrong in ["0", "4-2", "1,,2", "-3", "1-2-3", "x", "+1", "1.5", "99999999999", ","] {
            let text = format!(r#"{{"pages":"{wrong}"}}"#);
            assert_error(&text, "/formatOpts/pages", "is neither a page nor a range; give \"all\"");
        }
        let long = format!(r#"{{"pages":"{}1"}}"#, "1,".repeat(1_000));
        assert_error(&long, "/formatOpts/pages", "more than 1000 parts");
        assert_error(r#"{"pages":2}"#, "/formatOpts/pages", "must be a string");
        assert_error(r#"{"page":1,"pages":"2"}"#, "/formatOpts/page", "leave one of the two out");
        for (dpi, detail) in [("9", "from 10 to 1200"), ("1201", "from 10 to 1200"), ("72.5", "an integer")] {
            assert_error(&format!(r#"{{"dpi":{dpi}}}"#), "/formatOpts/dpi", detail);
        }
        assert_error(r#"{"page":0}"#, "/formatOpts/page", "out of range");
    }

    #[test]
    fn the_key_that_asks_for_several_pictures_is_named() {
        for (text, key) in [
            ("{}", None),
            (r#"{"page":3}"#, None),
            (r#"{"pages":"3"}"#, None),
            (r#"{"toPage":1}"#, None),
            (r#"{"fromPage":2,"toPage":5,"page":1}"#, None),
            (r#"{"pages":"all"}"#, Some(Key::Pages)),
            (r#"{"pages":"1,2","fromPage":2}"#, Some(Key::Pages)),
            (r#"{"fromPage":2}"#, Some(Key::FromPage)),
            (r#"{"toPage":2}"#, Some(Key::ToPage)),
        ] {
            assert_eq!(key_for_several_pictures(&options(text)), key, "{text}");
        }
    }
}
