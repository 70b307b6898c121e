//! Storage: the contract of every object store, the index, and both when the process or the disk ends.

#![expect(clippy::unwrap_used, reason = "what these helpers demand is what the tests assert")]

mod contract;
mod crash;
mod index;
#[path = "../objects/mod.rs"]
mod objects;
mod s3;
