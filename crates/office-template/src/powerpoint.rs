//! What only `PowerPoint` has: slides that are repeated, shapes that become pictures, links in runs.
//!
//! ```text
//! file ──deck──▶ slides with the parts that are theirs ──read, as all parts──▶ tags ──▶ program
//!                                                                                 │
//!           answers ──▶ repeat: a slide an item, its parts copied ──▶ presentation: ids, sections, counts
//! ```

pub(crate) mod copies;
pub(crate) mod deck;
mod groups;
mod link;
mod picture;
mod presentation;
mod repeat;
mod shape;
mod spans;

pub(crate) use deck::Deck;
pub(crate) use groups::{grouped, renewed};
pub(crate) use link::write as link;
pub(crate) use picture::{Placeholders, write as picture};
pub(crate) use presentation::untitled;
pub(crate) use repeat::Repeats;
pub(crate) use shape::{check, frame, is_merged, is_title, list, on_slide, shape_of, text_box_of};
pub(crate) use spans::spanned;
