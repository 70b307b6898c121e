//! Where a picture of the data is: in the text itself, at an address, or in a file beside the template.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::excerpt;
use crate::format::{self, Format};
use crate::limits::Limits;

/// Longer texts are no addresses and no paths.
const LONGEST_NAME: usize = 2048;

/// What a text of the data means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The picture's bytes, which stood in the text.
    Bytes(Vec<u8>),
    /// An http or https address.
    Address(String),
    /// The path of a file beside the template: relative, with `/`, without `.` and `..`.
    File(String),
}

impl Source {
    /// Tells what a text means.
    ///
    /// A text is base64 if it can be decoded and what comes out begins like a picture: `logo.png` can be neither.
    ///
    /// # Errors
    /// A sentence for the author: what the text is, and what to write instead.
    pub fn read(text: &str, limits: &Limits) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the picture's text is empty; give a data URI, base64, an http address or the name of a file beside the template".into());
        }
        // Base64 has four characters for three bytes, percent-encoding three for one, and white space may stand between.
        if text.len() / 4 > limits.bytes {
            return Err(format!(
                "the picture's text is too long: {} bytes are allowed; make the picture smaller",
                limits.bytes
            ));
        }
        if starts_with(text, "data:") {
            return data_uri(text);
        }
        if format::is_svg(text.as_bytes()) {
            return Ok(Self::Bytes(text.as_bytes().to_vec()));
        }
        if let Some(bytes) = picture_in_base64(text) {
            return Ok(Self::Bytes(bytes));
        }
        if text.len() > LONGEST_NAME {
            return Err(format!(
                "\"{}\" is no picture in base64; send all of it, and only it",
                excerpt(text)
            ));
        }
        if starts_with(text, "http://") || starts_with(text, "https://") {
            return address(text);
        }
        path(text)
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn data_uri(text: &str) -> Result<Source, String> {
    let Some((head, data)) = text.split_once(',') else {
        return Err(format!(
            "the data URI \"{}\" has no comma; write data:image/png;base64, and the picture",
            excerpt(text)
        ));
    };
    let is_base64 = head.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"));
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(data).collect();
    let bytes = if is_base64 {
        decode(&bytes).ok_or_else(|| {
            format!(
                "the data URI \"{}\" is no base64 behind its comma; send all of it, and only it",
                excerpt(text)
            )
        })?
    } else {
        bytes
    };
    if bytes.is_empty() {
        return Err(format!("the data URI \"{}\" has no picture behind its comma", excerpt(text)));
    }
    Ok(Source::Bytes(bytes))
}

/// The bytes, if the text is base64 and they begin like a picture, be it one that isn't taken: that is then said of the picture.
fn picture_in_base64(text: &str) -> Option<Vec<u8>> {
    let bytes = decode(text.as_bytes())?;
    (Format::recognise(&bytes).is_some() || format::refused(&bytes).is_some()).then_some(bytes)
}

/// Base64 of either alphabet, with or without `=` at the end, with white space anywhere.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let plain: Vec<u8> = text
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => *other,
        })
        .collect();
    ENGINE.decode(plain).ok()
}

fn address(text: &str) -> Result<Source, String> {
    if text.contains(|sign: char| sign.is_control() || sign.is_whitespace()) {
        return Err(format!(
            "the address \"{}\" has a blank or a line's end in it; write %20 for a blank",
            excerpt(text)
        ));
    }
    Ok(Source::Address(text.to_owned()))
}

/// A path that cannot lead out of the template's folder, on any system.
fn path(text: &str) -> Result<Source, String> {
    let shown = excerpt(text);
    if text.contains('\\') {
        return Err(format!(
            "the picture's path \"{shown}\" has backslashes; write it with /, as in images/logo.png"
        ));
    }
    if text.contains(char::is_control) {
        return Err(format!(
            "the picture's path \"{shown}\" has a control character in it; name a file beside the template"
        ));
    }
    if text.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err(format!(
            "\"{shown}\" is no picture: only http and https addresses, data URIs and files beside the template are taken"
        ));
    }
    if text.starts_with('/') {
        return Err(format!(
            "the picture's path \"{shown}\" begins with /; name a file beside the template, as in images/logo.png"
        ));
    }
    if text.split('/').any(|step| matches!(step, "" | "." | "..")) {
        return Err(format!(
            "the picture's path \"{shown}\" has . or .. or an empty step; name a file beside the template, as in images/logo.png"
        ));
    }
    Ok(Source::File(text.to_owned()))
}
