//! The REST interface. All routes are on this screen; each endpoint is one file. Handlers read a request,
//! send a message and answer; they do nothing else.

mod accept;
mod access;
mod address;
mod auth;
mod body;
mod connection;
mod conversions;
mod delete;
mod disposition;
mod download;
mod form;
mod gate;
mod health;
mod idempotency;
mod immediate;
mod init;
mod job;
mod job_request;
mod list;
mod metrics;
mod openapi;
mod prefer;
mod problem;
mod query;
mod rate;
mod refusal;
mod request;
mod routing;
mod serve;
mod start;
mod state;
mod templates;
#[cfg(test)]
mod testing;
mod traffic;
mod unread;
mod upload;
mod view;
mod wait;

use actix_web::web::{self, ServiceConfig};

pub use actix_web::dev::{Server, ServerHandle};
pub use body::room as body_room;
pub use metrics::serve_metrics;
pub use openapi::document as openapi;
pub use rate::RateLimit;
use routing::resource;
pub use serve::serve;
pub use state::{Checked, HttpState, JobGate, Readiness, local_url, public_url};

/// Every route, with and without `/v1`: two published clients use the base without it.
pub fn configure(state: HttpState) -> impl Fn(&mut ServiceConfig) {
    move |config| {
        if state.config.metrics.bind.is_empty() {
            config.service(resource(metrics::PATH).get(metrics::metrics));
        }
        config
            .app_data(web::Data::new(state.clone()))
            .service(web::scope("/v1").configure(routes))
            .configure(routes)
            .default_service(web::to(routing::no_such_route));
    }
}

fn routes(config: &mut ServiceConfig) {
    config
        .service(resource("/documents/init").post(init::init))
        .service(resource("/documents/immediate-render").post(immediate::render))
        .service(resource("/documents/{jobId}/render").post(start::start))
        .configure(templates::routes)
        .service(resource("/jobs").get(list::list))
        .service(resource("/jobs/{jobId}").get(job::job).delete(delete::delete))
        .service(
            resource(address::PATTERN)
                .put(upload::upload)
                .get(download::download)
                .options(routing::allow_any_origin),
        )
        .service(resource("/openapi.json").get(openapi::openapi))
        .service(resource("/docs").get(openapi::index))
        .service(resource("/docs/{file}").get(openapi::page))
        .service(resource("/problems/{code}").get(problem::describe))
        .service(resource("/health/live").get(health::live))
        .service(resource("/health/ready").get(health::ready));
}
