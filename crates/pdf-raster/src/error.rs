//! Why there is no picture.

use serde::{Deserialize, Serialize};

/// Why there is no picture. Whoever bounds something knows what the bound is called, so the sentences do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RasterError {
    /// It opens by a password only.
    #[error("the PDF is encrypted and wants a password")]
    Encrypted,
    /// It is encrypted in a way that is not known here.
    #[error("the PDF is encrypted in a way that cannot be read")]
    UnknownEncryption,
    /// It cannot be read.
    #[error("the PDF is damaged or none")]
    Damaged,
    /// There is nothing to make a picture of.
    #[error("the PDF has no pages")]
    NoPages,
    /// It has fewer pages.
    #[error("page {page} of {count} does not exist")]
    NoSuchPage {
        /// Which was asked for.
        page: u32,
        /// How many there are.
        count: u32,
    },
    /// More pages were asked for than may be.
    #[error("{wanted} pages are more than {limit}")]
    TooManyPages {
        /// How many were asked for.
        wanted: u32,
        /// How many may be.
        limit: u32,
    },
    /// A picture would have too many pixels.
    #[error("page {page} would be {width} × {height} pixels, more than {limit}")]
    TooManyPixels {
        /// Of which page.
        page: u32,
        /// Of the picture.
        width: u64,
        /// Of the picture.
        height: u64,
        /// How many may be in all.
        limit: u64,
    },
    /// A side of a picture would be longer than a picture's can be.
    #[error("page {page} would be {width} × {height} pixels, and no side may be longer than {limit}")]
    TooLong {
        /// Of which page.
        page: u32,
        /// Of the picture.
        width: u64,
        /// Of the picture.
        height: u64,
        /// How long one may be.
        limit: u64,
    },
    /// What draws it gave up on a page.
    #[error("page {page} cannot be drawn; it is damaged")]
    Undrawable {
        /// Which one.
        page: u32,
    },
    /// A picture could not be written in its format.
    #[error("the picture of page {page} cannot be written: {why}")]
    Unencodable {
        /// Of which page.
        page: u32,
        /// What the encoder says.
        why: String,
    },
}
