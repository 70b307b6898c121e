//! The formats of pictures: recognised by their first bytes, read for their measures.

mod avif;
mod bitmap;
mod bytes;
mod exif;
mod gif;
mod jpeg;
mod metafile;
mod png;
mod tiff;
mod webp;

use crate::turn::Turn;
pub(crate) use webp::to_png as webp_to_png;

/// A format in which a picture comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// JPEG, of the kinds that Office draws: baseline, extended and progressive.
    Jpeg,
    /// GIF; Office moves it on screens and shows its first frame on paper.
    Gif,
    /// A Windows bitmap.
    Bmp,
    /// TIFF; its first page is shown.
    Tiff,
    /// Enhanced Windows metafile.
    Emf,
    /// Windows metafile with the placeable header.
    Wmf,
    /// WebP, which Office doesn't draw: stored as PNG.
    WebP,
}

impl Format {
    /// The format of these bytes, by their first ones; `None` if Office doesn't draw what they are.
    pub fn recognise(bytes: &[u8]) -> Option<Self> {
        const STARTS: [(&[u8], Format); 10] = [
            (b"\x89PNG\r\n\x1a\n", Format::Png),
            (b"\xff\xd8\xff", Format::Jpeg),
            (b"GIF87a", Format::Gif),
            (b"GIF89a", Format::Gif),
            (b"BM", Format::Bmp),
            (b"II*\0", Format::Tiff),
            (b"MM\0*", Format::Tiff),
            (b"\xd7\xcd\xc6\x9a", Format::Wmf),
            (b"\x01\0\x09\0\0\x03", Format::Wmf),
            (b"\x02\0\x09\0\0\x03", Format::Wmf),
        ];
        if bytes.starts_with(b"\x01\0\0\0") && bytes.get(40..44) == Some(b" EMF") {
            return Some(Self::Emf);
        }
        if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            return Some(Self::WebP);
        }
        // Two letters are little: a text may begin with them. The bitmap's header says its own length.
        STARTS
            .into_iter()
            .find(|(start, _)| bytes.starts_with(start))
            .map(|(_, format)| format)
            .filter(|format| *format != Self::Bmp || bitmap::has_header(bytes))
    }

    /// How a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Gif => "GIF",
            Self::Bmp => "BMP",
            Self::Tiff => "TIFF",
            Self::Emf => "EMF",
            Self::Wmf => "WMF",
            Self::WebP => "WebP",
        }
    }

    /// The format under which it is stored in the Office file.
    pub(crate) fn stored(self) -> Self {
        match self {
            Self::WebP => Self::Png,
            Self::Png | Self::Jpeg | Self::Gif | Self::Bmp | Self::Tiff | Self::Emf | Self::Wmf => self,
        }
    }

    /// The extension of the part that holds the picture, as Office writes it.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png | Self::WebP => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Bmp => "bmp",
            Self::Tiff => "tiff",
            Self::Emf => "emf",
            Self::Wmf => "wmf",
        }
    }

    /// The content type of the part that holds the picture, as Office writes it.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Png | Self::WebP => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Bmp => "image/bmp",
            Self::Tiff => "image/tiff",
            Self::Emf => "image/x-emf",
            Self::Wmf => "image/x-wmf",
        }
    }

    /// Whether these bytes are a picture of this format to its end: it has pixels, and the checksums of a PNG are right.
    /// The pixels themselves are not decoded.
    pub fn is_whole(self, bytes: &[u8]) -> bool {
        Self::recognise(bytes) == Some(self)
            && self.measure(bytes).is_ok_and(|measures| measures.width > 0 && measures.height > 0)
            && (self != Self::Png || png::has_checksums(bytes))
    }

    /// Measures the picture. Every format but WebP is walked to its end, so that a file that was cut short is found here and not by Word.
    pub(crate) fn measure(self, bytes: &[u8]) -> Result<Measures, Flaw> {
        match self {
            Self::Png => png::measure(bytes),
            Self::Jpeg => jpeg::measure(bytes),
            Self::Gif => gif::measure(bytes),
            Self::Bmp => bitmap::measure(bytes),
            Self::Tiff => tiff::measure(bytes),
            Self::Emf => metafile::measure_enhanced(bytes),
            Self::Wmf => metafile::measure_placeable(bytes),
            Self::WebP => webp::measure(bytes),
        }
    }
}

/// Whether bytes seem to be a picture whose end is missing: of a [`Format`], or an AVIF. Some programs leave out an end that
/// nothing needs, or write a length that is wrong; only decoding tells.
pub fn is_cut_short(bytes: &[u8]) -> bool {
    Format::recognise(bytes).map_or_else(
        || avif::is_cut_short(bytes),
        |format| format.measure(bytes).is_err_and(|flaw| flaw == Flaw::CutShort),
    )
}

/// What a picture's headers say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measures {
    pub width: u32,
    pub height: u32,
    /// Dots per inch, across and down, if the file says so.
    pub dpi: Option<(f64, f64)>,
    pub turn: Turn,
}

impl Measures {
    fn new(width: u32, height: u32) -> Self {
        Self { width, height, dpi: None, turn: Turn::default() }
    }
}

/// Why a picture cannot be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// The bytes end before the picture does.
    CutShort,
    /// What is wrong, as the end of the sentence "This PNG …".
    Wrong(&'static str),
}

/// What is well known and not drawn by Office, or not taken here: its name and the remedy.
pub(crate) fn refused(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const AS_PNG: &str = "send it as PNG or JPEG";
    const OTHERS: [(&[u8], &str, &str); 10] = [
        (b"\0\0\x01\0", "ICO", "send the icon's largest picture as PNG"),
        (b"\0\0\x02\0", "CUR", AS_PNG),
        (b"%PDF", "PDF", "send the page as PNG"),
        (b"%!PS", "EPS", AS_PNG),
        (b"\xc5\xd0\xd3\xc6", "EPS", AS_PNG),
        (b"8BPS", "PSD", AS_PNG),
        (b"\xff\x0a", "JPEG XL", AS_PNG),
        (b"\0\0\0\x0cJXL ", "JPEG XL", AS_PNG),
        (b"\0\0\0\x0cjP  ", "JPEG 2000", AS_PNG),
        (b"\xff\x4f\xff\x51", "JPEG 2000", AS_PNG),
    ];
    let is_box = bytes.get(4..8) == Some(b"ftyp");
    let brand = bytes.get(8..12).unwrap_or_default();
    if is_box && (brand.starts_with(b"avi")) {
        return Some(("AVIF", AS_PNG));
    }
    if is_box
        && [b"heic", b"heix", b"heim", b"hevc", b"mif1", b"msf1"]
            .contains(&brand.try_into().unwrap_or(b"\0\0\0\0"))
    {
        return Some(("HEIC", "send it as JPEG: a phone's camera has a setting for it, \"most compatible\""));
    }
    if is_svg(bytes) {
        return Some(("SVG", "send it as PNG, drawn at two to three times the size it's shown at"));
    }
    OTHERS.into_iter().find(|(start, ..)| bytes.starts_with(start)).map(|(_, name, remedy)| (name, remedy))
}

/// Whether this is XML that has an `svg` element near its beginning.
pub(crate) fn is_svg(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let head = text.get(..4096).unwrap_or(text);
    text.starts_with(b"<") && memchr::memmem::find(head, b"<svg").is_some()
}
