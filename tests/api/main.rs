//! The API against the real program: one `platen serve` a test, with its own folder, port and Chromium.

mod app;
mod browser_faults;
mod clients;
mod flow;
mod hostile;
mod recovery;
mod waiting;
