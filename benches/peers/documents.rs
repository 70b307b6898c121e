//! The documents that are compared: the sample invoice in four ways, and a long one.

use std::io;

use crate::common::document::Document;
use crate::common::noise;

/// Installed by `scripts/setup`.
const FONT: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";
/// Width and height of the picture beside the invoice.
const PICTURE_PX: u32 = 240;
/// What lies beside the build's page.
const BUILD_MODULE: &str = "assets/index-D2hT9fQk.js";
const BUILD_STYLE: &str = "assets/index-BXq81c0v.css";
/// Pages of the long document.
const PAGES: usize = 50;

/// All of them.
pub fn all() -> io::Result<[Document; 5]> {
    Ok([Document::invoice()?, drawn()?, with_files()?, build()?, Document::report(PAGES)?])
}

/// The invoice, its rows drawn by a script.
fn drawn() -> io::Result<Document> {
    let Document { template, data, .. } = Document::invoice()?;
    let [before, _, after] = split(&template, "<tbody>", "</tbody>")?;
    let after = after.replacen("</body>", include_str!("drawn.html"), 1);
    let drawn = Document::of("drawn invoice", format!("{before}<tbody></tbody>{after}"), data)?;
    Ok(Document { scripted: true, ..drawn })
}

/// The invoice with its styles, a picture and a font in files beside it.
fn with_files() -> io::Result<Document> {
    let Document { template, data, .. } = Document::invoice()?;
    let [before, style, after] = split(&template, "<style>", "</style>")?;
    let face = "@font-face { font-family: Beside; src: url(font.ttf); }";
    let style = format!("{face}{}", style.replace("\"Noto Sans\"", "Beside"));
    let template = format!("{before}<link rel=\"stylesheet\" href=\"style.css\">{after}");
    let [before, _, after] = split(&template, "<div class=\"seal\">", "</div>")?;
    let template = format!("{before}<img class=\"seal\" alt=\"\" src=\"seal.png\">{after}");
    let files = vec![
        ("style.css".to_owned(), style.into_bytes()),
        ("seal.png".to_owned(), noise::picture(PICTURE_PX)?),
        ("font.ttf".to_owned(), std::fs::read(FONT)?),
    ];
    let document = Document::of("invoice with files", template, data)?;
    Ok(Document { files, served: true, ..document })
}

/// The invoice as a bundler leaves a page: its styles and the module that draws its rows lie beside it. Who does
/// not hand data to scripts is given a page that has them in it.
fn build() -> io::Result<Document> {
    let invoice = Document::invoice()?;
    let [before, style, after] = split(&invoice.page, "<style>", "</style>")?;
    let module = format!("<script type=\"module\" crossorigin src=\"/{BUILD_MODULE}\"></script>");
    let link = format!("<link rel=\"stylesheet\" crossorigin href=\"/{BUILD_STYLE}\">");
    let page = format!("{before}{module}{link}{after}");
    let [before, _, after] = split(&page, "<tbody>", "</tbody>")?;
    let template = format!("{before}<tbody></tbody>{after}");
    let data = format!("<head><script>window.__PLATEN_DATA__ = {}</script>", invoice.data);
    let page = template.replacen("<head>", &data, 1);
    let module = include_bytes!("build.js").to_vec();
    let files = vec![(BUILD_MODULE.to_owned(), module), (BUILD_STYLE.to_owned(), style.as_bytes().to_vec())];
    let name = "front-end build".to_owned();
    Ok(Document { name, template, page, files, served: true, scripted: true, build: true, ..invoice })
}

/// What stands before `from`, behind it, and behind the next `to`.
fn split<'a>(text: &'a str, from: &str, to: &str) -> io::Result<[&'a str; 3]> {
    let parts = text.split_once(from).and_then(|(before, rest)| {
        let (inside, after) = rest.split_once(to)?;
        Some([before, inside, after])
    });
    parts.ok_or_else(|| io::Error::other(format!("the sample invoice has no {from}…{to}")))
}
