//! Presigned URLs: signed for an answer, verified when one is used.

use actix_web::HttpRequest;

use super::response_headers::response_headers;
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::http::connections;
use crate::http::state::HttpState;
use crate::jobs::messages::InputPart;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::storage::StorageKey;
use crate::storage::presigned_urls::{Operation, PresignError, PresignedAccess, PresignedUrl};

/// Route pattern of presigned URLs, below `/v1`.
pub(in crate::http) const PATTERN: &str = "/objects/{path:.*}";
const MARK: &str = "/objects/";

/// URL for the upload of one input of a job.
pub(in crate::http) fn for_upload(
    state: &HttpState,
    account: AccountId,
    job: JobId,
    part: InputPart,
) -> PresignedUrl {
    let key = part.storage_key(account, job);
    state.presigned_urls.upload(&key, state.config.http.upload_limit_bytes)
}

/// URL for the upload of a template's content.
pub(in crate::http) fn for_template(
    state: &HttpState,
    account: AccountId,
    template: TemplateId,
) -> PresignedUrl {
    let key = StorageKey::TemplateUpload(account, template);
    state.presigned_urls.upload(&key, state.config.http.upload_limit_bytes)
}

/// URL for the download of an object.
pub(in crate::http) fn for_download(state: &HttpState, key: StorageKey) -> PresignedUrl {
    state.presigned_urls.download(&key, &response_headers(&key, None))
}

/// URL for the download of a job's document, under the file name that its caller chose.
pub(in crate::http) fn for_output(state: &HttpState, view: &JobView) -> PresignedUrl {
    let key = view.output_key();
    state.presigned_urls.download(&key, &response_headers(&key, view.file_name()))
}

/// Verifies the signed query of a request; answers what it allows.
///
/// # Errors
/// `address_invalid`, `address_expired`.
pub(in crate::http) fn verify(
    state: &HttpState,
    request: &HttpRequest,
    operation: Operation,
) -> Result<PresignedAccess, Problem> {
    let uri = request.uri();
    let path = uri.path().find(MARK).map_or("", |at| &uri.path()[at + MARK.len()..]);
    let query = uri.query().unwrap_or("");
    let verified = state.signer.verify(operation, path, query, state.clock.now());
    if let Ok(access) = &verified {
        connections::count_for_account(request, access.key.account());
    }
    verified.map_err(|error| match error {
        PresignError::Invalid => Problem::new(
            Code::AddressInvalid,
            "The address was altered, or is not for this method. Use it exactly as it was given.",
        ),
        PresignError::Expired => Problem::new(
            Code::AddressExpired,
            format!(
                "The address has expired: it lives {} seconds (storage.address_ttl_s). Ask again for \
                 the job or the template to get a fresh one.",
                state.config.storage.address_ttl_s
            ),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::presigned_urls::PATH_PREFIX;

    #[test]
    fn presigned_urls_lead_to_the_route() {
        assert_eq!(PATH_PREFIX, format!("/v1{MARK}"));
        assert!(PATTERN.starts_with(MARK));
    }
}
