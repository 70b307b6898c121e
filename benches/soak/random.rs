//! Random numbers that a seed repeats (splitmix64).

/// Where the sequence is.
pub struct Random(u64);

impl Random {
    /// The sequence of a seed; another `stream` is another sequence of the same seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut first = Self(seed);
        Self(first.next().wrapping_add(stream.wrapping_mul(0xD1B5_4A32_D192_ED03)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `count`, which is small.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, among: &[T]) -> Option<T> {
        let count = u64::try_from(among.len()).ok()?;
        among.get(usize::try_from(self.below(count)).ok()?).copied()
    }
}
