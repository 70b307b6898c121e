//! How much of a source can go into a format: the first lines, which are the same in every document of its template.
//!
//! Hazard: what is dumped with one document appears in all later ones. So only lines without a tag are taken, and only
//! where document and template have the same text: then they hold no data. They end at the first tag, at a command whose
//! effect a format does not store, and at `\begin{document}`.
//!
//! A line that only fills a macro, as `\title{<%= title %>}`, does not end them: it stays in the source and is read after
//! the format. Its value is escaped and has no line breaks, so it stays one line. Whether reading it later changes the
//! pages is found by the test of the format (`make.rs`).

use latex_pandoc::{code_of, without_comments};
use memchr::memmem;

use super::tags::{Tag, has_tag, without_tags};

/// A tag that writes a value unescaped, or includes a file.
const RAW: &str = "<%-";
const BEGIN: &str = "\\begin{document}";
/// A preamble without a class is too short to be worth a format.
const CLASS: &str = "\\documentclass";
/// Commands that load packages, which is what takes time.
const PACKAGES: [&str; 2] = ["\\usepackage", "\\RequirePackage"];
/// Commands whose effect a format does not store: open files, PDF objects, and font maps.
const UNDUMPABLE: [&str; 14] = [
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
/// Longer preambles get no format, and no line behind so many bytes is looked at: a template may be 90 MB of line ends.
const LIMIT_BYTES: usize = 256 << 10;
/// The author is warned of a tag with so many packages after it.
const SLOW_PACKAGES: usize = 3;
/// A value for the test: LaTeX accepts it as a number, a length without unit, and a word.
const SAMPLE: &str = "1";
/// A value for the test in lines that fill a macro: characters whose meaning packages may change.
const FILLING: &str = "1: A; b! c? (d) @e/f 'g' h-i é";
/// How a line begins that fills a macro.
const FILLERS: [&str; 10] = [
    "\\title{",
    "\\subtitle{",
    "\\author{",
    "\\date{",
    "\\subject{",
    "\\hypersetup{",
    "\\newcommand{",
    "\\newcommand\\",
    "\\renewcommand{",
    "\\def\\",
];

/// The lines at the beginning of a template that are the same in each of its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Preamble {
    /// These lines.
    pub text: String,
    /// For each line of the template up to the last of these: true for one of them, false for one that fills a macro.
    is_fixed: Vec<bool>,
}

/// A tag that ends the part of a preamble that can be dumped, although many packages follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines::tex) struct EarlyTag {
    /// The line of the tag, from 1.
    pub line: usize,
    /// How many packages are loaded after it.
    pub packages: usize,
}

/// The preamble that can be dumped, from the `template`'s text and the `source` that was rendered from it.
pub(super) fn of(template: &str, source: &str) -> Option<Preamble> {
    let mut is_fixed = head(template);
    let bytes = template.split_inclusive('\n').take(is_fixed.len()).map(str::len).sum();
    let behind: &str = template.get(bytes..).unwrap_or_default();
    // An unescaped value may use a macro that is now filled later than its author expects, which the test cannot show.
    if memmem::find(behind.as_bytes(), RAW.as_bytes()).is_some() {
        is_fixed.truncate(is_fixed.iter().position(|is_fixed| !is_fixed).unwrap_or(is_fixed.len()));
    }
    let mut text = String::new();
    let mut lines = source.split_inclusive('\n');
    for (line, &is_fixed) in template.split_inclusive('\n').zip(&is_fixed) {
        let now = lines.next()?;
        if is_fixed && now == line {
            text.push_str(line);
        } else if is_fixed || !is_filled(line, now) {
            return None;
        }
    }
    let is_worth = without_comments(&text).contains(CLASS);
    is_worth.then_some(Preamble { text, is_fixed })
}

/// The first tag of `template` that keeps many packages out of a format.
pub(super) fn early_tag(template: &str) -> Option<EarlyTag> {
    let mut line_with_tag = None;
    let mut packages = 0;
    for (number, line) in (1..).zip(first_lines(template)) {
        if code_of(line).contains(BEGIN) {
            return line_with_tag
                .map(|line| EarlyTag { line, packages })
                .filter(|tag| tag.packages >= SLOW_PACKAGES);
        }
        let is_early = has_tag(line) && filler(line).is_none();
        line_with_tag = line_with_tag.or_else(|| is_early.then_some(number));
        packages += if line_with_tag.is_some() { packages_of(code_of(line)) } else { 0 };
    }
    None
}

/// Whether `text`, a file that a preamble may read, has a command whose effect a format does not store.
pub(super) fn has_undumpable(text: &str) -> bool {
    is_undumpable(&without_comments(text))
}

/// The lines within the first [`LIMIT_BYTES`], each with its end.
fn first_lines(template: &str) -> impl Iterator<Item = &str> {
    let mut bytes = 0;
    template.split_inclusive('\n').take_while(move |line| {
        bytes += line.len();
        bytes <= LIMIT_BYTES
    })
}

impl Preamble {
    /// `source` with empty comments in place of the dumped lines, so that all other lines keep their numbers.
    pub fn left_of(&self, source: &str) -> String {
        let head = self.head_of(source);
        let lines = head.split_inclusive('\n').zip(&self.is_fixed);
        let left = lines.map(|(line, &is_fixed)| if is_fixed { "%\n" } else { line });
        left.chain(source.get(head.len()..)).collect()
    }

    /// Whether a line that fills a macro is read after lines that follow it.
    pub fn is_reordered(&self) -> bool {
        self.is_fixed.contains(&false)
    }

    /// `template` with a plain text in place of each value and without its code: a document without data, for the test.
    pub fn sample(&self, template: &str) -> String {
        let head = self.head_of(template);
        let lines = head.split_inclusive('\n').zip(&self.is_fixed);
        let filled = lines
            .map(|(line, &is_fixed)| if is_fixed { line.to_owned() } else { without_tags(line, FILLING) });
        let behind = template.get(head.len()..).unwrap_or_default();
        filled.chain([without_tags(behind, SAMPLE)]).collect()
    }

    /// The lines of `template`, or of what was made of it, up to the last that is dumped.
    pub fn head_of<'a>(&self, template: &'a str) -> &'a str {
        let bytes = template.split_inclusive('\n').take(self.is_fixed.len()).map(str::len).sum();
        template.get(..bytes).unwrap_or_default()
    }
}

/// The text before the first and after the last value of a line that only fills a macro with escaped values.
fn filler(line: &str) -> Option<(&str, &str)> {
    let text = line.trim_end();
    let begins = FILLERS.iter().any(|word| text.starts_with(word));
    let (mut at, mut before) = (0, None);
    while let Some(tag) = Tag::first_of(&text[at..]).filter(|_| begins) {
        if !tag.is_escaped {
            return None;
        }
        before = before.or_else(|| text.get(..tag.begin));
        at += tag.end;
    }
    let behind = line.get(at..)?;
    let (braces, _) = depth(code_of(&without_tags(text, "")), (0, 0));
    let is_whole = text.ends_with('}') && braces == 0 && !behind.contains('%');
    before.filter(|before| is_whole && !before.contains('%')).map(|before| (before, behind))
}

/// Whether `now`, a line of the document, is the template's `line` that fills a macro, with values in it.
fn is_filled(line: &str, now: &str) -> bool {
    filler(line).is_some_and(|(before, behind)| {
        now.len() >= before.len() + behind.len() && now.starts_with(before) && now.ends_with(behind)
    })
}

/// For each line of a template up to the last that can be dumped: true where it is, false where it fills a macro.
fn head(template: &str) -> Vec<bool> {
    let (mut is_fixed, mut count) = (Vec::new(), 0);
    let (mut braces, mut brackets) = (0, 0);
    for line in first_lines(template) {
        let code = code_of(line);
        let is_inside = braces != 0 || brackets != 0;
        let is_tagged = has_tag(line);
        let is_end = is_tagged && (is_inside || filler(line).is_none());
        if is_end || !line.ends_with('\n') || !is_tagged && (code.contains(BEGIN) || is_undumpable(code)) {
            is_fixed.truncate(count);
            return is_fixed;
        }
        is_fixed.push(!is_tagged);
        if !is_tagged {
            (braces, brackets) = depth(code, (braces, brackets));
            // An argument that spans lines is taken as a whole.
            count = if braces == 0 && brackets == 0 { is_fixed.len() } else { count };
        }
    }
    // There is no `\begin{document}` in the template's own text, or too far behind its beginning.
    Vec::new()
}

/// How many braces and, outside of these, brackets are open after a line; the arguments are those open before it.
fn depth(code: &str, (mut braces, mut brackets): (i64, i64)) -> (i64, i64) {
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
    (braces, brackets)
}

fn is_undumpable(code: &str) -> bool {
    code.contains('\\') && UNDUMPABLE.iter().any(|word| code.contains(word))
}

/// How many packages a line loads.
fn packages_of(code: &str) -> usize {
    let loaded = PACKAGES.iter().filter_map(|word| code.split_once(word));
    loaded.map(|(_, names)| 1 + names.rsplit('{').next().unwrap_or_default().matches(',').count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read ahead of a document that is the template itself.
    fn ahead(template: &str) -> String {
        of(template, template).map(|preamble| preamble.text).unwrap_or_default()
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
            ("\\usepackage{a}\n\\input{<%= t %>}\n\\usepackage{b}\n\\begin{document}", "\\usepackage{a}\n"),
            ("\\usepackage{a}\n\\title{\\VAR{t}}\n\\begin{document}", "\\usepackage{a}\n"),
            // What fills a macro is read behind all that can be read ahead.
            ("\\title{<%= t %> a}\n\\usepackage{b}\n\\begin{document}", "\\usepackage{b}\n"),
            ("\\newcommand{\\x}{\\VAR{t}}\n\\usepackage{b}\n\\begin{document}", "\\usepackage{b}\n"),
            ("\\title{<%- t %>}\n\\usepackage{b}\n\\begin{document}", ""),
            ("\\title{<%= t %>} % a\n\\usepackage{b}\n\\begin{document}", ""),
            ("\\title{<%= t %>\n}\n\\usepackage{b}\n\\begin{document}", ""),
            ("\\title{<% t %>}\n\\usepackage{b}\n\\begin{document}", ""),
            ("a{\n\\title{<%= t %>}\n}\n\\begin{document}", ""),
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
        assert_eq!(ahead(template), "\\documentclass{article}\n\\usepackage{a}\n");
    }

    #[test]
    fn what_is_left_keeps_the_numbers_of_its_lines() {
        let template =
            "\\documentclass{a}\n\\title{a <%= t %> b}\n\\usepackage{b}\n<%= x %>\n\\begin{document}\n";
        let source = "\\documentclass{a}\n\\title{a one b}\n\\usepackage{b}\ny\n\\begin{document}\n";
        let preamble = of(template, source).unwrap();
        assert_eq!(preamble.text, "\\documentclass{a}\n\\usepackage{b}\n");
        assert_eq!(preamble.left_of(source), "%\n\\title{a one b}\n%\ny\n\\begin{document}\n");
        assert!(preamble.is_reordered());
        // A line in its place that is not made of it.
        for (from, to) in [(" b}", "}"), ("\\title", "\\author"), ("{b}", "{c}"), ("one", "o\nne")] {
            assert_eq!(of(template, &source.replace(from, to)), None, "{to}");
        }
    }

    #[test]
    fn a_sample_has_plain_values_and_no_code() {
        let class = "\\documentclass{a}\n";
        for (template, made) in [
            ("a", "a"),
            ("a<%= b %>c<%- d %>e", "a1c1e"),
            ("<% for (;;) { %>a<% } %><%# b %>", "a"),
            ("\\num{\\VAR{a.map(x => { return x })}}b", "\\num{1}b"),
            (
                "\\title{<%= t %>}\n\\x{}\n\\input{<%= t %>}",
                &format!("\\title{{{FILLING}}}\n\\x{{}}\n\\input{{1}}"),
            ),
        ] {
            let template = format!("{class}{template}\n\\begin{{document}}");
            let preamble = Preamble { text: String::new(), is_fixed: head(&template) };
            assert_eq!(preamble.sample(&template), format!("{class}{made}\n\\begin{{document}}"));
        }
    }

    #[test]
    fn a_tag_before_many_packages_is_reported() {
        let found = |template: &str| early_tag(template).map(|tag| (tag.line, tag.packages));
        let packages = "\\usepackage{a,b}\n\\usepackage[x]{c}\n\\begin{document}\n\\usepackage{d}";
        assert_eq!(found(&format!("\\input{{<%= t %>}}\n{packages}")), Some((1, 3)));
        assert_eq!(found(&format!("\\title{{<%= t %>}}\n{packages}")), None);
        assert_eq!(found(packages), None);
        assert_eq!(
            found("\\input{<%= t %>}\n\\usepackage{a}\n%\\usepackage{b,c,d}\n\\begin{document}"),
            None
        );
        assert_eq!(found("\\usepackage{a,b,c}\n\\title{<%= t %>}\n\\begin{document}"), None);
    }
}
