//! Jobs: created, started, waited for, listed and deleted. An endpoint is a file.
//!
//! `templates` calls `job_request`, `conversions`, `wait` and `immediate` for its previews, which are jobs.

mod accept;
pub(super) mod conversions;
pub(super) mod delete;
mod form;
mod idempotency;
pub(super) mod immediate;
pub(super) mod init;
pub(super) mod job;
pub(super) mod job_request;
pub(super) mod list;
mod prefer;
pub(super) mod start;
mod view;
pub(super) mod wait;

use actix_web::web::ServiceConfig;

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/documents/init").post(init::init))
        .service(resource("/documents/immediate-render").post(immediate::render))
        .service(resource("/documents/{jobId}/render").post(start::start))
        .service(resource("/jobs").get(list::list))
        .service(resource("/jobs/{jobId}").get(job::job).delete(delete::delete));
}
