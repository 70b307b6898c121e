//! Pages in a real Chromium: what they become, how they fail, what they cannot reach.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/browser.rs"]
mod support;

mod builds;
mod byte_order_mark;
#[path = "../support/canary.rs"]
mod canary;
mod console;
mod cut_pictures;
mod failed_requests;
mod floods;
mod font_families;
mod header_fonts;
mod header_footer;
mod hostile_pages;
mod hung;
mod idle;
mod idle_chains;
mod idle_late;
mod idle_workers;
mod in_place_reuse;
mod inlined_pages;
mod lazy;
mod lazy_start;
mod lifecycle;
mod lost_browsers;
mod members;
mod named_elements;
mod one_sheet;
mod options;
mod outline;
mod own_address;
mod page_count;
mod page_rules;
mod page_server;
mod page_width;
mod pages;
mod quarantine;
mod recycle;
mod reset_tabs;
mod reusable_tabs;
mod scripted_reuse;
mod seen;
mod sheet_width;
mod snapshot;
mod snapshot_hostile;
mod snapshot_safe;
mod tagged;
mod warnings;
mod webgl;
