//! The cases: what is rendered, and what must hold of each beside its look.

use std::collections::BTreeMap;
use std::fs;

use bytes::Bytes;
use platen::domain::site::Site;

use crate::compare::Document;
use crate::fixtures;
use crate::render::DocumentRenderer;

/// Renders a case to both targets and compares.
async fn case(name: &'static str, files: BTreeMap<String, Bytes>, data: String) -> Document {
    let renderer = DocumentRenderer::open();
    let document = renderer.document(name, &Site::new("index.html", files), data.into()).await;
    renderer.close().await;
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

#[actix::test]
async fn a_book_that_lays_itself_out_in_sheets() {
    let document = fixture("paged").await;
    let last = document.text.lines().rfind(|line| line.contains(" / ")).unwrap_or_default();
    assert_eq!(last, format!("{0} / {0}", document.pages), "the last sheet is there, and knows it");
    assert!(document.text.contains("the tides are real"), "the book's last words are there");
}

#[actix::test]
async fn a_long_book_is_waited_for_to_its_last_sheet() {
    let mut data: serde_json::Value = serde_json::from_str(&fixtures::data("paged")).unwrap();
    let chapters = data["chapters"].as_array().unwrap();
    let many = chapters.iter().cycle().take(chapters.len() * 8).cloned().collect();
    data["chapters"] = serde_json::Value::Array(many);
    let renderer = DocumentRenderer::open();
    let site = Site::new("index.html", fixtures::files("paged"));
    let document = renderer.document("paged-long", &site, data.to_string().into()).await;
    renderer.close().await;
    assert_eq!(document.errors, [] as [String; 0]);
    assert!(document.pages > 64, "each chapter has two sheets");
    assert!(document.text.contains(&format!("{0} / {0}", document.pages)), "{}", document.text);
    assert!(document.text.contains("the tides are real"), "the book's last words are there");
}
