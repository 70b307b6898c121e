//! The server: the application on a listener, with its limits.

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

use super::connection::Connection;
use super::state::HttpState;
use super::{configure, request};

/// Most threads that `http.workers = 0` takes.
const WORKERS_AT_MOST: usize = 4;
/// How long an idle connection is kept: longer than a client's pause between two questions.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long what a refused client still sends is read and dropped, so that it sees the answer.
const LINGER: Duration = Duration::from_secs(3);

/// Serves the application on `listener` until the server's handle stops it; no signal does. A graceful stop
/// lets what is being answered be answered and closes idle connections at once.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    let http = state.config.http.clone();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_AT_MOST);
    let workers = usize::try_from(http.workers).ok().filter(|&workers| workers > 0).unwrap_or(threads);
    let connections = usize::try_from(http.connection_limit).unwrap_or(usize::MAX);
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections(connections.div_ceil(workers))
        .disable_signals()
        .shutdown_timeout(http.shutdown_grace_s);
    let stop = builder.graceful_shutdown_signal();
    let server = builder.listen("http", listener, move || {
        let stop = stop.clone();
        let protocol = HttpService::build()
            .h1_allow_half_closed(false)
            .client_request_timeout(Duration::from_millis(http.request_timeout_ms))
            .client_disconnect_timeout(LINGER)
            .keep_alive(KEEP_ALIVE)
            .graceful_shutdown_signal(move || {
                let stop = stop.clone();
                async move { stop.notified().await }
            })
            .finish(map_config(application(state.clone()), |()| AppConfig::default()));
        fn_service(accept).and_then(protocol)
    })?;
    Ok(server.run())
}

/// Without `TCP_NODELAY` small answers stall for 40 ms.
async fn accept(
    stream: TcpStream,
) -> Result<(Connection<TcpStream>, Protocol, Option<SocketAddr>), DispatchError> {
    stream.set_nodelay(true).map_err(DispatchError::Io)?;
    let peer = stream.peer_addr().ok();
    Ok((Connection::new(stream), Protocol::Http1, peer))
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
