//! The documents that are compared: the sample invoice in four ways, charts, and a long one.

use std::io;
use std::path::Path;

use crate::common::document::{Document, split};
use crate::common::noise;

/// Installed by `scripts/setup`.
const FONT: &str = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf";
/// Width and height of the picture beside the invoice.
const PICTURE_PX: u32 = 240;
/// The files beside the build's page.
const BUILD_MODULE: &str = "assets/index-D2hT9fQk.js";
const BUILD_STYLE: &str = "assets/index-BXq81c0v.css";
/// Installed with the peers; what charts are usually drawn with.
const CHART_LIBRARY: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers/node_modules/chart.js/dist/chart.umd.js");
/// Pages of the long document.
const PAGES: usize = 50;

/// All of them; without npm there are no charts.
pub fn all() -> io::Result<Vec<Document>> {
    let mut all =
        vec![Document::invoice()?, Document::drawn()?, with_files()?, build()?, Document::report(PAGES)?];
    if Path::new(CHART_LIBRARY).exists() {
        all.push(charts()?);
    }
    Ok(all)
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

/// The invoice as a bundler's output: its styles and the module that draws its rows are files beside it. Renderers that
/// cannot hand data to scripts get a page with the data in it.
fn build() -> io::Result<Document> {
    let invoice = Document::invoice()?;
    let [before, style, after] = split(&invoice.page, "<style>", "</style>")?;
    let module = format!("<script type=\"module\" crossorigin src=\"/{BUILD_MODULE}\"></script>");
    let link = format!("<link rel=\"stylesheet\" crossorigin href=\"/{BUILD_STYLE}\">");
    let page = format!("{before}{module}{link}{after}");
    let [before, _, after] = split(&page, "<tbody>", "</tbody>")?;
    let template = format!("{before}<tbody></tbody>{after}");
    let page = with_data(&template, &invoice.data);
    let module = include_bytes!("build.js").to_vec();
    let files = vec![(BUILD_MODULE.to_owned(), module), (BUILD_STYLE.to_owned(), style.as_bytes().to_vec())];
    let name = "front-end build".to_owned();
    Ok(Document { name, template, page, files, served: true, scripted: true, build: true, ..invoice })
}

/// A report of one page: three charts that Chart.js draws on canvases, and a table.
fn charts() -> io::Result<Document> {
    let (template, data) = (include_str!("charts.html").to_owned(), include_str!("charts.json").to_owned());
    let page = with_data(&template, &data);
    let files = vec![("chart.umd.js".to_owned(), std::fs::read(CHART_LIBRARY)?)];
    let (name, pages) = ("chart report".to_owned(), 1);
    Ok(Document { name, template, data, page, files, served: true, scripted: true, build: true, pages })
}

/// The page of who does not hand data to scripts.
fn with_data(template: &str, data: &str) -> String {
    template.replacen("<head>", &format!("<head><script>window.__PLATEN_DATA__ = {data}</script>"), 1)
}
