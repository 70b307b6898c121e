//! What keeps index and store of templates in step: the garbage collector, the check at the start, the rebuild of the index.
//!
//! Called by `app` and by the commands that restore and rebuild; calls `registry` and `package`.

pub mod garbage_collector;
pub mod index_check;
pub mod rebuild;
