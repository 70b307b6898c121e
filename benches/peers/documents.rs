//! The documents that are compared: the sample invoice in three ways, and a long one.

use std::io;

use crate::common::document::Document;
use crate::common::noise;

/// Installed by `scripts/setup`.
const FONT: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";
/// Width and height of the picture beside the invoice.
const PICTURE_PX: u32 = 240;
/// Pages of the long document.
const PAGES: usize = 50;

/// All of them.
pub fn all() -> io::Result<[Document; 4]> {
    Ok([Document::invoice()?, drawn()?, with_files()?, Document::report(PAGES)?])
}

/// The invoice, its rows drawn by a script.
fn drawn() -> io::Result<Document> {
    let Document { template, data, .. } = Document::invoice()?;
    let [before, after] = around(&template, "<tbody>", "</tbody>")?;
    let after = after.replacen("</body>", include_str!("drawn.html"), 1);
    let drawn = Document::of("drawn invoice", format!("{before}<tbody></tbody>{after}"), data)?;
    Ok(Document { scripted: true, ..drawn })
}

/// The invoice with its styles, a picture and a font in files beside it.
fn with_files() -> io::Result<Document> {
    let Document { template, data, .. } = Document::invoice()?;
    let [before, after] = around(&template, "<style>", "</style>")?;
    let style = template[before.len()..template.len() - after.len()].replace("\"Noto Sans\"", "Beside");
    let style = style.replace("<style>", "@font-face { font-family: Beside; src: url(font.ttf); }");
    let template = format!("{before}<link rel=\"stylesheet\" href=\"style.css\">{after}");
    let [before, after] = around(&template, "<div class=\"seal\">", "</div>")?;
    let template = format!("{before}<img class=\"seal\" alt=\"\" src=\"seal.png\">{after}");
    let files = vec![
        ("style.css".to_owned(), style.replace("</style>", "").into_bytes()),
        ("seal.png".to_owned(), noise::picture(PICTURE_PX)?),
        ("font.ttf".to_owned(), std::fs::read(FONT)?),
    ];
    let document = Document::of("invoice with files", template, data)?;
    Ok(Document { files, served: true, ..document })
}

/// What stands before `from` and behind the next `to`.
fn around<'a>(text: &'a str, from: &str, to: &str) -> io::Result<[&'a str; 2]> {
    let parts = text.split_once(from).and_then(|(before, rest)| Some([before, rest.split_once(to)?.1]));
    parts.ok_or_else(|| io::Error::other(format!("the sample invoice has no {from}…{to}")))
}
