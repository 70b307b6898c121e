//! The members that init and immediate-render share, read from a body.

use std::sync::Arc;

use bytes::Bytes;
use json_members::{Members, Shape};
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::conversions;
use crate::config::Config;
use crate::domain::error::Warnings;
use crate::domain::format_opts::{self, OptionLimits, PageOptions};
use crate::domain::ids::AccountId;
use crate::domain::kinds::{Target, TemplateKind};
use crate::http::actors;
use crate::http::state::HttpState;
use crate::http::templates::path as template_path;
use crate::http::unknown;
use crate::jobs::messages::{Idempotency, InitJob, JobSpec};
use crate::jobs::view::JobView;
use crate::outbound::AdmittedUrl;
use crate::problem::{Code, Problem};
use crate::templates::cache::source::TemplateUse;

/// The job that a body asks for, as far as it is valid; errors are kept with the members.
#[derive(Debug)]
pub(super) struct JobRequest {
    pub(super) kind: Option<TemplateKind>,
    target: Option<Target>,
    /// As it was sent; an empty one counts as absent.
    pub(super) template_id: Option<String>,
    format_opts: FormatOpts,
}

/// `formatOpts` as sent and as parsed.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct FormatOpts {
    /// As sent, with `***` in place of secrets; none for an empty object.
    pub(in crate::http) sent: Option<Arc<RawValue>>,
    /// As parsed, with defaults.
    pub(in crate::http) options: PageOptions,
    /// About keys that are unknown.
    pub(in crate::http) warnings: Warnings,
}

impl JobRequest {
    /// Reads `type`, `target`, `templateId` and `formatOpts`.
    pub(super) fn read(members: &mut Members<'_>, state: &HttpState) -> Self {
        let kind = read_kind(members, state);
        Self {
            kind,
            target: read_target(members, kind, state),
            template_id: members.text("templateId"),
            format_opts: read_format_opts(members, &state.config),
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
        let template = self.template_id.as_deref().map(template_path::parse_id).transpose()?;
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

/// Reads the delivery URL by either of its names.
pub(super) fn read_delivery(members: &mut Members<'_>) -> Option<String> {
    let current = members.text("uploadPresignedStorageUrl");
    let former = members.old_text("uploadPresignedS3Url");
    current.or(former)
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

pub(in crate::http) fn read_kind(members: &mut Members<'_>, state: &HttpState) -> Option<TemplateKind> {
    members.require("type");
    members.word_of("type", || kinds(state), TemplateKind::from_name)
}

fn read_target(members: &mut Members<'_>, kind: Option<TemplateKind>, state: &HttpState) -> Option<Target> {
    members.require("target");
    members.word_of("target", || targets(kind, state), Target::from_name)
}

/// The types that the installed engines can render.
fn kinds(state: &HttpState) -> Vec<&'static str> {
    let works = |kind: &TemplateKind| !state.catalog.possible(*kind).here.is_empty();
    TemplateKind::ALL.into_iter().filter(works).map(TemplateKind::name).collect()
}

/// The targets of the type with the installed engines; of an unknown type, the targets of any.
fn targets(kind: Option<TemplateKind>, state: &HttpState) -> Vec<&'static str> {
    let kinds = kind.map_or_else(|| TemplateKind::ALL.to_vec(), |kind| vec![kind]);
    let here: Vec<_> = kinds.into_iter().map(|kind| state.catalog.possible(kind).here).collect();
    let is_possible = |target: &Target| here.iter().any(|here| here.contains(target));
    Target::ALL.into_iter().filter(is_possible).map(Target::name).collect()
}

pub(in crate::http) fn read_format_opts(members: &mut Members<'_>, config: &Config) -> FormatOpts {
    let limits = OptionLimits::of(&config.browser);
    let shape = || Shape::Object { title: "FormatOpts", members: format_opts::described(&limits) };
    let sent = members.raw("formatOpts", shape).filter(|sent| !matches!(sent.get(), "\"\""));
    let Some(sent) = sent else { return FormatOpts::default() };
    let limit_bytes = config.jobs.format_opts_limit_bytes;
    if sent.get().len() as u64 > limit_bytes {
        let detail = format!("is larger than {limit_bytes} bytes (jobs.format_opts_limit_bytes); shorten it");
        members.fault("formatOpts", detail);
        return FormatOpts::default();
    }
    let reading = format_opts::read(sent, &limits);
    let mut warnings = Warnings::default();
    warnings.push_all(reading.unknown_warnings());
    members.add_faults(reading.errors);
    if members.has_fault("formatOpts") {
        // Not an object; the error is noted already.
        return FormatOpts::default();
    }
    let object = members.any("formatOpts").map(str::to_owned);
    let sent = object.and_then(|object| RawValue::from_string(object).ok());
    let sent = sent.map(|sent| format_opts::mask_secrets(&sent).unwrap_or(sent)).map(Arc::from);
    FormatOpts { sent, options: reading.options, warnings }
}
