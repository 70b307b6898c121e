//! From template and data to a page.

mod ahead;
pub mod ejs;
pub mod lane;
mod markup;
pub mod outlasting;
pub mod page_rules;
pub mod references;
pub mod sheets;
