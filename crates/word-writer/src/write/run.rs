//! Characters, pictures and links.

use crate::model::{Caps, FontSize, Inline, Link, Picture, Position, Role, RunLook};

use super::Writer;
use super::paragraph::hexadecimal;
use super::xml::{Properties, escaped};

impl Writer<'_> {
    /// Writes what stands in a line.
    pub(super) fn inlines(&mut self, inlines: &[Inline], role: Role, linked: bool) {
        for inline in inlines {
            match inline {
                Inline::Text { text, look } => self.text(text, look, role, linked),
                Inline::LineBreak => self.run(&RunLook::default(), role, linked, "br"),
                Inline::Tab => self.run(&RunLook::default(), role, linked, "tab"),
                Inline::Picture(picture) => self.picture(picture, role, linked),
                Inline::Link(link) if linked => self.flat(&link.inlines, role),
                Inline::Link(link) => self.link(link, role),
            }
        }
    }

    /// The texts of a link that stands in a link, which Word cannot have.
    fn flat(&mut self, inlines: &[Inline], role: Role) {
        for inline in inlines {
            match inline {
                Inline::Text { text, look } => self.text(text, look, role, true),
                Inline::Picture(picture) => self.picture(picture, role, true),
                Inline::LineBreak | Inline::Tab | Inline::Link(_) => {}
            }
        }
    }

    /// A run of one empty element.
    fn run(&mut self, look: &RunLook, role: Role, linked: bool, name: &str) {
        let properties = self.run_properties(look, role, linked, look.right_to_left);
        let element = self.element(name, &[]);
        self.write_run(&properties, &element);
    }

    fn write_run(&mut self, properties: &Properties, content: &str) {
        let properties = properties.within(&self.prefix, "rPr");
        self.tag("r");
        self.push(&properties);
        self.push(content);
        self.end("r");
    }

    fn text(&mut self, text: &str, look: &RunLook, role: Role, linked: bool) {
        for (right_to_left, part) in directions(text, look.right_to_left) {
            let content = self.characters(part);
            if !content.is_empty() {
                let properties = self.run_properties(look, role, linked, right_to_left);
                self.write_run(&properties, &content);
            }
        }
    }

    /// The characters as Word's elements: some hyphens have ones of their own.
    fn characters(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 40);
        let mut rest = text;
        loop {
            let end = rest.find(['\u{AD}', '\u{2011}']).unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            let part = escaped(part);
            if !part.is_empty() {
                for piece in ["<", &self.prefix, "t xml:space=\"preserve\">", &part, "</", &self.prefix, "t>"]
                {
                    out.push_str(piece);
                }
            }
            let mut characters = after.chars();
            match characters.next() {
                Some('\u{AD}') => out.push_str(&self.element("softHyphen", &[])),
                Some(_) => out.push_str(&self.element("noBreakHyphen", &[])),
                None => return out,
            }
            rest = characters.as_str();
        }
    }

    fn picture(&mut self, picture: &Picture, role: Role, linked: bool) {
        match self.package.picture(picture) {
            Ok(drawing) => {
                let properties = Properties::new(super::xml::RUN);
                self.write_run(&properties, &drawing);
            }
            Err(reason) => {
                let source: String = picture.source.chars().take(60).collect();
                self.warn(format!("the picture “{source}” in the HTML was left out: {reason}"));
                self.text(&picture.alt, &RunLook::default(), role, linked);
            }
        }
    }

    fn link(&mut self, link: &Link, role: Role) {
        let title: String = link.title.iter().flat_map(|title| title.chars()).take(255).collect();
        let tooltip = if title.is_empty() {
            String::new()
        } else {
            format!(" {}tooltip=\"{}\"", self.prefix, escaped(&title))
        };
        let target = match target(&link.url) {
            Target::Anchor(name) => format!(" {}anchor=\"{}\"", self.prefix, escaped(&name)),
            Target::Address(address) => match self.related(address) {
                Ok(id) => format!(" {}:id=\"{}\"", self.relationships, escaped(&id)),
                Err(reason) => return self.unlinked(link, role, &reason),
            },
            Target::Refused => {
                let reason = "links lead to http, https, mailto, tel, ftp or #name";
                return self.unlinked(link, role, reason);
            }
        };
        let opening = format!("<{0}hyperlink{target}{tooltip} {0}history=\"1\">", self.prefix);
        self.push(&opening);
        self.inlines(&link.inlines, role, true);
        self.end("hyperlink");
    }

    /// The relationship id of a link to this address.
    fn related(&mut self, address: String) -> Result<String, String> {
        if let Some(id) = self.links.get(&address) {
            return Ok(id.clone());
        }
        let id = self.package.link(&address)?;
        self.links.insert(address, id.clone());
        Ok(id)
    }

    /// A link's text alone.
    fn unlinked(&mut self, link: &Link, role: Role, reason: &str) {
        let url: String = link.url.chars().take(60).collect();
        self.warn(format!("the link to “{url}” in the HTML became plain text; {reason}"));
        self.inlines(&link.inlines, role, false);
    }

    /// The place's properties, and over them those of the characters.
    fn run_properties(
        &mut self,
        look: &RunLook,
        role: Role,
        linked: bool,
        right_to_left: bool,
    ) -> Properties {
        let mut properties = self.run.clone();
        match role {
            Role::Heading(_) | Role::Caption => properties.keep(&["lang", "noProof"]),
            Role::Preformatted => properties.drop(&["rFonts", "rStyle"]),
            Role::Normal | Role::Quote | Role::ListItem | Role::Hyperlink | Role::Code | Role::Table => {}
        }
        if linked || look.code {
            let style = self.style(if linked { Role::Hyperlink } else { Role::Code });
            properties.set("rStyle", self.element("rStyle", &[("val", &style)]));
            properties.drop(if linked { &["color", "u"] } else { &["rFonts"] });
        }
        let code_in_link = (linked && look.code).then_some("Courier New");
        if let Some(family) = look.family.as_deref().or(code_in_link) {
            let names = [("ascii", family), ("hAnsi", family), ("eastAsia", family), ("cs", family)];
            properties.set("rFonts", self.element("rFonts", &names));
        }
        for (names, wanted) in [(["b", "bCs"], look.bold), (["i", "iCs"], look.italic)] {
            for name in names {
                self.toggle(&mut properties, name, wanted);
            }
        }
        self.toggle(&mut properties, "strike", look.strike);
        if look.strike.is_some() {
            properties.drop(&["dstrike"]);
        }
        match look.caps {
            Some(Caps::All) => self.caps(&mut properties, true, false),
            Some(Caps::Small) => self.caps(&mut properties, false, true),
            Some(Caps::None) => self.caps(&mut properties, false, false),
            None => {}
        }
        self.colours(&mut properties, look);
        self.sizes(&mut properties, look, role);
        self.language(&mut properties, look, right_to_left);
        properties
    }

    fn toggle(&self, properties: &mut Properties, name: &str, wanted: Option<bool>) {
        match wanted {
            Some(true) => properties.set(name, self.element(name, &[])),
            Some(false) => properties.set(name, self.element(name, &[("val", "0")])),
            None => {}
        }
    }

    fn caps(&self, properties: &mut Properties, all: bool, small: bool) {
        self.toggle(properties, "caps", Some(all));
        self.toggle(properties, "smallCaps", Some(small));
    }

    fn colours(&self, properties: &mut Properties, look: &RunLook) {
        if let Some(underline) = look.underline {
            let kind = if underline { "single" } else { "none" };
            properties.set("u", self.element("u", &[("val", kind)]));
        }
        if let Some(colour) = look.colour {
            properties.set("color", self.element("color", &[("val", &hexadecimal(colour))]));
        }
        if let Some(background) = look.background {
            properties.drop(&["highlight"]);
            properties.set("shd", self.shading(background));
        }
        if let Some(spacing) = look.spacing {
            properties
                .set("spacing", self.element("spacing", &[("val", &spacing.clamp(-200, 1440).to_string())]));
        }
    }

    fn sizes(&self, properties: &mut Properties, look: &RunLook, role: Role) {
        let half_points = look.size.map(|size| match size {
            FontSize::HalfPoints(half_points) => half_points,
            FontSize::Percent(percent) => self.size_of(role) * percent / 100,
        });
        if let Some(half_points) = half_points {
            let value = half_points.clamp(2, 3276).to_string();
            properties.set("sz", self.element("sz", &[("val", &value)]));
            properties.set("szCs", self.element("szCs", &[("val", &value)]));
        }
        let position = match look.position {
            Some(Position::Superscript) => "superscript",
            Some(Position::Subscript) => "subscript",
            Some(Position::Baseline) => "baseline",
            None => return,
        };
        properties.set("vertAlign", self.element("vertAlign", &[("val", position)]));
    }

    /// The size that a share is a share of.
    fn size_of(&self, role: Role) -> u32 {
        let place = self.run.get("sz").map(super::xml::attributes).unwrap_or_default();
        let place = place.iter().find(|(name, _)| name == "val").and_then(|(_, value)| value.parse().ok());
        let place: u32 = place.unwrap_or(self.half_points).clamp(2, 3276);
        match role {
            Role::Heading(level) => crate::styles::heading_half_points(level),
            Role::Preformatted => crate::styles::CODE_HALF_POINTS,
            Role::Normal
            | Role::Quote
            | Role::ListItem
            | Role::Caption
            | Role::Hyperlink
            | Role::Code
            | Role::Table => place,
        }
    }

    fn language(&self, properties: &mut Properties, look: &RunLook, right_to_left: bool) {
        if right_to_left {
            properties.set("rtl", self.element("rtl", &[]));
        } else {
            properties.drop(&["rtl"]);
        }
        let Some(language) = look.language.as_deref() else { return };
        let kind = match language.get(..2).unwrap_or_default() {
            "ar" | "he" | "fa" | "ur" | "yi" => "bidi",
            "zh" | "ja" | "ko" => "eastAsia",
            _ => "val",
        };
        properties.set("lang", self.element("lang", &[(kind, language)]));
    }
}

/// A link's target.
enum Target {
    Address(String),
    Anchor(String),
    Refused,
}

/// What an address leads to. As in a browser, control characters and blanks around it do not count.
fn target(url: &str) -> Target {
    let url: String = url.trim().chars().filter(|one| !one.is_control()).collect();
    if let Some(name) = url.strip_prefix('#') {
        let name: String = name.chars().take(40).collect();
        return if name.is_empty() { Target::Refused } else { Target::Anchor(name) };
    }
    if let Some(rest) = url.strip_prefix("//") {
        return Target::Address(format!("https://{rest}"));
    }
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase()).unwrap_or_default();
    match scheme.as_str() {
        // Beyond this length Word calls the file damaged.
        "http" | "https" | "mailto" | "tel" | "ftp" if url.len() <= 2079 => Target::Address(url),
        _ => Target::Refused,
    }
}

/// The parts of a text by the way they run: letters decide, what stands between equal ones goes with them, and the rest with `outer`.
fn directions(text: &str, outer: bool) -> Vec<(bool, &str)> {
    if !outer && !text.chars().any(|one| strong(one) == Some(true)) {
        return vec![(false, text)];
    }
    let mut parts: Vec<(bool, usize)> = Vec::new();
    let (mut last, mut neutral) = (outer, 0);
    for (place, one) in text.char_indices() {
        let Some(way) = strong(one) else { continue };
        if way != last {
            // What stood between runs as the text around does: with the part before it, or with this one.
            let cut = if last == outer { place } else { neutral };
            parts.push((last, cut));
            last = way;
        }
        neutral = place + one.len_utf8();
    }
    if last != outer && neutral < text.len() {
        parts.push((last, neutral));
        last = outer;
    }
    parts.push((last, text.len()));
    let mut start = 0;
    let mut found = Vec::new();
    for (way, end) in parts {
        found.extend(text.get(start..end).filter(|part| !part.is_empty()).map(|part| (way, part)));
        start = end;
    }
    found
}

/// Whether a letter runs from right to left; no letter says nothing.
fn strong(one: char) -> Option<bool> {
    match one {
        '\u{590}'..='\u{65F}'
        | '\u{66A}'..='\u{6EF}'
        | '\u{6FA}'..='\u{8FF}'
        | '\u{200F}'
        | '\u{FB1D}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFF}'
        | '\u{10800}'..='\u{10FFF}'
        | '\u{1E800}'..='\u{1EFFF}' => Some(true),
        _ if one.is_alphabetic() => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_divided_by_the_way_it_runs() {
        assert_eq!(directions("abc 1", false), [(false, "abc 1")]);
        assert_eq!(directions("שלום", false), [(true, "שלום")]);
        assert_eq!(directions("a שלום עולם b", false), [(false, "a "), (true, "שלום עולם"), (false, " b")]);
        assert_eq!(directions("שלום Word 2!", true), [(true, "שלום "), (false, "Word"), (true, " 2!")]);
        assert_eq!(directions("12", true), [(true, "12")]);
    }

    #[test]
    fn only_harmless_schemes_are_links() {
        let refused = |url| matches!(target(url), Target::Refused);
        assert!(
            ["javascript:alert(1)", " java\nscript:x", "file:///etc/passwd", "data:x", "/a", "a.html", ""]
                .into_iter()
                .all(refused)
        );
        assert!(!["HTTPS://a", "mailto:a@b", "tel:+1", "ftp://a", "#b", "//a/b"].into_iter().any(refused));
    }
}
