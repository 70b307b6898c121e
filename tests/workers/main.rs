//! Child processes as they really run: the starter, the pool, and EJS in its cage.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod children;
mod ejs;
mod ejs_children;
mod ejs_encodings;
mod ejs_includes;
mod ejs_kept;
mod ejs_locale;
mod fill;
mod foreign;
mod left_behind;
mod lint;
mod places;
mod pool;
mod processes;
mod programs;
mod servers;
