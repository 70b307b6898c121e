//! `/metrics` in Prometheus' text format; on its own address where `metrics.bind` is set.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_service::map_config;
use actix_web::dev::{AppConfig, Server};
use actix_web::http::header;
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse};

use crate::config::Config;
use crate::engines::catalog::Catalog;
use crate::http::problem::HandlerResult;
use crate::http::routing::{self, resource};
use crate::problem::Problem;
use crate::telemetry::metrics::Metrics;

/// The path on either address.
pub(in crate::http) const PATH: &str = "/metrics";

/// Connections at once on its own address.
const CONNECTION_LIMIT: usize = 64;

/// Serves `/metrics`, and nothing else, on `listener` until the server's handle stops it.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve_metrics(
    listener: TcpListener,
    shown: (Metrics, Arc<Catalog>),
    config: &Config,
) -> io::Result<Server> {
    let http = config.http.clone();
    let server = Server::build()
        .workers(1)
        .max_concurrent_connections(CONNECTION_LIMIT)
        .disable_signals()
        .shutdown_timeout(1)
        .listen("metrics", listener, move || {
            let application = App::new()
                .app_data(Data::new(shown.clone()))
                .service(resource(PATH).get(metrics))
                .default_service(web::to(routing::no_such_route));
            HttpService::build()
                .client_request_timeout(Duration::from_millis(http.request_timeout_ms))
                .keep_alive(Duration::from_secs(http.keep_alive_s))
                .finish(map_config(application, |()| AppConfig::default()))
                .tcp()
        })?;
    Ok(server.run())
}

pub(in crate::http) async fn metrics(shown: Data<(Metrics, Arc<Catalog>)>) -> HandlerResult {
    let (metrics, catalog) = &**shown;
    // The gauges of engines are refreshed on each request.
    catalog.check();
    let text = metrics.text().map_err(Problem::internal)?;
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, Metrics::MEDIA_TYPE)).body(text))
}
