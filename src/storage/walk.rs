//! A walk over the objects of some folders, a page at a time, from the beginning again when it is through.

use super::{Folder, ObjectStore, StorageKey, StoreError};

/// Where a walk is.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    folders: &'static [Folder],
    at: usize,
    after: Option<StorageKey>,
}

impl Walk {
    /// A walk over these folders that has not begun.
    pub fn over(folders: &'static [Folder]) -> Self {
        Self { folders, at: 0, after: None }
    }

    /// The next objects, at most `limit`; fewer where the walk is through.
    ///
    /// # Errors
    /// When the store fails; the walk stands where it stood.
    pub async fn next(
        &mut self,
        store: &dyn ObjectStore,
        limit: usize,
    ) -> Result<Vec<StorageKey>, StoreError> {
        let mut keys = Vec::new();
        while let Some(folder) = self.folders.get(self.at) {
            let wanted = limit - keys.len();
            let page = store.list(*folder, self.after, wanted).await?;
            let is_through = page.len() < wanted;
            self.after = page.last().copied().or(self.after);
            keys.extend(page);
            if !is_through {
                return Ok(keys);
            }
            (self.at, self.after) = (self.at + 1, None);
        }
        self.at = 0;
        Ok(keys)
    }
}
