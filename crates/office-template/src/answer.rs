//! What the program answered.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What the program answered to a whole template.
#[derive(Deserialize)]
pub(crate) struct Answers<'a> {
    /// Tags that failed, by their numbers, with what is wrong.
    pub faults: Vec<(usize, String)>,
    /// How many failed in all; `faults` may be only the first of them.
    #[serde(default)]
    pub count: usize,
    /// Tags that print what nobody means, by their numbers, with the word that they print, such as `NaN`.
    #[serde(default)]
    pub warnings: Vec<(usize, String)>,
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
    /// Of a cell: nothing. Of a section of rows or columns: a list without items.
    Null,
    /// Of a cell.
    Truth(bool),
    /// Of a cell.
    Number(f64),
    /// A section's copies, or in a copy the answers to its tags.
    List(Vec<Answer<'a>>),
    /// More than text.
    Content(Content<'a>),
}

/// A picture, a link, rich text …: what its tag gives.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub form: Form,
    /// The form's arguments, in its order; `None` for one that the author did not give.
    pub fields: Vec<Option<Cow<'a, str>>>,
}

/// What a content is, as `library/forms.js` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    /// Its source, its options as JSON.
    Image,
    /// Its text, its options as JSON.
    Qr,
    /// Its text, its options as JSON.
    Barcode,
    /// The text of HTML.
    Html,
    /// The text of XML.
    Xml,
    /// The text, the address, and the tooltip.
    Link,
    Pagebreak,
    /// The document's name.
    Include,
    /// How many levels.
    Toc,
    /// The colour, and what is coloured.
    Color,
    /// The title's text, the data as JSON.
    Chart,
    /// Of a cell: days since 1970; of some also the day as data write it.
    Day,
    /// Of a cell: a formula of the data.
    Formula,
}

impl Content<'_> {
    /// The field at `index`; empty where there is none.
    pub(crate) fn field(&self, index: usize) -> &str {
        self.fields.get(index).and_then(Option::as_deref).unwrap_or_default()
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Answer<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value, a list or a content")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Answer::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Answer::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Answer::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Answer::Truth(truth))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Answer::Number(number))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript wrote it: it was such a number")]
    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Answer::Number(number as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript wrote it: it was such a number")]
    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Answer::Number(number as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut answers = Vec::new();
        while let Some(answer) = list.next_element()? {
            answers.push(answer);
        }
        // A grown list keeps spare room (16 places for a row of 10 cells), and there may be a million rows.
        answers.shrink_to_fit();
        Ok(Answer::List(answers))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some(form) = map.next_key()? else { return Err(A::Error::custom("a content has no form")) };
        let fields: Vec<Option<Field<'de>>> = map.next_value()?;
        let fields = fields.into_iter().map(|field| field.map(|Field(text)| text)).collect();
        if map.next_key::<Form>()?.is_some() {
            return Err(A::Error::custom("a content has two forms"));
        }
        Ok(Answer::Content(Content { form, fields }))
    }
}

/// Borrowed from the JSON where nothing in it is escaped.
#[derive(Deserialize)]
struct Field<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Answer<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}
