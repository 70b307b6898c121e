//! What only Excel has: tags in cells, rows and columns that are repeated, sheets that are copied.
//!
//! ```text
//! file ──parts──▶ sheets, shared strings, styles ──sheet──▶ cells ──tags──▶ tags ──plan──▶ program, blocks of rows and columns
//!                                                                                            │
//!         answers ──counts──▶ how often each block is there ──▶ cell-references ──write──▶ each sheet, cell by cell
//! ```
//!
//! A filled sheet may have a million cells, so it is packed while it is written, and no cell is kept in memory.

mod book;
mod bounded;
mod calculated;
mod copies;
mod counts;
mod days;
mod fill;
mod finder;
mod follow;
mod formulas;
mod frame;
mod grid;
mod headers;
mod headings;
mod joined;
mod layout;
mod links;
mod output;
mod outside;
mod parts;
mod pictures;
mod plan;
mod sheet;
mod styles;
mod tags;
mod tail;
mod text;
mod tree;
mod values;
mod workbook;
mod write;

pub(crate) use book::{Book, Source};
pub use bounded::bounded_for_pages;
pub(crate) use tags::Place;

use crate::error::Error;
use crate::package::entries::entries;
use crate::package::xml::replaced;

/// A chart without its cached texts of cells: tags in them are the cells' tags, and Excel reads the cells anew when it opens the
/// file.
pub(crate) fn without_caches(name: &str, xml: Vec<u8>) -> Result<Vec<u8>, Error> {
    if memchr::memmem::find(&xml, b"trCache>").is_none() {
        return Ok(xml);
    }
    let caches = entries(name, &xml)?;
    let caches =
        caches.into_iter().filter(|one| ["strCache", "multiLvlStrCache"].contains(&one.name.as_str()));
    Ok(replaced(&xml, &caches.map(|one| (one.whole, String::new())).collect::<Vec<_>>()))
}
