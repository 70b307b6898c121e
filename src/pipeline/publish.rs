//! Publish: the file of the last step becomes a durable object, which is visible only when it is whole.

use futures_util::StreamExt as _;

use super::{PipelineContext, RunInput, STORE_UNAVAILABLE, StoredDocument};
use crate::domain::error::{ErrorCode, JobError};
use crate::engines::document::{Body, Document, DocumentKind};
use crate::engines::work_files::WorkFile;
use crate::storage::{StagedObject, StorageKey, StoreError};

/// Commits the file to the object of its kind.
pub(super) async fn publish(
    context: &PipelineContext,
    input: &RunInput,
    document: Document,
) -> Result<StoredDocument, JobError> {
    let Document { kind, body, pages } = document;
    let DocumentKind::File(file) = kind else { return Err(not_a_file(kind)) };
    let key = StorageKey::JobOutput(input.account, input.job, file);
    let stored = match body {
        Body::Stored(staged) => staged.commit(&key).await,
        Body::Held(bytes) => {
            let limit_bytes = context.limits.output_limit_bytes;
            if bytes.len() as u64 > limit_bytes {
                return Err(store_error(&StoreError::TooLarge { limit_bytes }));
            }
            context.store.put(&key, bytes).await
        }
        // A last step that had nothing to do hands on the file of the step before.
        Body::Work(file) => match copied(context, file).await {
            Ok(staged) => staged.commit(&key).await,
            Err(error) => Err(error),
        },
        Body::Template(_) | Body::Source(_) | Body::Page(_) => return Err(not_a_file(kind)),
    };
    let meta = stored.map_err(|error| store_error(&error))?;
    Ok(StoredDocument { file, bytes: meta.bytes, pages, content: None })
}

async fn copied(context: &PipelineContext, file: WorkFile) -> Result<Box<dyn StagedObject>, StoreError> {
    let mut chunks = file.into_chunks();
    let mut staged = context.store.stage(context.limits.output_limit_bytes).await?;
    while let Some(chunk) = chunks.next().await {
        staged.write(chunk.map_err(StoreError::Failed)?).await?;
    }
    Ok(staged)
}

/// The error of a plan whose last step makes no file; there is none.
fn not_a_file(kind: DocumentKind) -> JobError {
    JobError::new(ErrorCode::Internal, format!("the job ended with a {}, which is no file", kind.name()))
}

/// The job's error where the store fails.
pub(super) fn store_error(error: &StoreError) -> JobError {
    match error {
        StoreError::TooLarge { limit_bytes } => JobError::new(
            ErrorCode::OutputTooLarge,
            format!("the document is larger than {limit_bytes} bytes (storage.output_limit_bytes)"),
        ),
        StoreError::NotFound(_) | StoreError::Range { .. } | StoreError::Failed(_) => {
            tracing::error!(error = %error, "the document cannot be stored");
            let why = if error.is_transient() { STORE_UNAVAILABLE } else { "" };
            JobError::new(ErrorCode::Internal, format!("the service could not store the document{why}"))
        }
    }
}
