//! What keeps index and store of templates in step.

pub mod garbage_collector;
pub mod index_check;
pub mod rebuild;
