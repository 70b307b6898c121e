//! Object stores with an S3 interface, our own and Swift, and a proxy before them that fails.

#![expect(dead_code, reason = "each test program uses some of it")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

pub mod proxy;
pub mod server;
pub mod swift;
pub mod test_store;
pub mod tools;

pub use server::ObjectServer;

/// The settings that put objects there.
pub fn settings(endpoint: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("storage.objects", "s3"),
        ("s3.endpoint", endpoint),
        ("s3.bucket", BUCKET),
        ("s3.access_key", ACCESS_KEY),
        ("s3.secret_key", SECRET_KEY),
        ("s3.path_style", "true"),
    ]
}

/// The bucket that the server has.
pub const BUCKET: &str = "documents";
/// Its access keys.
pub const ACCESS_KEY: &str = "AKIAPLATENTEST";
/// The secret that its signatures are made with.
pub const SECRET_KEY: &str = "a-secret-that-only-tests-know";
