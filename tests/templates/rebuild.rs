//! `platen index rebuild`: what it makes of the store is what was lost, to the byte.

use bytes::Bytes;
use platen::domain::ids::{AccountId, ObjectId, TemplateId};
use platen::problem::Code;
use platen::storage::index::{Entry, WriteBatch};
use platen::storage::{Folder, StorageKey, TemplatePart};
use platen::templates::registry::record::Permissions::{Private, Public};
use platen::templates::repair::rebuild::{Rebuilt, rebuild};

use crate::prepared_folder::{FolderCopy, PreparedFolder};
use crate::service::{self, Service};
use crate::state::{Places, seen};
use crate::test_registry::TestRegistry;

/// More points than a rebuild of a few templates has.
const POINTS_LIMIT: u64 = 60;

/// Templates of every kind: how many are saved, how many are not.
async fn fill_store(fixture: &TestRegistry) -> (u64, u64) {
    fixture.saved("plain", Private).await;
    let public = fixture.saved("public", Public).await;
    let copy = fixture.copy(public).await.unwrap();
    fixture.rewrite(copy, "<p>clone <%= name %></p>").await.unwrap();
    let updated = fixture.saved("first", Private).await;
    let draft = fixture.unzipped("second").await;
    fixture.update(updated, draft, "second").await.unwrap();
    fixture.save(updated, "third", Public).await.unwrap();
    let closed = fixture.saved("closed", Public).await;
    fixture.save(closed, "closed", Private).await.unwrap();
    let gone = fixture.saved("gone", Public).await;
    fixture.delete(gone).await.unwrap();
    fixture.uploaded("uploaded").await;
    fixture.unzipped("unzipped").await;
    let rewritten = fixture.unzipped("rewritten").await;
    fixture.rewrite(rewritten, "<p><%= name %></p>").await.unwrap();
    let twice = fixture.unzipped("once").await;
    fixture.upload(twice, crate::prepared_folder::archive("twice")).await.unwrap();
    (5, 4)
}

impl TestRegistry {
    pub async fn rebuild(&self) -> Rebuilt {
        rebuild(self.places.index.clone(), self.places.store.clone()).await.unwrap()
    }

    /// Stores something that no record names.
    pub async fn leave(&self, template: TemplateId, part: TemplatePart, bytes: &'static [u8]) -> StorageKey {
        let key = StorageKey::Template(self.account, template, ObjectId::generate(), part);
        self.places.store.put(&key, Bytes::from_static(bytes)).await.unwrap();
        key
    }
}

#[actix::test]
async fn a_rebuilt_index_equals_the_lost_one() {
    let fixture = TestRegistry::build(|_| {}).await;
    let (saved, unfinished) = fill_store(&fixture).await;
    let before = fixture.places.entries().await;
    for lost in [true, true, false] {
        if lost {
            fixture.places.wipe().await;
        }
        let rebuilt = fixture.rebuild().await;
        assert_eq!((rebuilt.saved, rebuilt.unfinished, rebuilt.damaged), (saved, unfinished, Vec::new()));
        assert_eq!(rebuilt.owners, [(fixture.account, saved + unfinished)].into());
        assert_eq!(fixture.places.entries().await, before, "lost: {lost}");
    }
}

#[actix::test]
async fn a_rebuild_removes_what_is_not_in_the_store() {
    let fixture = TestRegistry::build(|_| {}).await;
    fill_store(&fixture).await;
    let before = fixture.places.entries().await;
    let strangers = ["template", "public", "unfinished", "damaged"];
    let strangers = strangers.into_iter().fold(WriteBatch::new(), |change, prefix| {
        change.put(format!("{prefix}/{}/{}", AccountId::generate(), TemplateId::generate()), "stray")
    });
    fixture.places.index.commit(strangers.put("job/x", "not ours")).await.unwrap();
    fixture.rebuild().await;
    assert_eq!(fixture.places.entries().await, before);
    assert!(fixture.places.index.get("job/x").await.unwrap().is_some());
}

#[actix::test]
async fn leftovers_of_interrupted_changes_do_not_disturb_a_rebuild() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let plain = fixture.saved("plain", Private).await;
    let draft = fixture.unzipped("draft").await;
    let before = fixture.places.entries().await;
    // A save that copied files and a preview, a change that was killed before its info, a copy without one.
    fixture.leave(draft, TemplatePart::Package, b"copied").await;
    fixture.leave(draft, TemplatePart::PngPreview, b"copied").await;
    fixture.leave(plain, TemplatePart::Package, b"newer").await;
    fixture.leave(TemplateId::generate(), TemplatePart::Package, b"clone").await;
    let stray = fixture.places.store.list(Folder::Templates, None, usize::MAX).await.unwrap().len();
    let rebuilt = fixture.rebuild().await;
    assert_eq!((rebuilt.saved, rebuilt.unfinished, rebuilt.damaged), (1, 1, Vec::new()));
    assert_eq!(fixture.places.entries().await, before);
    fixture.clock.advance_ms(2 * 3_600_000);
    assert_eq!(fixture.sweep().await.orphans, 4);
    assert_eq!(
        fixture.places.store.list(Folder::Templates, None, usize::MAX).await.unwrap().len(),
        stray - 4
    );
    fixture.places.assert_whole("after the sweep").await;
}

#[actix::test]
async fn a_deletion_that_was_not_finished_is_not_undone() {
    let fixture = TestRegistry::build(|_| {}).await;
    let kept = fixture.saved("kept", Private).await;
    let gone = fixture.saved("gone", Private).await;
    let records = fixture.places.records().await;
    let objects = &records.iter().find(|record| record.id == gone).unwrap().objects();
    // The state after a kill right after the commit.
    let log_entry = platen::storage::deletion_log::log_entry(gone.0, objects);
    let record = format!("template/{}/{gone}", fixture.account);
    fixture.places.index.commit(log_entry.delete(record)).await.unwrap();
    let rebuilt = fixture.rebuild().await;
    assert_eq!((rebuilt.saved, rebuilt.damaged), (1, Vec::new()));
    assert!(fixture.get(kept).await.is_ok());
    assert_eq!(fixture.get(gone).await.unwrap_err(), Code::TemplateNotFound);
}

/// Runs the command on a copy, which may be armed; its output, or why it failed.
pub fn rebuild_by_command(copy: &FolderCopy, armed: bool) -> Result<String, String> {
    let mut program = service::program(&copy.data());
    program.args(["index", "rebuild", "--discard-damaged"]);
    if armed {
        program.env(platen::failpoint::FAULT_FILE, copy.fault_file());
    }
    let output = program.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

pub async fn entries(copy: &FolderCopy) -> Vec<Entry> {
    let places = Places::open(&copy.data()).await;
    let entries = places.entries().await;
    places.index.close().await;
    entries
}

#[tokio::test]
async fn killed_anywhere_it_is_done_again_and_no_service_starts_on_half_of_it() {
    let prepared = PreparedFolder::build().await;
    let before = entries(&prepared.copy()).await;
    let mut refused = 0;
    for number in 1..POINTS_LIMIT {
        let copy = prepared.copy();
        let places = Places::open(&copy.data()).await;
        places.wipe().await;
        places.index.close().await;
        copy.arm(number);
        let ended = rebuild_by_command(&copy, true);
        if ended.is_err() {
            match service::refusal(&copy.data()) {
                Some(save_request) => {
                    assert!(
                        save_request.contains("`platen index rebuild`"),
                        "killed at point {number}: {save_request}"
                    );
                    refused += u64::from(save_request.contains("did not end; run it again"));
                }
                None => assert_eq!(entries(&copy).await, before, "killed at point {number}"),
            }
            rebuild_by_command(&copy, false).unwrap();
        }
        assert_eq!(entries(&copy).await, before, "killed at point {number}");
        if let Ok(save_request) = ended {
            assert!(
                save_request.contains("1 saved, 2 unfinished; damaged, with nothing of them deleted: 0"),
                "{save_request}"
            );
            assert!(refused >= 4, "half of it was refused {refused} times only");
            return;
        }
    }
    panic!("the rebuild does not end");
}

#[tokio::test]
async fn an_index_that_cannot_be_opened_is_begun_anew_and_accounts_get_their_templates_back() {
    let prepared = PreparedFolder::build().await;
    let copy = prepared.copy();
    let data = copy.data();
    let running = Service::without_browser(&data, &prepared.token, None);
    let seen_before = seen(&running, &prepared).await;
    for arguments in [&["index", "rebuild"][..], &["index", "rebuild", "--discard-damaged"]] {
        let refused = service::command(&data, arguments).unwrap_err();
        assert!(refused.contains("a service uses the data folder"), "{refused}");
    }
    running.kill();
    std::fs::write(data.join("index/db"), "no database").unwrap();
    let refused = service::command(&data, &["index", "rebuild"]).unwrap_err();
    assert!(refused.contains("platen index rebuild --discard-damaged"), "{refused}");
    let save_request = service::command(&data, &["index", "rebuild", "--discard-damaged"]).unwrap();
    assert!(
        save_request.contains("index.damaged-") && save_request.contains("1 saved, 2 unfinished"),
        "{save_request}"
    );
    let account = save_request.rsplit("--id ").next().unwrap().trim();
    let aside = std::fs::read_dir(&data).unwrap().flatten();
    let aside = aside.filter(|entry| entry.file_name().to_string_lossy().starts_with("index.damaged-"));
    assert_eq!(std::fs::read(aside.last().unwrap().path().join("db")).unwrap(), b"no database");

    service::command(&data, &["account", "create", "again", "--id", account]).unwrap();
    let refused = service::command(&data, &["account", "create", "other", "--id", account]).unwrap_err();
    assert!(refused.contains("is that of account 'again'"), "{refused}");
    let token = service::command(&data, &["token", "create", "--account", "again"]).unwrap();
    let service = Service::without_browser(&data, &token, None);
    assert_eq!(seen(&service, &prepared).await, seen_before);
    service.kill();
    let save_request = service::command(&data, &["index", "rebuild"]).unwrap();
    assert!(!save_request.contains("is not in the index"), "{save_request}");
}
