//! Small PDFs, written by hand.

use std::fmt::Write as _;

/// A PDF that is being written: objects, numbered as they come.
#[derive(Default)]
pub struct File {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
}

impl File {
    /// Objects 1 and 2 are the catalogue and the tree of pages.
    pub fn new() -> Self {
        Self { objects: vec![Vec::new(), Vec::new()], pages: Vec::new() }
    }

    /// Adds an object; its number.
    pub fn object(&mut self, object: &str) -> usize {
        self.objects.push(object.as_bytes().to_vec());
        self.objects.len()
    }

    /// Adds a stream whose dictionary has `entries`; its number.
    pub fn stream(&mut self, entries: &str, content: &[u8]) -> usize {
        let mut object = format!("<< {entries} /Length {} >>\nstream\n", content.len()).into_bytes();
        object.extend_from_slice(content);
        object.extend_from_slice(b"\nendstream");
        self.objects.push(object);
        self.objects.len()
    }

    /// Adds a page of 300 × 200 points, unless `entries` say another box.
    pub fn page(&mut self, entries: &str, resources: &str, content: &str) {
        let content = self.stream("", content.as_bytes());
        let size = if entries.contains("/MediaBox") { "" } else { "/MediaBox [0 0 300 200]" };
        let page = format!(
            "<< /Type /Page /Parent 2 0 R {size} {entries} /Resources << {resources} >> /Contents {content} 0 R >>"
        );
        let number = self.object(&page);
        self.pages.push(number);
    }

    /// The same page once more.
    pub fn repeat(&mut self, times: usize) {
        let Some(page) = self.pages.last().and_then(|page| self.objects.get(page - 1)).cloned() else {
            return;
        };
        for _ in 0..times {
            self.objects.push(page.clone());
            self.pages.push(self.objects.len());
        }
    }

    /// The whole file; the catalogue has `entries` as well.
    pub fn write(mut self, entries: &str) -> Vec<u8> {
        let kids = self.pages.iter().map(|page| format!("{page} 0 R ")).collect::<Vec<_>>().concat();
        self.objects[0] = format!("<< /Type /Catalog /Pages 2 0 R {entries} >>").into_bytes();
        self.objects[1] =
            format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", self.pages.len()).into_bytes();
        let mut bytes = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", self.objects.len() + 1);
        for (at, object) in self.objects.iter().enumerate() {
            writeln!(table, "{:010} 00000 n ", bytes.len()).unwrap();
            bytes.extend_from_slice(format!("{} 0 obj\n", at + 1).as_bytes());
            bytes.extend_from_slice(object);
            bytes.extend_from_slice(b"\nendobj\n");
        }
        let start = bytes.len();
        bytes.extend_from_slice(table.as_bytes());
        let trailer = format!(
            "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
            self.objects.len() + 1
        );
        bytes.extend_from_slice(trailer.as_bytes());
        bytes
    }
}
