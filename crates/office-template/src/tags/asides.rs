//! Tags in attributes, properties, fields' codes and addresses. Braces have other uses there, so what is no valid tag is left as
//! it is and is no fault.

use crate::field_code::FieldCode;
use crate::lexer::{Delimiters, Tag, Token, lex};
use crate::word::{Dialect, Paragraph, Place};
use crate::writing::Writing;

/// A tag of such a text: how its answer is written, and the tag or what is wrong with it.
pub(super) struct Aside {
    pub token: Token,
    pub writing: Writing,
    pub tag: Result<Tag, String>,
}

/// The tags of a text outside of paragraphs, in a part of this dialect.
pub(super) fn read((dialect, text): (Dialect, &Paragraph), delimiters: &Delimiters) -> Vec<Aside> {
    // A change of delimiters applies to this text alone.
    let mut delimiters = delimiters.clone();
    let mut asides = Vec::new();
    let mut open = Vec::new();
    let mut code = FieldCode::default();
    let mut from = 0;
    for token in lex(&text.text, &mut delimiters) {
        let Some(tag) = tag(&token, text) else { continue };
        code.pass(text.text.get(from..token.range.start).unwrap_or_default());
        from = token.range.end;
        let is_open = match &tag {
            Tag::Section(..) | Tag::Otherwise(_) => {
                open.push(asides.len());
                true
            }
            Tag::End(_) => open.pop().is_some(),
            Tag::Value(_)
            | Tag::Image(_)
            | Tag::Qr(_)
            | Tag::Barcode(_)
            | Tag::Html(_)
            | Tag::Xml(_)
            | Tag::Command(..)
            | Tag::Slides(_)
            | Tag::Sheet(_)
            | Tag::Delimiters(_) => true,
        };
        let is_shape = dialect == Dialect::Slide && text.place == Place::Attribute && tag.is_picture();
        let (writing, tag) = if is_shape {
            (Writing::Shape, Ok(tag))
        } else {
            let allowed = if is_open { allowed(tag, &text.place) } else { Err(torn("begin")) };
            match allowed.and_then(|tag| Ok((writing(&text.place, &code)?, tag))) {
                Ok((writing, tag)) => (writing, Ok(tag)),
                Err(message) => (Writing::Attribute, Err(message)),
            }
        };
        asides.push(Aside { token, writing, tag });
    }
    for index in open {
        if let Some(aside) = asides.get_mut(index) {
            aside.tag = Err(torn("end"));
        }
    }
    asides
}

fn torn(what: &str) -> String {
    format!("the section must {what} in the same text, as an alternative text or a field's code is one")
}

/// The tag of a token; `None` for a GUID, and for what is no valid tag.
fn tag(token: &Token, text: &Paragraph) -> Option<Tag> {
    let tag = token.tag.clone().ok().filter(|_| !is_guid(&token.source))?;
    let is_tag = match &text.place {
        // JSON in an address is no expression.
        Place::Address { .. } => {
            token.source.starts_with(|first: char| first.is_alphabetic() || "_$.(!#^/".contains(first))
        }
        Place::Tick(_) => {
            let is_whole = text.text.get(token.range.clone()) == Some(text.text.trim());
            is_whole && matches!(tag, Tag::Value(_))
        }
        Place::Paragraph | Place::Attribute | Place::Element | Place::Code | Place::CodeAttribute => true,
    };
    is_tag.then_some(tag)
}

/// `28A0092B-C50C-407E-A947-70E740481C1C`
fn is_guid(source: &str) -> bool {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    let groups: Vec<&str> = source.split('-').collect();
    groups.len() == LENGTHS.len()
        && groups.iter().zip(LENGTHS).all(|(group, length)| {
            group.len() == length && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
}

/// Refuses tags that such a text cannot have.
fn allowed(tag: Tag, place: &Place) -> Result<Tag, String> {
    match &tag {
        Tag::Value(_) => Ok(tag),
        Tag::Section(_, None) | Tag::Otherwise(_) | Tag::End(_) => match place {
            Place::Address { .. } => {
                Err("an address holds no sections; write an expression, as in {isNew ? a : b}".to_owned())
            }
            Place::Paragraph
            | Place::Attribute
            | Place::Element
            | Place::Code
            | Place::CodeAttribute
            | Place::Tick(_) => Ok(tag),
        },
        Tag::Section(_, Some(_))
        | Tag::Image(_)
        | Tag::Qr(_)
        | Tag::Barcode(_)
        | Tag::Html(_)
        | Tag::Xml(_)
        | Tag::Command(..)
        | Tag::Slides(_)
        | Tag::Sheet(_)
        | Tag::Delimiters(_) => Err(super::TEXT_ONLY.to_owned()),
    }
}

/// How the tag's answer is written; `code` is the field's code before it.
fn writing(place: &Place, code: &FieldCode) -> Result<Writing, String> {
    match place {
        Place::Paragraph => Ok(Writing::Run),
        Place::Attribute => Ok(Writing::Attribute),
        Place::Element => Ok(Writing::Element),
        Place::Address { .. } => Ok(Writing::Address),
        Place::Tick(_) => Ok(Writing::Tick),
        Place::Code => code.place().map(Writing::Code),
        Place::CodeAttribute => code.place().map(Writing::CodeAttribute),
    }
}
