//! Documents that are damaged at random.

/// Damages documents, the same way each time.
pub struct Damage(u64);

impl Damage {
    pub fn seeded(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// The document with some of its bytes replaced, left out or doubled.
    pub fn of(&mut self, document: &[u8]) -> Vec<u8> {
        let mut bytes = document.to_vec();
        for _ in 0..=self.below(12) {
            let at = self.below(bytes.len());
            let length = self.below(24).min(bytes.len() - at);
            match self.below(5) {
                0 => bytes[at] = u8::try_from(self.below(256)).unwrap(),
                1 => drop(bytes.drain(at..at + length)),
                2 => {
                    let piece = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                3 => {
                    let number = ["-1", "0", "65535", "2147483648", "99999999999999999999", "1.0e9", "7 0 R"]
                        [self.below(7)];
                    let digit =
                        bytes.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |found| at + found);
                    let end = (digit + 1).min(bytes.len());
                    bytes.splice(digit..end, number.bytes());
                }
                _ => {
                    let word =
                        ["<<", ">>", "[", "]", "(", "stream\n", "endobj", "/Kids", "q "][self.below(9)];
                    bytes.splice(at..at, word.bytes());
                }
            }
            if bytes.is_empty() {
                return bytes;
            }
        }
        bytes
    }

    fn below(&mut self, limit: usize) -> usize {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}
