//! Rewrites the parts of a workbook that name cells, after rows, columns, blocks of cells or sheets were repeated or dropped.
//!
//! ```text
//! what moved: cell_references::Workbook ──▶ Book ──┬─ worksheet   all of a sheet but its cells
//!                                                  ├─ table
//! a part (XML) ────────────────────────────────────┼─ drawing, vml
//!                                                  ├─ comments, threaded_comments, control
//!                                                  ├─ chart, pivot_cache, pivot_table
//!                                                  └─ workbook    defined names, what is recalculated
//! ```
//!
//! Bytes of one part come in and go out: this crate opens no archive, writes no cells, and leaves relationships to the caller. A
//! reference is moved once, from the template's cells to those of the result, as `cell_references` says; what names no cell stays
//! byte for byte, known or not.
//!
//! | what | becomes |
//! |---|---|
//! | merged cells, hyperlinks, comments, page breaks, sparklines, drawn objects | one for each turn of the blocks around all of it, grown by the blocks within it |
//! | conditional formats, validations, protected ranges, ignored errors | one, whose areas are all that its cells became; its formulas are those of the first cell that is left |
//! | filters, tables, a sheet's dimension, a frozen pane | the smallest range around all that they became |
//! | a picture or a chart beside rows that are repeated | its first cell moves, its size stays; a shape grows with its cells |
//! | a chart's ranges | all that they became. The values that the file remembers are dropped, so that they are read anew from the cells |
//! | pivot tables | their source grows, and they are refreshed when the file is opened |
//! | objects on cells that were dropped | are left out |
//!
//! Query tables, connections, external links, slicers and printer settings name no cells and need no rewriting. Lists that grow
//! with the turns are bounded by the caller ([`Book::new`]); lists of areas by a thousand ranges, beyond which one is taken that
//! is around them ([`Report::widened`]).

mod book;
mod chart;
mod comments;
mod control;
mod drawing;
mod error;
mod filter;
mod letters;
mod pivot;
mod report;
mod table;
mod vml;
mod workbook;
mod worksheet;
mod xml;

pub use book::{At, Book};
pub use chart::chart;
pub use comments::{comments, threaded_comments};
pub use control::control;
pub use drawing::{ChartAt, Drawing, drawing};
pub use error::Error;
pub use letters::decoded;
pub use pivot::{pivot_cache, pivot_table};
pub use report::{Found, Report};
pub use table::{Called, Table, table};
pub use vml::vml;
pub use workbook::workbook;
pub use worksheet::{HYPERLINKS, Worksheet, worksheet};
