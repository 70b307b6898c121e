//! The file of a page that is ready: PDF, picture or document.
//!
//! Called from outside by `ReadyPage::print`. Calls `page` and all below it.

pub(in crate::browser) mod auto_height;
pub(in crate::browser) mod clip;
pub(in crate::browser) mod header_footer;
pub(in crate::browser) mod header_footer_files;
pub(in crate::browser) mod html;
pub(in crate::browser) mod page_rules;
pub(in crate::browser) mod page_width;
pub(in crate::browser) mod pdf_metadata;
pub(in crate::browser) mod print;
pub(in crate::browser) mod tagged;
