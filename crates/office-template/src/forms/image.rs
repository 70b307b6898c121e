//! Pictures: `{%picture}`, and the codes `{%qr text}` and `{%barcode text}`, which are drawn here.

use std::collections::BTreeMap;

use office_picture::code::{self, BarcodeOptions, Colour, Colours, Correction, Kind, QrOptions};
use office_picture::{Drawing, Extent, Limits, Picture, Source, Texts, Wanted};

use super::Place;
use crate::address::external;
use crate::answer::{Content, Form};
use crate::files::Files;
use crate::package::{Package, Relation, StoredPicture, Target};
use crate::written::{Refusal, Written};

/// English metric units (EMU) in a twip, a twentieth of a point.
const EMU_PER_TWIP: f64 = 635.0;

/// The width in twips where it is not known: of a page of A4 with margins of 2.5 cm.
const USUAL_WIDTH: u64 = 9071;

/// The greatest height in twips of a picture without a size: about a page.
const USUAL_HEIGHT: u64 = 12_500;

/// The author's options for a picture: filters by their names, with their arguments.
pub(crate) type Options = BTreeMap<String, Vec<String>>;

pub(super) fn write(
    content: &Content<'_>,
    place: &Place<'_>,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<Written, Refusal> {
    let options: Options = serde_json::from_str(content.field(1)).unwrap_or_default();
    let stored = stored(content, &options, (&mut *package, files))?;
    Ok(Written::Run(drawing(&stored, &options, place, package)?))
}

/// The picture as a part of the document: the one added before for the same source, or a new one.
pub(crate) fn stored(
    content: &Content<'_>,
    options: &Options,
    (package, files): (&mut Package<'_>, &mut dyn Files),
) -> Result<StoredPicture, Refusal> {
    let text = content.field(0);
    // A code with other options is another picture, so its key holds the options.
    let key = match content.form {
        Form::Image => text.to_owned(),
        Form::Qr
        | Form::Barcode
        | Form::Html
        | Form::Xml
        | Form::Link
        | Form::Pagebreak
        | Form::Include
        | Form::Toc
        | Form::Color
        | Form::Chart
        | Form::Day
        | Form::Formula => format!("{:?} {} {text}", content.form, content.field(1)),
    };
    if let Some(known) = package.picture(&key) {
        return Ok(known?);
    }
    if content.form == Form::Image && !files.are_fetched() && is_file(text) {
        return Err(Refusal::NotFetched);
    }
    let read = bytes(content, options, files).and_then(|bytes| Picture::read(bytes, &Limits::default()));
    let picture = read.inspect_err(|why| package.refuse_picture(&key, why))?;
    Ok(package.add_picture(&key, picture)?)
}

/// Whether the source of a picture is a file, and not the picture itself.
fn is_file(text: &str) -> bool {
    matches!(Source::read(text, &Limits::default()), Ok(Source::Address(_) | Source::File(_)))
}

/// The drawing that shows a stored picture.
pub(super) fn drawing(
    stored: &StoredPicture,
    options: &Options,
    place: &Place<'_>,
    package: &mut Package<'_>,
) -> Result<String, Refusal> {
    let given =
        |name: &str, index: usize| options.get(name).and_then(|texts| texts.get(index)).map(String::as_str);
    let texts = Texts {
        width: given("width", 0).or_else(|| given("size", 0)),
        height: given("height", 0).or_else(|| given("size", 1)),
        max_width: given("maxSize", 0),
        max_height: given("maxSize", 1),
        fit: given("fit", 0),
    };
    let twips = |twips: u64| u32::try_from(twips).map_or(f64::MAX, f64::from) * EMU_PER_TWIP;
    let space = Extent::new(twips(place.width.unwrap_or(USUAL_WIDTH)), twips(USUAL_HEIGHT));
    let placement = Wanted::read(&texts)?.place(&stored.picture, space)?;
    let part = place.source.name;
    let relationship = package.relate(part, Relation::Image, Target::Part(&stored.part))?;
    let link = match given("link", 0) {
        Some(address) => {
            let address = external(address)?;
            Some(package.relate(part, Relation::Hyperlink, Target::External(&address))?)
        }
        None => None,
    };
    let number = package.number();
    let drawing = Drawing {
        prefix: place.source.prefix.trim_end_matches(':'),
        relationship: &relationship,
        number: u32::try_from(number).unwrap_or_default(),
        name: &format!("Picture {number}"),
        alt: given("alt", 0),
        placement: &placement,
        link: link.as_deref(),
    };
    Ok(package.in_its_form(drawing.xml()))
}

/// The bytes of a picture: from the data themselves, from `files` (beside the template or at an address), or drawn here.
fn bytes(content: &Content<'_>, options: &Options, files: &mut dyn Files) -> Result<Vec<u8>, String> {
    let text = content.field(0);
    match content.form {
        Form::Qr => code::qr(text, qr_options(options)?),
        Form::Barcode => {
            let kind = options.get("kind").and_then(|texts| texts.first());
            let kind = kind.map(|kind| Kind::read(kind)).transpose()?.unwrap_or_default();
            code::barcode(text, kind, &barcode_options(options)?)
        }
        Form::Image
        | Form::Html
        | Form::Xml
        | Form::Link
        | Form::Pagebreak
        | Form::Include
        | Form::Toc
        | Form::Color
        | Form::Chart
        | Form::Day
        | Form::Formula => match Source::read(text, &Limits::default())? {
            Source::Bytes(bytes) => Ok(bytes),
            Source::Address(name) | Source::File(name) => files.file(&name),
        },
    }
}

fn qr_options(options: &Options) -> Result<QrOptions, String> {
    let usual = QrOptions::default();
    let given = |name: &str| options.get(name).and_then(|texts| texts.first()).map(String::as_str);
    let quiet = given("margin").map(|text| {
        text.trim()
            .parse()
            .map_err(|_| format!("margin takes a number of modules, as in margin(4), and not {text:?}"))
    });
    Ok(QrOptions {
        correction: given("level").map(Correction::read).transpose()?.unwrap_or(usual.correction),
        quiet: quiet.transpose()?.unwrap_or(usual.quiet),
        colours: colours(options)?,
    })
}

fn barcode_options(options: &Options) -> Result<BarcodeOptions, String> {
    let text =
        options.get("text").map(|texts| texts.first().is_none_or(|text| text != "false" && !text.is_empty()));
    Ok(BarcodeOptions { text, colours: colours(options)?, ..BarcodeOptions::default() })
}

fn colours(options: &Options) -> Result<Colours, String> {
    let usual = Colours::default();
    let given = |name: &str| {
        options.get(name).and_then(|texts| texts.first()).map(|text| Colour::read(text)).transpose()
    };
    Ok(Colours {
        ink: given("color")?.unwrap_or(usual.ink),
        background: given("background")?.unwrap_or(usual.background),
    })
}
