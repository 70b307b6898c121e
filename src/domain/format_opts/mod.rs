//! `formatOpts`: the options of a document, read leniently and checked strictly.
//!
//! `key` has every key with its sentence. One file reads each group: the sheet (`sheet`), header, footer, bookmarks and metadata of a
//! PDF (`extras`), where its relative links start from (`base_url`), images of a page (`picture`), the emulated environment
//! (`emulation`, `media_features`), tags of Office files (`office`), conversion of Office files (`conversion`), the TeX program
//! (`tex`), pictures of a PDF's pages (`raster`), warnings that make a job fail (`fail_on`), headers and cookies of requests
//! (`requests`), the file's name (`file_name`), passwords and permissions of a PDF (`protection`). `masked` hides secrets;
//! `promises` refuses keys that would be ignored dangerously; `limits` is what the configuration allows; `layout` is how a page
//! lies on its sheet; `text` reads an option that was given as text; `elsewhere` has the names of other services. The rest is here.

mod base_url;
mod conversion;
mod elsewhere;
mod emulation;
mod extras;
mod fail_on;
mod file_name;
mod key;
mod layout;
mod limits;
mod masked;
mod media_features;
mod office;
mod picture;
mod promises;
mod protection;
mod raster;
mod requests;
mod sheet;
#[cfg(test)]
mod testing;
mod tex;
mod text;

use json_members::{Member, Members, Unknown, kind};
use serde_json::value::RawValue;
use url::Url;

use super::error::WarningKind;
use super::kinds::{Target, TemplateKind};
use super::paper::{Margin, Paper};
use crate::problem::FieldError;

pub use conversion::{Conversion, PdfA};
pub use elsewhere::name_here;
pub use emulation::{EmulationOptions, Media, Viewport};
pub use extras::{Extras, Metadata};
pub use fail_on::check_warnings;
pub use file_name::{complete_file_name, file_name_of};
pub use key::{Key, KeySet, plain};
pub use layout::{CssPage, Layout, whole_pixels};
pub use limits::OptionLimits;
pub use masked::mask_secrets;
pub use media_features::MediaFeature;
pub use office::{Delimiters, OfficeOptions};
pub use picture::Picture;
pub use promises::refusal_beside;
pub use protection::{PASSWORD_LIMIT_BYTES, Password, Passwords, Permissions, Printing, Protection};
pub use raster::{Pages, RasterOptions, key_for_several_pictures};
pub use requests::{Requests, Secrets};
pub use sheet::Given;
pub use tex::TexProgram;
pub use text::value_of;

/// Most unknown keys that are compared with the known ones: an object may have thousands.
const COMPARED: usize = 50;
/// Where the JSON Schema of `formatOpts` is: for editors alone.
const SCHEMA: &str = "$schema";
/// The JSON pointer of `formatOpts` in a body.
const POINTER: &str = "/formatOpts";

/// The result of reading a `formatOpts` object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The options; the default where nothing, or something wrong, was given.
    pub options: PageOptions,
    /// Keys unknown to this service: a warning each, never an error.
    pub unknown: Vec<Unknown>,
    /// Errors of known keys with a wrong value.
    pub errors: Vec<FieldError>,
    /// The keys that were given, in the order of the alphabet.
    given: Vec<Key>,
}

/// The options of a document.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "what callers say yes or no to, each by its name")]
pub struct PageOptions {
    /// Width and height of the sheet in inches, before `landscape` turns it.
    pub paper: Paper,
    /// The sheet is as high as its page, and the height of `paper` is ignored.
    pub auto_height: bool,
    /// The sheet is turned.
    pub landscape: bool,
    /// The margins of the sheet.
    pub margin: Margin,
    /// Which of these the caller chose; where not, the page's own `@page` decides.
    pub given: Given,
    /// Size of the content, 0.1 to 2.
    pub scale: f64,
    /// Backgrounds are printed.
    pub print_background: bool,
    /// The size of the page's own `@page` overrides `paper`.
    pub prefer_css_page_size: bool,
    /// First page to keep, from 1.
    pub from_page: Option<u32>,
    /// Last page to keep, included.
    pub to_page: Option<u32>,
    /// Header, footer, bookmarks and metadata of a PDF.
    pub extras: Extras,
    /// Where the relative links of a PDF start from.
    pub base_url: Option<Url>,
    /// How an image is made.
    pub picture: Picture,
    /// The emulated environment of the page.
    pub emulation: EmulationOptions,
    /// The page's scripts run.
    pub javascript: bool,
    /// Headers and cookies of its requests.
    pub requests: Requests,
    /// Only the element that this CSS selector matches first.
    pub selector: Option<String>,
    /// The page is ready when this CSS selector matches.
    pub wait_for_selector: Option<String>,
    /// The page is ready when this JavaScript expression is truthy.
    pub wait_for_expression: Option<String>,
    /// Additional wait once the page is ready, in milliseconds.
    pub wait_ms: u32,
    /// Warnings of these kinds make the job fail.
    pub fail_on: Vec<WarningKind>,
    /// The file name of the document.
    pub file_name: Option<String>,
    /// How tags of an Office template are read.
    pub office: OfficeOptions,
    /// Conversion of an Office document.
    pub conversion: Conversion,
    /// The TeX program for LaTeX; `None`: the one that the source needs.
    pub tex: Option<TexProgram>,
    /// Passwords and permissions of a PDF.
    pub protection: Protection,
    /// The keys given that promise protection or conformance: a route that does not heed all of them is not taken.
    pub promised: Vec<Key>,
    /// Which pages of a PDF become pictures.
    pub raster: RasterOptions,
}

impl Default for PageOptions {
    /// A4, portrait, no margins, backgrounds printed.
    fn default() -> Self {
        read_options(&mut Members::default(), &OptionLimits::ADMITTED)
    }
}

impl PageOptions {
    /// Their secrets, which are stored apart from the record.
    pub fn secrets(&self) -> Secrets {
        Secrets { passwords: self.protection.passwords.clone(), requests: self.requests.clone() }
    }

    /// The sheet, turned if `landscape`.
    pub fn sheet(&self) -> Paper {
        if self.landscape { self.paper.turned() } else { self.paper }
    }

    /// The pages to keep, as in `2-3`, or `2-` up to the end; `None`: all of them.
    pub fn page_range(&self) -> Option<String> {
        let (from, to) = (self.from_page, self.to_page);
        let end = to.map(|to| to.to_string()).unwrap_or_default();
        (from.is_some() || to.is_some()).then(|| format!("{}-{end}", from.unwrap_or(1)))
    }
}

impl Reading {
    /// Warnings about keys that are unknown, or have no effect where `target` is made of `kind` by engines that heed the keys
    /// accepted by `heeds`.
    pub fn warnings(
        &self,
        (kind, target): (TemplateKind, Target),
        heeds: impl Fn(Key) -> bool,
    ) -> Vec<String> {
        // No warning for keys that promise something: one that no engine heeds was refused, or asks for nothing.
        let is_idle = |key: Key| !key.promises() && !key.is_refused() && !key.is_of_service() && !heeds(key);
        let idle = self.given.iter().copied().filter(|key| is_idle(*key));
        let made = target.made_of(kind);
        let idle = idle.map(|key| format!("formatOpts.{key} has no effect on {made} and was ignored"));
        self.unknown_warnings().chain(idle).collect()
    }

    /// Warnings about keys that are unknown, with what was meant.
    pub fn unknown_warnings(&self) -> impl Iterator<Item = String> {
        self.unknown.iter().map(elsewhere::warning)
    }
}

/// Whether `name` is a known key, or promises protection or conformance in any spelling.
pub fn is_key(name: &str) -> bool {
    Key::from_name(name).is_some() || promises::is_promise(name)
}

/// What may be sent for each key that is read, in the order in which they are read.
pub fn described(limits: &OptionLimits) -> Vec<Member> {
    json_members::describe(|members| read_options(members, limits))
}

/// Reads a `formatOpts` object (an empty array counts as one).
pub fn read(object: &RawValue, limits: &OptionLimits) -> Reading {
    let Ok(mut members) = Members::of(object.get(), POINTER) else {
        let detail = format!("must be an object, not {}", kind(object));
        return Reading { errors: vec![FieldError::new(POINTER, detail)], ..Reading::default() };
    };
    let given = members.sent().filter_map(Key::from_name).collect();
    let options = read_options(&mut members, limits);
    check_pages(&options, &mut members);
    promises::refuse(&mut members);
    sheet::check_area(options.sheet(), options.margin, &mut members);
    // A key that is always refused is asked for by no reader.
    let unknown = members.unknown().filter(|name| *name != SCHEMA && Key::from_name(name).is_none());
    let unknown = unknown.enumerate().map(|(at, name)| {
        let near = if at < COMPARED { members.nearest(name) } else { None };
        Unknown { path: name.to_owned(), near }
    });
    let unknown = unknown.chain(members.unknown_within().iter().cloned()).collect();
    Reading { options, unknown, given, errors: members.into_faults() }
}

fn read_options(members: &mut Members<'_>, limits: &OptionLimits) -> PageOptions {
    let landscape = members.flag(Key::Landscape);
    let extras = Extras::read(members);
    let margin = sheet::read_margin(members);
    PageOptions {
        paper: sheet::read_paper(members),
        auto_height: sheet::is_auto_height(members),
        landscape: landscape.unwrap_or_default(),
        margin: margin.resolved(extras.header.is_some(), extras.footer.is_some()),
        given: Given {
            sheet: [Key::Format, Key::Width, Key::Height].into_iter().any(|key| is_given(members, key)),
            landscape: landscape.is_some(),
            margin: margin.given(),
        },
        scale: members.number(Key::Scale, 0.1..=2.0).unwrap_or(1.0),
        print_background: members.flag(Key::PrintBackground).unwrap_or(true),
        prefer_css_page_size: members.flag(Key::PreferCssPageSize).unwrap_or_default(),
        from_page: members.count(Key::FromPage),
        to_page: members.count(Key::ToPage),
        extras,
        base_url: base_url::read(members),
        picture: Picture::read(members),
        emulation: EmulationOptions::read(members, limits),
        javascript: members.flag(Key::Javascript).unwrap_or(true),
        requests: Requests::read(members),
        selector: members.text(Key::Selector),
        wait_for_selector: members.text(Key::WaitForSelector),
        wait_for_expression: members.text(Key::WaitForExpression),
        wait_ms: members
            .limited(Key::WaitForTimeout, 0..=limits.wait_ms, "browser.wait_limit_ms")
            .unwrap_or_default(),
        fail_on: fail_on::read(members),
        file_name: file_name::read(members),
        office: OfficeOptions::read(members),
        conversion: Conversion::read(members),
        tex: members.word(Key::Engine),
        protection: Protection::read(members),
        promised: promises::read(members),
        raster: RasterOptions::read(members),
    }
}

/// An empty text counts as absent.
fn is_given(members: &Members<'_>, key: Key) -> bool {
    members.peek(key).is_some_and(|value| value.get() != "\"\"")
}

fn check_pages(options: &PageOptions, members: &mut Members<'_>) {
    if let (Some(from), Some(to)) = (options.from_page, options.to_page)
        && from > to
    {
        members.fault(Key::FromPage, format!("{from} lies behind toPage {to}; give a first page up to {to}"));
    }
    // A page that overflows onto a second sheet would lose it without a warning.
    if options.auto_height && (options.from_page.is_some() || options.to_page.is_some()) {
        members
            .fault(Key::Height, "\"auto\" makes one sheet of the whole page; leave out fromPage and toPage");
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{assert_error, options, reading};
    use super::*;

    #[test]
    fn nothing_given_is_the_default() {
        for text in ["{}", "[]", r#"{"scale":null,"format":"","margin":null,"waitForSelector":""}"#] {
            assert_eq!(options(text), PageOptions::default());
        }
        let PageOptions { paper, landscape, scale, print_background, javascript, wait_ms, .. } =
            options("{}");
        assert_eq!((paper, landscape, scale), (Paper::A4, false, 1.0));
        assert_eq!((print_background, javascript, wait_ms), (true, true, 0));
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
        assert!(
            read.extras.has_header_or_footer() && read.extras.outline && read.extras.tagged == Some(true)
        );
        assert_eq!(read.given, Given { sheet: true, landscape: true, margin: [true; 4] });
        assert_ne!(read.extras.metadata, default.extras.metadata);
        assert_eq!(read.emulation.timezone.as_deref(), Some("UTC"));
        assert_eq!(read.emulation.locale.as_deref(), Some("de"));
        assert_eq!((read.emulation.media, read.emulation.viewport.height_px), (Media::Screen, 9));
    }

    #[test]
    fn pages_count_from_one_and_in_order() {
        assert_eq!(options(r#"{"toPage":2}"#).to_page, Some(2));
        let range = |text: &str| options(text).page_range().unwrap_or_default();
        assert_eq!(range("{}"), "");
        assert_eq!(range(r#"{"fromPage":2}"#), "2-");
        assert_eq!(range(r#"{"toPage":3}"#), "1-3");
        assert_eq!(range(r#"{"fromPage":2,"toPage":3}"#), "2-3");
        assert_error(r#"{"fromPage":0}"#, "/formatOpts/fromPage", "out of range");
        assert_error(r#"{"toPage":1.5}"#, "/formatOpts/toPage", "an integer");
        assert_error(r#"{"fromPage":3,"toPage":2}"#, "/formatOpts/fromPage", "behind toPage 2");
        assert_error(
            r#"{"height":"auto","toPage":1}"#,
            "/formatOpts/height",
            "leave out fromPage and toPage",
        );
        assert_error(r#"{"scale":3}"#, "/formatOpts/scale", "from 0.1 to 2");
        assert_error(r#"{"landscape":"yes"}"#, "/formatOpts/landscape", "true or false");
    }

    #[test]
    fn every_known_key_with_a_wrong_value_is_an_error() {
        let limits = OptionLimits { wait_ms: 1_000, ..OptionLimits::ADMITTED };
        let names = || Key::ALL.iter().filter(|key| !key.is_refused()).map(|key| key.name());
        let members: Vec<_> = names().map(|name| format!(r#""{name}":[7]"#)).collect();
        let text = format!("{{{}}}", members.join(","));
        let errors = read(serde_json::from_str(&text).unwrap(), &limits).errors;
        let mut pointers: Vec<_> = errors.iter().map(|error| error.pointer.clone()).collect();
        pointers.sort_unstable();
        let mut expected: Vec<_> = names().map(|name| format!("/formatOpts/{name}")).collect();
        expected.sort_unstable();
        assert_eq!(pointers, expected);
        let late = read(serde_json::from_str(r#"{"waitForTimeout":1001}"#).unwrap(), &limits).errors;
        assert_eq!(
            late[0].detail,
            "1001 is out of range; give a number from 0 to 1000 (browser.wait_limit_ms)"
        );
        assert_error(r#"{"quality":101}"#, "/formatOpts/quality", "from 1 to 100");
        assert_error(r#"{"quality":0}"#, "/formatOpts/quality", "from 1 to 100");
    }

    #[test]
    fn options_without_effect_are_warned_about() {
        let reading =
            reading(r#"{"zoom":1,"quality":7,"outline":null,"scale":1,"dpi":99,"viewport":{"a":1}}"#);
        assert_eq!(reading.errors, []);
        let unknown = [
            "formatOpts.zoom is not known to this service and was ignored",
            "formatOpts.viewport.a is not known to this service and was ignored",
        ];
        let idle =
            |key: &str, target: &str| format!("formatOpts.{key} has no effect on {target} and was ignored");
        let pdf = reading.warnings((TemplateKind::Ejs, Target::Pdf), |key| {
            [Key::Outline, Key::Scale, Key::Viewport].contains(&key)
        });
        assert_eq!(pdf[..2], unknown);
        assert_eq!(pdf[2..], [idle("dpi", "pdf made of ejs"), idle("quality", "pdf made of ejs")]);
        let page = (TemplateKind::Html, Target::Html);
        let ignored = reading.warnings(page, |_| false);
        assert_eq!((ignored.len(), &ignored[2]), (6, &idle("dpi", "html")));
        assert_eq!(reading.warnings(page, |_| true), unknown);
    }

    #[test]
    fn format_opts_must_be_an_object() {
        assert_error("7", "/formatOpts", "must be an object, not a number");
        assert_error("[1]", "/formatOpts", "must be an object, not an array");
    }
}
