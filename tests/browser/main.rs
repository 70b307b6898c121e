//! Pages in a real Chromium: what they become, how they fail, what they cannot reach.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/browser.rs"]
mod support;

mod banners;
mod builds;
#[path = "../support/canary.rs"]
mod canary;
mod console;
mod failures;
mod families;
mod faults;
mod floods;
mod kept;
mod kept_traces;
mod lazy;
mod life;
mod losses;
mod marks;
mod names;
mod neighbours;
mod options;
mod origin;
mod page_count;
mod page_rules;
mod pages;
mod passing;
mod recycle;
mod rest;
mod rest_chains;
mod rest_late;
mod rest_workers;
mod snapshot;
mod snapshot_hostile;
mod snapshot_safe;
mod tags;
mod warnings;
mod wide;
