//! The template that a path or a body names.

use crate::domain::ids::{AccountId, TemplateId};
use crate::problem::{Code, Problem};
use crate::templates::registry::messages::TemplateRef;

/// The template's id. What is no id names no template, and is answered like one that is not there.
///
/// # Errors
/// `template_not_found`.
pub(in crate::http) fn parse_id(text: &str) -> Result<TemplateId, Problem> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(64).collect();
        let detail = format!(
            "There is no template '{shown}' of yours: that is no template id (a UUID); use the templateId that \
             /templates/init answered."
        );
        Problem::new(Code::TemplateNotFound, detail)
    })
}

/// The template of a request's path, for whoever asks; from now on the request's span names it.
///
/// # Errors
/// `template_not_found`.
pub(super) fn of(account: AccountId, text: &str) -> Result<TemplateRef, Problem> {
    let template = parse_id(text)?;
    tracing::Span::current().record("template.id", tracing::field::display(template));
    Ok(TemplateRef { account, template })
}
