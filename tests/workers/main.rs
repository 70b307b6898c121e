//! Child processes as they really run: the starter, the pool, and EJS in its cage.
#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/assembler.rs"]
mod assembler;
mod children;
mod damage;
mod ejs;
mod ejs_cached_scripts;
mod ejs_children;
mod ejs_encodings;
mod ejs_includes;
mod ejs_locale;
mod fill;
#[path = "../support/foreign.rs"]
mod foreign;
#[path = "../support/hostile_pdfs.rs"]
mod hostile_pdfs;
mod left_behind;
mod libreoffice;
mod lint;
#[path = "../../crates/pdf-raster/tests/pages/documents/mod.rs"]
mod pdf_documents;
mod pool;
#[path = "../support/processes.rs"]
mod processes;
mod programs;
mod raster;
mod server_stock;
mod servers;
#[path = "../support/small_disk.rs"]
mod small_disk;
mod waiting_children;
