//! Pages in a real Chromium: what they become, how they fail, what they cannot reach.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

mod banners;
mod builds;
mod faults;
mod fence;
mod floods;
mod life;
mod losses;
mod options;
mod pages;
mod recycle;
mod rest;
mod rest_late;
mod snapshot;
mod snapshot_hostile;
mod snapshot_safe;
mod warnings;
