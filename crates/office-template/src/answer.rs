//! What the program answered.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// What the program answered to a whole template.
#[derive(Deserialize)]
pub(crate) struct Answers<'a> {
    /// Tags that failed, by their numbers, with what is wrong.
    pub faults: Vec<(usize, String)>,
    /// All that failed, where not all are told.
    #[serde(default)]
    pub count: usize,
    /// The sections would be repeated more often than the limit.
    #[serde(default, rename = "over")]
    pub is_over: bool,
    /// One for each tag outside of all sections.
    #[serde(borrow)]
    pub tree: Vec<Answer<'a>>,
}

/// What the program answered to a tag.
#[derive(Debug)]
pub(crate) enum Answer<'a> {
    /// A value's text.
    Text(Cow<'a, str>),
    /// A section's copies, or in a copy the answers to its tags.
    List(Vec<Answer<'a>>),
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Answer<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a list")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Answer::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Answer::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(answer) = list.next_element()? {
            answers.push(answer);
        }
        Ok(Answer::List(answers))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}
