//! Writes pictures of a PDF's pages, and how long each took:
//! `cargo run --release -p pdf-raster --example pictures -- in.pdf out-folder 150 [png|jpg]`.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pdf_raster::{Artist, Document, Fonts, Format, PageRange, Resolution, Selection};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, folder, dpi, rest @ ..] = arguments.as_slice() else {
        return Err("wants a PDF, a folder and a resolution".into());
    };
    let format = if rest.first().is_some_and(|name| name == "jpg") { Format::Jpeg(85) } else { Format::Png };
    let mut told = std::io::stdout().lock();
    let begun = Instant::now();
    let folders = ["/usr/share/fonts", "/usr/local/share/fonts"].map(PathBuf::from);
    let fonts = Arc::new(Fonts::in_folders(&folders));
    writeln!(told, "{} fonts found in {:?}", fonts.count(), begun.elapsed())?;
    let begun = Instant::now();
    let document = Document::open(std::fs::read(file)?)?;
    writeln!(told, "{} pages, opened in {:?}", document.page_count(), begun.elapsed())?;
    let mut artist = Artist::new(&document, &fonts, 200_000_000);
    let all = Selection { within: None, ranges: vec![PageRange::ALL] };
    for page in document.pick(&all, u32::MAX)? {
        let begun = Instant::now();
        let picture = artist.picture(page, Resolution::of_dpi(dpi.parse()?), format)?;
        writeln!(told, "page {page}: {} bytes in {:?}", picture.len(), begun.elapsed())?;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
        std::fs::write(Path::new(folder).join(format!("{name}-{page}.{}", format.extension())), picture)?;
    }
    for warning in artist.warnings() {
        writeln!(told, "warning: {warning}")?;
    }
    Ok(())
}
