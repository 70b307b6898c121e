//! `/health/live` and `/health/ready`: whether the process answers, and whether it can render now.

use actix_web::web::Data;
use actix_web::{HttpResponse, Responder};
use serde_json::json;

use crate::http::state::HttpState;

/// Whether the process answers.
#[utoipa::path(
    get, path = "/health/live", operation_id = "live", tag = "health", security(()),
    responses((status = 200, description = "It does")),
)]
pub(in crate::http) async fn live() -> impl Responder {
    HttpResponse::Ok().json(json!({ "status": "live" }))
}

/// Whether documents can be rendered now; otherwise 503 with every reason. `degraded` names engines that are missing while
/// others work.
#[utoipa::path(
    get, path = "/health/ready", operation_id = "ready", tag = "health", security(()),
    responses((status = 200, description = "It could"), (status = 503, description = "It could not, and why")),
)]
pub(in crate::http) async fn ready(state: Data<HttpState>) -> impl Responder {
    let checked = if state.stopping.is_cancelled() {
        Err(vec!["the service is stopping".to_owned()])
    } else {
        state.readiness.check().await
    };
    match checked {
        Ok(lost) if lost.is_empty() => HttpResponse::Ok().json(json!({ "status": "ready" })),
        // Ready all the same: a load balancer that took this service out would take the working engines as well.
        Ok(lost) => HttpResponse::Ok().json(json!({ "status": "ready", "degraded": lost })),
        Err(reasons) => {
            tracing::debug!(health.reasons = ?reasons, "not ready");
            HttpResponse::ServiceUnavailable().json(json!({ "status": "unready", "reasons": reasons }))
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::{Method, StatusCode};

    use crate::http::testing::TestServer;

    #[actix_web::test]
    async fn a_stopping_service_is_not_ready() {
        let server = TestServer::new().await;
        server.state.stopping.cancel();
        let (status, _) = server.call(Method::GET, "/health/ready", "").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    }
}
