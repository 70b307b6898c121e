//! Templates: `package` reads uploads, `registry` owns the index, `changes` are its handlers, `cache` holds unpacked
//! packages, `repair` keeps index and store in step.
//!
//! Who may call what: `http` sends `registry::messages` and reads by `TemplateReader`; `pipeline` loads by the reader and
//! reads uploads by `package`, as `jobs` and `cli` do; these three name templates by `cache::source`. `app` starts registry and
//! garbage collector; `cli` rebuilds by `repair`, and both ask its `index_check`.

pub mod cache;
pub mod changes;
pub mod package;
pub mod registry;
pub mod repair;
