//! Lists of an account's saved templates, newest first.

use std::sync::Arc;

use actix::prelude::*;

use super::actor::TemplateRegistry;
use super::context::Deps;
use super::view::TemplateSummary;
use crate::domain::ids::{AccountId, TemplateId};
use crate::domain::kinds::TemplateKind;
use crate::domain::search::{Page, Search};
use crate::problem::Problem;

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
    #[must_use]
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

/// Asks for the newest saved templates of an account.
#[derive(Clone, Debug, Message)]
#[rtype(result = "Result<TemplatePage, Problem>")]
pub struct ListTemplates {
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

impl Handler<ListTemplates> for TemplateRegistry {
    type Result = ResponseFuture<Result<TemplatePage, Problem>>;

    fn handle(&mut self, message: ListTemplates, _: &mut Self::Context) -> Self::Result {
        let deps = Arc::clone(&self.deps);
        Box::pin(async move { list(&deps, message).await.map_err(Problem::from) })
    }
}

async fn list(deps: &Deps, asked: ListTemplates) -> Result<TemplatePage, crate::storage::index::IndexError> {
    let filtered = asked.filter != TemplateFilter::default();
    let mut search = Search::new(asked.before, asked.limit, filtered, deps.limits.list_scan_limit);
    loop {
        let wanted = search.portion();
        let portion = deps.index.newest(asked.account, search.before(), wanted).await?;
        let portion =
            portion.into_iter().map(|(id, record)| (id, record.and_then(TemplateSummary::of))).collect();
        if let Some(page) = search.take(portion, wanted, |template| asked.filter.shows(template)) {
            return Ok(page);
        }
    }
}
