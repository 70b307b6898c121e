//! The members that init and immediate-render share, read from a body.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::conversions;
use super::state::HttpState;
use crate::config::Config;
use crate::domain::format_opts::{self, OptionLimits};
use crate::domain::ids::TemplateId;
use crate::domain::kinds::{Target, TemplateKind};
use crate::domain::members::Members;
use crate::jobs::messages::JobSpec;
use crate::outbound::Admitted;
use crate::problem::{Code, Problem};

/// What a caller wants rendered, as far as it could be read; faults are with the members.
#[derive(Debug)]
pub(super) struct JobRequest {
    kind: Option<TemplateKind>,
    target: Option<Target>,
    /// As it was sent; an empty one counts as absent.
    pub(super) template_id: Option<String>,
    format_opts: Option<Arc<RawValue>>,
}

impl JobRequest {
    /// Reads `type`, `target`, `templateId` and `formatOpts`.
    pub(super) fn read(members: &mut Members<'_>, state: &HttpState) -> Self {
        Self {
            kind: read_kind(members),
            target: read_target(members),
            template_id: members.text("templateId"),
            format_opts: read_format_opts(members, &state.config),
        }
    }

    /// The template's kind, if it could be read.
    pub(super) fn kind(&self) -> Option<TemplateKind> {
        self.kind
    }

    /// The job's specification, once the body has no fault.
    ///
    /// # Errors
    /// `unsupported_conversion`, `template_not_found`.
    pub(super) fn spec(self) -> Result<JobSpec, Problem> {
        let (Some(kind), Some(target)) = (self.kind, self.target) else {
            return Err(Problem::internal("a body without fault has no type or no target"));
        };
        conversions::admit(kind, target)?;
        if let Some(template) = self.template_id {
            return Err(no_such_template(&template));
        }
        Ok(JobSpec { kind, target, template: None, format_opts: self.format_opts })
    }
}

/// Reads the delivery address by either of its names.
pub(super) fn read_delivery(members: &mut Members<'_>) -> Option<String> {
    let current = members.text("uploadPresignedStorageUrl");
    let former = members.text("uploadPresignedS3Url");
    current.or(former)
}

/// Decides whether a document may be delivered to `address`. It is decided again when it is delivered.
///
/// # Errors
/// `delivery_address_refused`.
pub(super) async fn admit_delivery(
    state: &HttpState,
    address: Option<String>,
) -> Result<Option<Admitted>, Problem> {
    let Some(address) = address else { return Ok(None) };
    match state.outbound.admit(&address).await {
        Ok(admitted) => Ok(Some(admitted)),
        Err(refusal) => {
            let detail = format!("uploadPresignedStorageUrl is refused: {refusal}.");
            Err(Problem::new(Code::DeliveryAddressRefused, detail))
        }
    }
}

fn read_kind(members: &mut Members<'_>) -> Option<TemplateKind> {
    require(members, "type");
    members.word("type", &TemplateKind::ALL.map(TemplateKind::name), TemplateKind::from_name)
}

fn read_target(members: &mut Members<'_>) -> Option<Target> {
    require(members, "target");
    members.word("target", &Target::ALL.map(Target::name), Target::from_name)
}

/// Notes that a member is missing; null and an empty string are as good as nothing.
fn require(members: &mut Members<'_>, name: &str) {
    if members.raw(name).is_none_or(|value| value.get() == "\"\"") {
        members.fault(name, "is required");
    }
}

fn read_format_opts(members: &mut Members<'_>, config: &Config) -> Option<Arc<RawValue>> {
    let sent = members.raw("formatOpts").filter(|sent| !matches!(sent.get(), "\"\""))?;
    let limit_bytes = config.jobs.format_opts_limit_bytes;
    if sent.get().len() as u64 > limit_bytes {
        let detail = format!("is larger than {limit_bytes} bytes (jobs.format_opts_limit_bytes); shorten it");
        members.fault("formatOpts", detail);
        return None;
    }
    members.take_over(format_opts::read(sent, &OptionLimits::of(&config.browser)).faults);
    let object = members.object("formatOpts")?.to_owned();
    RawValue::from_string(object).ok().map(Arc::from)
}

fn no_such_template(sent: &str) -> Problem {
    let shown: String = sent.chars().take(64).collect();
    let detail = match sent.parse::<TemplateId>() {
        Ok(_) => {
            format!("There is no template '{shown}' of yours; upload the template with the job instead.")
        }
        Err(_) => format!("'{shown}' is no template id (a UUID); upload the template with the job instead."),
    };
    Problem::new(Code::TemplateNotFound, detail)
}
