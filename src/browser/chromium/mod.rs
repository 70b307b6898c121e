//! One Chromium from start to end: its process, private folder, command line, memory, and what it can do.
//!
//! `pool` starts and ends it; `tab` and `page` read its fonts, kills and limits. Calls `cdp`.

pub(in crate::browser) mod capacity;
pub(in crate::browser) mod flags;
pub(in crate::browser) mod font_families;
mod frames;
pub(in crate::browser) mod hung;
pub(in crate::browser) mod instance;
pub(in crate::browser) mod kills;
pub(in crate::browser) mod known_fonts;
pub(in crate::browser) mod launch_error;
pub(in crate::browser) mod memory;
pub(in crate::browser) mod network;
pub(in crate::browser) mod process;
pub(in crate::browser) mod profile;
mod swiftshader;
