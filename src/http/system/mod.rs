//! The service itself: what it is, health and metrics. `app` serves `metrics` on an address of its own where one is set.

pub(super) mod health;
pub(super) mod metrics;
pub(super) mod root;

use actix_web::web::ServiceConfig;

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        // With and without a slash behind `/v1`.
        .service(resource("").get(root::root))
        .service(resource("/").get(root::root))
        .service(resource("/health/live").get(health::live))
        .service(resource("/health/ready").get(health::ready));
}
