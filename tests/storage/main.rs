//! Storage: the contract of every object store, the index, and both when the process or the disk ends.

mod contract;
mod crash;
mod index;
