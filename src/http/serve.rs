//! The server: the application on a listener, with its limits.

use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{ServiceFactoryExt, map_config};
use actix_web::body::BoxBody;
use actix_web::dev::{AppConfig, Server, ServiceFactory, ServiceRequest, ServiceResponse, fn_service};
use actix_web::middleware::{NormalizePath, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::{App, Error};

use super::configure;
use crate::config::as_count;
use crate::http::middleware::connection::Connection;
use crate::http::middleware::request;
use crate::http::middleware::traffic::MeteredStream;
use crate::http::state::HttpState;
use crate::telemetry::HttpMetrics;

/// Most threads that `http.workers = 0` takes.
const WORKERS_AT_MOST: usize = 4;
/// How long the rest of a refused request is read and dropped: a connection closed at once would be reset, and the client
/// would not see the answer.
const LINGER: Duration = Duration::from_secs(3);

/// A connection as actix takes it.
type Accepted = (Connection<MeteredStream<TcpStream>>, Protocol, Option<SocketAddr>);

/// Serves the application on `listener` until the server's handle stops it; signals are not handled here. A graceful stop
/// finishes the answers in progress and closes idle connections at once.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    let http = state.config.http.clone();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_AT_MOST);
    let workers = usize::try_from(http.workers).ok().filter(|&workers| workers > 0).unwrap_or(threads);
    let connections = as_count(http.connection_limit);
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections(connections.div_ceil(workers))
        .disable_signals()
        .shutdown_timeout(http.shutdown_grace_s);
    let stop = builder.graceful_shutdown_signal();
    let server = builder.listen("http", listener, move || {
        let (stop, metrics) = (stop.clone(), state.metrics.http.clone());
        let send_limit = Duration::from_secs(http.send_timeout_s);
        let protocol = HttpService::build()
            .h1_allow_half_closed(false)
            .client_request_timeout(Duration::from_millis(http.request_timeout_ms))
            .client_disconnect_timeout(LINGER)
            .keep_alive(Duration::from_secs(http.keep_alive_s))
            .graceful_shutdown_signal(move || {
                let stop = stop.clone();
                async move { stop.notified().await }
            })
            .finish(map_config(application(state.clone()), |()| AppConfig::default()));
        fn_service(move |stream| ready(accept(stream, send_limit, &metrics))).and_then(protocol)
    })?;
    Ok(server.run())
}

/// Without `TCP_NODELAY` small answers stall for 40 ms.
fn accept(stream: TcpStream, send_limit: Duration, metrics: &HttpMetrics) -> Result<Accepted, DispatchError> {
    stream.set_nodelay(true).map_err(DispatchError::Io)?;
    let peer = stream.peer_addr().ok();
    Ok((Connection::new(MeteredStream::new(stream, metrics.clone()), send_limit), Protocol::Http1, peer))
}

/// The application: routes and middleware.
pub(super) fn application(
    state: HttpState,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new().configure(configure(state)).wrap(from_fn(request::surround)).wrap(NormalizePath::trim())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use crate::http::testing::{TestServer, answer_until};

    #[actix_web::test]
    async fn an_idle_connection_does_not_hold_a_stop() {
        let server = TestServer::with(|config| config.http.shutdown_grace_s = 600).await;
        let served = server.serve();
        let mut idle = served.send(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n").await;
        answer_until(&mut idle, "}").await;
        timeout(Duration::from_secs(30), served.stop(true)).await.expect("it stops");
    }
}
