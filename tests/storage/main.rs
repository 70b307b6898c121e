//! Storage: the contract of every object store, the index, and both when the process or the disk ends.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what these helpers demand is what the tests assert"
)]

mod contract;
mod crash;
mod full_disk;
mod index;
#[path = "../support/objects/mod.rs"]
mod objects;
mod s3;
#[path = "../support/small_disk.rs"]
mod small_disk;
