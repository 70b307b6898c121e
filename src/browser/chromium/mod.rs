//! One Chromium from start to end: its process, private folder, command line, memory, and what it can do.
//!
//! Called by `pool`, which starts and ends it, and by `tab` for what is known of its fonts and kills. Calls `cdp`.

pub(in crate::browser) mod capacity;
pub(in crate::browser) mod flags;
pub(in crate::browser) mod font_families;
pub(in crate::browser) mod frames;
pub(in crate::browser) mod instance;
pub(in crate::browser) mod kills;
pub(in crate::browser) mod memory;
pub(in crate::browser) mod probe;
pub(in crate::browser) mod process;
pub(in crate::browser) mod profile;
