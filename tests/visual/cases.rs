//! The cases: what is rendered, and what must hold of each beside its look.

use std::collections::BTreeMap;
use std::fs;

use bytes::Bytes;
use platen::domain::site::Site;

use crate::compare::Document;
use crate::fixtures;
use crate::render::Studio;

/// Renders a case to both targets and compares.
async fn case(name: &'static str, files: BTreeMap<String, Bytes>, data: String) -> Document {
    let studio = Studio::open();
    let document = studio.document(name, &Site::new("index.html", files), data.into()).await;
    studio.close().await;
    document.compare();
    document
}

async fn fixture(name: &'static str) -> Document {
    case(name, fixtures::files(name), fixtures::data(name)).await
}

#[actix::test]
async fn a_report_built_by_vite_with_react() {
    let document = fixture("vite-react").await;
    assert!(document.text.contains("RF64 2025 0041 7380"), "what WebAssembly computed is there");
    assert!(document.text.contains("District heating"), "what came in a chunk of its own is there");
    assert_eq!(document.pages, 2);
}

#[actix::test]
async fn a_certificate_built_by_vite_with_vue() {
    let document = fixture("vite-vue").await;
    assert!(document.text.contains("No. 2026-118 ·"), "the route's own address is read");
    assert!(!document.text.contains("no page"), "{}", document.text);
    assert_eq!(document.pages, 1);
}

#[actix::test]
async fn a_letter_built_by_parcel() {
    assert_eq!(fixture("parcel").await.pages, 1);
}

#[actix::test]
async fn an_itinerary_of_plain_modules() {
    let document = fixture("es-module").await;
    assert!(document.text.contains("2,520 km"), "what was fetched is there");
    assert!(!document.text.contains("<%"), "{}", document.text);
    assert_eq!(document.pages, 1);
}

#[actix::test]
async fn the_sample_invoice() {
    let top = fixtures::checkout().join("assets/samples/invoice");
    let read = |name: &str| fs::read_to_string(top.join(name)).unwrap();
    let files = BTreeMap::from([("index.html".to_owned(), Bytes::from(read("index.html")))]);
    assert_eq!(case("invoice", files, read("data.json")).await.pages, 1);
}
