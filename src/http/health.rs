//! `/health/live` and `/health/ready`: whether the process answers, and whether it can render now.

use actix_web::web::Data;
use actix_web::{HttpResponse, Responder};
use serde_json::json;

use super::state::HttpState;

/// The process answers.
pub(super) async fn live() -> impl Responder {
    HttpResponse::Ok().json(json!({ "status": "live" }))
}

/// A document could be rendered now; otherwise 503 with every reason.
pub(super) async fn ready(state: Data<HttpState>) -> impl Responder {
    let checked = if state.stopping.is_cancelled() {
        Err(vec!["the service is stopping".to_owned()])
    } else {
        state.readiness.check().await
    };
    match checked {
        Ok(()) => HttpResponse::Ok().json(json!({ "status": "ready" })),
        Err(reasons) => {
            tracing::warn!(health.reasons = ?reasons, "not ready");
            HttpResponse::ServiceUnavailable().json(json!({ "status": "unready", "reasons": reasons }))
        }
    }
}
