//! Draws the pages of one document.

use std::collections::BTreeSet;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use hayro::hayro_interpret::{InterpreterSettings, InterpreterWarning, TransformExt as _};
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::Affine;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::{Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit};
use hayro::{RenderCache, RenderSettings, render_into};

use crate::document::Document;
use crate::encode::Format;
use crate::error::RasterError;
use crate::fonts::Fonts;
use crate::resolution::Resolution;
use crate::text;

/// What draws places pixels by 16 bits, half of which it leaves for what lies outside.
const SIDE_LIMIT: u64 = 32_767;

/// What was made ready of fonts and pictures is kept from page to page, and begun anew after so many: it only grows.
const CACHED_PAGES: u32 = 16;

/// Most warnings of a document; each names a font or a page.
const WARNING_LIMIT: usize = 50;

/// Draws the pages of one document.
pub struct Artist<'a> {
    document: &'a Document,
    pixel_limit: u64,
    settings: InterpreterSettings,
    cache: RenderCache<'a>,
    drawn: u32,
    told: Arc<Told>,
}

/// What whoever made the document should know.
#[derive(Debug, Default)]
struct Told {
    /// What is said of the document, once.
    said: Mutex<BTreeSet<String>>,
    /// What was met on the page that is drawn.
    met: Mutex<Met>,
}

#[derive(Debug, Default)]
struct Met {
    is_font_left_out: bool,
    is_picture_left_out: bool,
}

impl<'a> Artist<'a> {
    /// For pictures of `document` of at most so many pixels, with `fonts` for what is not in it.
    pub fn new(document: &'a Document, fonts: &Arc<Fonts>, pixel_limit: u64) -> Self {
        let told = Arc::new(Told::default());
        let (fonts, of_fonts, of_page) = (Arc::clone(fonts), Arc::clone(&told), Arc::clone(&told));
        let settings = InterpreterSettings {
            font_resolver: Arc::new(move |query| {
                let found = fonts.resolve(query);
                if let Some(replaced) = found.replaced {
                    of_fonts.say(replaced);
                }
                found.data
            }),
            warning_sink: Arc::new(move |warning| of_page.page(warning)),
            ..InterpreterSettings::default()
        };
        Self { document, pixel_limit, settings, cache: RenderCache::new(), drawn: 0, told }
    }

    /// The picture of a page.
    ///
    /// # Errors
    /// When it would be too large, or cannot be drawn or written.
    pub fn picture(
        &mut self,
        number: u32,
        resolution: Resolution,
        format: Format,
    ) -> Result<Vec<u8>, RasterError> {
        let page = self.document.page(number)?;
        let (width, height) = self.measure(page, number, resolution)?;
        if self.drawn == CACHED_PAGES {
            (self.cache, self.drawn) = (RenderCache::new(), 0);
        }
        self.drawn += 1;
        let drawing = || {
            let picture = draw(page, (width, height), resolution, (&self.cache, &self.settings));
            format.encode(picture, resolution)
        };
        match catch_unwind(AssertUnwindSafe(drawing)) {
            Ok(Ok(file)) => {
                self.told.end_page(number);
                Ok(file)
            }
            Ok(Err(why)) => Err(RasterError::Unencodable { page: number, why }),
            Err(_) => Err(RasterError::Undrawable { page: number }),
        }
    }

    /// The text of a page, line by line, as far as its letters say what they are.
    ///
    /// # Errors
    /// When there is no such page, or it cannot be read.
    pub fn text(&self, number: u32) -> Result<String, RasterError> {
        let page = self.document.page(number)?;
        let read = catch_unwind(AssertUnwindSafe(|| text::read(page, &self.settings)));
        // What it warned of was said when it was drawn.
        take(&mut *lock(&self.told.met));
        let (text, is_whole) = read.map_err(|_| RasterError::Undrawable { page: number })?;
        if !is_whole {
            self.told.say(format!("page {number} has more text than is read of a page; its end is left out"));
        }
        Ok(text)
    }

    /// Width and height of a page in points, as it is shown.
    ///
    /// # Errors
    /// When there is no such page.
    pub fn size(&self, number: u32) -> Result<(f32, f32), RasterError> {
        Ok(self.document.page(number)?.render_dimensions())
    }

    /// What whoever made the document should know, up to now.
    pub fn warnings(&self) -> Vec<String> {
        lock(&self.told.said).iter().cloned().collect()
    }

    /// Width and height in pixels, before anything is decoded.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast of what is out of range takes the nearest, and that is refused"
    )]
    fn measure(
        &self,
        page: &Page<'_>,
        number: u32,
        resolution: Resolution,
    ) -> Result<(u16, u16), RasterError> {
        let (width, height) = page.render_dimensions();
        let pixels =
            |points: f32| (f64::from(points) * resolution.pixels_per_point()).round().max(1.0) as u64;
        let (width, height) = (pixels(width), pixels(height));
        if width.saturating_mul(height) > self.pixel_limit {
            return Err(RasterError::TooManyPixels { page: number, width, height, limit: self.pixel_limit });
        }
        match (u16::try_from(width), u16::try_from(height)) {
            (Ok(short_width), Ok(short_height)) if width.max(height) <= SIDE_LIMIT => {
                Ok((short_width, short_height))
            }
            _ => Err(RasterError::TooLong { page: number, width, height, limit: SIDE_LIMIT }),
        }
    }
}

fn draw<'a>(
    page: &'a Page<'a>,
    (width, height): (u16, u16),
    resolution: Resolution,
    (cache, settings): (&RenderCache<'a>, &InterpreterSettings),
) -> Pixmap {
    let mut context = RenderContext::new(width, height);
    let transform = Affine::scale(resolution.pixels_per_point()) * page.initial_transform(true).to_kurbo();
    // Hinted letters would not stand where the page has them.
    let drawing = RenderSettings { hinting: false, ..RenderSettings::default() };
    render_into(page, cache, settings, &drawing, &mut context, transform);
    context.flush();
    let mut picture = Pixmap::new(width, height);
    let paper = RasterizerSettings { target_init: TargetInit::Clear(WHITE), ..RasterizerSettings::default() };
    context.render_with(&mut picture, &mut Resources::default(), paper);
    picture
}

impl Told {
    fn say(&self, sentence: String) {
        let mut said = lock(&self.said);
        if said.len() < WARNING_LIMIT {
            said.insert(sentence);
        }
    }

    fn page(&self, warning: InterpreterWarning) {
        let mut met = lock(&self.met);
        match warning {
            InterpreterWarning::UnsupportedFont => met.is_font_left_out = true,
            InterpreterWarning::ImageDecodeFailure => met.is_picture_left_out = true,
            // A field that shows nothing is nothing to be told of, nor is what is not known yet.
            InterpreterWarning::UnresolvedAnnotationAppearance | _ => {}
        }
    }

    fn end_page(&self, number: u32) {
        let met = take(&mut *lock(&self.met));
        if met.is_picture_left_out {
            self.say(format!("page {number} has a picture that cannot be decoded; it is left out"));
        }
        if met.is_font_left_out {
            self.say(format!("page {number} has text in a font that cannot be read; it is left out"));
        }
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing under these locks can stop half-way.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
