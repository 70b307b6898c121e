//! Templates: what their archives hold, the registry that owns their index, the cache of what renders need.

pub mod cache;
pub mod changes;
pub mod package;
pub mod registry;
pub mod repair;
