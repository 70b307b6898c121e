//! The template that a path or a body names.

use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Path;
use actix_web::{FromRequest, HttpRequest};

use crate::domain::error::shortened;
use crate::domain::ids::TemplateId;
use crate::http::middleware::auth::Caller;
use crate::http::problem::ProblemResponse;
use crate::problem::{Code, Problem};
use crate::templates::registry::messages::TemplateRef;

/// The template's id. What is no id names no template, and is answered like one that is not there.
///
/// # Errors
/// `template_not_found`.
pub(in crate::http) fn parse_id(text: &str) -> Result<TemplateId, Problem> {
    text.parse().map_err(|_| {
        let shown = shortened(text);
        let detail = format!(
            "There is no template '{shown}' of yours: that is no template id (a UUID); use the templateId that \
             /templates/init answered."
        );
        Problem::new(Code::TemplateNotFound, detail)
    })
}

/// The template of a request's path, for the account that asks; from now on the request's span names it. A handler that
/// takes one answers 401 without a valid token, whatever the path is, and 404 to what is no template id.
pub(in crate::http) struct NamedTemplate(pub(super) TemplateRef);

impl FromRequest for NamedTemplate {
    type Error = ProblemResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ProblemResponse>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (caller, path) =
            (Caller::from_request(request, payload), Path::<String>::from_request(request, payload));
        Box::pin(async move {
            let Caller(account) = caller.await?;
            let template = parse_id(&path.await.map_err(Problem::internal)?)?;
            tracing::Span::current().record("template.id", tracing::field::display(template));
            Ok(Self(TemplateRef { account, template }))
        })
    }
}
