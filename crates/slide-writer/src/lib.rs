//! A presentation of pictures: a slide each, the picture's text as the slide's notes and as the picture's alternative text.
//!
//! ```text
//! size and number of slides ─► Deck: fixed parts ─► slide, slide … ─► finish
//! ```
//!
//! It is written from front to back, so that nothing of it is held: what names all slides stands before the first one. The
//! format is ECMA-376; sizes are in its unit, 12,700 to the point.

mod fixed;
mod shapes;
mod size;
mod xml;

use std::io::{self, Write};

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

pub use size::Points;
use size::Size;

/// How hard a part is packed.
const USUAL: i64 = 6;
/// Pictures are packed already. They are packed all the same: who reads a file from front to back does not find the end of a part that is
/// not, for its length stands behind it.
const FASTEST: i64 = 1;

/// A presentation that is being written.
pub struct Deck<W: Write> {
    archive: ZipWriter<StreamWriter<W>>,
    size: Size,
    /// So many slides are written.
    written: u32,
    /// So many there will be.
    count: u32,
}

/// A slide to be.
#[derive(Clone, Copy, Debug)]
pub struct Slide<'a> {
    /// What the picture is called, as `Page 3`.
    pub name: &'a str,
    /// A PNG.
    pub picture: &'a [u8],
    /// How large the picture is meant to be: it stands in the middle, as large as the slide has room.
    pub size: Points,
    /// What it says, line by line.
    pub text: &'a str,
}

impl<W: Write> Deck<W> {
    /// Begins a presentation of so many slides of this size, or the nearest that one can have.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(out: W, size: Points, count: u32) -> io::Result<Self> {
        let size = Size::of_slides(size);
        let mut deck = Self { archive: ZipWriter::new_stream(out), size, written: 0, count };
        deck.part("[Content_Types].xml", fixed::content_types(count).as_bytes())?;
        deck.part("_rels/.rels", fixed::ROOT_LINKS.as_bytes())?;
        deck.part("docProps/app.xml", fixed::properties(count).as_bytes())?;
        deck.part("ppt/presentation.xml", fixed::presentation(size, count).as_bytes())?;
        deck.part("ppt/_rels/presentation.xml.rels", fixed::presentation_links(count).as_bytes())?;
        for (name, content) in fixed::PARTS {
            deck.part(name, content.as_bytes())?;
        }
        deck.part("ppt/notesMasters/notesMaster1.xml", shapes::notes_master(size).as_bytes())?;
        Ok(deck)
    }

    /// Writes the next slide.
    ///
    /// # Errors
    /// When it cannot be written, or there are as many as there were to be.
    pub fn slide(&mut self, slide: &Slide<'_>) -> io::Result<()> {
        if self.written == self.count {
            return Err(io::Error::other("there are more slides than were said"));
        }
        self.written += 1;
        let number = self.written;
        self.packed(&format!("ppt/media/image{number}.png"), slide.picture, FASTEST)?;
        self.part(&format!("ppt/slides/slide{number}.xml"), shapes::slide(slide, self.size).as_bytes())?;
        self.part(
            &format!("ppt/slides/_rels/slide{number}.xml.rels"),
            fixed::slide_links(number).as_bytes(),
        )?;
        let notes = shapes::notes(slide.text, number, self.size);
        self.part(&format!("ppt/notesSlides/notesSlide{number}.xml"), notes.as_bytes())?;
        let links = fixed::notes_links(number);
        self.part(&format!("ppt/notesSlides/_rels/notesSlide{number}.xml.rels"), links.as_bytes())
    }

    /// Ends the presentation.
    ///
    /// # Errors
    /// When it cannot be written, or slides are missing.
    pub fn finish(self) -> io::Result<W> {
        if self.written != self.count {
            return Err(io::Error::other("there are fewer slides than were said"));
        }
        Ok(self.archive.finish()?.into_inner())
    }

    fn part(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        self.packed(name, content, USUAL)
    }

    fn packed(&mut self, name: &str, content: &[u8], level: i64) -> io::Result<()> {
        let method = CompressionMethod::Deflated;
        let options = SimpleFileOptions::default().compression_method(method).compression_level(Some(level));
        self.archive.start_file(name, options)?;
        self.archive.write_all(content)
    }
}
