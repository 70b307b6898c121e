//! The pure part: jobs, template kinds, targets, `formatOpts`. Nothing here does input or output. Every module may
//! call it; it calls `clock`, `config` (limits) and `problem` only.

pub mod encoding;
pub mod error;
pub mod format_opts;
pub mod ids;
pub mod job;
pub mod kinds;
pub mod lane;
pub mod locale;
pub mod network;
pub mod no_data;
pub mod numbers;
pub mod office_format;
pub mod paper;
pub mod reach;
pub mod scripts;
pub mod shown;
pub mod site;
