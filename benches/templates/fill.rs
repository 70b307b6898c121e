//! A data folder with many saved templates: account and token are made by the program, the rest is written in its formats.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use platen::clock::{Clock as _, SystemClock};
use platen::config::Config;
use platen::domain::ids::{AccountId, JobId, ObjectId, TemplateId};
use platen::domain::kinds::TemplateKind;
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index, SledIndex, WriteBatch};
use platen::storage::{StorageKey, TemplatePart};
use platen::templates::package::Package;
use platen::templates::registry::index::put_record;
use platen::templates::registry::record::{Content, Info, Permissions, Preview, Previews, TemplateRecord};
use serde_json::json;

use crate::common::program::make_account;

/// Templates committed at a time.
const PORTION: usize = 1_000;
/// A file system allows a file so many names and some more.
const LINKS: usize = 10_000;
const PAGE: &str = "<!doctype html><title>Invoice</title><h1>Invoice for <%= name %></h1><p>Thank you.</p>";

/// What was made.
pub struct Filled {
    pub token: String,
    pub seconds: f64,
    templates: Vec<TemplateId>,
}

impl Filled {
    /// One of the templates: another one for each number, in no order.
    pub fn template(&self, number: usize) -> TemplateId {
        self.templates[number.wrapping_mul(7_919) % self.templates.len()]
    }

    /// Where a page of the list may begin, as the service writes it.
    pub fn cursor(&self, number: usize) -> String {
        URL_SAFE_NO_PAD.encode([&[1], &self.template(number).0.as_bytes()[..]].concat())
    }
}

/// Makes `count` templates below `root`.
pub fn fill(root: &Path, count: usize) -> io::Result<Filled> {
    let token = make_account(root, "bench")?;
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = DataDir::open(&root.join("data")).map_err(io::Error::other)?;
    let templates = runtime.block_on(write(&folder, count))?;
    Ok(Filled { token, seconds: begun.elapsed().as_secs_f64(), templates })
}

async fn write(folder: &DataDir, count: usize) -> io::Result<Vec<TemplateId>> {
    let index: Arc<dyn Index> = Arc::new(
        SledIndex::open(&folder.index(), &Config::default().storage).await.map_err(io::Error::other)?,
    );
    let accounts = index.scan("account/", None, 1).await.map_err(io::Error::other)?;
    let account = accounts.first().and_then(|account| account.key.strip_prefix("account/")?.parse().ok());
    let account: AccountId = account.ok_or_else(|| io::Error::other("there is no account"))?;
    let package = package()?;
    let (mut change, mut templates) = (WriteBatch::new(), Vec::with_capacity(count));
    let mut sources = Vec::new();
    for number in 0..count {
        let record = record(account, number);
        let made = store(&record, &folder.objects(), &package, &sources)?;
        sources = if (number + 1) % LINKS == 0 { Vec::new() } else { made };
        change = change.and(put_record(&record).map_err(io::Error::other)?);
        templates.push(record.id);
        if templates.len() % PORTION == 0 || templates.len() == count {
            index.commit(std::mem::take(&mut change)).await.map_err(io::Error::other)?;
        }
    }
    // The first start finds the state after a kill: nothing was closed.
    let (path, killed) = (folder.index(), folder.path().join("index.killed"));
    let copied = Command::new("cp").arg("-a").args([&path, &killed]).status()?;
    index.close().await;
    if !copied.success() {
        return Err(io::Error::other("the index could not be copied"));
    }
    fs::remove_dir_all(&path)?;
    fs::rename(&killed, &path)?;
    Ok(templates)
}

fn package() -> io::Result<Bytes> {
    let files = [("index.html".to_owned(), Bytes::from_static(PAGE.as_bytes()))].into();
    let package = Package { entry: "index.html".to_owned(), kind: TemplateKind::Ejs, files };
    package.pack().map_err(io::Error::other)
}

fn record(account: AccountId, number: usize) -> TemplateRecord {
    let mut record = TemplateRecord::begun(account);
    let kind = TemplateKind::Html;
    let rare = if number.is_multiple_of(1_000) { ", with a zebra" } else { "" };
    record.unfinished = false;
    record.updated_at = SystemClock.now();
    let entry = "index.html".to_owned();
    record.content =
        Some(Content { id: record.id, object: ObjectId::generate(), entry, kind, copy_of: None });
    record.info = Some(Info {
        object: ObjectId::generate(),
        title: format!("Invoice number {number} of the bench{rare}"),
        description: "What an owner says of a template, in a sentence or two of the usual length. ".repeat(3),
        kind,
        categories: ["invoice", "bench", "monthly"].map(str::to_owned).to_vec(),
        permissions: Permissions::Private,
        link: Some("https://example.com/templates/invoice".to_owned()),
    });
    let preview = || Preview { object: ObjectId::generate(), job: Some(JobId::generate()), version: None };
    record.previews = Some(Previews { png: preview(), pdf: preview() });
    record
}

/// Writes the info, and gives the other parts their names: those of `sources`, or of new files where there are none.
fn store(
    record: &TemplateRecord,
    objects: &Path,
    package: &[u8],
    sources: &[PathBuf],
) -> io::Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for key in record.objects() {
        let path = objects.join(key.to_string());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if matches!(key, StorageKey::Template(.., TemplatePart::Info)) {
            let info = json!({
                "version": 1, "record": record, "sampleData": {"name": "Ann"},
                "files": [{"path": "index.html", "bytes": PAGE.len()}]
            });
            fs::write(&path, info.to_string())?;
            continue;
        }
        match sources.get(made.len()) {
            Some(source) => fs::hard_link(source, &path)?,
            None => fs::write(&path, package)?,
        }
        made.push(path);
    }
    Ok(made)
}
