//! What a source says of the document as a whole, and pandoc does not read.

use crate::language::language;
use crate::texts::without_comments;

/// Bibliography styles that name author and year in the text.
const BY_YEAR: [&str; 14] = [
    "plainnat",
    "abbrvnat",
    "unsrtnat",
    "apalike",
    "apacite",
    "apa",
    "chicago",
    "harvard",
    "agsm",
    "dcu",
    "authoryear",
    "authoryear-comp",
    "authoryear-icomp",
    "authortitle",
];
/// And those that number what they name in the order in which it is cited.
const AS_CITED: [&str; 6] = ["unsrt", "ieeetr", "IEEEtran", "ieee", "nature", "science"];

/// How the text names what it cites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Citations {
    /// By author and year.
    #[default]
    ByYear,
    /// By numbers, in the order of authors.
    Numbers,
    /// By numbers, in the order of the text.
    NumbersAsCited,
}

/// What a source says of the document as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its language as a tag (BCP 47).
    pub language: Option<&'static str>,
    /// It has a table of contents.
    pub contents: bool,
    /// It has chapters, by whose number everything else is numbered.
    pub chapters: bool,
    /// How the text names what it cites.
    pub citations: Citations,
    /// Folders in which pictures lie, each with a slash at its end.
    pub folders: Vec<String>,
    /// What it has hyperref say of it: `title`, `author`, `subject`, `keywords`, as LaTeX.
    pub properties: Vec<(&'static str, String)>,
}

impl Facts {
    /// What `source` says.
    pub fn of(source: &str) -> Self {
        let code = without_comments(source);
        let preamble = code.split("\\begin{document}").next().unwrap_or_default();
        let class = argument(preamble, "\\documentclass").unwrap_or_default();
        Self {
            language: language(preamble),
            contents: code.contains("\\tableofcontents"),
            chapters: ["book", "report", "scrbook", "scrreprt", "memoir"].contains(&class),
            citations: citations(&code),
            folders: folders(&code),
            properties: properties(preamble),
        }
    }
}

fn citations(code: &str) -> Citations {
    let style = argument(code, "\\bibliographystyle").or_else(|| biblatex_style(code));
    let is_unsorted = code.contains("sorting=none");
    match style {
        Some(style) if BY_YEAR.contains(&style) && !code.contains("[numbers") => Citations::ByYear,
        Some(style) if AS_CITED.contains(&style) || is_unsorted => Citations::NumbersAsCited,
        Some(_) => Citations::Numbers,
        None => Citations::ByYear,
    }
}

/// biblatex numbers, where it is told nothing else.
fn biblatex_style(code: &str) -> Option<&str> {
    let (before, _) = code.split_once("{biblatex}")?;
    let options = before.rsplit_once("\\usepackage").map_or("", |(_, options)| options);
    let style = options.split(['[', ',', ']']).find_map(|option| option.trim().strip_prefix("style="));
    Some(style.map_or("numeric", str::trim))
}

/// `\graphicspath{{pictures/}{plots/}}`
fn folders(code: &str) -> Vec<String> {
    let Some((_, rest)) = code.split_once("\\graphicspath") else { return Vec::new() };
    let list = rest.split("}}").next().unwrap_or_default();
    let names = list.split(['{', '}']).map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| if name.ends_with('/') { name.to_owned() } else { format!("{name}/") }).collect()
}

/// `\hypersetup{pdftitle={On paper}, pdfauthor=Ada}`; of several the last.
fn properties(preamble: &str) -> Vec<(&'static str, String)> {
    let keys = [
        ("title", "pdftitle"),
        ("author", "pdfauthor"),
        ("subject", "pdfsubject"),
        ("keywords", "pdfkeywords"),
    ];
    let value = |key| {
        let (_, rest) = preamble.rsplit_once(key)?;
        let value = value(rest.trim_start().strip_prefix('=')?.trim_start());
        (!value.is_empty()).then(|| value.to_owned())
    };
    keys.into_iter().filter_map(|(name, key)| Some((name, value(key)?))).collect()
}

/// The value of a key at the beginning of `rest`: up to a comma or the end of the list, beyond braces.
fn value(rest: &str) -> &str {
    let (mut depth, mut is_escaped) = (0_usize, false);
    let end = rest.char_indices().find(|(_, letter)| {
        let (is_end, deeper) = match letter {
            _ if is_escaped => (false, depth),
            '{' => (false, depth + 1),
            '}' | ',' | ']' if depth == 0 => (true, 0),
            '}' => (false, depth - 1),
            _ => (false, depth),
        };
        is_escaped = *letter == '\\' && !is_escaped;
        depth = deeper;
        is_end
    });
    rest.get(..end.map_or(rest.len(), |(at, _)| at)).unwrap_or_default().trim()
}

/// The first argument in braces of the first `command`.
fn argument<'a>(code: &'a str, command: &str) -> Option<&'a str> {
    let (_, rest) = code.split_once(command)?;
    let (_, rest) = rest.split_once('{')?;
    rest.split('}').next().map(str::trim)
}
