//! From an assembled page to a file.

pub mod html;
pub mod page;
