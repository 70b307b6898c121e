//! What the page's own `@page` rules make of the sheet, and the warnings of it.
//!
//! Chromium obeys them in every print (tried, `tests/browser/page_rules.rs`): a page is laid out at the size that it
//! names; unless that size is preferred, the result stands in the middle of the sheet, shrunk where it is larger, and
//! the sheet is turned as the page is. A margin that it names goes before the printer's, side by side.

use serde::Deserialize;
use serde_json::json;

use crate::browser::page::error::StepError;
use crate::browser::page::open_page::OpenPage;
use crate::browser::page::scripts;
use crate::domain::error::ErrorCode;
use crate::domain::format_opts::{CssPage, Layout, PageOptions};
use crate::domain::paper::{CssSize, Paper, SIDES, css_length_in, is_near_in};

const SCRIPT: &str = include_str!("../../../assets/page-rules.js");
/// Most rules that warnings are made of.
const NAMED: usize = 4;

/// The `@page` rules of a page, those of one selector put together.
#[derive(Debug, Default)]
pub(super) struct PageRules(Vec<PageRule>);

#[derive(Clone, Debug, Default, Deserialize)]
struct PageRule {
    /// Empty for every page.
    selector: String,
    /// Empty where the rule has none.
    size: String,
    /// Top, right, bottom, left; empty where the rule has none.
    margin: [String; 4],
}

impl PageRules {
    /// The rules that count when the page is printed.
    pub(super) async fn of(page: &OpenPage, options: &PageOptions) -> Result<Self, StepError> {
        // A sheet of an allowed host may have rules, whatever the files of the template have.
        let is_foreign = page.session.as_ref().is_some_and(|session| session.has_reached_hosts());
        if !page.has_page_rules && !is_foreign {
            return Ok(Self::default());
        }
        Self::asked(page, options).await
    }

    /// The same, but the page is asked in any case.
    pub(super) async fn asked(page: &OpenPage, options: &PageOptions) -> Result<Self, StepError> {
        let medium = options.emulation.media.name();
        let expression = scripts::guarded(&format!("({SCRIPT})({})", json!(medium)));
        let answer = page.ask(expression, page.limits.call).await?;
        let answer = answer.filter(|answer| !answer.is_empty());
        let rules = answer.as_deref().map(serde_json::from_str::<Vec<PageRule>>).transpose();
        let rules = rules.map_err(|error| StepError::job(ErrorCode::Internal, error.to_string()))?;
        Ok(Self::merged(rules.unwrap_or_default()))
    }

    /// The last declaration for a selector counts.
    fn merged(rules: Vec<PageRule>) -> Self {
        let mut merged: Vec<PageRule> = Vec::new();
        for rule in rules {
            let Some(known) = merged.iter_mut().find(|known| known.selector == rule.selector) else {
                merged.push(rule);
                continue;
            };
            let said = [(&mut known.size, rule.size)].into_iter();
            for (known, said) in said.chain(known.margin.iter_mut().zip(rule.margin)) {
                if !said.is_empty() {
                    *known = said;
                }
            }
        }
        Self(merged)
    }

    /// The layout of pages without a name.
    pub(super) fn layout(&self, options: &PageOptions) -> Layout {
        let general = self.0.iter().find(|rule| rule.selector.is_empty());
        Layout::of(general.map(PageRule::said).unwrap_or_default(), options)
    }

    /// The one rule that holds where the sheet is as high as its page: that of the first sheet, without sizes, which would
    /// shrink or turn the page, and without margins that are not absolute lengths. With it the warnings of what is ignored,
    /// and the style sheet that makes Chromium ignore it.
    pub(super) fn for_one_sheet(&self, options: &PageOptions) -> (Self, Vec<String>, String) {
        let of = |selector: &str| self.0.iter().find(|rule| rule.selector == selector);
        let general = of("").cloned().unwrap_or_default();
        let mut rule = of(":first").map_or_else(|| general.clone(), |first| first.over(Some(&general)));
        let sizes = self.0.iter().filter(|rule| CssSize::of(&rule.size) != CssSize::Auto);
        let sizes = sizes.map(|rule| {
            let named = format!("{} size '{}'", rule.name(), rule.size);
            format!("{named} is not heeded, for the sheet is as high as its page (height auto)")
        });
        let mut warnings: Vec<String> = sizes.take(NAMED).collect();
        let name = rule.name();
        for (side, own) in SIDES.iter().zip(&mut rule.margin) {
            if !own.is_empty() && css_length_in(own).is_none() {
                warnings.push(format!(
                    "{name} margin ({side} {own}) is not heeded where height is auto; give it in mm, cm, in, pt, pc or px"
                ));
                own.clear();
            }
        }
        (rule.selector, rule.size) = (String::new(), String::new());
        let one = Self(vec![rule]);
        let [top, right, bottom, left] = one.layout(options).margin.sides_in();
        let says_margin = self.0.iter().any(|rule| rule.margin.iter().any(|side| !side.is_empty()));
        let margin = format!("margin: {top}in {right}in {bottom}in {left}in !important");
        let said =
            format!("{{ size: auto !important; {} }}", if says_margin { margin } else { String::new() });
        let selectors = self.0.iter().map(|rule| rule.selector.as_str()).chain([""]);
        let sheet: Vec<_> = selectors.map(|selector| format!("@page {selector} {said}\n")).collect();
        (one, warnings, sheet.concat())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The layout of those pages that have most room across.
    pub(super) fn widest(&self, options: &PageOptions) -> Layout {
        let general = self.0.iter().find(|rule| rule.selector.is_empty());
        let others = self.0.iter().filter(|rule| !rule.selector.is_empty());
        let others = others.map(|rule| Layout::of(rule.over(general).said(), options));
        let wider = |widest: Layout, other: Layout| {
            if other.content_size_in()[0] > widest.content_size_in()[0] { other } else { widest }
        };
        others.fold(self.layout(options), wider)
    }

    /// Warns where the page's rules win over the caller's options, or are not followed to the letter.
    pub(super) fn warnings(&self, options: &PageOptions) -> Vec<String> {
        let named = self.0.iter().take(NAMED);
        named
            .flat_map(|rule| rule.size_warnings(options).into_iter().chain(rule.margin_warning(options)))
            .collect()
    }
}

impl PageRule {
    /// Its declarations, and those of `general` that it does not have.
    fn over(&self, general: Option<&Self>) -> Self {
        let Some(general) = general else { return self.clone() };
        let said = |own: &String, other: &String| if own.is_empty() { other.clone() } else { own.clone() };
        let mut sides = self.margin.iter().zip(&general.margin).map(|(own, other)| said(own, other));
        Self {
            selector: self.selector.clone(),
            size: said(&self.size, &general.size),
            margin: std::array::from_fn(|_| sides.next().unwrap_or_default()),
        }
    }

    fn said(&self) -> CssPage {
        CssPage {
            size: CssSize::of(&self.size),
            margin: self.margin.each_ref().map(|text| css_length_in(text)),
        }
    }

    fn name(&self) -> String {
        format!("@page {}", self.selector).trim_end().to_owned()
    }

    fn size_warnings(&self, options: &PageOptions) -> Vec<String> {
        let size = CssSize::of(&self.size);
        if size == CssSize::Auto {
            return Vec::new();
        }
        let (sheet, named) = (options.sheet(), format!("{} size '{}'", self.name(), self.size));
        let page = size.laid_out(sheet);
        let is_turned = sheet.oriented_as(page) != sheet;
        let is_other = size == CssSize::Unknown || !page.is_same(sheet.oriented_as(page));
        let mut warnings = Vec::new();
        if options.prefer_css_page_size {
            let lost = [("format, width and height", options.given.sheet && is_other)];
            let lost = lost.into_iter().chain([("landscape", options.given.landscape && is_turned)]);
            let lost: Vec<_> = lost.filter(|(_, is_lost)| *is_lost).map(|(keys, _)| keys).collect();
            if !lost.is_empty() {
                let keys = lost.join(" and ");
                warnings.push(format!("{named} is the sheet (preferCssPageSize) and goes before {keys}"));
            }
            return warnings;
        }
        if is_other {
            let Paper { width_in, height_in } = sheet.oriented_as(page);
            let fits_in = |page: f64, sheet: f64| page <= sheet || is_near_in(page, sheet);
            let fits = fits_in(page.width_in, width_in) && fits_in(page.height_in, height_in);
            let how = if fits { "stands in the middle of" } else { "is shrunk to fit" };
            let (width, height) = (width_in * 25.4, height_in * 25.4);
            warnings.push(format!(
                "{named} {how} the sheet of {width:.0} × {height:.0} mm; preferCssPageSize makes it the sheet"
            ));
        }
        if options.given.landscape && is_turned {
            let landscape = options.landscape;
            warnings.push(format!("{named} turns the sheet and goes before landscape: {landscape}"));
        }
        warnings
    }

    fn margin_warning(&self, options: &PageOptions) -> Option<String> {
        let (given, chosen) = (options.given.margin, options.margin.sides_in());
        let won = SIDES.iter().zip(&self.margin).zip(given.into_iter().zip(chosen));
        let won = won.filter(|((_, own), (is_given, chosen))| {
            let differs = css_length_in(own).is_none_or(|own_in| !is_near_in(own_in, *chosen));
            *is_given && !own.is_empty() && differs
        });
        let won: Vec<String> = won.map(|((side, own), _)| format!("{side} {own}")).collect();
        let sides = won.join(", ");
        (!won.is_empty())
            .then(|| format!("{} margin ({sides}) goes before margin of formatOpts", self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::format_opts::{self, OptionLimits};
    use crate::domain::paper::Margin;

    fn options(text: &str) -> PageOptions {
        let reading = format_opts::read(serde_json::from_str(text).unwrap(), &OptionLimits::ADMITTED);
        assert_eq!(reading.errors, [], "{text}");
        reading.options
    }

    fn rules(rules: &[(&str, &str, [&str; 4])]) -> PageRules {
        let rules = rules.iter().map(|(selector, size, margin)| PageRule {
            selector: (*selector).to_owned(),
            size: (*size).to_owned(),
            margin: margin.map(str::to_owned),
        });
        PageRules::merged(rules.collect())
    }

    const UNSAID: [&str; 4] = [""; 4];

    #[test]
    fn page_rules_that_win_or_lose_are_warned_of() {
        let warned = |size: &str, opts: &str| rules(&[("", size, UNSAID)]).warnings(&options(opts));
        for (size, opts) in [
            ("a4", "{}"),
            ("auto", r#"{"landscape":true,"format":"a5"}"#),
            ("a4 landscape", "{}"),
            ("landscape", r#"{"landscape":true}"#),
            ("210mm 297mm", r#"{"format":"a4","landscape":false}"#),
            ("a5", r#"{"preferCssPageSize":true}"#),
            ("a5", r#"{"preferCssPageSize":true,"format":"a5"}"#),
            ("ledger", r#"{"format":"tabloid"}"#),
        ] {
            assert_eq!(warned(size, opts), [""; 0], "{size} {opts}");
        }
        let turned = "@page size 'a5 landscape' stands in the middle of the sheet of 297 × 210 mm; \
                      preferCssPageSize makes it the sheet";
        assert_eq!(warned("a5 landscape", "{}"), [turned]);
        let margins = rules(&[("", "", ["10mm", "", "3em", "0px"]), (":first", "", ["4cm", "", "", ""])]);
        assert_eq!(margins.warnings(&options("{}")), [""; 0]);
        assert_eq!(
            margins.warnings(&options(r#"{"margin":"10mm"}"#)),
            [
                "@page margin (bottom 3em, left 0px) goes before margin of formatOpts",
                "@page :first margin (top 4cm) goes before margin of formatOpts"
            ]
        );
    }

    #[test]
    fn one_sheet_heeds_the_margins_of_its_first_page_and_no_size() {
        let rules = rules(&[
            ("", "a4", ["10mm", "", "3em", "1in"]),
            (":first", "", ["0px", "", "", ""]),
            ("x", "a3", UNSAID),
        ]);
        let options = options(r#"{"width":"80mm","height":"auto","margin":"1in"}"#);
        let (one, warnings, sheet) = rules.for_one_sheet(&options);
        assert_eq!(
            one.layout(&options).margin,
            Margin { top_in: 0.0, right_in: 1.0, bottom_in: 1.0, left_in: 1.0 }
        );
        assert!(one.layout(&options).page.is_same(options.sheet()));
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        for (warning, begin) in warnings.iter().zip([
            "@page size 'a4' is not heeded",
            "@page x size 'a3' is not heeded",
            "@page :first margin (bottom 3em) is not heeded",
        ]) {
            assert!(warning.starts_with(begin), "{warning}");
        }
        let said = "{ size: auto !important; margin: 0in 1in 1in 1in !important }";
        assert_eq!(
            sheet,
            ["", ":first", "x", ""].map(|selector| format!("@page {selector} {said}\n")).concat()
        );
    }

    #[test]
    fn the_white_around_the_content_is_the_pages_own_and_what_is_beside_it_on_the_sheet() {
        let near = |white: [f64; 4], wanted: [f64; 4]| {
            let found = white.map(|side| side * 25.4);
            assert!(found.iter().zip(wanted).all(|(side, wanted)| (side - wanted).abs() < 0.1), "{found:?}");
        };
        let white = |size: &str, margin: [&str; 4], opts: &str| {
            rules(&[("wide", "a3", ["1in"; 4]), ("", size, margin)]).layout(&options(opts)).white_in()
        };
        near(white("", UNSAID, r#"{"margin":"10mm"}"#), [10.0; 4]);
        near(white("", ["", "20mm", "", "1em"], r#"{"margin":"10mm"}"#), [10.0, 20.0, 10.0, 10.0]);
        near(white("a5", ["10mm"; 4], "{}"), [53.5, 41.0, 53.5, 41.0]);
        near(white("a5", ["10mm"; 4], r#"{"preferCssPageSize":true}"#), [10.0; 4]);
        near(white("a3", ["10mm"; 4], "{}"), [7.1; 4]);
        near(white("100mm", UNSAID, r#"{"landscape":true}"#), [55.0, 98.5, 55.0, 98.5]);
        near(white("a5 landscape", UNSAID, "{}"), [31.0, 43.5, 31.0, 43.5]);
        let whole = rules(&[("", "", ["200mm"; 4])]).layout(&options("{}")).content_area_in2();
        assert!((whole - Paper::A4.width_in * Paper::A4.height_in).abs() < 1e-9);
    }

    #[test]
    fn of_one_selector_what_is_said_last_counts() {
        let merged =
            rules(&[("", "a5", ["1mm", "1mm", "", ""]), ("x", "a3", UNSAID), ("", "", ["2mm", "", "", ""])]);
        assert_eq!(merged.0.len(), 2);
        assert_eq!(
            (merged.0[0].size.as_str(), &merged.0[0].margin[..2]),
            ("a5", &["2mm".into(), "1mm".into()][..])
        );
    }
}
