//! Walks over the objects of some folders, a page at a time, and starts over at the end.

use super::{Folder, ObjectStore, StorageKey, StoreError};

/// The position of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    folders: &'static [Folder],
    at: usize,
    after: Option<StorageKey>,
}

impl Walk {
    /// A walk from the beginning of these folders.
    pub fn over(folders: &'static [Folder]) -> Self {
        Self { folders, at: 0, after: None }
    }

    /// The next objects, at most `limit`; fewer at the end of the walk.
    ///
    /// # Errors
    /// When the store fails; the position stays within the folder that failed.
    pub async fn next(
        &mut self,
        store: &dyn ObjectStore,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        let mut keys = Vec::new();
        while let Some(folder) = self.folders.get(self.at) {
            let wanted = limit - keys.len();
            let page = store.list(*folder, self.after, wanted).await?;
            let is_last = page.len() < wanted;
            self.after = page.last().copied().or(self.after);
            keys.extend(page);
            if !is_last {
                return Ok(keys);
            }
            (self.at, self.after) = (self.at + 1, None);
        }
        self.at = 0;
        Ok(keys)
    }
}
