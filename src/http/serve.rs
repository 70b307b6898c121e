//! The server: the application on a listener, with its limits.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{ServiceFactoryExt, map_config};
use actix_web::body::BoxBody;
use actix_web::dev::{AppConfig, Server, ServiceFactory, ServiceRequest, ServiceResponse, fn_service};
use actix_web::middleware::{NormalizePath, from_fn};
use actix_web::rt::net::TcpStream;
use actix_web::{App, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::configure;
use crate::http::connection::one_request::Connection;
use crate::http::connection::refusal;
use crate::http::connection::traffic::MeteredStream;
use crate::http::connections::{Connections, NEWCOMERS};
use crate::http::middleware::request;
use crate::http::state::HttpState;
use crate::telemetry::HttpMetrics;

/// Most threads that `http.workers = 0` takes.
const WORKERS_AT_MOST: usize = 4;
/// How long the rest of a refused request is read and dropped: a connection closed at once would be reset, and the client
/// would not see the answer.
const LINGER: Duration = Duration::from_secs(3);
/// The same for a connection that is refused. As long as that it takes one of the places for newcomers.
const REFUSAL_LIMIT: Duration = Duration::from_secs(1);

type Accepted = Connection<MeteredStream<TcpStream>>;

/// Serves the application on `listener` until the server's handle stops it; signals are not handled here. A graceful stop
/// finishes the answers in progress and closes idle connections at once.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve(listener: TcpListener, state: HttpState) -> io::Result<Server> {
    let http = state.config.http.clone();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(WORKERS_AT_MOST);
    let workers = usize::try_from(http.workers).ok().filter(|&workers| workers > 0).unwrap_or(threads);
    let watch = Duration::from_millis(state.config.metrics.watch_ms);
    let connections = Arc::clone(&state.shared.connections);
    let builder = Server::build()
        .workers(workers)
        .max_concurrent_connections(connections.limit().div_ceil(workers) + NEWCOMERS)
        .disable_signals()
        .shutdown_timeout(http.shutdown_grace_s);
    let stop = builder.graceful_shutdown_signal();
    let server = builder.listen("http", listener, move || {
        let (stop, metrics) = (stop.clone(), state.metrics.http.clone());
        // This runs on each of the server's threads, once.
        actix_web::rt::spawn(state.metrics.threads.clone().watch("http", watch));
        let connections = Arc::clone(&connections);
        let send_limit = Duration::from_secs(http.send_timeout_s);
        let protocol = HttpService::build()
            .h1_allow_half_closed(false)
            .client_request_timeout(Duration::from_millis(http.request_timeout_ms))
            .client_disconnect_timeout(LINGER)
            .keep_alive(Duration::from_secs(http.keep_alive_s))
            .on_connect_ext(|connection: &Accepted, data| connection.io().place().note(data))
            .graceful_shutdown_signal(move || {
                let stop = stop.clone();
                async move { stop.notified().await }
            })
            .finish(map_config(application(state.clone()), |()| AppConfig::default()));
        fn_service(move |stream| accept(stream, send_limit, metrics.clone(), Arc::clone(&connections)))
            .and_then(protocol)
    })?;
    Ok(server.run())
}

/// Gives a connection its place, or refuses it. Without `TCP_NODELAY` small answers stall for 40 ms.
async fn accept(
    mut stream: TcpStream,
    send_limit: Duration,
    metrics: HttpMetrics,
    connections: Arc<Connections>,
) -> Result<(Accepted, Protocol, Option<SocketAddr>), DispatchError> {
    stream.set_nodelay(true).map_err(DispatchError::Io)?;
    let peer = stream.peer_addr().map_err(DispatchError::Io)?;
    let Some(place) = connections.admit(peer.ip()) else {
        let _ = timeout(REFUSAL_LIMIT, refuse(&mut stream)).await;
        return Err(DispatchError::Io(io::ErrorKind::ConnectionAborted.into()));
    };
    let stream = MeteredStream::new(stream, metrics, place);
    Ok((Connection::new(stream, send_limit), Protocol::Http1, Some(peer)))
}

/// Answers that there are too many connections. What the client sends is read and dropped: a connection closed at once would be
/// reset, and the client would not see the answer.
async fn refuse(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(refusal::too_many().as_bytes()).await?;
    stream.shutdown().await?;
    let mut dropped = [0; 4_096];
    while stream.read(&mut dropped).await? > 0 {}
    Ok(())
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
