//! The garbage collector: unfinished templates expire, unreferenced objects are deleted after an hour.

use bytes::Bytes;
use futures_util::future::{join, join_all};
use platen::clock::Timestamp;
use platen::domain::ids::{ObjectId, TemplateId};
use platen::problem::Code;
use platen::storage::index::WriteBatch;
use platen::storage::{StorageKey, TemplatePart};
use platen::templates::registry::messages::CloseTemplateUpload;
use platen::templates::registry::record::Permissions::Private;
use platen::templates::repair::garbage_collector::Swept;

use crate::test_registry::TestRegistry;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

impl TestRegistry {
    /// Moves the clock to `ms` behind `since`.
    fn until(&self, since: Timestamp, ms: u64) {
        self.clock.advance_ms(since.plus_ms(ms).since_ms(self.now()));
    }

    fn now(&self) -> Timestamp {
        platen::clock::Clock::now(&*self.clock)
    }

    /// Stores a package of a saved template that no record names, made at `made`.
    async fn stray(&self, template: TemplateId, made: Timestamp) -> StorageKey {
        let id = uuid::Builder::from_unix_timestamp_millis(made.0, &[7; 10]).into_uuid();
        let key = StorageKey::Template(self.account, template, ObjectId(id), TemplatePart::Package);
        self.places.store.put(&key, Bytes::from_static(b"stray")).await.unwrap();
        key
    }

    async fn has(&self, key: &StorageKey) -> bool {
        self.places.store.head(key).await.is_ok()
    }

    /// Makes the record of a template unreadable.
    async fn damage_record(&self, template: TemplateId) {
        let key = format!("template/{}/{template}", self.account);
        self.places.index.commit(WriteBatch::new().put(key, "\u{1}spoiled")).await.unwrap();
    }
}

#[actix::test]
async fn unfinished_templates_expire_completely_and_saved_ones_stay() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let saved = fixture.saved("saved", Private).await;
    let empty = fixture.begun().await;
    let uploaded = fixture.uploaded("uploaded").await;
    let unzipped = fixture.unzipped("unzipped").await;
    fixture.upload(unzipped, crate::prepared_folder::archive("again")).await.unwrap();
    fixture.until(empty.made_at(), DAY_MS - 1);
    assert_eq!(fixture.sweep().await, Swept::default());
    // In the order in which they were begun, perhaps in the same millisecond.
    for oldest in [empty, uploaded, unzipped] {
        fixture.until(oldest.made_at(), DAY_MS);
        fixture.sweep().await;
        assert_eq!(fixture.get(oldest).await.unwrap_err(), Code::TemplateNotFound);
        let later = fixture.places.records().await.into_iter().filter(|record| record.unfinished);
        assert!(later.map(|record| record.id).all(|later| later.made_at() > oldest.made_at()));
    }
    assert_eq!(fixture.places.records().await.len(), 1);
    assert_eq!(fixture.places.entries().await.len(), 1, "nothing stands for what is gone");
    assert_eq!(fixture.places.objects().await.len(), 4, "the parts of what is saved");
    fixture.clock.advance_ms(400 * DAY_MS);
    assert_eq!(fixture.sweep().await, Swept::default());
    assert!(fixture.page(saved).await.unwrap().contains("saved"));
}

#[actix::test]
async fn orphans_older_than_an_hour_go_younger_and_named_ones_stay() {
    let mut fixture = TestRegistry::build(|config| config.templates.sweep_objects_limit = 3).await;
    let (saved, draft) = (fixture.saved("saved", Private).await, fixture.unzipped("draft").await);
    fixture.upload(draft, crate::prepared_folder::archive("again")).await.unwrap();
    let now = fixture.now();
    let mut strays = Vec::new();
    for template in [saved, draft, TemplateId::generate(), TemplateId::generate()] {
        strays.push(fixture.stray(template, now).await);
    }
    let young = fixture.stray(saved, now.plus_ms(10_000)).await;
    fixture.until(now, HOUR_MS - 1);
    assert_eq!(fixture.sweep().await, Swept::default());
    fixture.until(now, HOUR_MS);
    // A sweep looks at three objects of a folder; the next one goes on.
    for _ in 0..6 {
        fixture.sweep().await;
    }
    for stray in &strays {
        assert!(!fixture.has(stray).await, "{stray}");
    }
    assert!(fixture.has(&young).await);
    fixture.until(now, HOUR_MS + 10_000);
    for _ in 0..6 {
        fixture.sweep().await;
    }
    assert!(!fixture.has(&young).await);
    fixture.places.assert_whole("after the sweep").await;
    assert!(fixture.page(saved).await.is_ok() && fixture.unzip(draft).await.is_ok());
}

#[actix::test]
async fn a_record_that_cannot_be_read_stops_no_sweep() {
    let mut fixture = TestRegistry::build(|config| config.templates.sweep_objects_limit = 1).await;
    let mut spoiled = Vec::new();
    for number in 0..3 {
        spoiled.push(fixture.unzipped(&format!("spoiled {number}")).await);
    }
    let saved = fixture.saved("spoiled as well", Private).await;
    let draft = fixture.unzipped("draft").await;
    for template in spoiled.iter().chain([&saved]) {
        fixture.damage_record(*template).await;
    }
    let before = fixture.places.objects().await.len();
    let stray = fixture.stray(TemplateId::generate(), fixture.now()).await;
    let nonsense = WriteBatch::new().put(format!("unfinished/{:020}/nobody", 1), []);
    fixture.places.index.commit(nonsense).await.unwrap();
    fixture.clock.advance_ms(2 * DAY_MS);
    // One object a sweep.
    for _ in 0..before + 4 {
        fixture.collector.sweep().await.unwrap();
    }
    assert_eq!(fixture.get(draft).await.unwrap_err(), Code::TemplateNotFound);
    assert!(!fixture.has(&stray).await);
    let left = fixture.places.objects().await;
    assert_eq!(left.len(), before - 1, "what nobody can tell stays: {left:?}");
}

#[actix::test]
async fn a_save_and_a_sweep_at_once_leave_the_template_whole_or_nothing_of_it() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let mut templates = Vec::new();
    for number in 0..24 {
        templates.push(fixture.unzipped(&format!("{number}")).await);
    }
    fixture.clock.advance_ms(2 * DAY_MS);
    let mut collector =
        std::mem::replace(&mut fixture.collector, TestRegistry::build(|_| {}).await.collector);
    let saves = templates.iter().rev().map(|template| fixture.save(*template, "saved", Private));
    let (saved, swept) = join(join_all(saves), collector.sweep()).await;
    let kept = saved.iter().filter(|saved| saved.is_ok()).count();
    for (saved, template) in saved.iter().zip(templates.iter().rev()) {
        match saved {
            Ok(()) => assert!(fixture.page(*template).await.is_ok()),
            Err(code) => {
                assert_eq!(*code, Code::TemplateNotFound);
                assert_eq!(fixture.get(*template).await.unwrap_err(), Code::TemplateNotFound);
            }
        }
    }
    assert_eq!(swept.unwrap().unfinished, (templates.len() - kept) as u64);
    fixture.collector = collector;
    fixture.sweep().await;
    fixture.places.assert_whole("after both").await;
    assert_eq!(fixture.places.entries().await.len(), kept, "no entry stands for what is saved or gone");
}

#[actix::test]
async fn a_stale_expiry_entry_is_deleted_without_its_saved_template() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let saved = fixture.saved("saved", Private).await;
    let made = saved.made_at().sortable();
    let stale = WriteBatch::new().put(format!("unfinished/{made}/{}/{saved}", fixture.account), []);
    fixture.places.index.commit(stale).await.unwrap();
    fixture.clock.advance_ms(2 * DAY_MS);
    assert_eq!(fixture.sweep().await, Swept::default());
    assert_eq!(fixture.places.entries().await.len(), 1);
    assert!(fixture.page(saved).await.is_ok());
}

#[actix::test]
async fn an_upload_that_ends_after_the_save_is_refused_and_leaves_nothing() {
    let fixture = TestRegistry::build(|_| {}).await;
    let (account, template) = (fixture.account, fixture.unzipped("first").await);
    let mut upload = fixture.reader.stage_upload(fixture.of(template), 1_000).await.unwrap();
    upload.write(Bytes::from_static(b"<p>late")).await.unwrap();
    fixture.save(template, "first", Private).await.unwrap();
    let closed = fixture.ask(CloseTemplateUpload { account, template, upload }).await;
    assert_eq!(closed.unwrap_err(), Code::UploadClosed);
    assert_eq!(fixture.upload(template, b"<p>later".to_vec()).await.unwrap_err(), Code::UploadClosed);
    fixture.unzip(template).await.unwrap();
    assert!(fixture.page(template).await.unwrap().contains("first"));
    fixture.places.assert_whole("after the upload").await;
}
