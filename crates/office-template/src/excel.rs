//! What is Excel's own: tags in cells, rows and columns that are repeated, sheets that are copied.
//!
//! ```text
//! file ──parts──▶ sheets, shared strings, styles ──sheet──▶ cells ──tags──▶ tags ──plan──▶ program, blocks of rows and columns
//!                                                                                            │
//!         answers ──counts──▶ how often each block is there ──▶ cell-references ──write──▶ each sheet, cell by cell
//! ```
//!
//! A sheet may have a million cells when it is filled: it is packed while it is written, and no cell of it is kept.

mod book;
mod copies;
mod counts;
mod fill;
mod finder;
mod follow;
mod frame;
mod grid;
mod headers;
mod headings;
mod layout;
mod links;
mod output;
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

pub(crate) use book::{Book, Place, Source};

use crate::error::Error;
use crate::package::{entries, replaced};

/// A chart without the texts that it remembers of its cells: their tags are the cells', and all are read anew when the file is opened.
pub(crate) fn without_caches(name: &str, xml: Vec<u8>) -> Result<Vec<u8>, Error> {
    if memchr::memmem::find(&xml, b"trCache>").is_none() {
        return Ok(xml);
    }
    let caches = entries(name, &xml)?;
    let caches =
        caches.into_iter().filter(|one| ["strCache", "multiLvlStrCache"].contains(&one.name.as_str()));
    Ok(replaced(&xml, &caches.map(|one| (one.whole, String::new())).collect::<Vec<_>>()))
}
