//! The documents that are measured. Renderers with templates get template and data; the others get the very page
//! that the service assembles of them.

use std::io;
use std::process::Command;

use memchr::memmem;

const INVOICE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/invoice");

/// A document, and what it is made of.
#[derive(Clone)]
pub struct Document {
    pub name: String,
    /// In EJS, or the page of a front-end build.
    pub template: String,
    /// JSON text.
    pub data: String,
    /// What template and data become.
    pub page: String,
    /// The files beside the page, by path.
    pub files: Vec<(String, Vec<u8>)>,
    /// Whether its page is fetched from an origin; put into its tab in a message otherwise.
    pub served: bool,
    /// Whether script runs in it.
    pub scripted: bool,
    /// Whether it is a front-end build: a script of its own takes the data from `window.__PLATEN_DATA__`.
    pub build: bool,
    /// Pages of the PDF.
    pub pages: usize,
}

impl Document {
    /// The sample invoice: one page, no script, nothing beside it.
    pub fn invoice() -> io::Result<Self> {
        let read = |name| std::fs::read_to_string(format!("{INVOICE}/{name}"));
        Self::of("invoice", read("index.html")?, read("data.json")?)
    }

    /// The invoice, its rows drawn by a script.
    pub fn drawn() -> io::Result<Self> {
        let Self { template, data, .. } = Self::invoice()?;
        let [before, _, after] = split(&template, "<tbody>", "</tbody>")?;
        let after = after.replacen("</body>", include_str!("drawn.html"), 1);
        let drawn = Self::of("drawn invoice", format!("{before}<tbody></tbody>{after}"), data)?;
        Ok(Self { scripted: true, ..drawn })
    }

    /// A report of so many pages, a table on each.
    pub fn report(pages: usize) -> io::Result<Self> {
        let name = format!("report of {pages} pages");
        let data = format!("{{\"pages\": {pages}}}");
        Ok(Self { pages, ..Self::of(&name, include_str!("report.html").to_owned(), data)? })
    }

    /// A document of one page with nothing beside it and without script.
    pub fn of(name: &str, template: String, data: String) -> io::Result<Self> {
        let page = assemble(&template, &data)?;
        let (name, files) = (name.to_owned(), Vec::new());
        let (served, scripted, build, pages) = (false, false, false, 1);
        Ok(Self { name, template, data, page, files, served, scripted, build, pages })
    }

    /// Its type in requests to the service.
    pub fn kind(&self) -> &'static str {
        if self.build { "framework" } else { "ejs" }
    }

    /// Whether `file` is this document, as far as its pages tell.
    pub fn check(&self, file: &[u8]) -> io::Result<()> {
        let marks = memmem::find_iter(file, b"/Type /Page");
        let pages = marks.filter(|at| file.get(at + 11).is_some_and(|letter| *letter != b's')).count();
        if file.starts_with(b"%PDF-") && pages == self.pages {
            return Ok(());
        }
        Err(io::Error::other(format!("no PDF of {} pages came but {pages} pages", self.pages)))
    }
}

/// The page, assembled by the program itself.
fn assemble(template: &str, data: &str) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("index.html"), template)?;
    std::fs::write(path("data.json"), data)?;
    let output = Command::new(env!("CARGO_BIN_EXE_platen"))
        .arg("render")
        .arg(path("index.html"))
        .args(["--type", "ejs", "--data"])
        .arg(path("data.json"))
        .arg("--output")
        .arg(path("page.html"))
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    std::fs::read_to_string(path("page.html"))
}

/// What stands before `from`, behind it, and behind the next `to`.
pub fn split<'a>(text: &'a str, from: &str, to: &str) -> io::Result<[&'a str; 3]> {
    let parts = text.split_once(from).and_then(|(before, rest)| {
        let (inside, after) = rest.split_once(to)?;
        Some([before, inside, after])
    });
    parts.ok_or_else(|| io::Error::other(format!("the sample invoice has no {from}…{to}")))
}
