//! Whether a page may have rules of `@page` that matter: only then is the page asked for them, which costs a call
//! (`src/browser/output/page_rules.rs`).
//!
//! One pass over the raw bytes. It errs to `true`, but for a rule that is spelled with escapes, which costs a warning.

use bytes::Bytes;

use super::markup::begins;
use crate::domain::format_opts::PageOptions;
use crate::domain::paper::CssSize;
use crate::domain::site::Site;

const RULE: &[u8] = b"@page";
/// Endings of files that style a page, or write what does.
const STYLING: [&str; 7] = ["css", "js", "mjs", "html", "htm", "xhtml", "json"];
/// A longer rule has more than a size and margins.
const RULE_LIMIT_BYTES: usize = 256;

/// The files in which rules may be: the page alone where it refers to nothing.
pub fn files_with_styles(site: &Site, is_alone: bool) -> Vec<Bytes> {
    let beside = site.paths().filter(|path| !is_alone && *path != site.entry() && is_styling(path));
    let beside = beside.filter_map(|path| site.get(path));
    site.page().into_iter().chain(beside).cloned().collect()
}

/// Whether `text` may have a rule that wins over the options, or loses against them. Where no rule changes anything by
/// itself, none does, whichever apply.
pub fn rules_may_matter(text: &[u8], options: &PageOptions) -> bool {
    let rules = memchr::memchr_iter(b'@', text).map(|at| &text[at..]).filter(|text| begins(text, RULE));
    rules.map(|text| &text[RULE.len()..]).any(|text| !changes_nothing(text, options).unwrap_or(false))
}

/// Whether the rule whose text this is changes nothing; `None` where it is not simple enough to tell.
fn changes_nothing(text: &[u8], options: &PageOptions) -> Option<bool> {
    // The height of the page depends on every margin, and on no size (`src/browser/output/auto_height.rs`).
    if options.auto_height {
        return Some(false);
    }
    let text = &text[..text.len().min(RULE_LIMIT_BYTES)];
    let (begin, end) = (memchr::memchr(b'{', text)?, memchr::memchr(b'}', text)?);
    let rule = std::str::from_utf8(text.get(begin + 1..end)?).ok()?;
    if rule.contains(['{', '\\', '/', '"', '\'', '(', '!']) {
        return None;
    }
    let has_chosen = options.given.margin.contains(&true) || options.extras.has_header_or_footer();
    let sheet = options.sheet();
    for declaration in rule.split(';') {
        let (name, value) = declaration.split_once(':').unwrap_or((declaration, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "size" => {
                let size = CssSize::of(value.trim());
                if size == CssSize::Unknown || !size.laid_out(sheet).is_same(sheet) {
                    return Some(false);
                }
            }
            name if name.starts_with("margin") && has_chosen => return Some(false),
            _ => {}
        }
    }
    Some(true)
}

fn is_styling(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| STYLING.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::format_opts::{self, OptionLimits};
    use crate::domain::site::Files;

    fn matters(text: &str, opts: &str) -> bool {
        let reading = format_opts::read(serde_json::from_str(opts).unwrap(), &OptionLimits::ADMITTED);
        rules_may_matter(text.as_bytes(), &reading.options)
    }

    #[test]
    fn a_rule_costs_something_only_where_it_may_change_something() {
        for (text, opts, expected) in [
            ("<p>a@example.com, @pag, page@", r#"{"margin":9}"#, false),
            ("<style>@page { size: A4; margin: 0 }</style>", "{}", false),
            ("@page{size:210mm 297mm;margin:1cm 2cm}@page wide{ margin-top : 0 }", "{}", false),
            ("@page{size:A5 landscape}", r#"{"format":"a5","landscape":true}"#, false),
            ("@PAGE :first{size:auto}", r#"{"preferCssPageSize":true}"#, false),
            ("@page{}", r#"{"margin":9,"headerTemplate":"h"}"#, false),
            ("<style>p{} @PAGE:first{size:A5}", "{}", true),
            ("@page{size:A4}", r#"{"format":"letter"}"#, true),
            ("@page{size:A4}", r#"{"landscape":true}"#, true),
            ("@page{size:landscape}", "{}", true),
            ("@page{size:A4;margin:0}", r#"{"margin":{"top":1}}"#, true),
            ("@page{MARGIN-top:0}", r#"{"footerTemplate":"f"}"#, true),
            ("@page{size:A4}@page x{size:A5}", "{}", true),
            ("@page{size:50em 60em}", "{}", true),
            ("@page{size:calc(210mm + 1px) 297mm}", "{}", true),
            ("@page{/*}*/size:A5}", "{}", true),
            ("@page{@top-left{content:'a'} size:A5}", "{}", true),
            ("@page{si\\7a e:A5}", "{}", true),
            ("@page{size:A5", "{}", true),
            ("@page{margin:10mm}", r#"{"width":"80mm","height":"auto"}"#, true),
            ("@page{size:A4;margin:0}", r#"{"height":"auto"}"#, true),
        ] {
            assert_eq!(matters(text, opts), expected, "{text} {opts}");
        }
    }

    #[test]
    fn rules_are_looked_for_where_they_may_be() {
        let files = [("index.html", "@page"), ("a.CSS", "@page"), ("b.png", "@page"), ("c.js", "x")];
        let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text.as_bytes())));
        let site = Site::new("index.html", Files::from(files)).with_page(Bytes::from_static(b"p"));
        let seen = |is_alone| files_with_styles(&site, is_alone);
        assert_eq!(seen(true), ["p"]);
        assert_eq!(seen(false), ["p", "@page", "x"]);
    }
}
