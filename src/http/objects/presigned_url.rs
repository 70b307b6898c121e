//! Presigned addresses as HTTP sees them: minted for an answer, opened by whoever holds one.

use actix_web::HttpRequest;

use super::download;
use crate::domain::ids::{AccountId, JobId, TemplateId};
use crate::http::state::HttpState;
use crate::jobs::messages::InputPart;
use crate::jobs::view::JobView;
use crate::problem::{Code, Problem};
use crate::storage::StorageKey;
use crate::storage::addresses::Address;
use crate::storage::presign::{AddressFault, Grant, Operation};

/// The route of the signed addresses, below `/v1`.
pub(in crate::http) const PATTERN: &str = "/objects/{path:.*}";
const MARK: &str = "/objects/";

/// An address at which one input of a job can be uploaded.
pub(in crate::http) fn for_upload(
    state: &HttpState,
    account: AccountId,
    job: JobId,
    part: InputPart,
) -> Address {
    let key = match part {
        InputPart::Data => StorageKey::JobData(account, job),
        InputPart::Template => StorageKey::JobTemplate(account, job),
    };
    state.addresses.upload(&key, state.config.http.upload_limit_bytes)
}

/// An address at which the content of a template can be uploaded.
pub(in crate::http) fn for_template(state: &HttpState, account: AccountId, template: TemplateId) -> Address {
    let key = StorageKey::TemplateUpload(account, template);
    state.addresses.upload(&key, state.config.http.upload_limit_bytes)
}

/// An address at which an object can be fetched.
pub(in crate::http) fn for_download(state: &HttpState, key: StorageKey) -> Address {
    state.addresses.download(&key, &download::manner(&key, None))
}

/// An address at which a job's document can be fetched, under the name that its caller gave it.
pub(in crate::http) fn for_output(state: &HttpState, view: &JobView) -> Address {
    let key = view.output_key();
    state.addresses.download(&key, &download::manner(&key, view.file_name()))
}

/// What the request's address allows.
///
/// # Errors
/// `address_invalid`, `address_expired`.
pub(in crate::http) fn open(
    state: &HttpState,
    request: &HttpRequest,
    operation: Operation,
) -> Result<Grant, Problem> {
    let uri = request.uri();
    let path = uri.path().find(MARK).map_or("", |at| &uri.path()[at + MARK.len()..]);
    let query = uri.query().unwrap_or("");
    state.signer.verify(operation, path, query, state.clock.now()).map_err(|fault| match fault {
        AddressFault::Invalid => Problem::new(
            Code::AddressInvalid,
            "The address was altered, or is not for this method. Use it exactly as it was given.",
        ),
        AddressFault::Expired => Problem::new(
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
    use crate::storage::presign::ADDRESS_PREFIX;

    #[test]
    fn the_route_is_where_the_addresses_lead() {
        assert_eq!(ADDRESS_PREFIX, format!("/v1{MARK}"));
        assert!(PATTERN.starts_with(MARK));
    }
}
