//! Comments of cells (ECMA-376 part 1, 18.7), and the conversations of Excel 2019 that some of them represent ([MS-XLSX]
//! 2.6.203): a copy for each turn.

use std::fmt::Write as _;

use cell_references::Range;

use crate::book::{At, Book, Sheet};
use crate::drawing::guid;
use crate::error::Error;
use crate::xml::{Document, Edits, escaped, rewritten};

/// A comment that represents a conversation has an author of this name, followed by the conversation's id.
const CONVERSATION: &str = "tc=";

/// Rewrites the comments of a sheet.
///
/// # Errors
/// [`Error::Xml`], [`Error::Many`] for more comments than the limit.
pub fn comments(xml: &[u8], book: &Book<'_>, at: At) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let mut edits = Edits::default();
    let authors = document.child(0, "authors");
    let mut names: Vec<String> = Vec::new();
    if let Some(authors) = authors {
        names.extend(document.children(authors).map(|author| document.text(author).into_owned()));
    }
    let (first_new, mut new_authors) = (names.len(), Vec::new());
    let mut text = String::new();
    let Some(list) = document.child(0, "commentList") else { return Ok(xml.to_vec()) };
    let mut comments = 0;
    for index in document.children(list) {
        let author = document.number(index, "authorId").and_then(|author| names.get(author as usize));
        let conversation = author.and_then(|author| author.strip_prefix(CONVERSATION));
        each_turn(&document, index, &sheet, (&mut comments, &mut text), |turn, now| {
            rewritten(&document, index, |edits| {
                edits.set(&document, index, "ref", &now.to_string());
                if turn == 0 && at.copy == 0 {
                    return;
                }
                let Some(conversation) = conversation else {
                    return edits.unset_foreign(&document, index, "uid");
                };
                let id = guid(conversation, at, turn);
                edits.set_foreign(&document, index, "uid", &id);
                edits.set(&document, index, "authorId", &(first_new + new_authors.len()).to_string());
                new_authors.push(id);
            })
        })?;
    }
    edits.replace(document.elements[list].inner.clone(), text);
    if let (Some(authors), false) = (authors, new_authors.is_empty()) {
        // There is an author, that of the conversation.
        let tag = document.children(authors).next().map_or("author", |author| document.qualified(author));
        let mut list = String::new();
        for id in new_authors {
            // Writing into a String does not fail.
            let _ = write!(list, "<{tag}>{CONVERSATION}{}</{tag}>", escaped(&id));
        }
        let behind = document.elements[authors].inner.end;
        edits.replace(behind..behind, list);
    }
    Ok(edits.into_part(&document))
}

/// Rewrites the conversations of a sheet.
///
/// # Errors
/// As those of [`comments`].
pub fn threaded_comments(xml: &[u8], book: &Book<'_>, at: At) -> Result<Vec<u8>, Error> {
    let document = Document::read(xml, book.reading())?;
    let sheet = book.sheet(at)?;
    let mut edits = Edits::default();
    let mut text = String::new();
    let mut comments = 0;
    for index in document.children(0) {
        each_turn(&document, index, &sheet, (&mut comments, &mut text), |turn, now| {
            rewritten(&document, index, |edits| {
                edits.set(&document, index, "ref", &now.to_string());
                for name in ["id", "parentId"] {
                    if let Some(id) = document.value(index, name) {
                        edits.set(&document, index, name, &guid(&id, at, turn));
                    }
                }
            })
        })?;
    }
    edits.replace(document.elements[0].inner.clone(), text);
    Ok(edits.into_part(&document))
}

/// Adds what `write` makes of a comment for each turn of its cell, by the turn's number and the cell there. A comment that names
/// no cell is left out.
fn each_turn(
    document: &Document<'_>,
    index: usize,
    sheet: &Sheet<'_>,
    (comments, text): (&mut usize, &mut String),
    mut write: impl FnMut(usize, Range) -> String,
) -> Result<(), Error> {
    let cell = document.value(index, "ref").and_then(|text| Range::parse(&text));
    let Some(cell) = cell else { return Ok(()) };
    for (turn, (_, now)) in sheet.moves.turns(cell).enumerate() {
        *comments += 1;
        sheet.check(*comments, "comments")?;
        let piece = write(turn, now);
        sheet.book.take(&piece)?;
        text.push_str(&piece);
    }
    Ok(())
}
