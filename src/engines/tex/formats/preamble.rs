//! How much of a source can be read ahead: the lines at its beginning that every document of its template has.
//!
//! Hazard: what is read ahead of one document is in the next one, too. So only lines are taken that are the template's own
//! text, without a tag, and that stand in the document just as they do in the template: then no data is in them. They
//! end where a tag stands, where something begins that a format does not keep, and where the document begins.

use std::fmt::Write as _;

/// What tags are written with, in comments as well.
const TAGS: [&str; 3] = ["<%", "%>", "\\VAR{"];
const BEGIN: &str = "\\begin{document}";
/// Without a class there is little to read.
const CLASS: &str = "\\documentclass";
/// What makes reading slow.
const PACKAGES: [&str; 2] = ["\\usepackage", "\\RequirePackage"];
/// What TeX does not write into a format, by the commands that leave it: open files, objects of the PDF, and what is
/// said of its fonts.
const LOST: [&str; 14] = [
    "\\makeindex",
    "\\makeglossar",
    "\\makenoidxglossar",
    "\\begin{filecontents",
    "\\openout",
    "\\openin",
    "\\pdfglyphtounicode",
    "\\pdfmapline",
    "\\pdfmapfile",
    "\\pdfobj",
    "\\pdfinfo",
    "\\pdfcatalog",
    "\\pdfcolorstackinit",
    "\\pdfximage",
];
/// Longer ones are read as they are.
const LIMIT_BYTES: usize = 256 << 10;
/// So many packages behind a tag are worth a word.
const SLOW_PACKAGES: usize = 3;
/// A text that LaTeX takes where a number, a length without its unit, or a word stands.
const SAMPLE: &str = "1";

/// The lines at the beginning of a template that are the same in each of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Preamble<'a> {
    /// Whole lines of the template.
    pub text: &'a str,
}

/// Where a preamble could not be read ahead to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines::tex) struct Halt {
    /// The line of the tag, from 1.
    pub line: usize,
    /// How many packages are behind it.
    pub packages: usize,
}

/// What of `template`, the text before anything was put into it, is read ahead of `source`, which was made of it.
pub(super) fn of<'a>(template: &'a str, source: &str) -> Option<Preamble<'a>> {
    let template = template.strip_prefix('\u{feff}').unwrap_or(template);
    let text = &template[..cut(template)];
    let is_worth = text.len() <= LIMIT_BYTES && text.lines().any(|line| code_of(line).contains(CLASS));
    (is_worth && source.starts_with(text)).then_some(Preamble { text })
}

/// The first tag of `template` that keeps many packages from being read ahead.
pub(super) fn halt(template: &str) -> Option<Halt> {
    let mut line_with_tag = None;
    let mut packages = 0;
    for (number, line) in (1..).zip(template.lines()) {
        if code_of(line).contains(BEGIN) {
            return line_with_tag
                .map(|line| Halt { line, packages })
                .filter(|halt| halt.packages >= SLOW_PACKAGES);
        }
        line_with_tag = line_with_tag.or_else(|| has_tag(line).then_some(number));
        packages += if line_with_tag.is_some() { packages_of(code_of(line)) } else { 0 };
    }
    None
}

/// Whether `text`, a file that a preamble may read, leaves what a format does not keep.
pub(super) fn is_lost(text: &str) -> bool {
    text.lines().any(|line| loses(code_of(line)))
}

impl Preamble<'_> {
    /// `source` with nothing in the place of what has been read: all other lines keep their numbers.
    pub fn left_of(&self, source: &str) -> String {
        let rest = source.get(self.text.len()..).unwrap_or_default();
        let mut left = "%\n".repeat(self.text.lines().count());
        left.push_str(rest);
        left
    }
}

/// `template` with something plain in the place of each value, and without its code: a document of no data at all.
pub(super) fn sample(template: &str) -> String {
    let mut made = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((at, tag)) = next_tag(rest) {
        made.push_str(&rest[..at]);
        let behind = &rest[at + tag.len()..];
        let end = if tag == "<%" {
            behind.find("%>").map(|end| (end, 2))
        } else {
            closing(behind).map(|end| (end, 1))
        };
        let Some((end, mark)) = end else { return made };
        if tag != "<%" || behind.starts_with(['=', '-']) {
            let _ = made.write_str(SAMPLE);
        }
        rest = &behind[end + mark..];
    }
    made.push_str(rest);
    made
}

/// Where the lines end that can be read ahead.
fn cut(template: &str) -> usize {
    let (mut at, mut cut) = (0, 0);
    let (mut braces, mut brackets) = (0_i64, 0_i64);
    for line in template.split_inclusive('\n') {
        let code = code_of(line);
        if has_tag(line) || code.contains(BEGIN) || loses(code) || !line.ends_with('\n') {
            return cut;
        }
        at += line.len();
        let mut is_escaped = false;
        for byte in code.bytes() {
            match byte {
                _ if is_escaped => {}
                b'{' => braces += 1,
                b'}' => braces -= 1,
                b'[' if braces == 0 => brackets += 1,
                b']' if braces == 0 => brackets -= 1,
                _ => {}
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        // A line that ends inside of an argument is one with the next.
        if braces == 0 && brackets == 0 {
            cut = at;
        }
    }
    // It begins no document that could be told.
    0
}

fn has_tag(line: &str) -> bool {
    TAGS.iter().any(|tag| line.contains(tag))
}

fn loses(code: &str) -> bool {
    code.contains('\\') && LOST.iter().any(|word| code.contains(word))
}

/// How many packages a line loads.
fn packages_of(code: &str) -> usize {
    let loaded = PACKAGES.iter().filter_map(|word| code.split_once(word));
    loaded.map(|(_, names)| 1 + names.rsplit('{').next().unwrap_or_default().matches(',').count()).sum()
}

fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    let found = [TAGS[0], TAGS[2]].into_iter().filter_map(|tag| text.find(tag).map(|at| (at, tag)));
    found.min_by_key(|(at, _)| *at)
}

/// Where the brace that is open at the beginning is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, byte) in text.bytes().enumerate() {
        depth += match byte {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The line without its comment.
fn code_of(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        if byte == b'%' && !is_escaped {
            return &line[..at];
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read ahead of a document that is the template itself.
    fn ahead(template: &str) -> &str {
        of(template, template.trim_start_matches('\u{feff}')).map_or("", |preamble| preamble.text)
    }

    #[test]
    fn whole_lines_are_read_ahead_up_to_what_differs_or_would_be_lost() {
        let class = "\\documentclass{article}\n";
        for (behind, kept) in [
            ("\\begin{document}", ""),
            ("\\usepackage{a}\n\\begin{document}", "\\usepackage{a}\n"),
            ("\\usepackage{a}\\begin{document}", ""),
            (
                "% \\begin{document}\n\\usepackage{a}\n\\begin{document}",
                "% \\begin{document}\n\\usepackage{a}\n",
            ),
            ("\\def\\x{\\%}\\begin{document}", ""),
            ("\\def\\x{\\% }\n\\begin{document}", "\\def\\x{\\% }\n"),
            ("\\usepackage{a}\n\\title{<%= t %>}\n\\usepackage{b}\n\\begin{document}", "\\usepackage{a}\n"),
            ("\\usepackage{a}\n\\title{\\VAR{t}}\n\\begin{document}", "\\usepackage{a}\n"),
            // EJS reads comments of LaTeX as well.
            ("\\usepackage{a}\n% <% if (x) { %>\n\\usepackage{b}\n\\begin{document}", "\\usepackage{a}\n"),
            ("<%# a\nb %>\n\\usepackage{b}\n\\begin{document}", ""),
            ("\\hypersetup{%\n  a={1},\n  b=<%= b %>\n}\n\\begin{document}", ""),
            ("\\usepackage[\n  a\n]{b}\n\\begin{document}", "\\usepackage[\n  a\n]{b}\n"),
            ("\\usepackage[\n  a=<%= a %>\n]{b}\n\\begin{document}", ""),
            ("\\def\\x{[}\n\\begin{document}", "\\def\\x{[}\n"),
            ("\\def\\x{\\{}\n\\begin{document}", "\\def\\x{\\{}\n"),
            ("\\usepackage{a}\n\\makeindex\n\\begin{document}", "\\usepackage{a}\n"),
            ("% \\makeindex\n\\begin{document}", "% \\makeindex\n"),
            ("\\begin{filecontents*}{x}\n\\end{filecontents*}\n\\begin{document}", ""),
            ("\\immediate\\openout3=x\n\\begin{document}", ""),
            ("\\pdfglyphtounicode{a}{0041}\n\\begin{document}", ""),
            ("\\usepackage{a}\r\n\\begin{document}", "\\usepackage{a}\r\n"),
            ("\n\n\\begin{document}\n\\begin{document}", "\n\n"),
        ] {
            assert_eq!(ahead(&format!("{class}{behind}")), format!("{class}{kept}"), "{behind}");
        }
    }

    #[test]
    fn nothing_is_read_ahead_where_it_is_not_the_templates_own_or_not_worth_it() {
        let template = "\\documentclass{article}\n\\usepackage{a}\n\\begin{document}";
        for (template, source) in [
            ("\\usepackage{a}\n\\begin{document}", None),
            ("%\\documentclass{a}\n\\begin{document}", None),
            ("\\documentclass{article}\n\\usepackage{a}\n", None),
            ("<% x %>\\documentclass{article}\n\\begin{document}", None),
            (template, Some("\\documentclass{article}\n\\usepackage{b}\n\\begin{document}")),
            (template, Some("")),
            (template, Some("%\n\\documentclass{article}\n\\usepackage{a}\n\\begin{document}")),
        ] {
            assert_eq!(of(template, source.unwrap_or(template)), None, "{template}");
        }
        let long = format!("\\documentclass{{a}}\n{}\\begin{{document}}", "%\n".repeat(LIMIT_BYTES));
        assert_eq!(of(&long, &long), None);
        assert_eq!(ahead(&format!("\u{feff}{template}")), "\\documentclass{article}\n\\usepackage{a}\n");
    }

    #[test]
    fn what_is_left_keeps_the_numbers_of_its_lines() {
        let template = "\\documentclass{a}\n\n\\usepackage{b}\n<%= x %>\n\\begin{document}\n";
        let source = "\\documentclass{a}\n\n\\usepackage{b}\ny\n\\begin{document}\n";
        let left = of(template, source).unwrap().left_of(source);
        assert_eq!(left, "%\n%\n%\ny\n\\begin{document}\n");
    }

    #[test]
    fn a_sample_has_plain_values_and_no_code() {
        for (template, made) in [
            ("a", "a"),
            ("a<%= b %>c<%- d %>e", "a1c1e"),
            ("<% for (;;) { %>a<% } %><%# b %>", "a"),
            ("\\num{\\VAR{a.map(x => { return x })}}b", "\\num{1}b"),
            ("a<%= b", "a"),
            ("a\\VAR{b", "a"),
        ] {
            assert_eq!(sample(template), made, "{template}");
        }
    }

    #[test]
    fn a_tag_before_many_packages_is_told() {
        let told = |template: &str| halt(template).map(|halt| (halt.line, halt.packages));
        let packages = "\\usepackage{a,b}\n\\usepackage[x]{c}\n\\begin{document}\n\\usepackage{d}";
        assert_eq!(told(&format!("\\title{{<%= t %>}}\n{packages}")), Some((1, 3)));
        assert_eq!(told(packages), None);
        assert_eq!(told("\\title{<%= t %>}\n\\usepackage{a}\n%\\usepackage{b,c,d}\n\\begin{document}"), None);
        assert_eq!(told("\\usepackage{a,b,c}\n\\title{<%= t %>}\n\\begin{document}"), None);
    }
}
