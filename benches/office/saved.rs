//! A template that is saved already, written in the store's format: a save would need previews, which other programs make.

use std::io;
use std::path::Path;

use bytes::Bytes;
use platen::clock::{Clock as _, SystemClock};
use platen::config::Config;
use platen::domain::ids::{AccountId, JobId, ObjectId};
use platen::domain::kinds::TemplateKind;
use platen::storage::data_dir::DataDir;
use platen::storage::index::{Index as _, SledIndex, WriteBatch};
use platen::storage::{StorageKey, TemplatePart};
use platen::templates::package::Package;
use platen::templates::registry::index::put_record;
use platen::templates::registry::record::{Content, Info, Permissions, Preview, Previews, TemplateRecord};
use serde_json::json;

const ENTRY: &str = "template.docx";

/// Saves a Word template of the only account below `root`; its id.
pub async fn save(root: &Path, file: &'static [u8]) -> io::Result<String> {
    let folder = DataDir::open(&root.join("data")).map_err(io::Error::other)?;
    let index =
        SledIndex::open(&folder.index(), &Config::default().storage).await.map_err(io::Error::other)?;
    let accounts = index.scan("account/", None, 1).await.map_err(io::Error::other)?;
    let account = accounts.first().and_then(|account| account.key.strip_prefix("account/")?.parse().ok());
    let record = record(account.ok_or_else(|| io::Error::other("there is no account"))?);
    store(&record, &folder.objects(), file)?;
    let change = WriteBatch::new().and(put_record(&record).map_err(io::Error::other)?);
    index.commit(change).await.map_err(io::Error::other)?;
    index.close().await;
    Ok(record.id.to_string())
}

fn record(account: AccountId) -> TemplateRecord {
    let mut record = TemplateRecord::begun(account);
    let kind = TemplateKind::Docx;
    record.unfinished = false;
    record.updated_at = SystemClock.now();
    let entry = ENTRY.to_owned();
    record.content =
        Some(Content { id: record.id, object: ObjectId::generate(), entry, kind, copy_of: None });
    record.info = Some(Info {
        object: ObjectId::generate(),
        title: "Invoice".to_owned(),
        description: String::new(),
        kind,
        categories: Vec::new(),
        permissions: Permissions::Private,
        link: None,
    });
    let preview = || Preview { object: ObjectId::generate(), job: Some(JobId::generate()), version: None };
    record.previews = Some(Previews { png: preview(), pdf: preview() });
    record
}

/// Its parts; the previews, which are never fetched, are copies of its package.
fn store(record: &TemplateRecord, objects: &Path, file: &'static [u8]) -> io::Result<()> {
    let files = [(ENTRY.to_owned(), Bytes::from_static(file))].into();
    let package = Package { entry: ENTRY.to_owned(), kind: TemplateKind::Docx, files };
    let package = package.pack().map_err(io::Error::other)?;
    let info = json!({ "version": 1, "record": record, "sampleData": {}, "files": [{ "path": ENTRY, "bytes": file.len() }] });
    for key in record.objects() {
        let path = objects.join(key.to_string());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if matches!(key, StorageKey::Template(.., TemplatePart::Info)) {
            std::fs::write(&path, info.to_string())?;
        } else {
            std::fs::write(&path, &package)?;
        }
    }
    Ok(())
}
