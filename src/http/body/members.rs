//! Members that several bodies have.

use std::sync::Arc;

use json_members::{Members, Shape};
use serde_json::value::RawValue;

use crate::config::Config;
use crate::domain::error::Warnings;
use crate::domain::format_opts::{self, OptionLimits, PageOptions};
use crate::domain::kinds::{Target, TemplateKind};
use crate::engines::catalog::Catalog;
use crate::http::schema::{KIND_TITLE, TARGET_TITLE};

const TYPE: (&str, &str) = (
    "type",
    "What the template is, in any case; `react` means `framework`. Older and foreign Office formats go with their younger kin: \
     odt, doc and rtf with `docx`, ods and xls with `xlsx`, odp and ppt with `pptx`.",
);
const TARGET: (&str, &str) = ("target", "What it becomes, in any case; `jpeg` means `jpg`.");
const DATA: (&str, &str) = (
    "data",
    "The data, as it is to reach the template. Left out of init: upload it to `presignedDataUploadUrl`.",
);
const FORMAT_OPTS: (&str, &str) = (
    "formatOpts",
    "How the document is made. Unknown keys are ignored, with a warning; a known one with a wrong value is refused by name. \
     Keys that promise protection or conformance are refused where the promise cannot be kept: `password`, `userPassword`, \
     `ownerPassword` and `permissions` for any target but pdf, `pdfa` and `pdfua` for any but pdf of Office files, `encrypt` \
     and `sign` always.",
);
const DELIVERY: (&str, &str) = (
    "uploadPresignedStorageUrl",
    "An address that takes the document by `PUT`; https, unless the operator allows http.",
);
const FORMER_DELIVERY: (&str, &str) =
    ("uploadPresignedS3Url", "The older name of `uploadPresignedStorageUrl`.");

/// What readers of bodies know of the service.
#[derive(Clone, Copy)]
pub(in crate::http) struct BodyContext<'s> {
    /// Its configuration, with the limits of options.
    pub(in crate::http) config: &'s Config,
    /// What is installed; `None` where bodies are only described.
    pub(in crate::http) catalog: Option<&'s Catalog>,
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

pub(in crate::http) fn read_kind(
    members: &mut Members<'_>,
    context: BodyContext<'_>,
) -> Option<TemplateKind> {
    members.require(TYPE);
    let all = (KIND_TITLE, &TemplateKind::ALL.map(TemplateKind::name)[..]);
    members.word_among(TYPE, all, || kinds(context.catalog), TemplateKind::from_name)
}

pub(in crate::http) fn read_target(
    members: &mut Members<'_>,
    kind: Option<TemplateKind>,
    context: BodyContext<'_>,
) -> Option<Target> {
    members.require(TARGET);
    let all = (TARGET_TITLE, &Target::ALL.map(Target::name)[..]);
    members.word_among(TARGET, all, || targets(kind, context.catalog), Target::from_name)
}

/// The types that the installed engines can render.
fn kinds(catalog: Option<&Catalog>) -> Vec<&'static str> {
    let works = |kind: &TemplateKind| !possible(catalog, *kind).is_empty();
    TemplateKind::ALL.into_iter().filter(works).map(TemplateKind::name).collect()
}

/// The targets of the type with the installed engines; of an unknown type, the targets of any.
fn targets(kind: Option<TemplateKind>, catalog: Option<&Catalog>) -> Vec<&'static str> {
    let kinds = kind.map_or_else(|| TemplateKind::ALL.to_vec(), |kind| vec![kind]);
    let here: Vec<_> = kinds.into_iter().map(|kind| possible(catalog, kind)).collect();
    let is_possible = |target: &Target| here.iter().any(|here| here.contains(target));
    Target::ALL.into_iter().filter(is_possible).map(Target::name).collect()
}

fn possible(catalog: Option<&Catalog>, kind: TemplateKind) -> Vec<Target> {
    catalog.map_or_else(|| Target::ALL.to_vec(), |catalog| catalog.possible(kind).here)
}

/// The data as it was sent.
pub(in crate::http) fn read_data<'a>(members: &mut Members<'a>) -> Option<&'a str> {
    members.any(DATA)
}

/// Reads the delivery URL by either of its names.
pub(in crate::http) fn read_delivery(members: &mut Members<'_>) -> Option<String> {
    let current = members.text(DELIVERY);
    let former = members.old_text(FORMER_DELIVERY);
    current.or(former)
}

pub(in crate::http) fn read_format_opts(members: &mut Members<'_>, config: &Config) -> FormatOpts {
    let limits = OptionLimits::of(&config.browser);
    let shape = || Shape::Object { title: "FormatOpts", members: format_opts::described(&limits) };
    let sent = members.raw(FORMAT_OPTS, shape).filter(|sent| !matches!(sent.get(), "\"\""));
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
