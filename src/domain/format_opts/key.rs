//! Every key of `formatOpts`, with its sentence; sets of keys.

use json_members::Named;
use strum::{AsRefStr, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// A key of `formatOpts`.
///
/// Its doc comment is its row in docs/format-options.md. The order is that of the documentation.
#[derive(
    AsRefStr,
    Clone,
    Copy,
    Debug,
    Display,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "camelCase")]
pub enum Key {
    /// the sheet: `letter legal tabloid ledger a0 … a6`; `a4` when nothing is said
    Format,
    /// the sheet's width: a CSS length (`"148mm"`) or a number of pixels; goes before `format`
    Width,
    /// the sheet's height, as `width`. `"auto"`: one sheet as high as the page, up to the 5,080 mm that a PDF may have; beyond, and where the page
    /// breaks by itself, there are more, with a warning. Of `@page` the margins count and a size does not, with a warning;
    /// `fromPage` and `toPage` are refused beside it
    Height,
    /// `true` turns the sheet; an `@page` size goes before it
    Landscape,
    /// white around the content: one CSS length, or `{"top", "right", "bottom", "left"}`; an `@page` margin goes before it
    Margin,
    /// the size of the content, 0.1 to 2
    Scale,
    /// whether backgrounds are printed; `true` when nothing is said
    PrintBackground,
    /// `true`: the size that the page's own `@page` names is the sheet, whatever `format` says
    PreferCssPageSize,
    /// the first page to keep, from 1
    FromPage,
    /// the last page to keep, included. Where an Office file ends before it, a warning says with which page
    ToPage,
    /// HTML or EJS on top of every sheet, [with page numbers and date](#header-and-footer); [margin boxes](#margin-boxes) are
    /// another way
    HeaderTemplate,
    /// the same at the bottom of every sheet, [with page numbers and date](#header-and-footer)
    FooterTemplate,
    /// `true`: headings become bookmarks, which read as the headings do
    Outline,
    /// whether the file says what is a heading, a table, a paragraph; when nothing is said: unless it is long, and always
    /// where it was an Office file
    Tagged,
    /// what the file says of itself: `{"title", "author", "subject", "keywords"}`; the title is the page's own when none is given; of `html` and `docx` only
    /// what is made of LaTeX
    Metadata,
    /// an absolute http or https address: where the page will be. [Relative links](#links) start from it
    BaseUrl,
    /// `true`: the whole page instead of one viewport
    FullPage,
    /// `true`: transparent where the page has no background
    OmitBackground,
    /// how good the picture is, 1 to 100; 85 when nothing is said
    Quality,
    /// only the first element that this CSS selector matches; none: the job fails
    Selector,
    /// `print` (when nothing is said) or `screen`: which style sheets count
    MediaType,
    /// what style sheets and scripts are told of the reader: `{"prefers-reduced-motion": "reduce"}`; also
    /// `prefers-color-scheme`, `prefers-reduced-transparency`, `prefers-reduced-data`, `prefers-contrast`, `forced-colors`,
    /// `color-gamut`
    MediaFeatures,
    /// `{"width", "height", "deviceScaleFactor"}` of the window, in CSS pixels; when nothing is said 794 × 1058, 1, and for a
    /// PDF [the sheet less its margins](templates.md#the-window-that-scripts-see)
    Viewport,
    /// `false`: no script of the page runs, and what stands in `noscript` is shown; template code runs all the same, and so do
    /// scripts in frames of [hosts that you open](security.md#hosts-that-pages-reach)
    Javascript,
    /// [headers and cookies](security.md#hosts-that-pages-reach) of the page's requests to hosts that are open
    Requests,
    /// the time zone of dates in the template's code, in the page's scripts, in header and footer: an IANA name,
    /// `"Europe/Berlin"`; when nothing is said UTC, in templates `assemble.timezone`
    Timezone,
    /// the language of dates and numbers in the same places: a BCP 47 tag, `"de-CH"`; also the scripts'
    /// `navigator.language`; when nothing is said en-US, in templates and in pages of workbooks `assemble.locale`
    Locale,
    /// a CSS selector that must match before the page is made into a file
    WaitForSelector,
    /// a JavaScript expression (or a promise of one) that must be truthy before the page is made into a file
    WaitForExpression,
    /// milliseconds that a ready page is given, at most `browser.wait_limit_ms`
    WaitForTimeout,
    /// which [warnings](errors.md#warnings) make the job fail: an array of `exceptions`, `console`, `missing`, `status`
    FailOn,
    /// what the document is called where it is saved (`Content-Disposition`, `output.data.fileName`): at most 250 bytes of
    /// UTF-8, no folders, no control characters; its extension is added
    FileName,
    /// which [pages](pictures.md#pictures) become pictures, or [slides](pictures.md#slides): `"all"`, or pages and ranges
    /// (`"2-4,7"`, `"3-"`)
    Pages,
    /// the one page that becomes a picture, from 1; instead of `pages`
    Page,
    /// how large pictures of pages are, 10 to 1200 dots an inch; when nothing is said 150, on slides as many as give 2,400 pixels
    Dpi,
    /// what tags begin and end with, instead of `{` and `}`: `{"start": "[[", "end": "]]"}`
    Delimiters,
    /// `true`: a name that the data lack fails the job; otherwise it is empty
    Strict,
    /// contents, page references and fields are done anew when the pages are known: `true` when nothing is said
    UpdateFields,
    /// which TeX makes a document of [LaTeX](latex.md): `pdflatex`, `lualatex`, `xelatex`; when nothing is said, the one that
    /// the file names or needs
    Engine,
    /// what opens the file, [AES-256](security.md#pdfs-with-a-password): at most 127 bytes of UTF-8, which answers show as `***`
    Password,
    /// the same as `password`
    UserPassword,
    /// what opens it with all rights, whatever `permissions` say
    OwnerPassword,
    /// what others may do with it: `{"print", "modify", "copy", "annotate", "fillForms", "assemble"}`. Where something is allowed by
    /// name, all that is not named is forbidden; where things are only forbidden, all else is allowed
    Permissions,
    /// a promise that cannot be kept yet; `password` and `permissions` can
    Encrypt,
    /// `"1b"`, `"2b"` (or `true`) or `"3b"`: the PDF of an Office file is a PDF/A of that part; not with a password, and
    /// refused where nobody makes it one
    Pdfa,
    /// `true`: the PDF of an Office file is a PDF/UA, as far as the file has a title (or `metadata` give one, else a warning)
    /// and alternative texts for its pictures; refused where nobody makes it one, and with `tagged: false`
    Pdfua,
    /// a promise that cannot be kept yet
    Sign,
}

impl Key {
    /// All keys, in the order of the documentation.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Its name, as callers write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The key of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Its sentence, in one line of Markdown.
    pub fn sentence(self) -> String {
        one_line(self.about())
    }

    /// Whether it promises protection or conformance: the job is refused if its route does not heed it.
    pub fn promises(self) -> bool {
        PROMISED.has(self)
    }

    /// Whether it promises the same and cannot be kept: it is always refused.
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Encrypt | Self::Sign)
    }

    /// Whether the service itself reads it, whichever engine makes the file.
    pub fn is_of_service(self) -> bool {
        matches!(self, Self::FileName)
    }

    /// Whether its value is a secret, which is never stored, shown or logged. The names within `requests` are none.
    pub fn is_secret(self) -> bool {
        matches!(self, Self::Password | Self::UserPassword | Self::OwnerPassword | Self::Requests)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Markdown in one line, with the words of its links and without their addresses: for whoever reads it elsewhere than in the
/// documentation.
pub fn plain(markdown: &str) -> String {
    let text = one_line(markdown);
    let mut parts = text.split("](");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once(')').unwrap_or_default();
        if let Some(begin) = plain.rfind('[') {
            plain.remove(begin);
        }
        plain.push_str(rest);
    }
    plain
}

/// The keys that promise something and are read.
const PROMISED: KeySet = KeySet::of(&[
    Key::Password,
    Key::UserPassword,
    Key::OwnerPassword,
    Key::Permissions,
    Key::Pdfa,
    Key::Pdfua,
]);

impl Named for Key {
    fn name(self) -> &'static str {
        self.into()
    }

    fn about(self) -> &'static str {
        self.get_documentation().unwrap_or_default()
    }
}

/// Some of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySet(u128);

const _: () = assert!(Key::ALL.len() <= 128, "a set has a bit for each key");

impl KeySet {
    /// No key.
    pub const NONE: Self = Self(0);

    /// These keys.
    pub const fn of(keys: &[Key]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < keys.len() {
            set |= 1 << keys[at] as u32;
            at += 1;
        }
        Self(set)
    }

    /// The keys of either set.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the key is one of them.
    pub const fn has(self, key: Key) -> bool {
        self.0 & (1 << key as u32) != 0
    }

    /// Its keys, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = Key> {
        Key::ALL.iter().copied().filter(move |key| self.has(*key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_name_and_its_sentence() {
        for &key in Key::ALL {
            assert_eq!(Key::from_name(key.name()), Some(key));
            let sentence = key.sentence();
            assert!(!sentence.is_empty(), "{key:?}");
        }
        assert_eq!(
            (Key::PreferCssPageSize.name(), Key::from_name("landscapes")),
            ("preferCssPageSize", None)
        );
        assert!(plain(Key::Password.about()).starts_with("what opens the file, AES-256: at most"));
        assert!(Key::ALL.iter().all(|key| !plain(key.about()).contains("](")));
        assert!(Key::MediaFeatures.sentence().ends_with("`forced-colors`, `color-gamut`"));
    }

    #[test]
    fn sets_of_keys_have_each_key_once() {
        let (one, other) = (KeySet::of(&[Key::Sign, Key::Format]), KeySet::of(&[Key::Format, Key::Scale]));
        assert_eq!(one.and(other).iter().collect::<Vec<_>>(), [Key::Format, Key::Scale, Key::Sign]);
        assert!(one.has(Key::Sign) && !one.has(Key::Scale) && !KeySet::NONE.has(Key::Format));
        assert_eq!(KeySet::of(Key::ALL).iter().count(), Key::ALL.len());
    }
}
