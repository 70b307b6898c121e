//! LibreOffice as a library (LibreOfficeKit): it is loaded once, and each document is worked on in a child of this
//! process, which is thrown away with whatever the document made of it.
//!
//! ```text
//! Kit::start ─► run ─► LibreOffice's own loop ─► the first time that it has nothing to do: `serve`
//!                                                    ├─ load, save_as: here, to warm it up
//!                                                    └─ in_child: a fork; load, save_as; gone
//! ```
//!
//! Everything that is `unsafe` in the project is in this crate. Its functions are safe to call, for a [`Kit`] exists once
//! in a process and only on the thread that LibreOffice takes for its main one.

mod child;
mod heap;
mod kit;
mod stall;
mod table;
mod url;

pub use child::{Bounds, End, Ended};
pub use heap::give_back_large_pieces;
pub use kit::{Document, Kit, Place, StartError};
