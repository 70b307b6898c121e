//! The one error that leaves the house, and the one table of its codes. Knows no HTTP library.

use std::fmt;

pub use json_members::Fault as FieldError;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident $code:literal $status:literal $title:literal;)+) => {
        /// Every code a caller can meet, with its HTTP status and title.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $variant,)+ }

        impl Code {
            /// The whole table, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $code,)+ }
            }

            /// The HTTP status that goes with it.
            pub fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)+ }
            }

            /// What it says in a few words, the same for every occurrence.
            pub fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
        }
    };
}

codes! {
    /// No token, an unknown one, or one that was revoked.
    Unauthorized "unauthorized" 401 "A valid token is required";
    /// The account has no active subscription.
    SubscriptionRequired "subscription_required" 402 "An active subscription is required";
    /// The period's documents are used up.
    QuotaExceeded "quota_exceeded" 402 "The documents of this period are used up";
    /// The account has stored as many bytes as it may.
    StorageExceeded "storage_exceeded" 402 "The storage of this account is used up";
    /// The job is not there, or not the caller's.
    JobNotFound "job_not_found" 404 "No such job";
    /// The template is not there, or not the caller's.
    TemplateNotFound "template_not_found" 404 "No such template";
    /// The stored object is gone.
    ObjectNotFound "object_not_found" 404 "No such object";
    /// The path leads nowhere.
    RouteNotFound "route_not_found" 404 "No such route";
    /// The path exists, the method does not.
    MethodNotAllowed "method_not_allowed" 405 "The method is not allowed here";
    /// A presigned address was altered.
    AddressInvalid "address_invalid" 403 "The address is not valid";
    /// A presigned address is older than its lifetime.
    AddressExpired "address_expired" 403 "The address has expired";
    /// An upload after the job was started, or the template saved.
    UploadClosed "upload_closed" 403 "No more uploads are taken";
    /// The body is not valid JSON, or nested too deeply.
    MalformedJson "malformed_json" 400 "The body is not valid JSON";
    /// The request itself cannot be read (a broken transfer, a range that makes no sense).
    BadRequest "bad_request" 400 "The request cannot be read";
    /// Its head or its body came too slowly; it can be sent again.
    RequestTimeout "request_timeout" 408 "The request did not arrive in time";
    /// One or more members of the body are wrong; `errors` names each.
    ValidationFailed "validation_failed" 422 "The body has faults";
    /// The same `Idempotency-Key` came with another request.
    IdempotencyMismatch "idempotency_mismatch" 422 "The key stands for another request";
    /// The result may not be delivered to the address given.
    DeliveryAddressRefused "delivery_address_refused" 422 "The delivery address is refused";
    /// The template was begun and not saved.
    TemplateUnfinished "template_unfinished" 422 "The template is not saved yet";
    /// The upload is no template, or there is none.
    TemplateArchiveInvalid "template_archive_invalid" 422 "The upload is not a template";
    /// The template's entry is an Office file.
    EntryNotText "entry_not_text" 422 "The template is no text";
    /// A preview is not one of this template, or has no document.
    PreviewNotUsable "preview_not_usable" 422 "The preview cannot be used";
    /// A public template of another account.
    NotOwner "not_owner" 403 "The template is another account's";
    /// Nobody can turn this kind into that target.
    UnsupportedConversion "unsupported_conversion" 422 "The conversion is not supported";
    /// Larger than the limit that the detail names.
    PayloadTooLarge "payload_too_large" 413 "The payload is too large";
    /// The range lies outside the object.
    RangeNotSatisfiable "range_not_satisfiable" 416 "The range lies outside the object";
    /// An immediate render ended without a document.
    RenderFailed "render_failed" 422 "The render failed";
    /// An immediate render did not end in the time a caller waits; the job goes on.
    RenderPending "render_pending" 422 "The render is not done yet";
    /// The token sent too many requests, or the account has as many waiting jobs as it may have.
    RateLimited "rate_limited" 429 "Too many at once";
    /// The queue is full, or the service is shutting down.
    Overloaded "overloaded" 503 "The service is overloaded";
    /// An error of ours; the log has the cause under the request id.
    Internal "internal" 500 "Internal error";
}

/// Seconds after which a caller may try again what was too much at once.
const RETRY_AFTER_S: u64 = 2;
/// Seconds after which a full disk may have been looked after.
const FULL_RETRY_AFTER_S: u64 = 60;

/// What went wrong: `detail` is for the caller and names the thing and the remedy; `cause` is for
/// the log only.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: {detail}{}",
    code.name(),
    cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default()
)]
pub struct Problem {
    /// Which row of the table.
    pub code: Code,
    /// For the caller: the thing and the remedy.
    pub detail: String,
    /// Every error of the body, for `validation_failed`.
    pub errors: Vec<FieldError>,
    /// Further members of the answer (`jobId`, `errorCode`).
    pub extra: Vec<(&'static str, String)>,
    /// Seconds after which a repeat makes sense.
    pub retry_after_s: Option<u64>,
    /// For the log only.
    pub cause: Option<String>,
}

impl Problem {
    /// A problem with a detail for the caller. What was too much at once may be tried again in a moment.
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let is_passing = matches!(code, Code::Overloaded | Code::RateLimited);
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            extra: Vec::new(),
            retry_after_s: is_passing.then_some(RETRY_AFTER_S),
            cause: None,
        }
    }

    /// An error of ours: the caller learns nothing but the request id, the log gets `cause`.
    pub fn internal(cause: impl fmt::Display) -> Self {
        let mut problem = Self::new(
            Code::Internal,
            "The service met an internal error. Report the request id in 'instance' to its operator.",
        );
        problem.cause = Some(cause.to_string());
        problem
    }

    /// The service stops and begins nothing new.
    pub fn stopping() -> Self {
        Self::new(Code::Overloaded, "The service is stopping; try again in a moment.")
    }

    /// The disk is full: what was asked succeeds when its operator has freed some space. The log gets `cause`, which
    /// names the folder.
    pub fn disk_full(cause: impl fmt::Display) -> Self {
        let detail = "The service's disk is full; its operator must free some space. Try again later.";
        let mut problem = Self::new(Code::Overloaded, detail).retry_after(FULL_RETRY_AFTER_S);
        problem.cause = Some(cause.to_string());
        problem
    }

    /// A body whose members have errors; the detail joins them in one sentence.
    pub fn validation(errors: Vec<FieldError>) -> Self {
        let told: Vec<String> =
            errors.iter().map(|error| format!("{}: {}", error.pointer, error.detail)).collect();
        let mut problem = Self::new(Code::ValidationFailed, told.join("; "));
        problem.errors = errors;
        problem
    }

    /// Says after how many seconds a repeat makes sense.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Adds a further member to the answer.
    pub fn with(mut self, member: &'static str, value: impl fmt::Display) -> Self {
        self.extra.push((member, value.to_string()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
