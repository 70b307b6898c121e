//! What is converted: small documents of each kind, made for this.

use std::io;

/// An Office document.
pub struct Document {
    /// Its name in the table.
    pub name: &'static str,
    /// Its type on the wire, which is its extension.
    pub kind: &'static str,
    /// The file.
    pub file: &'static [u8],
    /// How many pages a PDF of it has.
    pages: usize,
}

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../documents/", $name))
    };
}

/// All of them.
pub fn all() -> [Document; 4] {
    [
        Document { name: "letter.docx", kind: "docx", file: file!("letter.docx"), pages: 1 },
        Document { name: "report.docx", kind: "docx", file: file!("report.docx"), pages: 9 },
        Document { name: "orders.xlsx", kind: "xlsx", file: file!("orders.xlsx"), pages: 3 },
        Document { name: "slides.pptx", kind: "pptx", file: file!("slides.pptx"), pages: 6 },
    ]
}

impl Document {
    /// Whether the PDF has all pages.
    pub fn check(&self, pdf: &[u8]) -> io::Result<()> {
        let pages = pdf_metadata::pages(pdf).and_then(|pages| usize::try_from(pages).ok());
        if pages == Some(self.pages) {
            return Ok(());
        }
        Err(io::Error::other(format!("{}: {pages:?} pages came in place of {}", self.name, self.pages)))
    }
}
