//! What a program of ours needs that is itself a child: its start, what is said over its standard streams, its cage.

pub use super::cage::compute_only;
pub use super::exec::{Dispatch, run_exec};
pub use super::frame::{FrameError, Given, Saying, read, write};
pub use super::spec::EXEC_COMMAND;
