//! `PUT` of a presigned address: streams one input of a job into the store. Answers exactly 200, empty.

use std::time::Duration;

use actix_web::http::{ConnectionType, header};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::body::declared_bytes;
use super::problem::{Answer, Failure};
use super::request::keep_unread;
use super::state::HttpState;
use super::{address, gate};
use crate::domain::ids::{AccountId, JobId};
use crate::jobs::messages::{CloseUpload, InputPart, OpenUpload};
use crate::problem::{Code, Problem};
use crate::storage::presign::Operation;
use crate::storage::{StagedObject, StorageKey, StoreError};

/// What an upload's address stands for.
struct Place {
    account: AccountId,
    job: JobId,
    part: InputPart,
    limit_bytes: u64,
}

/// The handler. No header of ours is needed, no Content-Type is looked at. The connection is closed after
/// it: some clients declare a length that is too short, and what is left over is no request.
pub(super) async fn upload(request: HttpRequest, mut payload: Payload, state: Data<HttpState>) -> Answer {
    match receive(&request, &mut payload, &state).await {
        Ok(()) => {
            let mut answer = HttpResponse::Ok();
            answer.insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"));
            answer.force_close();
            Ok(answer.finish())
        }
        Err(problem) => {
            keep_unread(&request, payload);
            let failure = Failure::from(problem).header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
            Err(failure.connection(ConnectionType::Close))
        }
    }
}

async fn receive(request: &HttpRequest, payload: &mut Payload, state: &HttpState) -> Result<(), Problem> {
    let place = open_address(request, state)?;
    let Place { account, job, part, limit_bytes } = place;
    if declared_bytes(request).is_some_and(|bytes| bytes > limit_bytes) {
        return Err(too_large(limit_bytes));
    }
    let opened = OpenUpload { account, job, limit_bytes };
    let mut staged = gate::ask(state, &state.jobs.open_upload, opened).await?;
    let longest_s = state.config.http.upload_timeout_s;
    let arrival = timeout(Duration::from_secs(longest_s), arrive(payload, staged.as_mut(), limit_bytes));
    arrival.await.unwrap_or_else(|_| {
        let detail = format!(
            "The upload did not arrive within {longest_s} seconds (http.upload_timeout_s); nothing of it was kept."
        );
        Err(Problem::new(Code::BadRequest, detail))
    })?;
    gate::ask(state, &state.jobs.close_upload, CloseUpload { account, job, part, staged }).await
}

fn open_address(request: &HttpRequest, state: &HttpState) -> Result<Place, Problem> {
    let grant = address::open(state, request, Operation::Put)?;
    let (account, job, part) = match grant.key {
        StorageKey::JobData(account, job) => (account, job, InputPart::Data),
        StorageKey::JobTemplate(account, job) => (account, job, InputPart::Template),
        StorageKey::JobOutput(..) | StorageKey::Probe(_) => {
            return Err(Problem::internal("an upload address was signed for what is no input"));
        }
    };
    tracing::Span::current().record("job.id", tracing::field::display(job));
    Ok(Place { account, job, part, limit_bytes: grant.limit_bytes })
}

async fn arrive(
    payload: &mut Payload,
    staged: &mut dyn StagedObject,
    limit_bytes: u64,
) -> Result<(), Problem> {
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| {
            let detail = format!("The upload broke off: {error}. Nothing of it was kept; send it again.");
            Problem::new(Code::BadRequest, detail)
        })?;
        staged.write(chunk).await.map_err(|error| match error {
            StoreError::TooLarge { .. } => too_large(limit_bytes),
            StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => {
                Problem::internal(error)
            }
        })?;
    }
    Ok(())
}

fn too_large(limit_bytes: u64) -> Problem {
    let detail = format!("The upload is larger than {limit_bytes} bytes (http.upload_limit_bytes).");
    Problem::new(Code::PayloadTooLarge, detail)
}
