//! Reads JSON objects leniently: every fault with its pointer, every unknown name, and what may be sent.
//!
//! A reader asks [`Members`] for one name after another. What it asked for is what may be sent: any other name is unknown, and
//! [`describe`] runs the reader over nothing to list its members with their shapes and sentences.
//!
//! The one rule of a reader: it asks for everything before it decides anything. An early return would hide members from the
//! description.

mod check;
mod members;
mod names;
mod nearest;
mod shape;
mod value;

pub use check::{JsonError, check};
pub use members::{MapOf, Members, describe};
pub use names::{Fault, Named, Unknown};
pub use nearest::nearest;
pub use shape::{Member, Shape};
pub use value::{is_empty_array, kind, pointer_token};
