//! The file of a page that is ready: PDF, picture or document.
//!
//! Called from outside by [`print`](print::print). Calls `page` and all below it.

mod auto_height;
mod clip;
mod header_footer;
mod html;
mod measure;
mod page_count;
mod page_rules;
mod page_width;
mod pdf_metadata;
pub(in crate::browser) mod print;
mod print_to_pdf;
mod source;
mod tagged;
