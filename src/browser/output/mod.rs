//! The file of a page that is ready: PDF, picture or document.
//!
//! Called from outside by [`print`](print::print), with the page that `page` made ready; nothing in `browser` calls it. Calls
//! `page` and all below it, but never `pool`.

mod auto_height;
mod clip;
mod header_footer;
mod html;
mod links;
mod measure;
mod outline;
mod page_count;
mod page_rules;
mod page_width;
pub(in crate::browser) mod print;
mod print_to_pdf;
mod source;
mod streamed_metadata;
mod tagged;
