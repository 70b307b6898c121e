//! Reads rich text as editors write it, and writes it as `WordprocessingML`.
//!
//! ```text
//! HTML ──html::read──▶ model::Document ──write──▶ Written { Inline | Blocks, warnings }
//!        (tokens ▶ tree ▶ walk)  ▲                    │ asks
//!                                │                    ▼
//!          any other reader ─────┘          Package: links, pictures, lists, styles
//!                                                     ▲ may use
//!                                            numbering, styles: the XML of what is added
//! ```
//!
//! * [`html`] reads what editors and mail programs write, by the rules of browsers. Style sheets and classes are not read, but for Quill's
//!   `ql-align-*`, `ql-size-*`, `ql-font-*`, `ql-indent-*` and `ql-direction-rtl`: a text comes without the sheet that its classes name. What a
//!   `style` attribute says is read.
//! * [`model`] is what a document consists of, whoever read it.
//! * [`write()`] writes the model for a place in a document, whose properties the text begins with.
//!
//! This crate knows nothing of files, archives and engines: what the text needs besides itself, the caller's [`Package`] gives.
//!
//! ```
//! use word_writer::{Base, Limits, html, write};
//! # struct None;
//! # impl word_writer::Package for None {
//! #     fn link(&mut self, _: &str) -> Result<String, String> { Ok("rId1".into()) }
//! #     fn picture(&mut self, _: &word_writer::model::Picture) -> Result<String, String> { Err("none".into()) }
//! #     fn list(&mut self, _: &[word_writer::model::Level]) -> u32 { 1 }
//! #     fn style(&mut self, _: word_writer::model::Role) -> String { "S".into() }
//! # }
//! # let mut package = None;
//! let reading = html::read("<p>Dear <b>Ada</b></p>", &Limits::default())?;
//! let written = write(&reading.document, &Base::default(), &mut package);
//! # Ok::<(), word_writer::Error>(())
//! ```

pub mod html;
mod limits;
pub mod model;
pub mod numbering;
pub mod styles;
mod write;

pub use limits::{Error, Limits};
pub use write::{Base, Content, Package, RUN_PROPERTIES, Written, write};
