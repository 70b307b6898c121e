//! Pictures of PDF pages beside Chromium's own picture of the same page, and poppler's of the same PDF.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use pdf_raster::{Artist, Fonts, Format, Resolution};
use platen::domain::site::Site;

use crate::fixtures;
use crate::likeness::{Likeness, Picture, poppler};
use crate::render::DocumentRenderer;

/// The scale at which a PDF's page has as many pixels as the window that it was laid out in.
const CSS_DPI: u16 = 96;

static FONTS: LazyLock<Arc<Fonts>> =
    LazyLock::new(|| Arc::new(Fonts::in_folders(&[PathBuf::from("/usr/share/fonts")])));

/// Content that is hard to draw: scripts, emoji, transparency, forms, shadows, pictures.
const PAGE: &str = include_str!("raster.html");

fn draw(pdf: &[u8]) -> Vec<u8> {
    let document = pdf_raster::Document::open(pdf.to_vec()).unwrap();
    let mut artist = Artist::new(&document, &FONTS, 10_000_000);
    artist.picture(1, Resolution::of_dpi(CSS_DPI), Format::Png).unwrap()
}

async fn compare(name: &'static str, site: Site, data: String, most: Likeness) {
    let renderer = DocumentRenderer::open();
    let document = renderer.document(name, &site, data.into()).await;
    renderer.close().await;
    let (ours, theirs) = (draw(&document.pdf), poppler(&document.pdf, CSS_DPI));
    let ours = Picture::decode(&ours);
    assert!(ours.has_ink());
    let others = [("poppler", theirs), ("Chromium", document.png)];
    for (whose, found) in others.map(|(whose, picture)| (whose, ours.compare(&Picture::decode(&picture)))) {
        assert!(found.is_within(&most), "{name}, beside {whose}: {found:?}");
    }
}

#[actix::test]
async fn pages_are_drawn_as_chromium_and_poppler_draw_them() {
    let site = Site::single("index.html", Bytes::from_static(PAGE.as_bytes()));
    compare("raster", site, "{}".to_owned(), Likeness { mean: 4.0, apart: 0.02 }).await;
    for name in ["vite-react", "parcel"] {
        let site = Site::new("index.html", fixtures::files(name));
        compare(name, site, fixtures::data(name), Likeness { mean: 4.0, apart: 0.02 }).await;
    }
}
