//! What a page's style sheets say of every sheet (`@page`), read before it is shown: it is laid out as large as that.
//!
//! Hazard: which rules hold is known once all scripts have run, and then their charts are drawn. So the last rule that is
//! written counts. Where that is wrong, a chart has another width than its sheet; the print itself asks the page
//! (`src/browser/output/page_rules.rs`).

use bytes::Bytes;
use cssparser::{BasicParseError, Parser, ParserInput, Token};

use super::markup::places;
use crate::domain::format_opts::CssPage;
use crate::domain::paper::{CssSize, SIDES, css_length_in};
use crate::domain::site::Site;

const RULE: &[u8] = b"@page";
/// Most rules that are read: the last one counts, and a page has a few.
const RULES_LIMIT: usize = 1_000;
/// A longer rule is not read to its end.
const RULE_LIMIT_BYTES: usize = 4_096;

/// The style sheets of a page, and the page itself last.
pub fn sheets(site: &Site) -> Vec<Bytes> {
    let beside = site.paths().filter(|path| path.to_ascii_lowercase().ends_with(".css"));
    beside.filter_map(|path| site.get(path)).chain(site.page()).cloned().collect()
}

/// What the rules for every page say in `sheets`.
pub fn said_of_every_page(sheets: &[Bytes]) -> CssPage {
    let mut said = CssPage::default();
    let rules = sheets.iter().flat_map(|sheet| places(sheet, RULE).map(|at| &sheet[at + RULE.len()..]));
    for rule in rules.take(RULES_LIMIT) {
        read_rule(&String::from_utf8_lossy(&rule[..rule.len().min(RULE_LIMIT_BYTES)]), &mut said);
    }
    said
}

/// Reads the rule that begins behind its keyword, unless it is for some pages only.
fn read_rule(text: &str, said: &mut CssPage) {
    let mut input = ParserInput::new(text);
    let mut parser = Parser::new(&mut input);
    if matches!(parser.next(), Ok(Token::CurlyBracketBlock)) {
        let _ = parser.parse_nested_block(|block| {
            while let Ok(token) = block.next().cloned() {
                // Of a box in the margin (`@top-left`) only its block is met, which is passed over.
                if let Token::Ident(name) = token {
                    let _ = read_declaration(&name.to_ascii_lowercase(), block, said);
                }
            }
            Ok::<_, cssparser::ParseError<'_, ()>>(())
        });
    }
}

fn read_declaration<'i>(
    name: &str,
    block: &mut Parser<'i, '_>,
    said: &mut CssPage,
) -> Result<(), BasicParseError<'i>> {
    block.expect_colon()?;
    let begin = block.position();
    while !matches!(block.next(), Ok(Token::Semicolon) | Err(_)) {}
    let value = block.slice_from(begin).trim_end_matches(';');
    let value = value.split('!').next().unwrap_or_default().trim();
    let lengths: Vec<_> = value.split_whitespace().map(css_length_in).collect();
    let side = name.strip_prefix("margin-").and_then(|side| SIDES.iter().position(|known| *known == side));
    match (name, side, lengths.as_slice()) {
        ("size", ..) => said.size = CssSize::of(value),
        (_, Some(side), &[length @ Some(_)]) => said.margin[side] = length,
        ("margin", _, &[all]) => said.margin = [all; 4],
        ("margin", _, &[above, beside]) => said.margin = [above, beside, above, beside],
        ("margin", _, &[above, beside, below]) => said.margin = [above, beside, below, beside],
        ("margin", _, &[top, right, bottom, left]) => said.margin = [top, right, bottom, left],
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &'static str) -> CssPage {
        said_of_every_page(&[Bytes::from_static(text.as_bytes())])
    }

    fn margin_mm(text: &'static str) -> [Option<f64>; 4] {
        said(text).margin.map(|side| side.map(|inches| (inches * 25.4).round()))
    }

    #[test]
    fn the_last_size_and_margins_of_every_page_are_read() {
        for (text, size) in [
            ("<style>p{} @page { size: A5 landscape; }</style>", "a5 landscape"),
            ("@PAGE{SIZE:letter!important}", "letter"),
            ("@page{size:a4}@page wide{size:a3}@page :first{size:a3}", "a4"),
            ("@page{size:a4} @media print{@page{size:80mm 200mm}}", "80mm 200mm"),
            ("@page{/*}*/@top-left{content:'}';size:a3} size:a5}", "a5"),
            ("@page{size:a5", "a5"),
            ("<p>@page is a word; size:a5", "auto"),
        ] {
            assert_eq!(said(text).size, CssSize::of(size), "{text}");
        }
        assert_eq!(margin_mm("@page{margin:1cm 20mm}"), [Some(10.0), Some(20.0), Some(10.0), Some(20.0)]);
        assert_eq!(
            margin_mm("@page{margin:1cm;margin-left:0}"),
            [Some(10.0), Some(10.0), Some(10.0), Some(0.0)]
        );
        assert_eq!(margin_mm("@page{margin:1mm 2mm 3mm}"), [Some(1.0), Some(2.0), Some(3.0), Some(2.0)]);
        assert_eq!(margin_mm("@page{margin:1mm 2mm 3mm 4mm}"), [Some(1.0), Some(2.0), Some(3.0), Some(4.0)]);
        assert_eq!(margin_mm("@page{margin-top:2em;@top-left{margin-top:9mm}}"), [None; 4]);
    }

    #[test]
    fn the_page_itself_counts_last() {
        let files = [
            ("index.html", "@page{size:a5}"),
            ("z.CSS", "@page{size:a3;margin:0}"),
            ("a.js", "@page{size:a6}"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), Bytes::from_static(text.as_bytes())));
        let site = Site::new("index.html", files.into_iter().collect());
        let said = said_of_every_page(&sheets(&site));
        assert_eq!((said.size, said.margin), (CssSize::of("a5"), [Some(0.0); 4]));
    }
}
