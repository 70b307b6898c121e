//! The server: the application on a listener, with its limits.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::body::BoxBody;
use actix_web::dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{NormalizePath, from_fn};
use actix_web::{App, Error, HttpServer};

use super::state::HttpState;
use super::{configure, request};

/// Most threads that `http.workers = 0` takes.
const WORKERS_AT_MOST: usize = 4;
/// How long an idle connection is kept: longer than a client's pause between two questions.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long what a refused client still sends is read and dropped, so that it sees the answer.
const LINGER: Duration = Duration::from_secs(3);

/// Serves the application on `listener` until the server's handle stops it; no signal does.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    let http = state.config.http.clone();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_AT_MOST);
    let workers = usize::try_from(http.workers).ok().filter(|&workers| workers > 0).unwrap_or(threads);
    let connections = usize::try_from(http.connection_limit).unwrap_or(usize::MAX);
    let server = HttpServer::new(move || application(state.clone()))
        .workers(workers)
        .max_connections(connections.div_ceil(workers))
        .tcp_nodelay(true)
        .h1_allow_half_closed(false)
        .client_request_timeout(Duration::from_millis(http.request_timeout_ms))
        .client_disconnect_timeout(LINGER)
        .keep_alive(KEEP_ALIVE)
        .disable_signals()
        .shutdown_timeout(http.shutdown_grace_s)
        .listen(listener)?;
    Ok(server.run())
}

/// The application: the routes, and what surrounds every request.
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
