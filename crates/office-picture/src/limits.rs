//! What a picture may cost.

/// Bounds for one picture. They are looked at before anything is decoded or kept.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of the picture as it comes.
    pub bytes: usize,
    /// Pixels, width times height, that a picture may have: whoever opens the document decodes them all.
    pub pixels: u64,
    /// Pixels that a picture may have which is decoded here (WebP). Four bytes of memory each, and as many again while it is written.
    pub decoded_pixels: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 32 << 20, pixels: 100_000_000, decoded_pixels: 16_000_000 }
    }
}
