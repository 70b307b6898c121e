//! `s3s` over a folder: strict about signatures, lifetimes and altered addresses. It has threads of its own, so that it
//! goes on while a test blocks, and dies at once when it is killed.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use hyper_util::rt::TokioIo;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tokio::runtime::Runtime;

use super::{ACCESS_KEY, BUCKET, SECRET_KEY};

/// A running server, or a killed one whose objects are there.
pub struct ObjectServer {
    /// Where it listens, the same after each start.
    pub address: SocketAddr,
    folder: PathBuf,
    rights: Rights,
    runtime: Option<Runtime>,
}

/// What its key may do, and what a presigned URL may do.
#[derive(Clone, Default)]
struct Rights {
    /// Everything but this, by the protocol's name.
    denied: Option<&'static str>,
    /// Whether a presigned upload URL also copies whatever the key may read.
    is_careless: bool,
}

#[async_trait::async_trait]
impl S3Access for Rights {
    async fn check(&self, asked: &mut S3AccessContext<'_>) -> s3s::S3Result<()> {
        // As stores do that are right: what a presigned address does not cover is refused.
        let is_crossed = asked.headers().contains_key("x-amz-copy-source")
            && asked.uri().query().is_some_and(|query| query.contains("X-Amz-Signature"));
        let is_denied = asked.credentials().is_none()
            || self.denied == Some(asked.s3_op().name())
            || (is_crossed && !self.is_careless);
        if is_denied { Err(s3s::s3_error!(AccessDenied)) } else { Ok(()) }
    }
}

impl ObjectServer {
    /// Starts a server on a free port that keeps its objects in `folder`.
    pub fn start(folder: &Path) -> Self {
        Self::with(folder, Rights::default())
    }

    /// The same with a key that may not do `denied`, by the protocol's name.
    pub fn denying(folder: &Path, denied: &'static str) -> Self {
        Self::with(folder, Rights { denied: Some(denied), ..Rights::default() })
    }

    /// A server with a fault: a presigned upload URL also copies objects that it does not cover.
    pub fn careless(folder: &Path) -> Self {
        Self::with(folder, Rights { is_careless: true, ..Rights::default() })
    }

    fn with(folder: &Path, rights: Rights) -> Self {
        std::fs::create_dir_all(folder.join(BUCKET)).expect("the bucket's folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let mut server = Self { address, folder: folder.to_owned(), rights, runtime: None };
        server.serve(listener);
        server
    }

    /// Ends it as a power cut would: connections break, nothing is finished.
    pub fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Brings it back at the same address.
    pub fn revive(&mut self) {
        let started = std::time::Instant::now();
        let listener = loop {
            match TcpListener::bind(self.address) {
                Ok(listener) => break listener,
                Err(error) => assert!(started.elapsed().as_secs() < 20, "the port is taken: {error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(10)); // poll
        };
        self.serve(listener);
    }

    /// The endpoint as the settings take it.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every object in the bucket below `prefix`, with its length.
    pub fn objects(&self, prefix: &str) -> Vec<(String, u64)> {
        let root = self.folder.join(BUCKET);
        let (mut found, mut folders) = (Vec::new(), vec![root.join(prefix)]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).expect("below the bucket").display().to_string();
                    found.push((name, entry.metadata().map_or(0, |known| known.len())));
                }
            }
        }
        found.sort();
        found
    }

    fn serve(&mut self, listener: TcpListener) {
        let files = FileSystem::new(&self.folder).expect("the server's folder");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        service.set_access(self.rights.clone());
        let service = service.build();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime for the server");
        listener.set_nonblocking(true).expect("a listener for tokio");
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener for tokio");
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let service = service.clone();
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        self.runtime = Some(runtime);
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.kill();
    }
}
