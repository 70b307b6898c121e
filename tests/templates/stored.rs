//! What templates count in their account's storage: every byte that is kept for them, through every change, and no more
//! than the account may have.

use std::sync::atomic::Ordering;
use std::time::Duration;

use platen::domain::ids::AccountId;
use platen::problem::Code;
use platen::storage::index::WriteBatch;
use platen::storage::{Folder, StorageKey, quota, record};
use platen::templates::registry::messages::{CloseTemplateUpload, InitTemplate};
use platen::templates::registry::record::Permissions::{Private, Public};
use platen::templates::registry::record::RECORD_BYTES;

use crate::prepared_folder::archive;
use crate::test_registry::TestRegistry;

/// Longer than anything takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// Longer than an unfinished template is kept.
const LONG_MS: u64 = 2 * 86_400_000;

impl TestRegistry {
    /// The quota counts the bytes in the store, and a little for each record; the index has the same figure.
    pub async fn assert_stored(&self, when: &str) -> u64 {
        self.places.assert_counted(when).await;
        let used = self.quota.used(self.account);
        // Objects of a refused change are deleted after its answer.
        let gone = async {
            while self.bytes_in_store().await != used {
                tokio::task::yield_now().await;
            }
        };
        if tokio::time::timeout(PATIENCE, gone).await.is_err() {
            assert_eq!(used, self.bytes_in_store().await, "{when}");
        }
        used
    }

    pub async fn bytes_in_store(&self) -> u64 {
        let mut bytes = RECORD_BYTES * self.places.records().await.len() as u64;
        for folder in [Folder::Templates, Folder::Unfinished, Folder::Uploads] {
            for key in self.places.store.list(folder, None, usize::MAX).await.unwrap() {
                bytes += self.places.store.head(&key).await.map_or(0, |meta| meta.bytes);
            }
        }
        bytes
    }
}

#[actix::test]
async fn every_change_counts_the_bytes_it_stores() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.begun().await;
    assert_eq!(fixture.assert_stored("begun").await, RECORD_BYTES);
    fixture.upload(template, archive("first, and rather long")).await.unwrap();
    let uploaded = fixture.assert_stored("uploaded").await;
    fixture.upload(template, archive("first")).await.unwrap();
    assert!(fixture.assert_stored("uploaded again").await < uploaded, "the former upload counts no more");
    fixture.unzip(template).await.unwrap();
    fixture.assert_stored("unzipped").await;
    fixture.rewrite(template, "<p>rewritten as a draft").await.unwrap();
    fixture.assert_stored("a draft rewritten").await;
    fixture.save(template, "first", Public).await.unwrap();
    fixture.assert_stored("saved").await;
    fixture.rewrite(template, "<p>rewritten <%= name %>").await.unwrap();
    fixture.assert_stored("rewritten").await;
    fixture.save(template, "again, with a longer title", Public).await.unwrap();
    fixture.assert_stored("saved again").await;
    let draft = fixture.unzipped("second").await;
    fixture.upload(draft, archive("an upload that nobody unpacks")).await.unwrap();
    fixture.assert_stored("a draft with an upload").await;
    fixture.update(template, draft, "second").await.unwrap();
    let one = fixture.assert_stored("updated").await;
    let copy = fixture.copy(template).await.unwrap();
    assert!(fixture.assert_stored("cloned").await > one + one / 2, "a clone counts as what it is");
    let forgotten = fixture.uploaded("never saved").await;
    fixture.assert_stored("with a template that nobody saves").await;
    fixture.clock.advance_ms(LONG_MS);
    assert_eq!(fixture.sweep().await.unfinished, 1, "{forgotten}");
    fixture.assert_stored("swept").await;
    fixture.delete(copy).await.unwrap();
    assert_eq!(fixture.assert_stored("the clone is deleted").await, one);
    fixture.delete(template).await.unwrap();
    assert_eq!(fixture.assert_stored("all is deleted").await, 0);
}

#[actix::test]
async fn nothing_is_stored_beyond_the_limit_and_deletions_free_space() {
    let fixture = TestRegistry::build(|_| {}).await;
    let (first, second) = (fixture.saved("first", Private).await, fixture.begun().await);
    let used = fixture.assert_stored("one is saved").await;
    let upload = archive("second");
    let size = upload.len() as u64;
    let limit = |bytes: u64| fixture.quota.set_limit(fixture.account, Some(bytes));

    limit(used + size - 1);
    assert_eq!(fixture.upload(second, upload.clone()).await, Err(Code::StorageExceeded));
    fixture.assert_stored("an upload is refused").await;
    limit(used + size);
    fixture.upload(second, upload.clone()).await.unwrap();
    fixture.upload(second, upload).await.unwrap();
    assert_eq!(fixture.copy(first).await, Err(Code::StorageExceeded));
    fixture.assert_stored("a clone is refused").await;
    // While both are stored, the replaced bytes do not count against the limit.
    limit(used + 2 * size);
    fixture.unzip(second).await.unwrap();
    limit(fixture.assert_stored("unzipped").await);
    assert_eq!(fixture.save(second, "second", Private).await, Err(Code::StorageExceeded));
    let letters = (0..400_u32).map(|number| char::from_u32(0x4e00 + number * 17 % 4_001).unwrap());
    let longer: String = letters.collect();
    assert_eq!(fixture.rewrite(first, &longer).await, Err(Code::StorageExceeded));
    fixture.assert_stored("a save and a rewrite are refused").await;
    assert!(fixture.page(first).await.unwrap().contains("first"), "what was there is there");
    fixture.delete(first).await.unwrap();
    fixture.save(second, "second", Private).await.unwrap();
    fixture.assert_stored("there is room again").await;
    fixture.places.assert_whole("after the refusals").await;
}

#[actix::test]
async fn of_uploads_at_once_no_more_are_taken_than_fit() {
    let fixture = TestRegistry::build(|_| {}).await;
    let mut begun = Vec::new();
    for _ in 0..6 {
        begun.push(fixture.begun().await);
    }
    let upload = archive("one of many");
    let room = upload.len() as u64 * 2;
    fixture.quota.set_limit(fixture.account, Some(fixture.quota.used(fixture.account) + room));
    let uploads = begun.iter().map(|template| fixture.upload(*template, upload.clone()));
    let outcomes = futures_util::future::join_all(uploads).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 2, "{outcomes:?}");
    fixture.assert_stored("after the crowd").await;
}

#[actix::test]
async fn an_upload_that_a_full_index_refuses_leaves_the_one_before_it() {
    let fixture = TestRegistry::build(|_| {}).await;
    let longer = archive(&"much longer ".repeat(50));
    for (first, second) in [(archive("first"), longer.clone()), (longer, archive("first"))] {
        let template = fixture.begun().await;
        fixture.upload(template, first.clone()).await.unwrap();
        let used = fixture.assert_stored("before").await;
        fixture.is_full.store(true, Ordering::SeqCst);
        assert_eq!(fixture.upload(template, second.clone()).await, Err(Code::Overloaded));
        let key = StorageKey::TemplateUpload(fixture.account, template);
        assert_eq!(fixture.places.store.get(&key, 1 << 20).await.unwrap(), first);
        fixture.is_full.store(false, Ordering::SeqCst);
        assert_eq!(fixture.assert_stored("refused").await, used);
        fixture.upload(template, second.clone()).await.unwrap();
        let used = used + second.len() as u64 - first.len() as u64;
        assert_eq!(fixture.assert_stored("uploaded").await, used);
    }
}

#[actix::test]
async fn an_upload_that_the_store_does_not_take_counts_nothing() {
    let fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.begun().await;
    let used = fixture.assert_stored("before").await;
    let path = fixture.file(&StorageKey::TemplateUpload(fixture.account, template));
    std::fs::create_dir_all(path.join("in the way")).unwrap();
    let mut upload = fixture.opened(template).await;
    let bytes = archive("first");
    upload.count(bytes.len()).unwrap();
    upload.write(bytes.into()).await.unwrap();
    let (account, close) =
        (fixture.account, CloseTemplateUpload { account: fixture.account, template, upload });
    assert_eq!(fixture.registry.send(close).await.unwrap().unwrap_err().code, Code::Internal);
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(fixture.assert_stored("after").await, used);
    assert_eq!(fixture.quota.used(account), used);
}

#[actix::test]
async fn a_full_account_begins_no_template_and_a_restart_keeps_the_count() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = TestRegistry::open(folder.path(), |_| {}).await;
    fixture.saved("first", Private).await;
    fixture.uploaded("second").await;
    let (account, used) = (fixture.account, fixture.assert_stored("before").await);
    fixture.places.index.close().await;
    drop(fixture);
    let mut fixture =
        TestRegistry::open(folder.path(), |config| config.accounts.stored_bytes_limit = used).await;
    fixture.account = account;
    assert_eq!(fixture.quota.used(account), used);
    assert_eq!(fixture.ask(InitTemplate { account }).await.err(), Some(Code::StorageExceeded));
    fixture.assert_stored("after").await;
}

/// What an earlier version wrote: records without sizes, and no counter.
async fn age(fixture: &TestRegistry) {
    let index = fixture.places.index.as_ref();
    let mut change = quota::counter_correction(index, fixture.account, 0).await.unwrap();
    for entry in fixture.places.entries().await.into_iter().filter(|entry| entry.key.starts_with("template/"))
    {
        let mut former: serde_json::Value = record::decode(1, &entry.key, &entry.value).unwrap();
        let members = former.as_object_mut().unwrap();
        for member in ["sizes", "upload_bytes", "counted"] {
            members.remove(member).unwrap();
        }
        change = change.put(entry.key, record::encode(1, &former).unwrap());
    }
    index.commit(change).await.unwrap();
}

#[actix::test]
async fn templates_of_an_earlier_version_count_once_they_are_saved_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = TestRegistry::open(folder.path(), |_| {}).await;
    let account = fixture.account;
    let (kept, deleted) = (fixture.saved("kept", Public).await, fixture.saved("deleted", Private).await);
    let draft = fixture.unzipped("a draft").await;
    age(&fixture).await;
    for life in 0..2 {
        fixture.places.index.close().await;
        drop(fixture);
        fixture = TestRegistry::open(folder.path(), |_| {}).await;
        fixture.account = account;
        if life == 0 {
            assert_eq!(fixture.quota.used(account), 0);
            fixture.delete(deleted).await.unwrap();
            fixture.places.assert_counted("deleted").await;
            assert_eq!(fixture.quota.used(account), 0, "it never counted");
            // Its files stay as they are, and count nevertheless.
            fixture.save(kept, "kept, and saved again", Public).await.unwrap();
            fixture.save(draft, "the draft", Private).await.unwrap();
        }
        fixture.assert_stored("saved again").await;
    }
    fixture.delete(kept).await.unwrap();
    fixture.delete(draft).await.unwrap();
    assert_eq!(fixture.assert_stored("all is deleted").await, 0);
}

#[actix::test]
async fn a_rebuild_counts_what_it_finds() {
    let fixture = TestRegistry::build(|_| {}).await;
    fixture.saved("first", Private).await;
    fixture.uploaded("second").await;
    let stray = quota::counter(AccountId::generate());
    let wrong = WriteBatch::new().add(quota::counter(fixture.account), -1_000).add(stray, 7);
    fixture.places.index.commit(wrong).await.unwrap();
    fixture.places.wipe().await;
    fixture.rebuild().await;
    fixture.assert_stored("rebuilt").await;
}
