//! From template and data to a page.

pub mod ejs;
pub mod lane;
mod markup;
pub mod references;
