//! The members that init and immediate-render share, read from a body.

use bytes::Bytes;
use json_members::Members;
use tokio::sync::watch;

use super::conversions;
use crate::domain::ids::AccountId;
use crate::domain::kinds::{Target, TemplateKind};
use crate::http::actors;
use crate::http::body::members::{BodyContext, FormatOpts, read_format_opts, read_kind, read_target};
use crate::http::body::unknown;
use crate::http::ids;
use crate::http::state::HttpState;
use crate::jobs::messages::{Idempotency, InitJob, JobSpec};
use crate::jobs::view::JobView;
use crate::outbound::AdmittedUrl;
use crate::problem::{Code, Problem};
use crate::templates::cache::source::TemplateUse;

/// The job that a body asks for, as far as it is valid; errors are kept with the members.
#[derive(Debug)]
pub(in crate::http) struct JobRequest {
    pub(super) kind: Option<TemplateKind>,
    target: Option<Target>,
    /// As it was sent; an empty one counts as absent.
    pub(super) template_id: Option<String>,
    format_opts: FormatOpts,
}

impl JobRequest {
    /// Reads `type`, `target`, `templateId` and `formatOpts`.
    pub(super) fn read(members: &mut Members<'_>, context: BodyContext<'_>) -> Self {
        let kind = read_kind(members, context);
        Self {
            kind,
            target: read_target(members, kind, context),
            template_id: members.text(("templateId", "A saved template. Left out: the template comes with the request, or is uploaded to `presignedTemplateUploadUrl`.")),
            format_opts: read_format_opts(members, context.config),
        }
    }

    /// The job's specification; call it once the body has no error. The template's access is checked by [`check_template`].
    ///
    /// # Errors
    /// `unsupported_conversion`; `template_not_found` for a malformed id.
    pub(super) fn spec(self, state: &HttpState) -> Result<JobSpec, Problem> {
        let (Some(kind), Some(target)) = (self.kind, self.target) else {
            return Err(Problem::internal("a body without error has no type or no target"));
        };
        conversions::admit(state, (kind, target), &self.format_opts.options)?;
        let template = self.template_id.as_deref().map(ids::template_id).transpose()?;
        let FormatOpts { sent, options, warnings } = self.format_opts;
        let secrets = options.secrets();
        Ok(JobSpec { kind, target, template, preview: false, format_opts: sent, secrets, warnings })
    }
}

/// What a new job is made of.
pub(super) struct RenderRequest {
    pub(super) spec: JobSpec,
    pub(super) data: Option<Bytes>,
    template: Option<Bytes>,
    /// Where the document is to be delivered.
    delivery: Option<String>,
}

impl RenderRequest {
    /// The request that a body makes whose members are all read.
    ///
    /// # Errors
    /// `validation_failed` with every error of the members; those of [`JobRequest::spec`].
    pub(super) fn new(
        mut members: Members<'_>,
        job: JobRequest,
        (template, data, delivery): (Option<Bytes>, Option<Bytes>, Option<String>),
        state: &HttpState,
    ) -> Result<Self, Problem> {
        unknown::refuse_promises(&mut members);
        let warnings = unknown::warnings(&members);
        let errors = members.into_faults();
        if !errors.is_empty() {
            return Err(Problem::validation(errors));
        }
        let mut spec = job.spec(state)?;
        spec.warnings.extend(&warnings);
        Ok(Self { spec, data, template, delivery })
    }

    /// Creates the job, or answers the one of an earlier request with the same idempotency key: a request that is refused
    /// by now for its template or delivery URL still gets that one.
    ///
    /// # Errors
    /// Those of [`check_template`] and [`check_delivery`], and the registry's.
    pub(super) async fn create(
        self,
        state: &HttpState,
        account: AccountId,
        start: bool,
        (idempotency, request_id): (Option<Idempotency>, Option<String>),
    ) -> Result<watch::Receiver<JobView>, Problem> {
        let Self { spec, data, template, delivery } = self;
        let usable = check_template(state, account, &spec).await;
        let admitted = check_delivery(state, delivery).await;
        let (deliver_to, refusal) = match usable.and(admitted) {
            Ok(deliver_to) => (deliver_to, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let message =
            InitJob { account, spec, data, template, start, deliver_to, refusal, idempotency, request_id };
        actors::ask(state, account, &state.jobs, message).await
    }
}

/// Checks that the account may render the template of `spec`, if it names one.
///
/// # Errors
/// `template_not_found`, `template_unfinished`.
pub(in crate::http) async fn check_template(
    state: &HttpState,
    account: AccountId,
    spec: &JobSpec,
) -> Result<(), Problem> {
    let Some(template) = spec.template else { return Ok(()) };
    let wanted = TemplateUse { account, template, preview: spec.preview };
    actors::bounded(state, account, state.template_reader.check(wanted)).await
}

/// Checks that a document may be delivered to `address`. It is checked again at delivery, when its name may resolve
/// differently.
///
/// # Errors
/// `delivery_address_refused`.
pub(super) async fn check_delivery(
    state: &HttpState,
    address: Option<String>,
) -> Result<Option<AdmittedUrl>, Problem> {
    let Some(address) = address else { return Ok(None) };
    match state.outbound.admit(&address).await {
        Ok(admitted) => Ok(Some(admitted)),
        Err(refusal) => {
            let detail = format!("uploadPresignedStorageUrl is refused: {refusal}.");
            Err(Problem::new(Code::DeliveryAddressRefused, detail))
        }
    }
}
