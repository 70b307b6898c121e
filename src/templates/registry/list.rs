//! Lists of an account's saved templates, newest first.

use super::context::TemplateContext;
use super::view::TemplateSummary;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::domain::search::{Page, Search};
use crate::storage::index::IndexError;

/// Which templates a list shows; what is not given does not matter.
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

/// The page that the query asks for. It may hold fewer than its limit: of records that the filter leaves out only
/// `templates.list_scan_limit` are looked at for a page.
///
/// # Errors
/// When the index fails.
pub(in crate::templates) async fn page(
    context: &TemplateContext,
    query: TemplateQuery,
) -> Result<TemplatePage, IndexError> {
    let filtered = query.filter != TemplateFilter::default();
    let mut search = Search::new(query.before, query.limit, filtered, context.limits.list_scan_limit);
    loop {
        let wanted = search.portion();
        let portion = context.index.newest(query.account, search.before(), wanted).await?;
        let portion =
            portion.into_iter().map(|(id, record)| (id, record.and_then(TemplateSummary::of))).collect();
        if let Some(page) = search.take(portion, wanted, |template| query.filter.shows(template)) {
            return Ok(page);
        }
    }
}
