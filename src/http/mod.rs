//! The REST interface: a folder for each kind of resource, whose `mod.rs` lists the routes, and a file for each
//! endpoint. Handlers read a request, ask an actor or a reader through `actors`, and answer; they decide nothing
//! themselves. `app` builds [`HttpState`] and serves it; `cli` prints the OpenAPI document.

mod actors;
mod body;
mod connection;
mod connections;
mod ids;
mod jobs;
mod middleware;
mod objects;
mod openapi;
mod problem;
mod query;
mod request_id;
mod routing;
mod schema;
mod serve;
mod state;
mod system;
mod templates;
#[cfg(test)]
mod testing;

use actix_web::web::{self, ServiceConfig};

pub use actix_web::dev::{Server, ServerHandle};
pub use connections::FileLimits;
pub use middleware::rate_limit::RateLimit;
pub use openapi::document as openapi;
use routing::resource;
pub use serve::serve;
pub use state::{HttpState, Readiness, ReadinessResult, Shared, local_url, public_url};
pub use system::metrics::serve_metrics;

/// Every route, with and without `/v1`: two published clients use the base without it.
pub fn configure(state: HttpState) -> impl Fn(&mut ServiceConfig) {
    move |config| {
        if state.config.metrics.bind.is_empty() {
            let shown = web::Data::new((state.metrics.clone(), state.catalog.clone()));
            config.app_data(shown).service(resource(system::metrics::PATH).get(system::metrics::metrics));
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
        .configure(jobs::routes)
        .configure(templates::routes)
        .configure(objects::routes)
        .configure(openapi::routes)
        .service(resource("/problems/{code}").get(problem::describe))
        .configure(system::routes);
}
