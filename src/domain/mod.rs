//! The pure part: what a job, a kind, a target, an account is. No input or output happens here.

pub mod address;
pub mod encoding;
pub mod fault;
pub mod format_opts;
pub mod ids;
pub mod job;
pub mod json;
pub mod kinds;
pub mod lane;
pub mod letters;
pub mod lines;
pub mod members;
pub mod no_data;
pub mod office_format;
pub mod reach;
pub mod scripts;
pub mod search;
pub mod site;
pub mod subscription;
