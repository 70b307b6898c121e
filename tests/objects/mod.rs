//! An S3-compatible server in this process, and what may happen on the way to it.

#![expect(dead_code, reason = "each test program uses some of it")]

pub mod proxy;
pub mod server;

pub use proxy::{Mode, Proxy};
pub use server::ObjectServer;

/// The bucket that the server has.
pub const BUCKET: &str = "documents";
/// Who may use it.
pub const ACCESS_KEY: &str = "AKIAPLATENTEST";
/// The secret that its signatures are made with.
pub const SECRET_KEY: &str = "a-secret-that-only-tests-know";
