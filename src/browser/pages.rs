//! Counts the pages of a PDF as it passes: Chromium writes each as an object of its own, uncompressed.

use memchr::memmem;

/// What begins a page's object, and with one letter more the list of pages.
const MARK: &[u8] = b"/Type /Page";

/// Counts over pieces, whose borders may lie anywhere.
#[derive(Default)]
pub(super) struct PageCounter {
    pages: u32,
    /// The end of what passed: a mark may begin in it, and end in the next piece.
    rest: Vec<u8>,
}

impl PageCounter {
    /// A piece of the file passes.
    pub(super) fn pass(&mut self, piece: &[u8]) {
        // As much as no mark with the letter behind it fits into.
        let kept = MARK.len();
        let lead = piece.len().min(kept);
        self.rest.extend_from_slice(&piece[..lead]);
        self.pages += count(&self.rest);
        self.pages += count(piece);
        if lead < piece.len() || lead == kept {
            self.rest = piece[piece.len() - kept..].to_vec();
        } else {
            let surplus = self.rest.len().saturating_sub(kept);
            self.rest.drain(..surplus);
        }
    }

    /// The pages so far.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }
}

/// The marks in `bytes` that have their next letter there as well.
fn count(bytes: &[u8]) -> u32 {
    let marks = memmem::find_iter(bytes, MARK);
    let pages = marks.filter(|at| bytes.get(at + MARK.len()).is_some_and(|letter| *letter != b's'));
    u32::try_from(pages.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_wherever_the_pieces_end() {
        let file =
            b"%PDF 1 0 obj <</Type /Page\n/Resources>> <</Type /Pages /Count 2>> <</Type /Page /P>> end";
        for length in 1..file.len() {
            let mut counter = PageCounter::default();
            file.chunks(length).for_each(|piece| counter.pass(piece));
            assert_eq!(counter.pages(), 2, "in pieces of {length}");
        }
    }
}
