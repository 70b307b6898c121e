//! The API against the real program: one `platen serve` a test, with its own folder, port and Chromium.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod accounts;
#[path = "../support/app.rs"]
mod app;
mod archives;
mod backup;
mod bodies;
mod browser_faults;
mod builds;
mod cancel;
mod clients;
mod command_line;
mod delivery;
mod doctor;
mod doctor_store;
mod encodings;
mod ending;
mod errors;
mod fail_on;
#[path = "../fixtures/mod.rs"]
mod fixtures;
mod flow;
mod full_disk;
mod header_footer;
mod hostile;
mod http_conventions;
mod idempotency;
mod immediate;
mod intl;
mod lanes;
mod latex;
mod latex_caches;
mod latex_characters;
mod latex_faults;
mod latex_formats;
mod latex_lists;
mod latex_many;
mod latex_pandoc;
mod latex_samples;
mod latex_values;
mod libreoffice;
mod lint;
mod list;
mod lost_programs;
mod metrics;
mod migrating;
mod missing_engine;
#[path = "../support/objects/mod.rs"]
mod objects;
mod office;
mod office_html;
mod office_templates;
mod openapi;
mod operating;
mod options;
mod owner;
mod page_slides;
mod protection;
mod receiver;
mod recovery;
mod render;
mod requests;
mod s3;
mod slides;
#[path = "../support/small_disk.rs"]
mod small_disk;
mod store_faults;
mod stored;
mod swift;
#[path = "../support/template.rs"]
mod template;
mod template_faults;
mod template_previews;
mod templates;
mod unfilled;
mod unknown_members;
mod waiting;
mod warnings;
mod workbooks;
