//! What an element's style says of the element itself, and of nothing that it contains.

use crate::model::{Border, Borders, Colour, Twips, Vertical};

use super::colour;
use super::css;
use super::look::Look;

/// What a style says that is not handed down.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a declaration that stands or does not")]
pub struct Own {
    /// It is shown as a block although its name says otherwise, or the other way about.
    pub block: Option<bool>,
    /// It is not shown.
    pub hidden: bool,
    /// Space above.
    pub before: Option<Twips>,
    /// Space below.
    pub after: Option<Twips>,
    /// It begins a page.
    pub page_break_before: bool,
    /// What follows begins a page.
    pub page_break_after: bool,
    /// Its background.
    pub background: Option<Colour>,
    /// Its borders.
    pub borders: Borders,
    /// The space between its borders and what it contains.
    pub padding: Option<Twips>,
    /// Where a cell's content stands.
    pub vertical: Option<Vertical>,
    /// It moves to the middle.
    pub centred: bool,
}

impl Own {
    /// What a style says of its element; `look` takes what it says of characters and paragraphs.
    pub fn of(style: &str, look: &mut Look, decorated: bool) -> Self {
        let mut own = Self::default();
        for (name, value) in css::declarations(style) {
            if !look.character(&name, value, decorated) && !look.paragraph(&name, value) {
                own.declare(look, &name, value);
            }
        }
        own
    }

    /// Takes a declaration; margins at the sides are handed down, as indents of `look`.
    fn declare(&mut self, look: &mut Look, name: &str, value: &str) {
        let twips = |value: &str| css::length(value).map(|one| one.twips(look.em()));
        match name {
            "display" => match value.to_ascii_lowercase().as_str() {
                "none" => self.hidden = true,
                "block" | "flex" | "grid" | "list-item" | "flow-root" => self.block = Some(true),
                "inline" => self.block = Some(false),
                _ => {}
            },
            "visibility" | "mso-hide" => self.hidden |= matches!(value, "hidden" | "collapse" | "all"),
            "margin-top" | "margin-block-start" => self.before = twips(value).map(|one| one.max(0)),
            "margin-bottom" | "margin-block-end" => self.after = twips(value).map(|one| one.max(0)),
            "margin-left"
            | "margin-right"
            | "padding-inline-start"
            | "margin-inline-start"
            | "padding-left"
            | "padding-right" => {
                self.centred |= value == "auto";
                Self::side(look, name, twips(value).unwrap_or(0));
            }
            "margin" => self.margin(look, value),
            "padding" => self.padding = css::sides(value).and_then(|[top, ..]| twips(top)),
            "background" | "background-color" => {
                self.background = css::parts(value).find_map(colour::colour);
            }
            "page-break-before" | "break-before" => self.page_break_before = breaks(value),
            "page-break-after" | "break-after" => self.page_break_after = breaks(value),
            "vertical-align" => self.vertical = vertical(value),
            "mso-list" => self.hidden |= value.eq_ignore_ascii_case("ignore"),
            _ if name.starts_with("border") => self.border(name, value),
            _ => {}
        }
    }

    fn side(look: &mut Look, name: &str, twips: Twips) {
        let left = name.ends_with("left");
        if name.ends_with("start") || left != look.right_to_left {
            look.indent(twips, 0);
        } else {
            look.indent(0, twips);
        }
    }

    fn margin(&mut self, look: &mut Look, value: &str) {
        let Some([top, right, bottom, left]) = css::sides(value) else { return };
        let em = look.em();
        let twips = |value: &str| css::length(value).map(|one| one.twips(em));
        self.before = twips(top).map(|one| one.max(0)).or(self.before);
        self.after = twips(bottom).map(|one| one.max(0)).or(self.after);
        self.centred |= left == "auto" && right == "auto";
        Self::side(look, "left", twips(left).unwrap_or(0));
        Self::side(look, "right", twips(right).unwrap_or(0));
    }

    fn border(&mut self, name: &str, value: &str) {
        let Borders { top, left, bottom, right } = &mut self.borders;
        let chosen = match name {
            "border" | "border-style" | "border-width" | "border-color" => vec![top, left, bottom, right],
            _ if name.starts_with("border-top") => vec![top],
            _ if name.starts_with("border-left") => vec![left],
            _ if name.starts_with("border-bottom") => vec![bottom],
            _ if name.starts_with("border-right") => vec![right],
            _ => return,
        };
        for side in chosen {
            match name.rsplit_once('-').map(|(_, what)| what) {
                Some("style") => {
                    if let Some(stroke) = css::parts(value).next().and_then(css::stroke) {
                        let present = side.unwrap_or(Border { stroke, width: 6, colour: None });
                        *side = Some(Border { stroke, ..present });
                    }
                }
                Some("width") => {
                    if let (Some(present), Some(width)) =
                        (side.as_mut(), css::parts(value).next().and_then(css::border_width))
                    {
                        present.width = width;
                    }
                }
                Some("color") => {
                    if let Some(present) = side.as_mut() {
                        present.colour = colour::colour(value);
                    }
                }
                Some("radius" | "collapse" | "spacing") => {}
                Some(_) | None => *side = css::border(value).or(*side),
            }
        }
    }
}

/// Where a cell's content stands.
pub fn vertical(value: &str) -> Option<Vertical> {
    match value.trim().to_ascii_lowercase().as_str() {
        "top" | "baseline" => Some(Vertical::Top),
        "middle" => Some(Vertical::Middle),
        "bottom" => Some(Vertical::Bottom),
        _ => None,
    }
}

fn breaks(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "always" | "page" | "left" | "right" | "recto" | "verso")
}
