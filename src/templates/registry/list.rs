//! Lists of an account's saved templates, newest first.

use super::view::TemplateSummary;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::storage::index::paging::Page;

/// Which templates a list shows; `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateFilter {
    /// Templates that are rendered as this.
    pub kind: Option<TemplateKind>,
    /// Templates with this category.
    pub category: Option<String>,
    /// Templates whose title, description or categories contain this, whatever their case; in small letters.
    pub text: Option<String>,
}

impl TemplateFilter {
    /// Whether the list shows the template.
    pub fn shows(&self, template: &TemplateSummary) -> bool {
        let info = &template.info;
        self.kind.is_none_or(|kind| kind == info.kind)
            && self.category.as_ref().is_none_or(|category| info.categories.contains(category))
            && self.text.as_ref().is_none_or(|wanted| {
                let mut texts = [&info.title, &info.description].into_iter().chain(&info.categories);
                texts.any(|text| text.to_lowercase().contains(wanted))
            })
    }
}

/// Which page of an account's saved templates is wanted.
#[derive(Clone, Debug)]
pub struct TemplateQuery {
    /// Whose.
    pub account: AccountId,
    /// Which.
    pub filter: TemplateFilter,
    /// Only those begun before this one: where the last page ended.
    pub before: Option<TemplateId>,
    /// Most templates of the page; at least one.
    pub limit: usize,
}

/// A page of the list.
pub type TemplatePage = Page<TemplateId, TemplateSummary>;
