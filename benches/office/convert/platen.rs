//! The service over HTTP: a document is uploaded with each job, its PDF downloaded.

use std::io;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use reqwest::Method;
use serde_json::{Value, json};

use super::Converter;
use super::documents::{self, Document};
use super::tree::tree_time;
use crate::common::program::{Program, WITH_OFFICE, make_account, memory_mb, read, text};
use crate::common::usage::{Stat, processes};

/// Documents whose throughput is measured.
const THROUGHPUT_DOCUMENTS: usize = 60;
/// Documents of the run that looks at memory, and between two looks.
const LONG_DOCUMENTS: usize = 1_000;
const LOOK_DOCUMENTS: usize = 100;

/// A running service.
struct Service {
    program: Program,
    _folder: tempfile::TempDir,
}

/// Starts a service with one LibreOffice.
pub fn start() -> io::Result<Box<dyn Converter>> {
    Ok(Box::new(Service::start(1)?))
}

/// Prints how many documents a second come out with one slot and with as many as there are cores.
pub fn print_throughput() -> io::Result<()> {
    let letter = documents::all().into_iter().next().ok_or(io::ErrorKind::NotFound)?;
    println!("\n| slots | clients | documents a second |");
    println!("|--:|--:|--:|");
    // Of three slots one account has two.
    for slots in [1, 3] {
        let service = Service::start(slots)?;
        // Each LibreOffice starts by itself; a document that comes before waits for one.
        while service.servers().len() < slots {
            service.convert_at_once(&letter, 1)?;
        }
        for _ in 0..10 {
            service.convert_at_once(&letter, slots)?;
        }
        let begun = Instant::now();
        let clients = slots + 1;
        for _ in 0..THROUGHPUT_DOCUMENTS / clients {
            service.convert_at_once(&letter, clients)?;
        }
        let a_second = super::super::count(THROUGHPUT_DOCUMENTS) / begun.elapsed().as_secs_f64();
        println!("| {slots} | {clients} | {a_second:.1} |");
    }
    Ok(())
}

/// Prints the memory of the servers that convert while many documents pass.
pub fn print_memory() -> io::Result<()> {
    let service = Service::start(1)?;
    let all = documents::all();
    println!("| documents | MB of the server | MB of the service |");
    println!("|--:|--:|--:|");
    for made in 0..=LONG_DOCUMENTS {
        let document = all.get(made % all.len()).ok_or(io::ErrorKind::NotFound)?;
        document.check(&service.program.runtime.block_on(service.convert_once(document))?)?;
        if made % LOOK_DOCUMENTS == 0 {
            let servers = service.servers().into_iter().map(|id| memory_mb(id, "VmRSS:"));
            println!("| {made} | {} | {} |", servers.sum::<u64>(), service.program.memory_mb("VmRSS:"));
        }
    }
    Ok(())
}

impl Service {
    fn start(slots: usize) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let token = make_account(folder.path(), "bench")?;
        let slots = format!("[\"libreoffice={slots}\"]");
        let settings = [WITH_OFFICE, ("PLATEN__ENGINES__SLOTS", slots.as_str())];
        let program = Program::start(folder.path(), token, &settings)?;
        program.runtime.block_on(program.ready())?;
        Ok(Self { program, _folder: folder })
    }

    async fn convert_once(&self, document: &Document) -> io::Result<Vec<u8>> {
        let client = &self.program.client;
        let job = json!({ "type": document.kind, "target": "pdf", "data": {} });
        let begun = self.post("/v1/documents/init", job).await?;
        read(client.put(text(&begun, "/presignedTemplateUploadUrl")?).body(document.file)).await?;
        let id = text(&begun, "/jobId")?;
        let wait = json!({ "shouldWaitForRenderCompletion": true });
        let view = self.post(&format!("/v1/documents/{id}/render"), wait).await?;
        let answer = client.get(text(&view, "/output/data/url")?).send().await.map_err(io::Error::other)?;
        Ok(answer.bytes().await.map_err(io::Error::other)?.into())
    }

    fn convert_at_once(&self, document: &Document, clients: usize) -> io::Result<()> {
        let all = try_join_all((0..clients).map(|_| self.convert_once(document)));
        for made in self.program.runtime.block_on(all)? {
            document.check(&made)?;
        }
        Ok(())
    }

    async fn post(&self, path: &str, body: Value) -> io::Result<Value> {
        let request = self.program.request(Method::POST, path);
        read(request.header("content-type", "application/json").body(body.to_string())).await
    }

    /// The processes that hold a LibreOffice.
    fn servers(&self) -> Vec<u32> {
        let is_ours = |stat: &Stat| stat.number(1) == Some(self.program.id());
        let holds_office = |id: u32| {
            std::fs::read_to_string(format!("/proc/{id}/maps")).is_ok_and(|maps| maps.contains("libmergedlo"))
        };
        processes().filter(|(id, stat)| is_ours(stat) && holds_office(*id)).map(|(id, _)| id).collect()
    }
}

impl Converter for Service {
    fn name(&self) -> String {
        "Platen".to_owned()
    }

    fn convert(&mut self, document: &Document, times: usize) -> io::Result<Vec<u8>> {
        self.program.runtime.block_on(async {
            let mut made = Vec::new();
            for _ in 0..times {
                made = self.convert_once(document).await?;
            }
            Ok(made)
        })
    }

    fn used(&self) -> Duration {
        tree_time(self.program.id())
    }
}
