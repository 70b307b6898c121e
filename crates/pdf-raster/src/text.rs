//! The words of a page, in the order in which it draws them.
//!
//! A PDF places letters and knows of no words or lines: TeX writes no space at all. A gap between two letters is one, and a
//! step across the direction of writing begins a line. Letters beside the page are not on it: beamer puts
//! there what a slide is yet to uncover. Letters that are placed and not drawn are those of a scan, over its picture; they are the text of a
//! page that has no others.

use hayro::hayro_interpret::font::{Glyph, GlyphRun};
use hayro::hayro_interpret::hayro_cmap::BfString;
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, TransformExt as _, interpret_page,
};
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::{Affine, BezPath, Point, Rect, Vec2};

use crate::direction;

/// Glyphs are drawn on a square of so many units.
const EM: f64 = 1_000.0;
/// A wider gap, in parts of the letters' height, is a space: TeX shrinks its own to a fifth.
const SPACE: f64 = 0.15;
/// So far back another column begins on the same line, where a letter that is set closer than usual does not.
const BACK: f64 = -0.5;
/// A larger step aside begins a line; raised and lowered letters stay on theirs.
const LINE: f64 = 0.5;
/// Most bytes of a page's text: several times what can be read on one.
const TEXT_LIMIT_BYTES: usize = 64 << 10;

/// Collects the letters of a page.
struct Reader {
    page: Rect,
    drawn: Text,
    /// Those that nobody sees.
    hidden: Text,
}

#[derive(Default)]
struct Text {
    said: String,
    /// Where the last letter ended, and how high it was.
    last: Option<(Point, f64)>,
    /// Where the last run began: one that is filled and stroked is drawn twice.
    begun: Option<Point>,
    /// There were more letters than it may have.
    is_cut: bool,
}

/// The text of a page, line by line, and whether that is all of it.
pub(crate) fn read<'a>(page: &'a Page<'a>, settings: &InterpreterSettings) -> (String, bool) {
    let (width, height) = page.render_dimensions();
    let target = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    let transform = page.initial_transform(true).to_kurbo();
    let cache = InterpreterCache::new();
    let mut context = Context::new(transform, target, &cache, page.xref(), settings.clone());
    let mut reader = Reader { page: target, drawn: Text::default(), hidden: Text::default() };
    interpret_page(page, &mut context, &mut reader);
    let text = if reader.drawn.said.trim().is_empty() { reader.hidden } else { reader.drawn };
    let lines = text.said.lines().map(str::trim).filter(|line| !line.is_empty());
    (lines.map(direction::logical).collect::<Vec<_>>().join("\n"), !text.is_cut)
}

impl Text {
    fn run(&mut self, run: &GlyphRun<'_, '_>, (transform, page): (Affine, Rect), is_stroke: bool) {
        let begin = run.glyphs().first().map(|glyph| transform * glyph.transform() * Point::ORIGIN);
        if is_stroke && begin == self.begun {
            return;
        }
        self.begun = begin;
        for glyph in run.glyphs() {
            if !page.contains(transform * glyph.transform() * Point::ORIGIN) {
                continue;
            }
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let said = match glyph.as_unicode() {
                Some(BfString::Char(letter)) => letter.to_string(),
                Some(BfString::String(letters)) => letters,
                None => String::new(),
            };
            let advance = f64::from(advance.unwrap_or_default());
            self.letters(&plain(&said), transform * glyph.transform(), advance);
        }
    }

    /// Letters that are drawn by this transform, and how far the next ones are from them.
    fn letters(&mut self, letters: &str, transform: Affine, advance: f64) {
        let (begin, end) = (transform * Point::ORIGIN, transform * Point::new(advance, 0.0));
        let along = transform * Point::new(EM, 0.0) - begin;
        let height = (transform * Point::new(0.0, EM) - begin).hypot();
        self.is_cut |= self.said.len() + letters.len() > TEXT_LIMIT_BYTES;
        if letters.is_empty() || self.is_cut {
            return;
        }
        if let Some((last, last_height)) = self.last {
            let parted = parted(begin - last, along, height.max(last_height));
            let is_parted = self.said.ends_with(char::is_whitespace) && parted != Some('\n');
            self.said.extend(parted.filter(|_| !is_parted));
        }
        self.said.push_str(letters);
        self.last = Some((end, height));
    }
}

/// What is between two letters that are so far apart, where one is written along `along`.
fn parted(step: Vec2, along: Vec2, height: f64) -> Option<char> {
    let length = along.hypot();
    let (forth, aside) = (step.dot(along) / length, (step.cross(along) / length).abs());
    if aside > LINE * height {
        return Some('\n');
    }
    // Also where letters of no size are compared with each other.
    let is_near = forth <= SPACE * height && forth >= BACK * height;
    (!is_near).then_some(' ')
}

/// Letters that are drawn as one are several, and what stands for nothing outside of its font is none.
fn plain(letters: &str) -> String {
    let mut plain = String::new();
    for letter in letters.chars() {
        match letter {
            '\u{fb00}' => plain.push_str("ff"),
            '\u{fb01}' => plain.push_str("fi"),
            '\u{fb02}' => plain.push_str("fl"),
            '\u{fb03}' => plain.push_str("ffi"),
            '\u{fb04}' => plain.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => plain.push_str("st"),
            '\u{e000}'..='\u{f8ff}' | '\u{fffd}' | '\u{ad}' => {}
            letter if letter.is_whitespace() => plain.push(' '),
            letter if letter.is_control() => {}
            letter => plain.push(letter),
        }
    }
    plain
}

impl<'a> Device<'a> for Reader {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, mode: &DrawMode) {
        let text = if matches!(mode, DrawMode::Invisible) { &mut self.hidden } else { &mut self.drawn };
        text.run(run, (props.transform, self.page), matches!(mode, DrawMode::Stroke(_)));
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::{TEXT_LIMIT_BYTES, Text, plain};
    use hayro::kurbo::Affine;

    /// Letters of ten units' height at these places, each half as wide.
    fn said(letters: &[(&str, f64, f64)]) -> String {
        let mut text = Text::default();
        for (letter, x, y) in letters {
            text.letters(letter, Affine::translate((*x, *y)) * Affine::scale(0.01), 500.0);
        }
        text.said
    }

    #[test]
    fn gaps_are_spaces_and_steps_aside_are_lines() {
        assert_eq!(said(&[("a", 0.0, 0.0), ("b", 5.0, 0.0), ("c", 13.0, 0.0)]), "ab c");
        assert_eq!(said(&[("x", 0.0, 0.0), ("2", 5.0, -4.0), ("y", 0.0, 12.0)]), "x2\ny");
        assert_eq!(said(&[("a", 0.0, 0.0), (" ", 5.0, 0.0), ("b", 14.0, 0.0)]), "a b", "one space is enough");
        assert_eq!(said(&[("b", 50.0, 0.0), ("a", 0.0, 0.0)]), "b a", "a column that is drawn later");
    }

    #[test]
    fn what_is_too_long_ends_and_is_known_to() {
        let mut text = Text::default();
        let all = "x".repeat(TEXT_LIMIT_BYTES);
        text.letters(&all, Affine::scale(0.01), 500.0);
        assert!(!text.is_cut);
        text.letters("y", Affine::translate((5.0, 0.0)) * Affine::scale(0.01), 500.0);
        assert!(text.is_cut && text.said == all);
    }

    #[test]
    fn joined_letters_are_several() {
        assert_eq!(plain("e\u{fb03}cient\u{e123}\u{0}"), "efficient");
    }
}
