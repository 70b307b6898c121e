//! `formatOpts` as a type for the OpenAPI document; `domain::format_opts` reads it.

#![expect(dead_code, reason = "shapes for the document; the options are read key by key")]

use serde::Serialize;
use utoipa::ToSchema;

/// How the document is made. Unknown keys are ignored, with a warning; a known one with a wrong value is
/// refused by name. Keys that promise protection or conformance are refused where the promise cannot be kept: `password`,
/// `userPassword`, `ownerPassword` and `permissions` for any target but pdf, `pdfa` and `pdfua` for any but pdf of Office
/// files, `encrypt` and `sign` always.
#[derive(ToSchema)]
#[schema(as = FormatOpts, rename_all = "camelCase")]
pub(in super::super) struct FormatOpts {
    /// The sheet: `letter`, `legal`, `tabloid`, `ledger`, `a0` to `a6`. `a4` when left out.
    #[schema(example = "a4")]
    format: Option<String>,
    /// Width of the sheet, a CSS length (`"100mm"`) or a number of pixels; wins over `format`.
    width: Option<Length>,
    /// Height of the sheet; `"auto"`: as high as the page.
    height: Option<Length>,
    /// The sheet is turned. A size or orientation of the page's own `@page` goes before it.
    landscape: Option<bool>,
    /// White around the content: one length, or one a side. None when left out; a margin of the page's own `@page`
    /// goes before it.
    margin: Option<Margin>,
    /// Size of the content.
    #[schema(minimum = 0.1, maximum = 2)]
    scale: Option<f64>,
    /// Backgrounds are printed; `true` when left out.
    print_background: Option<bool>,
    /// The size that the page's own `@page` names is the sheet; otherwise the page is laid out at that size and put on
    /// the sheet, shrunk where it is larger. `false` when left out.
    prefer_css_page_size: Option<bool>,
    /// First page to keep, from 1.
    #[schema(minimum = 1)]
    from_page: Option<u32>,
    /// Last page to keep, included.
    #[schema(minimum = 1)]
    to_page: Option<u32>,
    /// HTML on top of each page, a template of the same data as the page; elements of the classes `date` (by `locale`
    /// and `timezone`), `title`, `pageNumber` and `totalPages` are filled in, `url` is empty. It stands in the margin,
    /// which is 15mm where none is given.
    header_template: Option<String>,
    /// The same at the bottom.
    footer_template: Option<String>,
    /// Headings become bookmarks, which read as the headings do.
    outline: Option<bool>,
    /// The file says which of its parts are headings, tables, paragraphs. When left out: unless it is long
    /// (`browser.tagged_pages_limit`), an Office file's always. `false` makes it smaller, and a long one sooner done.
    tagged: Option<bool>,
    /// What the file says of itself.
    metadata: Option<Metadata>,
    /// Where the page will be, an absolute http or https address: the relative links of its PDF start from it. When left
    /// out they lead nowhere.
    base_url: Option<String>,
    /// The whole page as an image, not its first viewport.
    full_page: Option<bool>,
    /// The image has no white behind it (png).
    omit_background: Option<bool>,
    /// 1 to 100 (jpg); 85 when left out.
    #[schema(minimum = 1, maximum = 100)]
    quality: Option<u32>,
    /// Only the element that this CSS selector matches first.
    selector: Option<String>,
    /// `print` or `screen`; `print` when left out.
    media_type: Option<String>,
    /// What its style sheets are told of the reader: `prefers-color-scheme`, `prefers-reduced-motion`,
    /// `prefers-reduced-transparency`, `prefers-reduced-data`, `prefers-contrast`, `forced-colors`, `color-gamut`.
    #[schema(value_type = Option<HashMap<String, String>>, example = json!({"prefers-reduced-motion": "reduce"}))]
    media_features: Option<()>,
    /// The window that the page is laid out in. When left out: for a PDF the sheet less its margins, else 794 by 1058 pixels.
    viewport: Option<Viewport>,
    /// Whether the page's scripts run; `true` when left out. Template code always does.
    javascript: Option<bool>,
    /// Headers and cookies of the page's requests to hosts that are open, by host (`api.example`, or with its port).
    /// Answers show the values as `***`.
    requests: Option<std::collections::HashMap<String, HostRequests>>,
    /// The time zone of the page's scripts, such as `Europe/Berlin`.
    timezone: Option<String>,
    /// The language of the page's scripts, such as `de-DE`.
    locale: Option<String>,
    /// The page is ready when this CSS selector matches.
    wait_for_selector: Option<String>,
    /// The page is ready when this JavaScript expression is true.
    wait_for_expression: Option<String>,
    /// Milliseconds to wait beyond that.
    wait_for_timeout: Option<u32>,
    /// Warnings of these kinds make the job fail with `page_failed`: `exceptions` (uncaught ones), `console`
    /// (`console.error`), `missing` (what the page asked for in vain), `status` (allowed hosts that answer with 400
    /// or more).
    fail_on: Option<Vec<String>>,
    /// What the document is called where it is saved: at most 250 bytes in UTF-8, without folders. Its extension is
    /// added where it is missing.
    #[schema(example = "invoice 12.pdf")]
    file_name: Option<String>,
    /// Which pages of a PDF become pictures: `all`, or pages and ranges (`2-4,7`, `3-`). Several come as a zip archive.
    /// When left out the first page, and all of them for slides (pptx). Counted from `fromPage` on, where that is
    /// given. For ways to pictures that lead over a PDF.
    #[schema(example = "2-4,7")]
    pages: Option<String>,
    /// The one page of a PDF that becomes a picture, from 1; instead of `pages`.
    #[schema(minimum = 1)]
    page: Option<u32>,
    /// How large pictures of a PDF's pages are, in dots an inch; when left out 150, and on slides as many as make the longer side
    /// 2,400 pixels long.
    #[schema(minimum = 10, maximum = 1200)]
    dpi: Option<u32>,
    /// What the tags of an Office template begin and end with; `{` and `}` where nothing is said.
    delimiters: Option<Delimiters>,
    /// Whether a name that the data lack fails the job, in the tags of an Office template; otherwise it is empty.
    strict: Option<bool>,
    /// Whether contents, page references and fields of a Word file are done anew when its pages are known; `true` when left
    /// out.
    update_fields: Option<bool>,
    /// Which TeX makes a document of LaTeX: `pdflatex`, `lualatex` or `xelatex`. When left out: the one that the file names
    /// (`% !TeX program = …`), or that it needs.
    #[schema(example = "lualatex")]
    engine: Option<String>,
    /// The part of PDF/A that the PDF of an Office file conforms to: `1b`, `2b` (also `true`) or `3b`.
    pdfa: Option<Conformance>,
    /// The PDF of an Office file conforms to PDF/UA.
    pdfua: Option<bool>,
    /// What opens the PDF (AES-256): at most 127 bytes in UTF-8, in its form NFKC. Answers show it as `***`.
    password: Option<String>,
    /// The same as `password`.
    user_password: Option<String>,
    /// What opens the PDF without its `permissions` counting; it goes with these, or with `password`.
    owner_password: Option<String>,
    /// What may be done with the PDF by who opens it without `ownerPassword`.
    permissions: Option<Permissions>,
}

/// What requests to a host carry.
#[derive(ToSchema)]
#[schema(as = HostRequests)]
struct HostRequests {
    headers: Option<std::collections::HashMap<String, String>>,
    cookies: Option<std::collections::HashMap<String, String>>,
}

/// What may be done with a PDF. Where something is allowed by name, all that is not named is forbidden; where things are
/// only forbidden, all else is allowed.
#[derive(ToSchema)]
#[schema(as = Permissions, rename_all = "camelCase")]
struct Permissions {
    /// `true`, `false`, or `"low"`: as a picture of low resolution.
    print: Option<Printing>,
    /// Changing its content.
    modify: Option<bool>,
    /// Taking text and pictures out.
    copy: Option<bool>,
    /// Comments, and filling in forms.
    annotate: Option<bool>,
    /// Filling in forms.
    fill_forms: Option<bool>,
    /// Inserting, turning and deleting pages.
    assemble: Option<bool>,
    /// Assistive technology may always read a file that is open: `true`.
    accessibility: Option<bool>,
}

/// The part of a standard, or its usual one.
#[derive(Serialize, ToSchema)]
#[schema(as = Conformance)]
#[serde(untagged)]
enum Conformance {
    #[schema(title = "UsualPart")]
    Usual(bool),
    #[schema(title = "Part")]
    Part(String),
}

/// Whether, or how.
#[derive(Serialize, ToSchema)]
#[schema(as = Printing)]
#[serde(untagged)]
enum Printing {
    #[schema(title = "Allowed")]
    Allowed(bool),
    #[schema(title = "Resolution")]
    Resolution(String),
}

/// A CSS length, or a number of pixels.
#[derive(Serialize, ToSchema)]
#[schema(as = Length)]
#[serde(untagged)]
enum Length {
    #[schema(title = "CssLength")]
    Css(String),
    #[schema(title = "Pixels")]
    Pixels(f64),
}

/// One length for all sides, or one a side.
#[derive(Serialize, ToSchema)]
#[schema(as = Margin)]
#[serde(untagged)]
enum Margin {
    All(Length),
    Sides(Sides),
}

/// A side left out has no margin.
#[derive(Serialize, ToSchema)]
#[schema(as = MarginSides)]
struct Sides {
    top: Option<Length>,
    right: Option<Length>,
    bottom: Option<Length>,
    left: Option<Length>,
}

/// A window.
#[derive(ToSchema)]
#[schema(as = Viewport, rename_all = "camelCase")]
struct Viewport {
    width: Option<u32>,
    height: Option<u32>,
    device_scale_factor: Option<f64>,
}

/// What a file says of itself.
#[derive(ToSchema)]
#[schema(as = Metadata)]
struct Metadata {
    title: Option<String>,
    author: Option<String>,
    subject: Option<String>,
    keywords: Option<String>,
}

/// What stands around a placeholder.
#[derive(ToSchema)]
#[schema(as = Delimiters)]
struct Delimiters {
    start: Option<String>,
    end: Option<String>,
}
