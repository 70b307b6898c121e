//! How documents look: each fixture, and the sample invoice, from files and data to picture and PDF by the
//! service's own engines, compared with what is committed in `tests/visual/references`.
//!
//! `PLATEN_UPDATE_VISUAL=1 cargo test --test visual` writes the references anew; look at them before you commit
//! them. Differing pages are written to `target/visual`; its `index.html` shows ours, the reference and the difference.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "how long a document took is worth a line")]

#[path = "../support/assembler.rs"]
mod assembler;
#[path = "../fixtures/mod.rs"]
mod fixtures;

mod archives;
mod cases;
mod compare;
#[path = "../../crates/pdf-raster/tests/pages/compare.rs"]
mod likeness;
mod picture;
mod poppler;
mod raster;
mod render;
mod report;
