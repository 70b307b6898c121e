//! The attacks that the service is tried against: named, counted by what they reach, printed as tables.
//!
//! Suites as in the security notes: A local files, B forged requests, C addresses that callers give, D template code (EJS, LaTeX,
//! tags of Office files, texts of options), E Office containers and what is in them, F exhaustion (of pages, documents, pictures,
//! shared threads), G HTTP itself (`http`: every operation in every state of a job and of a template, races, requests cut at each
//! byte, lying lengths), H leaks between jobs; and what an allowed host may do. Everything connects to the loopback only.

#![expect(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod allowed;
mod allowed_statuses;
#[path = "../support/app.rs"]
#[expect(dead_code, reason = "shared with the tests of the interface")]
mod app;
#[path = "../support/assembler.rs"]
mod assembler;
mod bounds;
mod caller_urls;
#[path = "../support/canary.rs"]
mod canary;
mod carriers;
mod consecutive;
mod containers;
mod documents;
mod every_engine;
mod exhausting_pages;
mod files;
#[path = "../support/foreign.rs"]
#[expect(dead_code, reason = "shared with the tests of workers")]
mod foreign;
mod host;
mod http;
mod indirect_access;
mod latex;
mod network;
#[path = "../support/objects/mod.rs"]
mod objects;
mod office;
mod option_strings;
#[path = "../support/processes.rs"]
#[expect(dead_code, reason = "shared with the tests of workers")]
mod processes;
mod programs;
mod programs_scripts;
mod public;
mod remains;
mod routes;
mod service;
mod shared_threads;
#[path = "../support/small_disk.rs"]
#[expect(dead_code, reason = "shared with the tests of the interface")]
mod small_disk;
mod spellings;
#[path = "../support/browser.rs"]
#[expect(dead_code, reason = "shared with the tests of pages")]
mod support;
mod table;
mod tag_bombs;
#[path = "../support/template.rs"]
#[expect(dead_code, reason = "shared with the tests of the interface")]
mod template;
mod template_code;
mod traces;
mod traces_in_reused_tabs;
