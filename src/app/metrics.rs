//! The separate listener of `/metrics`, where `metrics.bind` names one.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{AppError, listen};
use crate::config::Config;
use crate::engines::catalog::Catalog;
use crate::http::{self, ServerHandle};
use crate::telemetry::metrics::Metrics;

/// The running server of that listener.
pub(super) struct MetricsPage {
    bound: SocketAddr,
    handle: ServerHandle,
    serving: JoinHandle<io::Result<()>>,
}

impl MetricsPage {
    /// Listens and serves; none where metrics are read at the main address.
    pub fn open(
        config: &Config,
        metrics: &Metrics,
        catalog: &Arc<Catalog>,
    ) -> Result<Option<Self>, AppError> {
        let bind = &config.metrics.bind;
        if bind.is_empty() {
            return Ok(None);
        }
        let listener = listen(bind, "metrics.bind")?;
        let bound = listener.local_addr()?;
        let server = http::serve_metrics(listener, (metrics.clone(), catalog.clone()), config)?;
        let handle = server.handle();
        Ok(Some(Self { bound, handle, serving: actix::spawn(server) }))
    }

    /// Where it listens.
    pub fn bound(&self) -> SocketAddr {
        self.bound
    }

    /// Closes the listener and ends what is being answered.
    pub async fn close(self) -> Result<(), AppError> {
        self.handle.stop(false).await;
        Ok(self.serving.await??)
    }
}
