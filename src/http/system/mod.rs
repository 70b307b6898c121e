//! The service itself: health and metrics. `app` serves `metrics` on an address of its own where one is set.

pub(super) mod health;
pub(super) mod metrics;

use actix_web::web::ServiceConfig;

use super::routing::resource;

pub(super) fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/health/live").get(health::live))
        .service(resource("/health/ready").get(health::ready));
}
