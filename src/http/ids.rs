//! Ids of jobs and templates in paths and bodies. What is no id is answered like an id that names nothing.

use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Path;
use actix_web::{FromRequest, HttpRequest};

use crate::domain::ids::{JobId, TemplateId};
use crate::domain::shown::shortened;
use crate::http::middleware::auth::Caller;
use crate::http::problem::ProblemResponse;
use crate::problem::{Code, Problem};
use crate::templates::registry::messages::TemplateRef;

/// The job's id; the request's span names it from now on.
///
/// # Errors
/// `job_not_found`.
pub(super) fn job_id(text: &str) -> Result<JobId, Problem> {
    let id: JobId = text.parse().map_err(|_| {
        let shown = shortened(text);
        let detail =
            format!("There is no job '{shown}' of yours; use the jobId that /documents/init answered.");
        Problem::new(Code::JobNotFound, detail)
    })?;
    tracing::Span::current().record("job.id", tracing::field::display(id));
    Ok(id)
}

/// The template's id.
///
/// # Errors
/// `template_not_found`.
pub(super) fn template_id(text: &str) -> Result<TemplateId, Problem> {
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
pub(super) struct NamedTemplate(pub(super) TemplateRef);

impl FromRequest for NamedTemplate {
    type Error = ProblemResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ProblemResponse>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (caller, path) =
            (Caller::from_request(request, payload), Path::<String>::from_request(request, payload));
        Box::pin(async move {
            let Caller(account) = caller.await?;
            let template = template_id(&path.await.map_err(Problem::internal)?)?;
            tracing::Span::current().record("template.id", tracing::field::display(template));
            Ok(Self(TemplateRef { account, template }))
        })
    }
}
