//! Platen renders documents: a template and JSON data in; PDF, image or HTML out.
//!
//! The modules stand in the order the data flows. A lower module never names a higher one;
//! the ground (`config`, `problem`, `procfs`, `clock`, `telemetry`, `domain`, `thread`, `version`) may be named by all.
//! `ARCHITECTURE.md` is the map: it tells one job from end to end, and what must stay true.

pub mod cli;

pub mod app;

pub mod http;

pub mod jobs;

pub mod accounts;

pub mod pipeline;

pub mod engines;

pub mod browser;
pub mod workers;

pub mod templates;

pub mod outbound;
pub mod storage;

pub mod slots;

pub mod clock;
pub mod config;
pub mod domain;
#[cfg(debug_assertions)]
pub mod failpoint;
pub mod problem;
pub mod procfs;
pub mod telemetry;
pub mod thread;
pub mod version;
