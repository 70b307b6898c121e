//! `platen doctor` for a bucket: tries each operation that the service needs, and reports errors as sentences.

use std::io::ErrorKind;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt;
use reqwest::RequestBuilder;
use reqwest::header::CONTENT_DISPOSITION;

use super::error::{Action, ErrorResponse, RequestError, refusal};
use super::{S3PresignedUrls, S3Store};
use crate::clock;
use crate::config::S3Config;
use crate::domain::ids::AccountId;
use crate::storage::presigned_urls::{PresignedUrls as _, ResponseHeaders};
use crate::storage::{ByteRange, Folder, ObjectStore, StorageKey, StoreError};

const CONTENT: &[u8] = b"platen doctor was here";

/// Tries every operation on objects of its own, which it deletes; returns each error once.
pub async fn examine(config: &S3Config, urls: &S3PresignedUrls) -> Vec<String> {
    // Not the service's folder: opening that would remove the staged files of a running service.
    let spool = std::env::temp_dir().join(format!("platen-doctor-{}", clock::new_id().simple()));
    let errors = match S3Store::open(config, spool.clone(), 0).await {
        Ok(store) => SelfTest::new(store.without_retries(), urls).run().await,
        Err(error) => vec![sentence_of(&error)],
    };
    let _ = std::fs::remove_dir_all(spool);
    errors
}

struct SelfTest<'a> {
    store: S3Store,
    urls: &'a S3PresignedUrls,
    own: StorageKey,
    copy: StorageKey,
    errors: Vec<String>,
}

impl<'a> SelfTest<'a> {
    fn new(store: S3Store, urls: &'a S3PresignedUrls) -> Self {
        let key = || StorageKey::Probe(AccountId::generate());
        Self { store, urls, own: key(), copy: key(), errors: Vec::new() }
    }

    async fn run(mut self) -> Vec<String> {
        let listed = self.store.list(Folder::Probes, None, 1).await;
        // Go on only if the bucket answers, if only to deny: otherwise every operation would fail for the same reason.
        let goes_on = match &listed {
            Err(StoreError::Failed(cause)) => cause.kind() == ErrorKind::PermissionDenied,
            Ok(_) | Err(StoreError::NotFound(_) | StoreError::TooLarge { .. } | StoreError::Range { .. }) => {
                true
            }
        };
        self.note(listed);
        if !goes_on {
            return self.errors;
        }
        let put = self.store.put(&self.own, Bytes::from_static(CONTENT)).await;
        if self.note(put) {
            let listed = self.check_list().await;
            self.note(listed);
            let read = self.check_read().await;
            if self.note(read) {
                let missing = self.check_missing_object().await;
                self.note(missing);
            }
            let copied = self.store.copy(&self.own, &self.copy).await;
            self.note(copied);
            self.check_presigned_urls().await;
            let refused = self.check_unsigned_copy_is_refused().await;
            self.note(refused);
            let deleted = self.check_batch_deletion().await;
            self.note(deleted);
        }
        for key in [self.own, self.copy] {
            let removed = self.store.delete(&key).await;
            self.note(removed);
        }
        self.errors
    }

    /// Sweeps delete many objects with one request, which a policy may deny or a server may lack.
    async fn check_batch_deletion(&self) -> Result<(), StoreError> {
        let together = [self.own, self.copy];
        self.store.delete_batch(&together).await?;
        for key in &together {
            match self.store.head(key).await {
                Err(StoreError::NotFound(_)) => {}
                Ok(_) => {
                    return Err(wrong(
                        "the store answers a deletion of several objects and leaves them there",
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Hazard: with an unsigned `x-amz-copy-source` header the holder of an upload URL could read any object by copying it to
    /// the key of the upload. The store must refuse headers that were not signed.
    async fn check_unsigned_copy_is_refused(&self) -> Result<(), StoreError> {
        let other = StorageKey::Probe(AccountId::generate());
        let source = format!("/{}/{}", self.store.address.bucket, self.store.path(&self.own));
        let url = self.urls.upload(&other, 0).url;
        let request = self.store.client.client().put(url).header("x-amz-copy-source", source);
        let _ = self.send(request).await;
        let there = self.store.get(&other, CONTENT.len() as u64).await;
        self.store.delete(&other).await?;
        match there {
            Ok(copied) if copied == CONTENT => Err(wrong(
                "the store takes x-amz-copy-source from whoever has an address for an upload, so that callers can read \
                 each other's objects; do not use it, or let nothing pass to it with that header",
            )),
            Ok(_) | Err(StoreError::NotFound(_) | StoreError::TooLarge { .. } | StoreError::Range { .. }) => {
                Ok(())
            }
            Err(error @ StoreError::Failed(_)) => Err(error),
        }
    }

    /// Without `s3:ListBucket` a store reports a missing object as forbidden, which the service could not handle.
    async fn check_missing_object(&self) -> Result<(), StoreError> {
        match self.store.head(&self.copy).await {
            Err(StoreError::NotFound(_)) => Ok(()),
            Ok(_) => Err(wrong("the store says that an object is there that nobody put there")),
            Err(error) => Err(wrong(&format!(
                "{}; without s3:ListBucket the store says so of every object that is not there",
                sentence_of(&error)
            ))),
        }
    }

    async fn check_list(&self) -> Result<(), StoreError> {
        let keys = self.store.list(Folder::Probes, None, usize::MAX).await?;
        if !keys.contains(&self.own) {
            return Err(wrong("the list of the bucket lacks an object that was put there"));
        }
        Ok(())
    }

    async fn check_read(&self) -> Result<(), StoreError> {
        let whole = self.store.get(&self.own, CONTENT.len() as u64).await?;
        let part = self.store.open(&self.own, Some(ByteRange::From(7, Some(12)))).await?;
        let part: Vec<Bytes> = part.chunks.try_collect().await?;
        if whole != CONTENT || part.concat() != CONTENT[7..=12] {
            return Err(wrong("an object came back altered, or a part of it is another one than asked for"));
        }
        Ok(())
    }

    /// Uploads and downloads as callers do, with the URL alone.
    async fn check_presigned_urls(&mut self) {
        let disposition = "attachment; filename=\"a.txt\"".to_owned();
        let headers = ResponseHeaders { content_type: "text/plain", disposition, file_name: None };
        let (put, get) = (self.urls.upload(&self.own, 0).url, self.urls.download(&self.own, &headers).url);
        let client = self.store.client.client().clone();
        let answered = self.send(client.put(put).body(CONTENT)).await;
        let errors = match answered {
            Ok((200, _, body)) if body.is_empty() => Ok(()),
            Ok((status, _, body)) => Err(self.refused(status, &body, Action::Put)),
            Err(error) => Err(error),
        };
        self.note(errors);
        let answered = self.send(client.get(get)).await;
        let errors = match answered {
            Ok((200, shown, body)) if body == CONTENT && shown == headers.disposition => Ok(()),
            Ok((200, _, body)) if body == CONTENT => Err(wrong(
                "the store does not name downloads as asked (response-content-disposition); they will have no file name",
            )),
            Ok((status, _, body)) => Err(self.refused(status, &body, Action::Get)),
            Err(error) => Err(error),
        };
        self.note(errors);
    }

    /// Sends a request; returns status, disposition and body of the answer.
    async fn send(&self, request: RequestBuilder) -> Result<(u16, String, Bytes), StoreError> {
        let answered = async {
            let response = request.send().await?;
            let status = response.status().as_u16();
            let shown = response.headers().get(CONTENT_DISPOSITION).and_then(|value| value.to_str().ok());
            let shown = shown.unwrap_or_default().to_owned();
            Ok((status, shown, response.bytes().await?))
        };
        let outcome = tokio::time::timeout(self.store.probe_limit, answered).await;
        let error = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => RequestError::of_connection(&error),
            Err(_) => RequestError::Transient("no answer in time (s3.probe_timeout_ms)".to_owned()),
        };
        let cause = sentence_of(&error.into_error(&self.store.address, Action::Get, "probe"));
        Err(wrong(&format!("an address for callers leads nowhere (s3.public_endpoint): {cause}")))
    }

    fn refused(&self, status: u16, body: &[u8], action: Action) -> StoreError {
        let address = Arc::clone(&self.store.address);
        let cause = match RequestError::of_answer(status, body) {
            RequestError::Refused(answer) => refusal(&answer, &address, action),
            RequestError::Transient(cause) => cause,
            RequestError::NotFound => {
                refusal(&ErrorResponse { status, ..ErrorResponse::default() }, &address, action)
            }
        };
        wrong(&format!("an address for callers does not work (s3.public_endpoint): {cause}"))
    }

    /// Notes an error; returns whether there was none. A cause that makes several operations fail is reported once.
    fn note<T>(&mut self, outcome: Result<T, StoreError>) -> bool {
        let Err(error) = outcome else { return true };
        let sentence = sentence_of(&error);
        if !self.errors.contains(&sentence) {
            self.errors.push(sentence);
        }
        false
    }
}

fn sentence_of(error: &StoreError) -> String {
    match error {
        StoreError::Failed(cause) => cause.to_string(),
        StoreError::NotFound(_) => "an object that was put there is not there".to_owned(),
        StoreError::TooLarge { .. } | StoreError::Range { .. } => error.to_string(),
    }
}

fn wrong(sentence: &str) -> StoreError {
    StoreError::Failed(std::io::Error::other(sentence))
}
