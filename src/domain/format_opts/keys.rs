//! The one table of the keys of `formatOpts`, and what each has an effect on.

use super::{PageOptions, Viewport};
use crate::domain::kinds::Target;

/// What a key has an effect on, of what a page becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The page itself: PDFs, images, and html that the browser writes because files lie beside it.
    Page,
    /// How the page is shown: PDFs and images.
    Shown,
    /// PDFs.
    Pdf,
    /// Images.
    Image,
    /// Images that can be transparent.
    Png,
    /// Images that are made with loss.
    Jpg,
    /// Nothing that is made of a page: the key is for other kinds of templates, or other ways.
    Nothing,
    /// Promises protection or conformance: refused as long as nobody keeps the promise.
    Refused,
}

/// Every key known, in the order of the documentation.
pub const KEYS: [(&str, Effect); 41] = [
    ("format", Effect::Pdf),
    ("width", Effect::Pdf),
    ("height", Effect::Pdf),
    ("landscape", Effect::Pdf),
    ("margin", Effect::Pdf),
    ("scale", Effect::Pdf),
    ("printBackground", Effect::Pdf),
    ("preferCssPageSize", Effect::Pdf),
    ("fromPage", Effect::Pdf),
    ("toPage", Effect::Pdf),
    ("headerTemplate", Effect::Pdf),
    ("footerTemplate", Effect::Pdf),
    ("outline", Effect::Pdf),
    ("tagged", Effect::Pdf),
    ("metadata", Effect::Pdf),
    ("fullPage", Effect::Image),
    ("omitBackground", Effect::Png),
    ("quality", Effect::Jpg),
    ("selector", Effect::Page),
    ("mediaType", Effect::Shown),
    ("viewport", Effect::Page),
    ("timezone", Effect::Page),
    ("locale", Effect::Page),
    ("waitForSelector", Effect::Page),
    ("waitForExpression", Effect::Page),
    ("waitForTimeout", Effect::Page),
    ("failOn", Effect::Page),
    ("pages", Effect::Nothing),
    ("page", Effect::Nothing),
    ("dpi", Effect::Nothing),
    ("delimiters", Effect::Nothing),
    ("strict", Effect::Nothing),
    ("engine", Effect::Nothing),
    ("password", Effect::Refused),
    ("userPassword", Effect::Refused),
    ("ownerPassword", Effect::Refused),
    ("permissions", Effect::Refused),
    ("encrypt", Effect::Refused),
    ("pdfa", Effect::Refused),
    ("pdfua", Effect::Refused),
    ("sign", Effect::Refused),
];

/// Whether `name` is a key of the table.
pub(super) fn is_known(name: &str) -> bool {
    KEYS.iter().any(|&(known, _)| known == name)
}

/// The known key `name` does nothing to `target`. One that is refused is not idle: where it is there, it asks for
/// nothing.
pub(super) fn is_idle(name: &str, target: Target) -> bool {
    KEYS.iter()
        .any(|&(known, effect)| known == name && effect != Effect::Refused && !has_effect(effect, target))
}

impl PageOptions {
    /// What to tell of the keys that have an effect on html only where the browser shows the page.
    #[must_use]
    pub fn unshown_warnings(&self) -> Vec<String> {
        let scene = &self.scene;
        let given = [
            ("selector", self.selector.is_some()),
            ("viewport", scene.viewport != Viewport::default()),
            ("timezone", scene.timezone.is_some()),
            ("locale", scene.locale.is_some()),
            ("waitForSelector", self.wait_for_selector.is_some()),
            ("waitForExpression", self.wait_for_expression.is_some()),
            ("waitForTimeout", self.wait_ms > 0),
            ("failOn", !self.fail_on.is_empty()),
        ];
        let told = |name| {
            format!(
                "formatOpts.{name} has no effect on html of a page without files beside it and was ignored"
            )
        };
        given.into_iter().filter(|&(_, is_given)| is_given).map(|(name, _)| told(name)).collect()
    }
}

fn has_effect(effect: Effect, target: Target) -> bool {
    match target {
        Target::Pdf => matches!(effect, Effect::Page | Effect::Shown | Effect::Pdf),
        Target::Png => matches!(effect, Effect::Page | Effect::Shown | Effect::Image | Effect::Png),
        Target::Jpg => matches!(effect, Effect::Page | Effect::Shown | Effect::Image | Effect::Jpg),
        Target::Html => effect == Effect::Page,
        Target::Docx | Target::Xlsx | Target::Pptx => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_stands_twice() {
        let mut names = KEYS.map(|(name, _)| name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn each_target_has_its_own_keys() {
        for (name, idle) in [
            ("quality", [true, true, false, true]),
            ("omitBackground", [true, false, true, true]),
            ("fullPage", [true, false, false, true]),
            ("outline", [false, true, true, true]),
            ("viewport", [false, false, false, false]),
            ("mediaType", [false, false, false, true]),
            ("dpi", [true, true, true, true]),
            ("zoom", [false, false, false, false]),
        ] {
            let targets = [Target::Pdf, Target::Png, Target::Jpg, Target::Html];
            assert_eq!(targets.map(|target| is_idle(name, target)), idle, "{name}");
        }
    }

    #[test]
    fn every_key_of_a_shown_page_is_told_where_none_is_shown() {
        let opts = r#"{"selector":"p","viewport":{"width":9},"timezone":"UTC","locale":"de","waitForSelector":"p",
            "waitForExpression":"1","waitForTimeout":5,"failOn":["missing"],"mediaType":"screen","scale":1}"#;
        let reading =
            super::super::read(serde_json::from_str(opts).unwrap(), &super::super::OptionLimits::ADMITTED);
        let of_page = KEYS.iter().filter(|&&(_, effect)| effect == Effect::Page);
        let expected: Vec<_> = of_page
            .map(|(name, _)| {
                format!("formatOpts.{name} has no effect on html of a page without files beside it and was ignored")
            })
            .collect();
        assert_eq!(reading.options.unshown_warnings(), expected);
        assert_eq!(PageOptions::default().unshown_warnings(), Vec::<String>::new());
    }
}
