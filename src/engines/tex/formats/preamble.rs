//! How much of a source can be read ahead: the lines at its beginning that every document of its template has.
//!
//! Hazard: what is read ahead of one document is in the next one, too. So only lines are taken that are the template's own
//! text, without a tag, and that stand in the document just as they do in the template: then no data is in them. They
//! end where a tag stands, where something begins that a format does not keep, and where the document begins.
//!
//! A line that does nothing but fill a macro, as `\title{<%= title %>}`, may stand among them: it is read behind them all. A
//! value is escaped and has no line breaks, so such a line is one line of the document. Whether it makes a difference that it
//! is read later, the pages tell by which a format is tried.

use latex_pandoc::code_of;

/// What tags are written with, in comments as well.
const TAGS: [&str; 3] = ["<%", "%>", "\\VAR{"];
/// What writes a value as it is, and includes.
const RAW: &str = "<%-";
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
/// A text in the place of what fills a macro, of signs that packages change the meaning of.
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
    /// For each line of the template up to the last of these, whether it is one of them, or fills a macro.
    is_fixed: Vec<bool>,
}

/// A tag because of which a preamble is not read ahead to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines::tex) struct EarlyTag {
    /// The line of the tag, from 1.
    pub line: usize,
    /// How many packages are behind it.
    pub packages: usize,
}

/// What of `template`, the text before anything was put into it, is read ahead of `source`, which was made of it.
pub(super) fn of(template: &str, source: &str) -> Option<Preamble> {
    let mut is_fixed = head(template);
    let bytes = template.split_inclusive('\n').take(is_fixed.len()).map(str::len).sum();
    let behind: &str = template.get(bytes..).unwrap_or_default();
    // What is printed as it is may ask for a macro that is filled later than its author thinks, and no trial shows that.
    if behind.contains(RAW) {
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
    let is_worth = text.len() <= LIMIT_BYTES && text.lines().any(|line| code_of(line).contains(CLASS));
    is_worth.then_some(Preamble { text, is_fixed })
}

/// The first tag of `template` that keeps many packages from being read ahead.
pub(super) fn early_tag(template: &str) -> Option<EarlyTag> {
    let mut line_with_tag = None;
    let mut packages = 0;
    for (number, line) in (1..).zip(template.lines()) {
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

/// Whether `text`, a file that a preamble may read, leaves what a format does not keep.
pub(super) fn is_lost(text: &str) -> bool {
    text.lines().any(|line| loses(code_of(line)))
}

impl Preamble {
    /// `source` with nothing in the place of what has been read: all other lines keep their numbers.
    pub fn left_of(&self, source: &str) -> String {
        let lines = source.split_inclusive('\n').enumerate();
        lines.map(|(at, line)| if self.is_fixed.get(at) == Some(&true) { "%\n" } else { line }).collect()
    }

    /// Whether a line is read later than it stands.
    pub fn is_reordered(&self) -> bool {
        self.is_fixed.contains(&false)
    }

    /// `template` with something plain in the place of each value, and without its code: a document of no data at all.
    pub fn sample(&self, template: &str) -> String {
        let head = self.head_of(template);
        let lines = head.split_inclusive('\n').zip(&self.is_fixed);
        let filled = lines
            .map(|(line, &is_fixed)| if is_fixed { line.to_owned() } else { without_tags(line, FILLING) });
        let behind = template.get(head.len()..).unwrap_or_default();
        filled.chain([without_tags(behind, SAMPLE)]).collect()
    }

    /// The lines of `template` up to the last that is read ahead.
    pub fn head_of<'a>(&self, template: &'a str) -> &'a str {
        let bytes = template.split_inclusive('\n').take(self.is_fixed.len()).map(str::len).sum();
        template.get(..bytes).unwrap_or_default()
    }
}

/// The text without its tags: `value` for each that writes one, nothing for code.
fn without_tags(text: &str, value: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(tag) = Tag::first_of(rest) {
        made.push_str(&rest[..tag.begin]);
        if tag.is_value {
            made.push_str(value);
        }
        rest = &rest[tag.end..];
    }
    made.push_str(rest);
    made
}

/// A tag in a text.
struct Tag {
    begin: usize,
    /// Behind it; the text's end where it has none.
    end: usize,
    /// It writes a value.
    is_value: bool,
    /// That value is escaped.
    is_escaped: bool,
}

impl Tag {
    fn first_of(text: &str) -> Option<Self> {
        let [open, _, variable] = TAGS;
        // One pass: a look for each mark by itself would read the rest of the text for the one that is not there.
        let mut places = memchr::memchr2_iter(b'<', b'\\', text.as_bytes());
        let begin = places.find(|&at| text[at..].starts_with(open) || text[at..].starts_with(variable))?;
        let tag = &text[begin..];
        let end_behind = |inside: usize, end: Option<usize>, mark: usize| {
            end.map_or(text.len(), |end| begin + inside + end + mark)
        };
        if let Some(inside) = tag.strip_prefix(variable) {
            let end = end_behind(variable.len(), closing(inside), 1);
            return Some(Self { begin, end, is_value: true, is_escaped: true });
        }
        let end = end_behind(open.len(), tag[open.len()..].find("%>"), "%>".len());
        let is_escaped = tag.starts_with("<%=");
        Some(Self { begin, end, is_value: is_escaped || tag.starts_with("<%-"), is_escaped })
    }
}

/// What stands around the values of a line that does nothing but fill a macro with escaped ones.
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

/// Whether `now` is `line`, which fills a macro, with values in it.
fn is_filled(line: &str, now: &str) -> bool {
    filler(line).is_some_and(|(before, behind)| {
        now.len() >= before.len() + behind.len() && now.starts_with(before) && now.ends_with(behind)
    })
}

/// For each line of a template up to the last that can be read ahead: whether it is, or fills a macro.
fn head(template: &str) -> Vec<bool> {
    let (mut is_fixed, mut count) = (Vec::new(), 0);
    let (mut braces, mut brackets) = (0, 0);
    for line in template.split_inclusive('\n') {
        let code = code_of(line);
        let is_inside = braces != 0 || brackets != 0;
        let is_tagged = has_tag(line);
        let is_end = is_tagged && (is_inside || filler(line).is_none());
        if is_end || !line.ends_with('\n') || !is_tagged && (code.contains(BEGIN) || loses(code)) {
            is_fixed.truncate(count);
            return is_fixed;
        }
        is_fixed.push(!is_tagged);
        if !is_tagged {
            (braces, brackets) = depth(code, (braces, brackets));
            // A line that ends inside of an argument is one with the next.
            count = if braces == 0 && brackets == 0 { is_fixed.len() } else { count };
        }
    }
    // It begins no document that could be told.
    Vec::new()
}

/// How many braces and, outside of these, brackets are open behind a line, before which so many are.
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
    fn a_tag_before_many_packages_is_told() {
        let told = |template: &str| early_tag(template).map(|tag| (tag.line, tag.packages));
        let packages = "\\usepackage{a,b}\n\\usepackage[x]{c}\n\\begin{document}\n\\usepackage{d}";
        assert_eq!(told(&format!("\\input{{<%= t %>}}\n{packages}")), Some((1, 3)));
        assert_eq!(told(&format!("\\title{{<%= t %>}}\n{packages}")), None);
        assert_eq!(told(packages), None);
        assert_eq!(told("\\input{<%= t %>}\n\\usepackage{a}\n%\\usepackage{b,c,d}\n\\begin{document}"), None);
        assert_eq!(told("\\usepackage{a,b,c}\n\\title{<%= t %>}\n\\begin{document}"), None);
    }
}
