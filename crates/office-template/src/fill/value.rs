//! Texts in runs, with the breaks and tabs in them.

use super::Filler;
use crate::error::Error;
use crate::plan::Slot;

impl Filler<'_, '_> {
    /// Writes an element amid the run's text.
    pub(super) fn in_run(&mut self, slot: &Slot, xml: &str) {
        let text = slot.text.as_str();
        for piece in ["</", text, ">", xml, "<", text, " xml:space=\"preserve\">"] {
            self.out.extend_from_slice(piece.as_bytes());
        }
    }

    /// Writes a value into a `w:t`: escaped, with breaks and tabs as Word writes them, without characters that XML does not
    /// allow.
    pub(super) fn value(&mut self, slot: &Slot, text: &str) -> Result<(), Error> {
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let taken = match byte {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                b'&' | b'<' | b'>' | 0..0x20 => 1,
                // U+FFFE and U+FFFF.
                0xef if matches!(bytes.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf])) => 3,
                _ => {
                    at += 1;
                    continue;
                }
            };
            self.out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
            match byte {
                b'&' => self.out.extend_from_slice(b"&amp;"),
                b'<' => self.out.extend_from_slice(b"&lt;"),
                b'>' => self.out.extend_from_slice(b"&gt;"),
                b'\r' | b'\n' => self.element(slot, "br"),
                b'\t' => self.element(slot, "tab"),
                _ => {}
            }
            self.check_room()?;
            at += taken;
            from = at;
        }
        self.out.extend_from_slice(bytes.get(from..).unwrap_or_default());
        Ok(())
    }

    fn element(&mut self, slot: &Slot, name: &str) {
        let xml = format!("<{}{name}/>", self.source.prefix);
        self.in_run(slot, &xml);
    }
}
