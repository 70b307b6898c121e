//! pandoc's arguments and files. The arguments depend on the target and a few facts only; metadata and the rest are in files
//! of ours. Hazard: text of a template or of data on the command line could be read as an option, so none is there.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use latex_pandoc::{Citations, Facts, prepare};
use serde_json::json;

use crate::domain::format_opts::Metadata;
use crate::domain::kinds::FileKind;
use crate::domain::site::Site;
use crate::engines::error::EngineError;
use crate::thread;
use crate::workers::Input;

/// The folder of our files; a template's files there are left out.
const OWN: &str = "platen-own";
/// The document.
pub(super) const SOURCE: &str = "platen-own/source.tex";
pub(super) const LOG: &str = "platen-own/log.json";
/// The folder of the PNGs that replace PDF pictures; they keep the pictures' names.
pub(super) const PICTURES: &str = "platen-own";
const METADATA: &str = "platen-own/metadata.json";

/// Our files for every document.
const FILES: [(&str, &str); 7] = [
    ("prelude.tex", include_str!("../../../assets/pandoc/prelude.tex")),
    ("formulas.lua", include_str!("../../../assets/pandoc/formulas.lua")),
    ("numbers.lua", include_str!("../../../assets/pandoc/numbers.lua")),
    ("safe.lua", include_str!("../../../assets/pandoc/safe.lua")),
    ("page.html", include_str!("../../../assets/pandoc/page.html")),
    ("styles.html", include_str!("../../../assets/pandoc/styles.html")),
    ("word.lua", include_str!("../../../assets/pandoc/word.lua")),
];

/// The styles of Word documents, and the file in an archive by which an author replaces them.
const REFERENCE: &[u8] = include_bytes!("../../../assets/pandoc/reference.docx");
const OWN_REFERENCE: &str = "reference.docx";

/// The citation style with numbers, and the marks around the part that sorts the list by author.
const NUMERIC: &str = include_str!("../../../assets/pandoc/numeric.csl");
const BY_AUTHOR: [&str; 2] = ["<!-- by author -->", "<layout suffix"];

/// Not `--sandbox`: it would also refuse included files and pictures; our own sandbox keeps all other files from pandoc. Hazard:
/// pandoc loads filters and formats from its data folder, so that is one which does not exist and no template can bring.
const COMMON: [&str; 11] = [
    "--from=latex",
    "--standalone",
    "--number-sections",
    "--syntax-highlighting=none",
    "--data-dir=platen-own/none",
    "--log=platen-own/log.json",
    "--metadata-file=platen-own/metadata.json",
    // In this order: formulas, numbers, citations, then the filter that drops what is unsafe.
    "--lua-filter=platen-own/formulas.lua",
    "--lua-filter=platen-own/numbers.lua",
    "--citeproc",
    "--lua-filter=platen-own/safe.lua",
];
const HTML: [&str; 4] = ["--to=html5", "--mathml", "--embed-resources", "--template=platen-own/page.html"];
const DOCX: [&str; 3] = [
    // The last filter: it writes the Word document itself and leaves nothing for pandoc to write.
    "--lua-filter=platen-own/word.lua",
    "--to=docx",
    "--reference-doc=platen-own/reference.docx",
];
const INPUTS: [&str; 2] = ["platen-own/prelude.tex", SOURCE];

/// One document on its way through pandoc.
pub(super) struct Conversion {
    pub site: Site,
    pub kind: FileKind,
    /// The language of a document that names none.
    pub locale: String,
    pub metadata: Metadata,
    /// The limit of pandoc's heap.
    pub heap_mb: u64,
}

/// What pandoc is given.
pub(super) struct Prepared {
    /// The LaTeX sources by their names in pandoc's folder.
    pub texts: Arc<Vec<(String, String)>>,
    /// The command line.
    pub arguments: Vec<String>,
    /// All files, but pictures.
    pub inputs: Vec<Input>,
}

/// Whether a template's file is in our folder; it is left out.
fn is_own(path: &str) -> bool {
    path.split('/').next() == Some(OWN)
}

/// The document, and then the files that it may include, by their names in pandoc's folder.
fn texts(site: &Site) -> Vec<(String, String)> {
    let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    let document = site.page().map(|page| (SOURCE.to_owned(), text(page)));
    let is_source = |path: &str| path.rsplit_once('.').is_some_and(|(_, extension)| extension == "tex");
    let others = site.names().filter(|path| *path != site.entry() && is_source(path) && !is_own(path));
    let others = others.filter_map(|path| Some((path.to_owned(), text(&site.text(path)?.content))));
    document.into_iter().chain(others).collect()
}

impl Conversion {
    /// Reads the sources and writes pandoc's files. Hazard: a source may be 90 MB of line ends, and an archive may have ten
    /// thousand names. So all of it is looked at on a thread for blocking work.
    pub async fn prepared(self) -> Result<Prepared, EngineError> {
        let bytes = self.site.looked_at_bytes();
        Ok(thread::by_size(bytes, move || self.prepare()).await?)
    }

    fn prepare(&self) -> Prepared {
        let texts = texts(&self.site);
        let facts = Facts::of(texts.first().map_or("", |(_, text)| text));
        let (arguments, inputs) = (self.arguments(&facts), self.inputs(&texts, &facts));
        Prepared { texts: Arc::new(texts), arguments, inputs }
    }

    /// The file that is made: a Word document by `word.lua`, HTML by pandoc itself.
    pub fn output(kind: FileKind) -> String {
        let name = if kind == FileKind::Docx { "word" } else { "out" };
        format!("{OWN}/{name}.{}", kind.name())
    }

    fn arguments(&self, facts: &Facts) -> Vec<String> {
        let heap = ["+RTS".to_owned(), format!("-M{}m", self.heap_mb), "-RTS".to_owned()];
        let of_target: &[&str] = if self.kind == FileKind::Docx { &DOCX } else { &HTML };
        let contents: &[&str] = if facts.contents { &["--toc"] } else { &[] };
        let style: &[&str] = match facts.citations {
            Citations::ByYear => &[],
            Citations::Numbers | Citations::NumbersAsCited => &["--csl=platen-own/numeric.csl"],
        };
        let fixed =
            COMMON.iter().chain(of_target).chain(contents).chain(style).map(|&argument| argument.to_owned());
        let output = [format!("--output={OWN}/out.{}", self.kind.name())];
        heap.into_iter().chain(fixed).chain(output).chain(INPUTS.map(str::to_owned)).collect()
    }

    fn inputs(&self, texts: &[(String, String)], facts: &Facts) -> Vec<Input> {
        let site = &self.site;
        let read: HashSet<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
        let is_other = |path: &&str| *path != site.entry() && !is_own(path) && !read.contains(path);
        let others = site.names().filter(is_other);
        let brought = others.filter_map(|path| Some(Input::bytes(path, site.get(path)?.clone())));
        let texts = texts.iter().map(|(name, text)| Input::bytes(name, prepare(text).into()));
        let ours = FILES.iter().map(|(name, content)| {
            Input::bytes(format!("{OWN}/{name}"), Bytes::from_static(content.as_bytes()))
        });
        let reference = site.get(OWN_REFERENCE).cloned().unwrap_or(Bytes::from_static(REFERENCE));
        let own = [
            Input::bytes(METADATA, self.metadata_file(facts)),
            Input::bytes(format!("{OWN}/{OWN_REFERENCE}"), reference),
            Input::bytes(format!("{OWN}/numeric.csl"), style_of(facts.citations)),
        ];
        brought.chain(texts).chain(ours).chain(own).collect()
    }

    /// pandoc's metadata; the document's own has precedence.
    fn metadata_file(&self, facts: &Facts) -> Bytes {
        let mut metadata = json!({
            "lang": literal(facts.language.unwrap_or(&self.locale)),
            "platen-chapters": facts.chapters,
            "platen-folders": facts.folders.iter().map(|folder| literal(folder)).collect::<Vec<_>>(),
        });
        let Metadata { title, author, subject, keywords } = &self.metadata;
        let given = [("title", title), ("author", author), ("subject", subject), ("keywords", keywords)];
        let given = given.into_iter().filter_map(|(name, text)| Some((name, literal(text.as_deref()?))));
        metadata["platen-properties"] = given.collect();
        let own = facts.properties.iter().map(|(name, latex)| (*name, literal(latex)));
        metadata["platen-own-properties"] = own.collect();
        metadata.to_string().into()
    }
}

/// Escapes a text for pandoc's metadata, which is parsed as Markdown: a punctuation character after a backslash is literal.
fn literal(text: &str) -> String {
    // Spaces of other widths stay.
    let line = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().fold(String::with_capacity(line.len()), |mut made, character| {
        if character.is_ascii_punctuation() {
            made.push('\\');
        }
        made.push(character);
        made
    })
}

/// The style with numbers; without its sorting where the list is in the order of citation.
fn style_of(citations: Citations) -> Bytes {
    let [begin, end] = BY_AUTHOR;
    let unsorted = || {
        let (before, rest) = NUMERIC.split_once(begin)?;
        let (_, after) = rest.split_once(end)?;
        Some(Bytes::from([before, end, after].concat()))
    };
    let whole = Bytes::from_static(NUMERIC.as_bytes());
    if citations == Citations::NumbersAsCited { unsorted().unwrap_or(whole) } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_in_a_text_is_escaped() {
        assert_eq!(literal(" T_1 <b>\n*x* "), "T\\_1 \\<b\\> \\*x\\*");
        assert_eq!(literal("1\u{202f}000"), "1\u{202f}000");
    }

    #[test]
    fn a_list_in_the_order_of_the_text_is_not_sorted() {
        let sorts = |citations| style_of(citations).windows(6).filter(|bytes| bytes == b"<sort>").count();
        assert_eq!((sorts(Citations::Numbers), sorts(Citations::NumbersAsCited)), (2, 1));
    }
}
