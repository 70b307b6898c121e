//! Puts the files that lie beside a page into it, as `data:` addresses: style sheets and what they import, the pictures
//! of `<img>` and of styles, fonts. A page that refers to nothing any more can be written into a browser's tab, without
//! the navigation and the requests that cost more than the page itself.
//!
//! ```text
//!   page       the elements of a page that load          lol_html
//!     │
//!   css        imports, pictures and fonts of styles     cssparser
//!     │
//!   address    which file an address means               url
//!   content    what a file is, and its data: address     office-picture, roxmltree
//! ```
//!
//! It errs to leaving a page alone: what is not surely shown the same from a `data:` address makes the answer [`None`],
//! and the page is to be served with its files.

mod address;
mod content;
mod css;
mod page;
mod parts;
mod role;

use std::sync::Arc;

pub use address::BaseUrl;
pub use content::data_address;
pub use page::{Inlined, inline};
pub use role::Role;

/// The files that lie beside a page.
pub trait Files {
    /// The `data:` address of the file at `path`; none where there is no such file, or it is not what `role` wants.
    fn address(&self, role: Role, path: &str) -> Option<Arc<str>>;
}

/// The `data:` address of the style sheet `text` with its imports, pictures and fonts in it; `base` is where it lies.
/// `None` where it would not be the same, or would be longer than `limit_bytes`.
pub fn sheet_address(text: &str, base: &BaseUrl, files: &dyn Files, limit_bytes: usize) -> Option<String> {
    let parts = css::inlined(text, base, files)?;
    (parts.len() <= limit_bytes).then(|| content::sheet_address(&parts.joined()))
}
