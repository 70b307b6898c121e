//! The one file: what stands around a document's body.

use std::fmt::Write as _;
use std::rc::Rc;

use html5gum::{Token, Tokenizer};
use roxmltree::Document;

use crate::css::written;
use crate::html::{Declarations, attribute as write_attribute, escaped};
use crate::limits::Error;
use crate::look::{Look, side};
use crate::writer::{Writer, text_of};
use crate::xml::name;

/// Text as wide as a sheet of paper is read well; wider than this it is not.
const WIDEST: f64 = 720.0;
/// Longest title that is taken from a text, in characters.
const TITLE: usize = 80;

impl Writer<'_, '_> {
    /// Writes the file.
    pub(crate) fn file(
        &mut self,
        content: &Document<'_>,
        title: &str,
        slides: &[Vec<u8>],
    ) -> Result<String, Error> {
        let body = content.descendants().find(|node| name(*node) == ("office", "body"));
        let body = body.ok_or_else(|| Error::Package("content.xml has no body".to_owned()))?;
        let mut inner = String::new();
        let mut style = Declarations::default();
        for part in body.children() {
            match name(part) {
                ("office", "text") => {
                    self.base = self.styles.effective("paragraph", "Standard");
                    let width = self.styles.text_width().unwrap_or(WIDEST).min(WIDEST);
                    style.add("max-width", &written(width));
                    style.add("margin", "0 auto");
                    self.blocks(part, &mut inner)?;
                }
                ("office", "spreadsheet") => {
                    self.base = self.styles.effective("table-cell", "Default");
                    self.sheets(part, &mut inner)?;
                }
                ("office", "presentation" | "drawing") => {
                    style.add("max-width", "960px");
                    style.add("margin", "0 auto");
                    style.add("font-family", "sans-serif");
                    self.slides(part, slides, &mut inner)?;
                }
                _ => {}
            }
        }
        if !self.notes.is_empty() {
            let _ = writeln!(inner, "<hr>\n<div style=\"font-size:90%\">\n{}</div>", self.notes);
        }
        let base = Rc::clone(&self.base);
        around(&base, &mut style);
        let title = if title.is_empty() { &begins(&inner) } else { title };
        let file = whole(title, base.language.as_deref(), &style, &inner);
        self.check(&file)?;
        Ok(file)
    }
}

/// What all text of the document has, until something says otherwise.
fn around(base: &Look, style: &mut Declarations) {
    for (name, value) in &base.css {
        if matches!(*name, "color" | "font-family" | "line-height" | "text-align" | "letter-spacing")
            && *value != "start"
        {
            style.add(name, if *name == "text-align" { side(value) } else { value });
        }
    }
    if let Some(size) = base.size {
        style.add("font-size", &written(size));
    }
    style.add("overflow-wrap", "break-word");
}

fn whole(title: &str, language: Option<&str>, style: &Declarations, inner: &str) -> String {
    let mut file = String::with_capacity(inner.len() + 500);
    file.push_str("<!DOCTYPE html>\n<html");
    if let Some(language) = language {
        write_attribute("lang", language, &mut file);
    }
    let _ = write!(
        file,
        ">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n</head>\n<body>\n",
        escaped(title)
    );
    // Readers of mail leave the body's own style out.
    file.push_str("<div");
    style.write(&mut file);
    let _ = writeln!(file, ">\n{inner}</div>\n</body>\n</html>");
    file
}

/// The title that a document gives itself; empty for none.
pub fn title(meta: &Document<'_>) -> String {
    let title = meta.descendants().find(|node| name(*node) == ("dc", "title")).map(text_of);
    title.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a document without a title is called: its first heading, or else its first paragraph, as far as a reader sees it.
fn begins(inner: &str) -> String {
    let headings = ["<h1", "<h2", "<h3", "<h4", "<h5", "<h6"];
    let start = headings.iter().filter_map(|tag| inner.find(tag)).min().or_else(|| inner.find("<p"));
    let Some(block) = start.and_then(|start| inner.get(start..)) else { return String::new() };
    let (mut text, mut element) = (String::new(), None);
    for token in Tokenizer::new(block).flatten() {
        match token {
            Token::StartTag(tag) => drop(element.get_or_insert(tag.name)),
            Token::EndTag(tag) if element.as_ref() == Some(&tag.name) => break,
            Token::String(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Token::EndTag(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect()
}
