//! A PDF that is open: how many pages it has, and which of them are asked for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro::hayro_syntax::page::Page;
use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use serde::{Deserialize, Serialize};

use crate::error::RasterError;

/// A PDF.
pub struct Document {
    pdf: Pdf,
    count: u32,
}

/// Which pages of a document are asked for, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Nothing outside of this is looked at, and pages are counted within it; the whole document where it is not given.
    pub within: Option<PageRange>,
    /// The pages; where none are named, all of `within`, or of the whole document the first.
    pub ranges: Vec<PageRange>,
}

/// Pages that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRange {
    /// The first one, from 1.
    pub first: u32,
    /// The last one, included; to the end where it is not given.
    pub last: Option<u32>,
}

impl PageRange {
    /// Every page.
    pub const ALL: Self = Self { first: 1, last: None };

    /// One page.
    pub fn one(page: u32) -> Self {
        Self { first: page, last: Some(page) }
    }
}

impl Document {
    /// Reads the bytes as a PDF; one that is encrypted without a password to open it counts as open.
    ///
    /// # Errors
    /// When they are no PDF that can be read.
    pub fn open(bytes: Vec<u8>) -> Result<Self, RasterError> {
        let opened = catch_unwind(AssertUnwindSafe(|| {
            let pdf = Pdf::new(bytes)?;
            // They are all looked up here, so that nothing of it can fail later.
            let count = u32::try_from(pdf.pages().len()).unwrap_or(u32::MAX);
            Ok(Self { pdf, count })
        }));
        let opened = opened.map_err(|_| RasterError::Damaged)?;
        opened.map_err(|error| match error {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => RasterError::Encrypted,
            LoadPdfError::Decryption(
                DecryptionError::MissingIDEntry
                | DecryptionError::InvalidEncryption
                | DecryptionError::UnsupportedAlgorithm,
            ) => RasterError::UnknownEncryption,
            LoadPdfError::Invalid => RasterError::Damaged,
        })
    }

    /// How many pages it has.
    pub fn page_count(&self) -> u32 {
        self.count
    }

    /// The pages that `selection` names, each once and in their order, at most `limit` of them.
    ///
    /// # Errors
    /// When one does not exist, or there are too many.
    pub fn pick(&self, selection: &Selection, limit: u32) -> Result<Vec<u32>, RasterError> {
        selection.pick(self.count, limit)
    }

    /// The page of this number.
    pub(crate) fn page(&self, page: u32) -> Result<&Page<'_>, RasterError> {
        let at = usize::try_from(page).ok().and_then(|page| page.checked_sub(1));
        let found = at.and_then(|at| self.pdf.pages().get(at));
        found.ok_or(RasterError::NoSuchPage { page, count: self.count })
    }
}

impl Selection {
    fn pick(&self, count: u32, limit: u32) -> Result<Vec<u32>, RasterError> {
        if count == 0 {
            return Err(RasterError::NoPages);
        }
        let within = self.within.unwrap_or(PageRange::ALL);
        if within.first > count {
            return Err(RasterError::NoSuchPage { page: within.first, count });
        }
        let before = within.first.saturating_sub(1);
        // As a printed range, it ends where the document does.
        let room = within.last.map_or(count, |last| last.min(count)).saturating_sub(before);
        let ranges = match (self.ranges.as_slice(), self.within) {
            ([], None) => &[PageRange { first: 1, last: Some(1) }][..],
            ([], Some(_)) => &[PageRange::ALL],
            (ranges, _) => ranges,
        };
        let merged = merged(ranges, room)?;
        let wanted = merged.iter().fold(0_u32, |sum, (first, last)| sum.saturating_add(last - first + 1));
        if wanted > limit {
            return Err(RasterError::TooManyPages { wanted, limit });
        }
        Ok(merged.into_iter().flat_map(|(first, last)| first..=last).map(|page| before + page).collect())
    }
}

/// The ranges in order and apart, of a document of so many pages.
fn merged(ranges: &[PageRange], count: u32) -> Result<Vec<(u32, u32)>, RasterError> {
    let mut ends = Vec::with_capacity(ranges.len());
    for range in ranges {
        let last = range.last.unwrap_or(count);
        let beyond = [range.first, last].into_iter().find(|page| !(1..=count).contains(page));
        if let Some(page) = beyond {
            return Err(RasterError::NoSuchPage { page, count });
        }
        ends.push((range.first, last));
    }
    ends.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ends.len());
    for (first, last) in ends.into_iter().filter(|(first, last)| first <= last) {
        match merged.last_mut() {
            Some(before) if first <= before.1 => before.1 = before.1.max(last),
            Some(_) | None => merged.push((first, last)),
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u32, last: u32) -> PageRange {
        PageRange { first, last: Some(last) }
    }

    fn pick(within: Option<PageRange>, ranges: &[PageRange]) -> Result<Vec<u32>, RasterError> {
        Selection { within, ranges: ranges.to_vec() }.pick(7, 5)
    }

    #[test]
    fn pages_are_picked_once_and_in_their_order() {
        assert_eq!(pick(None, &[]), Ok(vec![1]));
        assert_eq!(pick(None, &[PageRange::one(7)]), Ok(vec![7]));
        assert_eq!(pick(None, &[range(6, 7), range(2, 4), range(3, 4)]), Ok(vec![2, 3, 4, 6, 7]));
        assert_eq!(pick(None, &[range(2, 3), range(3, 5)]), Ok(vec![2, 3, 4, 5]));
    }

    #[test]
    fn within_a_range_pages_count_from_its_first() {
        let within = |first, last| Some(PageRange { first, last });
        assert_eq!(pick(within(3, Some(4)), &[]), Ok(vec![3, 4]));
        assert_eq!(pick(within(6, None), &[]), Ok(vec![6, 7]));
        assert_eq!(pick(within(6, Some(70)), &[]), Ok(vec![6, 7]));
        assert_eq!(pick(within(3, Some(6)), &[PageRange::one(2)]), Ok(vec![4]));
        assert_eq!(pick(within(8, None), &[]), Err(RasterError::NoSuchPage { page: 8, count: 7 }));
        let beyond = pick(within(3, Some(4)), &[PageRange::one(3)]);
        assert_eq!(beyond, Err(RasterError::NoSuchPage { page: 3, count: 2 }));
    }

    #[test]
    fn what_does_not_exist_or_is_too_much_is_refused() {
        assert_eq!(pick(None, &[PageRange::one(9)]), Err(RasterError::NoSuchPage { page: 9, count: 7 }));
        assert_eq!(pick(None, &[PageRange::one(0)]), Err(RasterError::NoSuchPage { page: 0, count: 7 }));
        assert_eq!(pick(None, &[range(2, 8)]), Err(RasterError::NoSuchPage { page: 8, count: 7 }));
        assert_eq!(pick(None, &[PageRange::ALL]), Err(RasterError::TooManyPages { wanted: 7, limit: 5 }));
        assert_eq!(Selection::default().pick(0, 5), Err(RasterError::NoPages));
    }
}
