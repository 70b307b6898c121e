//! What all benchmarks of documents share: the documents, the floors, the service, and what is measured.

pub mod document;
pub mod figures;
pub mod floor;
pub mod origin;
pub mod pipe;
pub mod saved;
pub mod service;
pub mod supply;
