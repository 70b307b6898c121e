//! The bookmarks of a PDF (`outline`) say what their headings say.
//!
//! Chromium makes a bookmark of the pieces of text that it draws: it drops the blanks where lines wrap, and leaves text that
//! runs from the right as it is drawn. So the page is asked for its headings as they read, and a bookmark gets the text of the
//! heading that has the same letters. One that is of no heading keeps what Chromium wrote.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use pdf_metadata::{Bookmark, Update};

use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts;
use crate::domain::format_opts::PageOptions;
use crate::thread;

const HEADINGS: &str = include_str!("../../../assets/headings.js");
/// Most headings that are asked for.
const COUNT_LIMIT: usize = 5_000;
/// Longest heading that is asked for, in UTF-16 units.
const CHARS_LIMIT: usize = 1_000;
/// Hyphens, and characters that separate or join others without being seen.
const UNSEEN: [RangeInclusive<char>; 7] = [
    '-'..='-',
    '\u{ad}'..='\u{ad}',
    '\u{200b}'..='\u{200f}',
    '\u{2010}'..='\u{2010}',
    '\u{2060}'..='\u{2060}',
    '\u{2066}'..='\u{2069}',
    '\u{feff}'..='\u{feff}',
];
/// Hebrew, Arabic and their like.
const FROM_RIGHT: [RangeInclusive<char>; 5] = [
    '\u{590}'..='\u{8ff}',
    '\u{fb1d}'..='\u{fdff}',
    '\u{fe70}'..='\u{fefe}',
    '\u{10800}'..='\u{10fff}',
    '\u{1e800}'..='\u{1efff}',
];
/// Characters that are drawn the other way round in text from the right, each with its counterpart.
const MIRRORED: [(char, char); 6] = [(')', '('), (']', '['), ('}', '{'), ('>', '<'), ('»', '«'), ('›', '‹')];

/// The headings of a page by their letters.
#[derive(Debug, Default)]
pub(super) struct Headings(HashMap<String, String>);

/// Asks the page for its headings, where its bookmarks are asked for; a page that does not answer in time has none.
pub(super) async fn headings(page: &OpenPage, options: &PageOptions) -> Result<Headings, StepError> {
    if !options.extras.outline {
        return Ok(Headings::default());
    }
    let question = scripts::guarded(&format!("({HEADINGS})({COUNT_LIMIT},{CHARS_LIMIT})"));
    let answer = page.ask_for_warning(question).await?;
    let answer = answer.unwrap_or_default();
    let length = answer.len();
    let read = move || Headings::of(serde_json::from_str(&answer).unwrap_or_default());
    Ok(thread::by_size(length, read).await?)
}

impl Headings {
    fn of(texts: Vec<String>) -> Self {
        let mut headings = HashMap::new();
        for text in texts {
            let read = without_breaks(&text);
            let known = headings.entry(letters(&text)).or_insert_with(|| Some(read.clone()));
            // Of two that read otherwise ("Therapist", "The rapist") nobody knows which one a bookmark is of.
            *known = known.take().filter(|known| *known == read);
        }
        Self(headings.into_iter().filter_map(|(letters, text)| Some((letters, text?))).collect())
    }

    /// Whether no bookmark would be changed.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes anew those of `bookmarks` that say something else than their headings.
    pub(super) fn correct(&self, bookmarks: &[Bookmark], update: &mut Update) {
        for bookmark in bookmarks {
            if let Some(title) = self.title_of(&bookmark.title).filter(|title| *title != bookmark.title) {
                update.object(bookmark.number, &bookmark.with_title(&title));
            }
        }
    }

    /// The text of the heading that Chromium wrote as `title`. One that is an item of a list has its number before it.
    fn title_of(&self, title: &str) -> Option<String> {
        let of = |title: &str| self.0.get(&letters(title));
        let numbered = || {
            let (number, title) = title.split_once([' ', '\u{a0}'])?;
            Some(format!("{number} {}", of(title)?))
        };
        of(title).cloned().or_else(numbered)
    }
}

/// Without the places where a word may be broken.
fn without_breaks(text: &str) -> String {
    text.replace(['\u{ad}', '\u{200b}', '\u{2060}', '\u{feff}'], "")
}

/// What is the same in a heading and in the bookmark that Chromium makes of it: its characters without blanks, without what
/// separates letters, and without hyphens, which it adds. Where one is written from the right, in no order; but the digits of a
/// number keep theirs, or chapter 12 would be chapter 21.
fn letters(text: &str) -> String {
    let left: String =
        text.chars().filter(|letter| !letter.is_whitespace() && !is_in(&UNSEEN, *letter)).collect();
    if !left.contains(|letter| is_in(&FROM_RIGHT, letter)) {
        return left;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut was_digit = false;
    for letter in left.chars() {
        let is_digit = letter.is_numeric();
        let same =
            MIRRORED.iter().find(|(mirrored, _)| *mirrored == letter).map_or(letter, |(_, same)| *same);
        match parts.last_mut() {
            Some(number) if is_digit && was_digit => number.push(same),
            Some(_) | None => parts.push(same.to_string()),
        }
        was_digit = is_digit;
    }
    parts.sort_unstable();
    parts.join("\u{200f}")
}

fn is_in(ranges: &[RangeInclusive<char>], letter: char) -> bool {
    ranges.iter().any(|range| range.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(headings: &[&str], title: &str) -> Option<String> {
        Headings::of(headings.iter().map(|text| (*text).to_owned()).collect()).title_of(title)
    }

    #[test]
    fn a_bookmark_gets_the_text_of_its_heading() {
        for (heading, written, wanted) in [
            ("Terms of Payment", "Terms ofPayment", "Terms of Payment"),
            ("Donau\u{ad}dampf\u{ad}schiff", "Donau\u{ad}\u{2010}dampf\u{ad}schiff", "Donaudampfschiff"),
            ("com-pound", "com-pound", "com-pound"),
            ("In detail", "1.2. Indetail", "1.2. In detail"),
            ("مقدمة عن الموضوع", "عن مقدمةالموضوع", "مقدمة عن الموضوع"),
            ("שלום (סוגריים", "סוגריים)שלום", "שלום (סוגריים"),
            ("a\u{a0}b", "a\u{a0}b", "a\u{a0}b"),
        ] {
            assert_eq!(title(&[heading], written).as_deref(), Some(wanted), "{written}");
        }
    }

    #[test]
    fn only_the_order_of_text_from_the_right_is_ignored() {
        assert_eq!(title(&["Listen"], "Silent"), None);
        assert_eq!(title(&["פרק 12", "פרק 21"], "12 פרק").as_deref(), Some("פרק 12"));
        assert_eq!(title(&["Other", ""], "1. Chapter"), None);
        assert_eq!(title(&["Therapist", "The rapist", "Therapist"], "Therapist"), None, "whose is it?");
    }
}
