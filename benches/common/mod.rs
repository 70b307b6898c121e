//! What all benchmarks of documents share: the documents, the floors, the service, and what is measured.

pub mod clients;
pub mod document;
pub mod figures;
pub mod floor;
pub mod noise;
pub mod origin;
pub mod pipe;
#[expect(dead_code, reason = "shared with benchmarks that ask for more")]
pub mod program;
pub mod saved;
pub mod service;
pub mod supply;
pub mod usage;
