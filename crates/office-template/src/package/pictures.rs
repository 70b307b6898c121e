//! Pictures that are added to a document: each once, however often it is shown.

use std::hash::BuildHasher as _;

use office_picture::Picture;

use super::Package;
use crate::error::Error;

/// A picture that is a part of the document.
#[derive(Clone)]
pub(crate) struct StoredPicture {
    pub part: String,
    /// Its properties; the bytes are moved to the part.
    pub picture: Picture,
}

impl Package<'_> {
    /// The picture that was added under this key (the text of its tag), or why it could not be added.
    pub(crate) fn picture(&self, key: &str) -> Option<Result<StoredPicture, String>> {
        self.pictures.get(&self.hash(key)).cloned()
    }

    pub(crate) fn add_picture(&mut self, key: &str, mut picture: Picture) -> Result<StoredPicture, Error> {
        let bytes = std::mem::take(&mut picture.bytes);
        let stem = format!("{}/media/image", self.folder);
        let part = self.add((&stem, picture.extension()), picture.content_type(), bytes)?;
        let stored = StoredPicture { part, picture };
        self.pictures.insert(self.hash(key), Ok(stored.clone()));
        Ok(stored)
    }

    /// Remembers why the picture of this key cannot be added, so that it is not fetched again.
    pub(crate) fn refuse_picture(&mut self, key: &str, why: &str) {
        self.pictures.insert(self.hash(key), Err(why.to_owned()));
    }

    /// Only length and hash are kept: the key may be the whole picture as Base64.
    fn hash(&self, key: &str) -> (usize, u64) {
        (key.len(), self.contents.hasher().hash_one(key))
    }
}
