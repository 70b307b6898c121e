//! Pages of a PDF as pictures: bytes in, PNG or JPEG out, and the text of a page beside it.
//!
//! ```text
//! bytes ─► Document ─► pick pages ─► Artist: a page ─► measured ─► drawn ─► encoded
//! ```
//!
//! The PDF is anybody's. What can be bounded before anything is decoded is: how many pages, and how many pixels each has
//! by its box and the resolution. Time, memory and depth are for whoever runs this to bound, in a process of its own: a
//! content stream is a program, and one page can ask for any amount of either. A panic below ends as an error.
//!
//! Fonts that a PDF names and does not have come from [`Fonts`], which are found once and read when they are wanted.

mod artist;
mod direction;
mod document;
mod encode;
mod error;
mod font_names;
mod fonts;
mod resolution;
mod substitutes;
mod text;

pub use artist::Artist;
pub use document::{Document, PageRange, Selection};
pub use encode::Format;
pub use error::RasterError;
pub use fonts::Fonts;
pub use resolution::Resolution;
