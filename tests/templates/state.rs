//! The templates of a prepared folder as clients see them, and the objects of its store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use actix::Actor as _;
use platen::clock::{Clock as _, FixedClock, SystemClock};
use platen::config::Config;
use platen::storage::data_dir::DataDir;
use platen::storage::deletion_log::Replay;
use platen::storage::disk::DiskStore;
use platen::storage::index::{Entry, Index, SledIndex, WriteBatch};
use platen::storage::{Folder, ObjectStore, StorageKey, quota, record};
use platen::telemetry::metrics::Metrics;
use platen::templates::registry::record::TemplateRecord;
use platen::templates::registry::{TemplateContext, TemplateRegistry};
use platen::templates::repair::garbage_collector::{GarbageCollector, Swept};
use platen::templates::repair::rebuild::rebuild;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::prepared_folder::PreparedFolder;
use crate::service::Service;

/// Longer than an object without a record is left alone, shorter than an unfinished template is kept.
const LATER_MS: u64 = 2 * 3_600_000;

/// Everything that a client can see of the templates, as lines; what differs from run to run (ids of clones, times,
/// addresses) is named, left out, and followed.
pub async fn seen(service: &Service, prepared: &PreparedFolder) -> Vec<String> {
    let (status, list) = service.get("/v1/templates").await;
    assert_eq!(status, 200, "{list}");
    let known = prepared.templates().map(|(name, template)| (name, template.id.clone()));
    let listed = list["items"].as_array().unwrap().iter();
    let listed: Vec<_> = listed.map(|item| item["uuid"].as_str().unwrap().to_owned()).collect();
    let clones = listed.iter().filter(|id| known.iter().all(|(_, known)| known != *id));
    let mut named = known.to_vec();
    named.extend(clones.map(|id| ("clone", id.clone())));
    let mut lines = vec![format!("listed: {listed:?}")];
    for (name, id) in &named {
        lines.extend(seen_of(service, id).await.into_iter().map(|line| format!("{name}: {line}")));
    }
    let named_ids =
        |line: String| named.iter().fold(line, |line, (name, id)| line.replace(id.as_str(), name));
    lines.into_iter().map(named_ids).collect()
}

async fn seen_of(service: &Service, id: &str) -> Vec<String> {
    let path = format!("/v1/templates/{id}");
    let (status, mut template) = service.get(&path).await;
    let mut lines = Vec::new();
    if status == 200 {
        for pointer in ["/preview/png/url", "/preview/pdf/url", "/sourceCode/url"] {
            let address = template.pointer_mut(pointer).unwrap();
            *address = json!(hash(&service.fetch(address).await));
        }
        let members = template.as_object_mut().unwrap();
        let times = ["createdAt", "updatedAt"].map(|member| members.remove(member).unwrap());
        assert!(times[0].as_str() <= times[1].as_str(), "{times:?}");
        lines.push(template.to_string());
    } else {
        lines.push(format!("{status} {}", template["code"]));
    }
    let (status, address) = service.get(&format!("{path}/presigned-url")).await;
    lines.push(match address.get("presignedUrl") {
        Some(url) => hash(&service.fetch(url).await),
        None => format!("{status} {}", address["code"]),
    });
    let (status, entry) = service.get(&format!("{path}/index-html")).await;
    lines.push(format!("{status} {} {}", entry["indexHtml"], entry["code"]));
    lines.push(shown(service, id).await);
    lines
}

/// What the template becomes with data.
async fn shown(service: &Service, id: &str) -> String {
    let body = json!({"type": "html", "target": "html", "templateId": id, "data": {"name": "Bob"}});
    let (status, answer) = service.post("/v1/documents/immediate-render", &body).await;
    match answer.get("url") {
        None => format!("{status} {}", answer["code"]),
        Some(url) => String::from_utf8(service.fetch(url).await).unwrap(),
    }
}

fn hash(bytes: &[u8]) -> String {
    format!("{} bytes {:x}", bytes.len(), Sha256::digest(bytes))
}

/// The places of a data folder that no service uses.
pub struct Places {
    pub index: Arc<dyn Index>,
    pub store: Arc<dyn ObjectStore>,
}

impl Places {
    pub async fn open(data: &Path) -> Self {
        let folder = DataDir::open(data).unwrap();
        let store = Arc::new(DiskStore::open(folder.objects()).await.unwrap());
        Self::over(&folder, store).await
    }

    /// The same over a store that is opened already.
    pub async fn over(folder: &DataDir, store: Arc<dyn ObjectStore>) -> Self {
        let index = SledIndex::open(&folder.index(), &Config::default().storage).await.unwrap();
        Self { index: Arc::new(index), store }
    }

    /// Sweeps as a service does two hours later.
    pub async fn sweep(&self) {
        let mut replay = Replay::default();
        while replay.sweep(self.index.as_ref(), self.store.as_ref()).await.unwrap() > 0 {}
        let (index, store) = (Arc::clone(&self.index), Arc::clone(&self.store));
        let sweeps = async move {
            let clock = Arc::new(FixedClock::at(SystemClock.now().plus_ms(LATER_MS)));
            let places = (Arc::clone(&index), store);
            let context = TemplateContext::new(clock, places, &Config::default(), Metrics::new().templates);
            let context = Arc::new(context);
            let registry = TemplateRegistry::new(Arc::clone(&context), index, 1_000).start();
            let mut collector = GarbageCollector::new(context, &registry);
            while collector.sweep().await.unwrap() != Swept::default() {}
        };
        // The registry ends with its system and closes the index.
        tokio::task::spawn_blocking(|| actix::System::new().block_on(sweeps)).await.unwrap();
    }

    /// All records of templates.
    pub async fn records(&self) -> Vec<TemplateRecord> {
        let entries = self.index.scan("template/", None, usize::MAX).await.unwrap();
        entries.iter().map(|entry| record::decode(1, &entry.key, &entry.value).unwrap()).collect()
    }

    /// The objects of templates.
    pub async fn objects(&self) -> BTreeSet<String> {
        let mut objects = BTreeSet::new();
        for folder in [Folder::Templates, Folder::Unfinished] {
            let keys = self.store.list(folder, None, usize::MAX).await.unwrap();
            objects.extend(keys.iter().map(ToString::to_string));
        }
        objects
    }

    /// The objects that records name, and that may be there, in that order.
    pub async fn named(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let records = self.records().await;
        let named = records.iter().flat_map(TemplateRecord::objects).map(|key| key.to_string()).collect();
        let begun = records.iter().filter(|record| record.unfinished);
        let uploads = begun.map(|record| StorageKey::TemplateUpload(record.account, record.id).to_string());
        (named, uploads.collect())
    }

    /// Everything that the index says of templates.
    pub async fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for prefix in ["template/", "public/", "unfinished/", "damaged/", "rebuilding/"] {
            entries.extend(self.index.scan(prefix, None, usize::MAX).await.unwrap());
        }
        entries
    }

    /// Loses what the index says of templates, and that it knew all of them.
    pub async fn wipe(&self) {
        let entries = self.entries().await.into_iter();
        let forgotten = WriteBatch::new().delete("known/templates");
        self.index.commit(entries.fold(forgotten, |change, entry| change.delete(entry.key))).await.unwrap();
    }

    /// What is lost comes back from the store.
    pub async fn assert_rebuildable(&self, when: &str) {
        let before = self.entries().await;
        self.wipe().await;
        let rebuilt = rebuild(Arc::clone(&self.index), Arc::clone(&self.store)).await.unwrap();
        // After a kill between an upload and its record, the record has the size of the previous upload.
        assert_eq!(known(&self.entries().await), known(&before), "{when}: {rebuilt:?}");
        self.assert_counted(when).await;
    }

    /// Each account's counter is what its templates count.
    pub async fn assert_counted(&self, when: &str) {
        let mut counted = BTreeMap::<_, i64>::new();
        for record in self.records().await {
            *counted.entry(record.account).or_default() += quota::signed(record.stored_bytes());
        }
        let message = quota::counters(self.index.as_ref()).await.unwrap().into_iter();
        // One without templates may have a counter or none, but it says nothing.
        counted.retain(|_, bytes| *bytes != 0);
        let message: BTreeMap<_, _> = message.filter(|(_, bytes)| *bytes != 0).collect();
        assert_eq!(message, counted, "{when}: what counts as stored");
    }

    /// Every object that a record names is there, at any moment of a change.
    pub async fn assert_named_are_there(&self, when: &str) {
        for record in self.records().await {
            for key in record.objects() {
                // A change may have replaced it between the look at the record and that at the object.
                let is_named =
                    async || self.records().await.iter().any(|record| record.objects().contains(&key));
                let is_there = self.store.head(&key).await.is_ok();
                assert!(is_there || !is_named().await, "{when}: {key} is named and gone");
            }
        }
    }

    /// Whether every object that a record names is there, and no other.
    pub async fn is_whole(&self) -> bool {
        let (named, uploads) = self.named().await;
        let mut objects = self.objects().await;
        objects.retain(|object| !uploads.contains(object));
        objects == named
    }

    /// Every object that a record names is there, and no other.
    pub async fn assert_whole(&self, when: &str) {
        let (named, uploads) = self.named().await;
        let mut objects = self.objects().await;
        objects.retain(|object| !uploads.contains(object));
        assert_eq!(objects, named, "{when}: what is there, and what records name");
    }
}

/// The entries without the sizes of uploads that are not unpacked.
fn known(entries: &[Entry]) -> Vec<(String, Vec<u8>)> {
    let without_upload = |entry: &Entry| match record::decode::<TemplateRecord>(1, &entry.key, &entry.value) {
        Ok(template) => record::encode(1, &TemplateRecord { upload_bytes: 0, ..template }).unwrap(),
        Err(_) => entry.value.clone(),
    };
    entries.iter().map(|entry| (entry.key.clone(), without_upload(entry))).collect()
}
