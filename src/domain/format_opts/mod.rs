//! `formatOpts`: what a caller says about the page, read leniently and checked strictly.
//!
//! `keys` is the table of all keys; one file reads what belongs together: the sheet (`paper`), what a PDF gets beside
//! its pages (`extras`), what surrounds the page (`scene`, `media_features`), how tags of Office files are read
//! (`office`), what Office files become (`conversion`), which TeX makes a PDF of LaTeX (`tex`), which pages of a PDF
//! become pictures (`raster`), which warnings make a job fail (`fail_on`), what a page's requests carry (`requests`),
//! what of all that is shown (`masked`), what the file is called (`file_name`), who may open a PDF and do what with
//! it (`protection`), what is heeded or refused (`promises`). The rest is here.

mod conversion;
mod extras;
mod fail_on;
mod file_name;
mod keys;
mod masked;
mod media_features;
mod office;
mod paper;
mod promises;
mod protection;
mod raster;
mod requests;
mod scene;
#[cfg(test)]
mod testing;
mod tex;

use serde_json::value::RawValue;

use super::fault::WarningKind;
use super::kinds::{Target, TemplateKind};
use super::members::{Members, kind};
use crate::config::BrowserConfig;
use crate::problem::Fault;

pub use conversion::{Conversion, PdfA};
pub use extras::{Extras, Metadata};
pub use file_name::{complete_file_name, file_name_of};
pub use keys::{Handling, KEYS, is_text};
pub use masked::without_secrets;
pub use media_features::MediaFeature;
pub use office::{Delimiters, OfficeOptions};
pub use paper::{
    CssSize, Given, Margin, Paper, SHEET_LEAST_IN, SHEET_LIMIT_IN, SIDES, css_length_in, is_near_in,
};
pub use protection::{PASSWORD_LIMIT_BYTES, Password, Passwords, Permissions, Printing, Protection};
pub use raster::{Pages, RasterOptions};
pub use requests::{Requests, Secrets};
pub use scene::{Media, Scene, Viewport, locale_of, timezone_of};
pub use tex::TexProgram;

/// Where `formatOpts` stands in a body.
const POINTER: &str = "/formatOpts";
const QUALITY: u32 = 85;

/// What was read of a `formatOpts` object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The options; the default stands where nothing, or something wrong, was given.
    pub options: PageOptions,
    /// Keys that mean nothing to this service: never refused, but told as a warning.
    pub unknown: Vec<String>,
    /// Known keys with a wrong value.
    pub faults: Vec<Fault>,
    /// Known keys that were given.
    known: Vec<String>,
}

/// The part of the configuration that options are bound by.
#[derive(Clone, Copy, Debug)]
pub struct OptionLimits {
    /// `browser.viewport_side_limit_px`.
    pub viewport_side_px: u32,
    /// `browser.picture_limit_pixels`.
    pub picture_pixels: f64,
    /// `browser.wait_limit_ms`.
    pub wait_ms: u32,
}

/// What the browser is told about the page.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "what callers say yes or no to, each by its name")]
pub struct PageOptions {
    /// Width and height of the sheet in inches, before `landscape` turns it.
    pub paper: Paper,
    /// The sheet is as high as its page, whatever `paper` says.
    pub auto_height: bool,
    /// The sheet is turned.
    pub landscape: bool,
    /// White around the content.
    pub margin: Margin,
    /// Which of these the caller chose; the page's own `@page` may say something else.
    pub given: Given,
    /// Size of the content, 0.1 to 2.
    pub scale: f64,
    /// Backgrounds are printed.
    pub print_background: bool,
    /// The size that the page's own `@page` names goes before `paper`.
    pub prefer_css_page_size: bool,
    /// First page to keep, from 1.
    pub from_page: Option<u32>,
    /// Last page to keep, included.
    pub to_page: Option<u32>,
    /// What a PDF gets beside its pages.
    pub extras: Extras,
    /// How an image is made.
    pub picture: Picture,
    /// What surrounds the page.
    pub scene: Scene,
    /// The page's scripts run.
    pub javascript: bool,
    /// What its requests carry.
    pub requests: Requests,
    /// Only the element that this CSS selector matches first.
    pub selector: Option<String>,
    /// The page is ready when this CSS selector matches.
    pub wait_for_selector: Option<String>,
    /// The page is ready when this JavaScript expression is truthy.
    pub wait_for_expression: Option<String>,
    /// A page that is ready is given so much longer.
    pub wait_ms: u32,
    /// Warnings of these kinds make the job fail.
    pub fail_on: Vec<WarningKind>,
    /// What the document is called where it is saved.
    pub file_name: Option<String>,
    /// How tags of an Office template are read.
    pub office: OfficeOptions,
    /// What an Office document becomes.
    pub conversion: Conversion,
    /// Which TeX makes a document of LaTeX; `None`: the one that it needs.
    pub tex: Option<TexProgram>,
    /// Who may open the file, and do what with it.
    pub protection: Protection,
    /// The keys given that promise something: a route that does not heed one of them is none.
    pub promised: Vec<&'static str>,
    /// Which pages of a PDF become pictures.
    pub raster: RasterOptions,
}

/// How an image is made of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The whole page instead of one viewport.
    pub full_page: bool,
    /// Transparent where the page has no background (PNG).
    pub omit_background: bool,
    /// 1 to 100 (JPEG).
    pub quality: u32,
}

impl OptionLimits {
    /// For options that were admitted before, and are not measured again.
    pub const ADMITTED: Self =
        Self { viewport_side_px: u32::MAX, picture_pixels: f64::INFINITY, wait_ms: u32::MAX };

    /// The limits of a configuration.
    pub fn of(config: &BrowserConfig) -> Self {
        let bounded = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        #[expect(clippy::cast_precision_loss, reason = "counts of pixels lie far below 2^52")]
        let picture_pixels = config.picture_limit_pixels as f64;
        Self {
            viewport_side_px: bounded(config.viewport_side_limit_px),
            picture_pixels,
            wait_ms: bounded(config.wait_limit_ms),
        }
    }
}

impl Default for PageOptions {
    /// A4, portrait, no margins, backgrounds printed.
    fn default() -> Self {
        Self {
            paper: Paper::A4,
            auto_height: false,
            landscape: false,
            margin: Margin::default(),
            given: Given::default(),
            scale: 1.0,
            print_background: true,
            prefer_css_page_size: false,
            from_page: None,
            to_page: None,
            extras: Extras::default(),
            picture: Picture::default(),
            scene: Scene::default(),
            javascript: true,
            requests: Requests::default(),
            selector: None,
            wait_for_selector: None,
            wait_for_expression: None,
            wait_ms: 0,
            fail_on: Vec::new(),
            file_name: None,
            office: OfficeOptions::default(),
            conversion: Conversion::default(),
            tex: None,
            protection: Protection::default(),
            promised: Vec::new(),
            raster: RasterOptions::default(),
        }
    }
}

impl PageOptions {
    /// What of them is kept apart.
    pub fn secrets(&self) -> Secrets {
        Secrets { passwords: self.protection.passwords.clone(), requests: self.requests.clone() }
    }

    /// The sheet, turned where it shall be.
    pub fn sheet(&self) -> Paper {
        if self.landscape { self.paper.turned() } else { self.paper }
    }
}

impl Default for Picture {
    /// One viewport, opaque.
    fn default() -> Self {
        Self { full_page: false, omit_background: false, quality: QUALITY }
    }
}

impl Reading {
    /// What the caller should know of options that do nothing, or not what they seem to, where `target` is made of `kind` by
    /// who `heeds` some of the keys.
    pub fn warnings(
        &self,
        (kind, target): (TemplateKind, Target),
        heeds: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let unknown = self.unknown.iter();
        let unknown =
            unknown.map(|key| format!("formatOpts.{key} is not known to this service and was ignored"));
        // One that promises something is not idle: where nobody heeds it, it asks for nothing.
        let idle = self.known.iter();
        let idle = idle.filter(|key| !keys::is_promise(key) && !keys::is_the_services(key) && !heeds(key));
        let made = target.made_of(kind);
        let idle = idle.map(|key| format!("formatOpts.{key} has no effect on {made} and was ignored"));
        unknown.chain(idle).collect()
    }
}

/// Whether `name` is a key that means something here, or promises something however it is spelled.
pub fn is_key(name: &str) -> bool {
    keys::is_known(name) || promises::is_promise(name)
}

/// Reads a `formatOpts` object (an empty array counts as one).
pub fn read(object: &RawValue, limits: &OptionLimits) -> Reading {
    let Ok(mut members) = Members::of(object.get(), POINTER) else {
        let detail = format!("must be an object, not {}", kind(object));
        return Reading { faults: vec![Fault::new(POINTER, detail)], ..Reading::default() };
    };
    let (known, mut unknown) = members.unknown(&[]).into_iter().partition(|name| keys::is_known(name));
    let options = read_options(&mut members, limits, &mut unknown);
    check_pages(&options, &mut members);
    promises::refuse(&mut members);
    paper::check_area(options.sheet(), options.margin, &mut members);
    Reading { options, unknown, known, faults: members.into_faults() }
}

fn read_options(members: &mut Members<'_>, limits: &OptionLimits, unknown: &mut Vec<String>) -> PageOptions {
    let default = PageOptions::default();
    let landscape = members.flag("landscape");
    let extras = Extras::read(members, unknown);
    let margin = paper::read_margin(members, unknown);
    PageOptions {
        paper: paper::read_paper(members),
        auto_height: paper::is_auto_height(members),
        landscape: landscape.unwrap_or(default.landscape),
        margin: margin.resolved(extras.header.is_some(), extras.footer.is_some()),
        given: Given {
            sheet: ["format", "width", "height"].iter().any(|name| is_given(members, name)),
            landscape: landscape.is_some(),
            margin: margin.given(),
        },
        scale: members.number("scale", 0.1..=2.0).unwrap_or(default.scale),
        print_background: members.flag("printBackground").unwrap_or(default.print_background),
        prefer_css_page_size: members.flag("preferCssPageSize").unwrap_or(default.prefer_css_page_size),
        from_page: members.count("fromPage"),
        to_page: members.count("toPage"),
        extras,
        picture: read_picture(members),
        scene: Scene::read(members, limits, unknown),
        javascript: members.flag("javascript").unwrap_or(default.javascript),
        requests: Requests::read(members, unknown),
        selector: members.text("selector"),
        wait_for_selector: members.text("waitForSelector"),
        wait_for_expression: members.text("waitForExpression"),
        wait_ms: members
            .limited("waitForTimeout", 0..=limits.wait_ms, "browser.wait_limit_ms")
            .unwrap_or(default.wait_ms),
        fail_on: fail_on::read(members),
        file_name: file_name::read(members),
        office: OfficeOptions::read(members, unknown),
        conversion: Conversion::read(members),
        tex: TexProgram::read(members),
        protection: Protection::read(members),
        promised: promises::read(members),
        raster: RasterOptions::read(members),
    }
}

/// An empty text counts as absent.
fn is_given(members: &Members<'_>, name: &str) -> bool {
    members.raw(name).is_some_and(|value| value.get() != "\"\"")
}

fn read_picture(members: &mut Members<'_>) -> Picture {
    let default = Picture::default();
    Picture {
        full_page: members.flag("fullPage").unwrap_or(default.full_page),
        omit_background: members.flag("omitBackground").unwrap_or(default.omit_background),
        quality: members.whole("quality", 1..=100).unwrap_or(default.quality),
    }
}

fn check_pages(options: &PageOptions, members: &mut Members<'_>) {
    if let (Some(from), Some(to)) = (options.from_page, options.to_page)
        && from > to
    {
        members.fault("fromPage", format!("{from} lies behind toPage {to}; give a first page up to {to}"));
    }
    // A page that fills a second sheet all the same would lose it without a word.
    if options.auto_height && (options.from_page.is_some() || options.to_page.is_some()) {
        members.fault("height", "\"auto\" makes one sheet of the whole page; leave out fromPage and toPage");
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{assert_fault, options, reading};
    use super::*;

    #[test]
    fn nothing_given_is_the_default() {
        for text in ["{}", "[]", r#"{"scale":null,"format":"","margin":null,"waitForSelector":""}"#] {
            assert_eq!(options(text), PageOptions::default());
        }
    }

    #[test]
    fn every_key_of_a_page_is_read() {
        let read = options(
            r##"{"fromPage":2.0,"toPage":3,"format":"Letter","waitForSelector":"#done","landscape":true,
            "margin":"1cm","scale":1.5,"printBackground":false,"preferCssPageSize":true,"fullPage":true,
            "omitBackground":true,"quality":40.0,"selector":"#a","waitForExpression":"1","waitForTimeout":5,
            "headerTemplate":"h","footerTemplate":"f","outline":true,"tagged":true,"metadata":{"title":"t"},
            "mediaType":"screen","viewport":{"height":9},"timezone":"UTC","locale":"de",
            "width":"8.5in","height":"11in","failOn":["status"]}"##,
        );
        let default = PageOptions::default();
        assert_eq!((read.from_page, read.to_page), (Some(2), Some(3)));
        assert_eq!(read.paper, Paper { width_in: 8.5, height_in: 11.0 });
        assert!(read.landscape && !read.print_background && read.prefer_css_page_size);
        assert!(read.margin != default.margin && (read.scale - 1.5).abs() < 1e-9);
        assert_eq!(read.picture, Picture { full_page: true, omit_background: true, quality: 40 });
        assert_eq!(read.selector.as_deref(), Some("#a"));
        assert_eq!(read.wait_for_selector.as_deref(), Some("#done"));
        assert_eq!(read.wait_for_expression.as_deref(), Some("1"));
        assert_eq!((read.wait_ms, read.fail_on), (5, vec![WarningKind::Status]));
        assert!(read.extras.has_banners() && read.extras.outline && read.extras.tagged == Some(true));
        assert_eq!(read.given, Given { sheet: true, landscape: true, margin: [true; 4] });
        assert_ne!(read.extras.metadata, default.extras.metadata);
        assert_eq!(read.scene.timezone.as_deref(), Some("UTC"));
        assert_eq!(read.scene.locale.as_deref(), Some("de"));
        assert_eq!((read.scene.media, read.scene.viewport.height_px), (Media::Screen, 9));
    }

    #[test]
    fn pages_count_from_one_and_in_order() {
        assert_eq!(options(r#"{"toPage":2}"#).to_page, Some(2));
        assert_fault(r#"{"fromPage":0}"#, "/formatOpts/fromPage", "out of range");
        assert_fault(r#"{"toPage":1.5}"#, "/formatOpts/toPage", "an integer");
        assert_fault(r#"{"fromPage":3,"toPage":2}"#, "/formatOpts/fromPage", "behind toPage 2");
        assert_fault(
            r#"{"height":"auto","toPage":1}"#,
            "/formatOpts/height",
            "leave out fromPage and toPage",
        );
        assert_fault(r#"{"scale":3}"#, "/formatOpts/scale", "from 0.1 to 2");
        assert_fault(r#"{"landscape":"yes"}"#, "/formatOpts/landscape", "true or false");
    }

    #[test]
    fn every_known_key_with_a_wrong_value_is_a_fault_of_its_own() {
        let limits = OptionLimits { wait_ms: 1_000, ..OptionLimits::ADMITTED };
        let body = |wanted: &[Handling]| {
            let keys = KEYS.iter().filter(|(_, handling)| wanted.contains(handling));
            let members: Vec<_> = keys.map(|(name, _)| format!(r#""{name}":[7]"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        let looked_at = [Handling::Read, Handling::Promised, Handling::Service];
        let text = body(&looked_at);
        let faults = read(serde_json::from_str(&text).unwrap(), &limits).faults;
        let mut pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.clone()).collect();
        pointers.sort_unstable();
        let keys = KEYS.iter().filter(|(_, handling)| looked_at.contains(handling));
        let mut expected: Vec<_> = keys.map(|(name, _)| format!("/formatOpts/{name}")).collect();
        expected.sort_unstable();
        assert_eq!(pointers, expected);
        let late = read(serde_json::from_str(r#"{"waitForTimeout":1001}"#).unwrap(), &limits).faults;
        assert_eq!(
            late[0].detail,
            "1001 is out of range; give a number from 0 to 1000 (browser.wait_limit_ms)"
        );
        assert_fault(r#"{"quality":101}"#, "/formatOpts/quality", "from 1 to 100");
        assert_fault(r#"{"quality":0}"#, "/formatOpts/quality", "from 1 to 100");
    }

    #[test]
    fn what_does_nothing_is_told() {
        let reading =
            reading(r#"{"zoom":1,"quality":7,"outline":null,"scale":1,"dpi":99,"viewport":{"a":1}}"#);
        assert_eq!(reading.faults, []);
        let unknown = [
            "formatOpts.zoom is not known to this service and was ignored",
            "formatOpts.viewport.a is not known to this service and was ignored",
        ];
        let idle =
            |key: &str, target: &str| format!("formatOpts.{key} has no effect on {target} and was ignored");
        let pdf = reading.warnings((TemplateKind::Ejs, Target::Pdf), |key| {
            ["outline", "scale", "viewport"].contains(&key)
        });
        assert_eq!(pdf[..2], unknown);
        assert_eq!(pdf[2..], [idle("dpi", "pdf made of ejs"), idle("quality", "pdf made of ejs")]);
        let page = (TemplateKind::Html, Target::Html);
        let ignored = reading.warnings(page, |_| false);
        assert_eq!((ignored.len(), &ignored[2]), (6, &idle("dpi", "html")));
        assert_eq!(reading.warnings(page, |_| true), unknown);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert_fault("7", "/formatOpts", "must be an object, not a number");
        assert_fault("[1]", "/formatOpts", "must be an object, not an array");
    }
}
