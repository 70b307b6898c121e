//! Numbers at places of a file that may end before them.

use super::Flaw;

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// The lowest.
    Little,
    /// The highest.
    Big,
}

impl Order {
    pub(super) fn two(self, bytes: &[u8], at: usize) -> Result<u16, Flaw> {
        let read = array(bytes, at)?;
        Ok(match self {
            Self::Little => u16::from_le_bytes(read),
            Self::Big => u16::from_be_bytes(read),
        })
    }

    pub(super) fn four(self, bytes: &[u8], at: usize) -> Result<u32, Flaw> {
        let read = array(bytes, at)?;
        Ok(match self {
            Self::Little => u32::from_le_bytes(read),
            Self::Big => u32::from_be_bytes(read),
        })
    }

    pub(super) fn four_signed(self, bytes: &[u8], at: usize) -> Result<i32, Flaw> {
        self.four(bytes, at).map(u32::cast_signed)
    }
}

/// `N` bytes at a place.
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Flaw> {
    slice(bytes, at, N)?.try_into().map_err(|_| Flaw::CutShort)
}

/// `length` bytes at a place.
pub(super) fn slice(bytes: &[u8], at: usize, length: usize) -> Result<&[u8], Flaw> {
    at.checked_add(length).and_then(|end| bytes.get(at..end)).ok_or(Flaw::CutShort)
}

/// A length or a place in the file.
pub(super) fn place(number: u32) -> Result<usize, Flaw> {
    usize::try_from(number).map_err(|_| Flaw::CutShort)
}
