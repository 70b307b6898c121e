//! Pictures that are added to a document: each once, however often it is shown.

use std::hash::BuildHasher as _;

use office_picture::Picture;

use super::Package;
use crate::error::Error;

/// A picture that is a part of the document.
#[derive(Clone)]
pub(crate) struct StoredPicture {
    /// The part's name.
    pub part: String,
    /// What is known of it; its bytes are the part's.
    pub picture: Picture,
}

impl Package<'_> {
    /// The picture that was added under this key: what the data said of it.
    pub(crate) fn picture(&self, key: &str) -> Option<StoredPicture> {
        self.pictures.get(&self.hash(key)).cloned()
    }

    /// Adds a picture.
    pub(crate) fn add_picture(&mut self, key: &str, mut picture: Picture) -> Result<StoredPicture, Error> {
        let bytes = std::mem::take(&mut picture.bytes);
        let part = self.add(("word/media/image", picture.extension()), picture.content_type(), bytes)?;
        let stored = StoredPicture { part, picture };
        self.pictures.insert(self.hash(key), stored.clone());
        Ok(stored)
    }

    /// The key may be the picture itself, as Base64: it is not kept.
    fn hash(&self, key: &str) -> (usize, u64) {
        (key.len(), self.contents.hasher().hash_one(key))
    }
}
