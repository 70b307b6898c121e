//! The elements of a page that load what lies beside it.
//!
//! The page is written twice: as a skeleton, in which a short mark stands for everything that was read by a parser of
//! styles or put in, and as a whole. The skeleton is for scans of raw bytes: base64 may spell any word.

use std::cell::RefCell;

use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HandlerResult, RewriteStrSettings, element, rewrite_str, text};
use memchr::memmem;

use crate::Files;
use crate::address::{BaseUrl, stays_in_document};
use crate::css;
use crate::parts::Parts;
use crate::role::Role;

/// Stands for a piece in the skeleton, with its number and an end.
const MARK: &str = "data:platen-inlined-";
const MARK_END: char = ';';
/// What a link to a style sheet may have; with anything else it may be an alternate one, or checked against a hash.
const LINK_ATTRIBUTES: [&str; 7] = ["rel", "href", "type", "media", "id", "class", "crossorigin"];
const HTML: &str = "http://www.w3.org/1999/xhtml";

/// A page with its files in it.
#[derive(Debug)]
pub struct Inlined {
    skeleton: String,
    pieces: Vec<Parts>,
}

/// The page with those of its style sheets, pictures and fonts inlined that are files beside it. Elements that are not handled
/// here stay as they are, so their references are still in the skeleton, where the caller looks for any. `None` where an
/// inlined file might be shown differently, or more than `limit_bytes` would be inlined.
pub fn inline(html: &str, base: &BaseUrl, files: &dyn Files, limit_bytes: usize) -> Option<Inlined> {
    if memmem::find(html.as_bytes(), MARK.as_bytes()).is_some() {
        return None;
    }
    let rewriter = RefCell::new(Rewriter {
        base,
        files,
        left_bytes: limit_bytes,
        pieces: Vec::new(),
        style: Style::default(),
    });
    let settings = RewriteStrSettings::new()
        .append_element_content_handler(element!("link", |link| rewriter.borrow_mut().link(link)))
        .append_element_content_handler(element!("img[src]", |image| rewriter.borrow_mut().image(image)))
        .append_element_content_handler(element!("[style]", |element| rewriter
            .borrow_mut()
            .attribute(element)))
        .append_element_content_handler(element!("style", |style| {
            rewriter.borrow_mut().style_begins(style);
            Ok(())
        }))
        .append_element_content_handler(text!("style", |text| rewriter.borrow_mut().style_text(text)));
    let skeleton = rewrite_str(html, settings).ok()?;
    Some(Inlined { skeleton, pieces: rewriter.into_inner().pieces })
}

impl Inlined {
    /// The page without what was put in, and without what a parser of styles has read.
    pub fn skeleton(&self) -> &str {
        &self.skeleton
    }

    /// The page with everything in it.
    pub fn whole(&self) -> String {
        let put_in: usize = self.pieces.iter().map(Parts::len).sum();
        let mut whole = String::with_capacity(self.skeleton.len() + put_in);
        let mut rest = self.skeleton.as_str();
        while let Some((before, behind)) = rest.split_once(MARK) {
            whole.push_str(before);
            let (number, behind) = behind.split_once(MARK_END).unwrap_or(("", behind));
            if let Some(piece) = number.parse().ok().and_then(|number: usize| self.pieces.get(number)) {
                piece.write(&mut whole);
            }
            rest = behind;
        }
        whole.push_str(rest);
        whole
    }
}

struct Rewriter<'a> {
    base: &'a BaseUrl,
    files: &'a dyn Files,
    /// How much may still be put in.
    left_bytes: usize,
    pieces: Vec<Parts>,
    style: Style,
}

/// The `style` element that is being read.
#[derive(Default)]
struct Style {
    is_css: bool,
    /// It is one of a drawing in the page; its rules hold for the whole page.
    is_drawn: bool,
    text: String,
}

impl Rewriter<'_> {
    /// Keeps a piece of the whole page, and returns the mark that stands for it in the skeleton.
    fn keep(&mut self, piece: Parts) -> Result<String, String> {
        let mark = format!("{MARK}{}{MARK_END}", self.pieces.len());
        self.left_bytes = self.left_bytes.checked_sub(piece.len()).ok_or("more than the limit")?;
        self.pieces.push(piece);
        Ok(mark)
    }

    fn file(&self, role: Role, address: &str) -> Option<std::sync::Arc<str>> {
        self.files.address(role, &self.base.path(address)?)
    }

    fn link(&mut self, link: &mut Element<'_, '_>) -> HandlerResult {
        let is_sheet = link.namespace_uri() == HTML
            && link.get_attribute("rel").is_some_and(|rel| rel.trim().eq_ignore_ascii_case("stylesheet"))
            && link.get_attribute("type").is_none_or(|kind| is_css(&kind))
            && link.attributes().iter().all(|it| LINK_ATTRIBUTES.contains(&it.name().as_str()));
        let Some(href) = link.get_attribute("href").filter(|href| is_sheet && !stays_in_document(href))
        else {
            return Ok(());
        };
        let address = plain(&href).and_then(|href| self.file(Role::Sheet, href));
        let address = address.ok_or("a style sheet that cannot be put in")?;
        let mut tag = Parts::default();
        tag.push("<link");
        let mut had = Vec::new();
        for attribute in link.attributes() {
            let name = attribute.name();
            // The first of a name counts.
            if had.contains(&name) {
                continue;
            }
            tag.push(&format!(" {name}=\""));
            if name == "href" {
                tag.push_address(std::sync::Arc::clone(&address));
            } else {
                tag.push(&attribute.value().replace('"', "&quot;"));
            }
            tag.push("\"");
            had.push(name);
        }
        tag.push(">");
        link.replace(&self.keep(tag)?, ContentType::Html);
        Ok(())
    }

    fn image(&mut self, image: &mut Element<'_, '_>) -> HandlerResult {
        let src = image.get_attribute("src").filter(|src| !stays_in_document(src));
        let Some(src) = src else { return Ok(()) };
        let address = plain(&src).and_then(|src| self.file(Role::Picture, src));
        let address = address.ok_or("a picture that cannot be put in")?;
        let mut piece = Parts::default();
        piece.push_address(address);
        let mark = self.keep(piece)?;
        Ok(image.set_attribute("src", &mark)?)
    }

    /// The declarations in a `style` attribute.
    fn attribute(&mut self, element: &mut Element<'_, '_>) -> HandlerResult {
        let Some(style) = element.get_attribute("style") else { return Ok(()) };
        if !style.contains(['(', '\\']) {
            return Ok(());
        }
        let Some(declarations) = plain(&style) else { return Ok(()) };
        let inlined = css::inlined(declarations, self.base, self.files);
        let inlined = inlined.ok_or("a style attribute refers to what cannot be put in")?;
        if inlined.has_addresses() {
            let mark = self.keep(inlined.escaped())?;
            element.set_attribute("style", &mark)?;
        }
        Ok(())
    }

    fn style_begins(&mut self, style: &Element<'_, '_>) {
        let kind = style.get_attribute("type");
        let has_rules = kind.is_none_or(|kind| is_css(&kind));
        let is_drawn = style.namespace_uri() != HTML;
        self.style =
            Style { is_css: has_rules && !is_drawn, is_drawn: has_rules && is_drawn, text: String::new() };
    }

    fn style_text(&mut self, chunk: &mut TextChunk<'_>) -> HandlerResult {
        if self.style.is_drawn {
            // A rule may select or show elements by their `src` or `style`, and these change when a file is inlined.
            let hangs =
                chunk.as_str().contains(['[', '\\']) || chunk.as_str().to_ascii_lowercase().contains("attr");
            return if hangs { Err("a drawing's rules may hang on an attribute".into()) } else { Ok(()) };
        }
        if !self.style.is_css {
            return Ok(());
        }
        self.style.text.push_str(chunk.as_str());
        if !chunk.last_in_text_node() {
            chunk.remove();
            return Ok(());
        }
        let text = std::mem::take(&mut self.style.text);
        let inlined = css::inlined(&text, self.base, self.files);
        let mark = self.keep(inlined.ok_or("a style element refers to what cannot be put in")?)?;
        chunk.replace(&mark, ContentType::Html);
        Ok(())
    }
}

fn is_css(kind: &str) -> bool {
    kind.is_empty() || kind.eq_ignore_ascii_case("text/css")
}

/// The value of an attribute that is written as it is meant.
fn plain(value: &str) -> Option<&str> {
    (!value.contains('&')).then_some(value)
}
