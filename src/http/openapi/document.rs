//! The OpenAPI document: operations from the handlers' attributes, answers from their types, bodies from their readers, problems
//! from the one table of codes.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, Object, PathItem, Ref, ResponseBuilder, ServerBuilder, Type,
};
use utoipa::{Modify, OpenApi};

use super::bodies::described_bodies;
use crate::config::Config;
use crate::http::body::members::BodyContext;
use crate::http::jobs::{delete, immediate, init, job, list, start};
use crate::http::problem::{HandlerResult, ProblemBody};
use crate::http::schema::Schemas;
use crate::http::state::HttpState;
use crate::http::system::{health, root};
use crate::http::templates;
use crate::problem::{Code, Problem};

/// What an operation answers besides its success, by its `operationId`; every one with a token answers
/// [`COMMON`] as well.
const PROBLEMS: &[(&str, &[&[Code]])] = &[
    ("initDocument", &[NEW_JOB, STORING]),
    (
        "renderDocument",
        &[&[
            Code::MalformedJson,
            Code::ValidationFailed,
            Code::JobNotFound,
            Code::DeliveryAddressRefused,
            Code::PayloadTooLarge,
            Code::StorageExceeded,
        ]],
    ),
    ("immediateRender", &[NEW_JOB, &[Code::DeliveryAddressRefused, Code::RenderFailed, Code::RenderPending]]),
    ("listJobs", &[&[Code::ValidationFailed]]),
    ("getJob", &[&[Code::ValidationFailed, Code::JobNotFound]]),
    ("deleteJob", &[&[Code::JobNotFound]]),
    ("listTemplates", &[&[Code::ValidationFailed]]),
    ("initTemplate", &[STORING]),
    ("unzipTemplate", &[WRITING, STORING, &[Code::TemplateArchiveInvalid]]),
    (
        "renderPreviews",
        &[
            SENT,
            &[
                Code::TemplateNotFound,
                Code::TemplateArchiveInvalid,
                Code::SubscriptionRequired,
                Code::QuotaExceeded,
                Code::UnsupportedConversion,
                Code::RenderFailed,
                Code::RenderPending,
            ],
        ],
    ),
    ("saveTemplate", &[WRITING, SENT, STORING, &[Code::TemplateArchiveInvalid, Code::PreviewNotUsable]]),
    (
        "updateTemplate",
        &[
            WRITING,
            SENT,
            STORING,
            &[Code::TemplateUnfinished, Code::TemplateArchiveInvalid, Code::PreviewNotUsable],
        ],
    ),
    ("getTemplate", &[READING]),
    ("deleteTemplate", &[WRITING]),
    ("cloneTemplate", &[READING, STORING]),
    ("getTemplateArchive", &[&[Code::TemplateNotFound, Code::TemplateArchiveInvalid]]),
    ("getIndexHtml", &[&[Code::TemplateNotFound, Code::TemplateArchiveInvalid, Code::EntryNotText]]),
    ("setIndexHtml", &[WRITING, SENT, STORING, &[Code::TemplateArchiveInvalid, Code::EntryNotText]]),
];

/// Codes of an operation with a body.
const SENT: &[Code] = &[Code::MalformedJson, Code::ValidationFailed, Code::PayloadTooLarge];

/// Codes of an operation that reads a saved template.
const READING: &[Code] = &[Code::TemplateNotFound, Code::TemplateUnfinished];

/// Codes of an operation that changes a template.
const WRITING: &[Code] = &[Code::TemplateNotFound, Code::NotOwner];

/// Codes of an operation that stores something.
const STORING: &[Code] = &[Code::StorageExceeded];

/// Codes of an operation that creates a job.
const NEW_JOB: &[Code] = &[
    Code::MalformedJson,
    Code::ValidationFailed,
    Code::IdempotencyMismatch,
    Code::SubscriptionRequired,
    Code::QuotaExceeded,
    Code::JobNotFound,
    Code::TemplateNotFound,
    Code::TemplateUnfinished,
    Code::TemplateArchiveInvalid,
    Code::UnsupportedConversion,
    Code::PayloadTooLarge,
];

/// Codes of every operation that takes a token.
const COMMON: &[Code] = &[
    Code::BadRequest,
    Code::RequestTimeout,
    Code::Unauthorized,
    Code::RateLimited,
    Code::Internal,
    Code::Overloaded,
];

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Platen",
        description = "Documents from templates and data. Create a job, upload what it works on to the presigned \
                       addresses (an exact `PUT`, without a token), start it, wait for it, fetch the document from \
                       `output.data.url` (a `GET`, without a token). Or do all of it in one call with \
                       `immediate-render`. Unknown members are ignored with a warning, or refused where they promise protection or conformance; `null`, and `\"\"` where an id, a template \
                       or an address is meant, count as left out."
    ),
    paths(
        init::init, start::start, immediate::render, list::list, job::job, delete::delete,
        templates::list::list, templates::init::init, templates::unzip::unzip, templates::previews::render,
        templates::save::save, templates::save::update, templates::get::get, templates::delete::delete,
        templates::copy::copy, templates::archive::address, templates::index_html::read,
        templates::index_html::write, root::root, health::live, health::ready
    ),
    components(schemas(ProblemBody)),
    modifiers(&Finish),
    security(("token" = [])),
    tags(
        (name = "documents", description = "Make documents"),
        (name = "jobs", description = "Follow them"),
        (name = "templates", description = "Keep what they are made from"),
        (name = "health", description = "Whether the service answers and can render"),
    )
)]
struct Described;

struct Finish;

impl Modify for Finish {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer);
        let scheme = scheme.description(Some("A token that `platen token create` printed.")).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
        for item in document.paths.paths.values_mut() {
            operations(item).for_each(add_problems);
        }
    }
}

/// The OpenAPI document of a service with this configuration; `base` is its public address, or empty for the host it is read
/// from.
///
/// # Errors
/// When the document cannot be written as JSON: a bug.
pub fn document(config: &Config, base: &str) -> serde_json::Result<Value> {
    let mut document = Described::openapi();
    document.servers = Some(vec![ServerBuilder::new().url(format!("{base}/v1")).build()]);
    let mut schemas = Schemas::of_openapi();
    let bodies = described_bodies(BodyContext { config, catalog: None }, &mut schemas);
    let mut document = serde_json::to_value(document)?;
    let known = &mut document["components"]["schemas"];
    for (name, schema) in bodies {
        known[name] = schema;
    }
    for (name, schema) in schemas.titled {
        // Words that answers have, too, are there already, with a sentence.
        if known[name].is_null() {
            known[name] = schema;
        }
    }
    Ok(document)
}

/// `GET /openapi.json`.
pub(super) async fn openapi(state: Data<HttpState>) -> HandlerResult {
    let document = document(&state.config, &state.public_url).map_err(Problem::internal)?;
    Ok(HttpResponse::Ok().json(document))
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

/// One answer a status: its description names the codes.
fn add_problems(operation: &mut Operation) {
    let name = operation.operation_id.as_deref().unwrap_or_default();
    let own = PROBLEMS.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, codes)| codes);
    let mut by_status: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in own.iter().copied().flatten().chain(COMMON) {
        by_status.entry(code.status()).or_default().push(code.name());
    }
    for (status, codes) in by_status {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let mut answer = ResponseBuilder::new()
            .description(format!("`{}`", codes.join("`, `")))
            .content("application/problem+json", content);
        if matches!(status, 429 | 503) {
            let seconds = HeaderBuilder::new()
                .schema(Some(Object::with_type(Type::Integer)))
                .description(Some("Seconds after which a repeat makes sense"));
            answer = answer.header("Retry-After", seconds.build());
        }
        operation.responses.responses.insert(status.to_string(), answer.build().into());
    }
}

#[cfg(test)]
mod tests;
