//! Every fault at every step of a template's change: the old state or the new one, never half, and no honest word broken.
//! Kills are in `crash`. Each test walks through the steps of each change until one ends without having met the fault.
//!
//! Faults are those of a whole process, so each test runs again, alone in one.

mod change;

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use platen::failpoint::{self, Fault};
use platen::problem::Code;
use platen::storage::index::WriteBatch;
use platen::storage::{StorageKey, TemplatePart};
use platen::templates::cache::source::TemplateUse;
use platen::templates::registry::record::{Permissions, TemplateRecord};
use strum::VariantArray as _;

use crate::fault_file::{FaultFile, alone_with_each, until};
use crate::faults::change::{Case, Change};
use crate::state::Places;
use crate::test_registry::TestRegistry;

/// More steps than any change has.
const STEPS_LIMIT: u64 = 80;
/// Later than what any template is begun at, and earlier than that by an hour where the clock goes back.
const LATER_MS: u64 = 10 * 60_000;

#[actix::test]
async fn a_full_disk_at_any_step_of_a_change_leaves_the_old_or_the_new_state() {
    let name = "faults::a_full_disk_at_any_step_of_a_change_leaves_the_old_or_the_new_state";
    walk(name, &[Fault::DiskFull, Fault::DiskFullOnce]).await;
}

#[actix::test]
async fn a_store_that_fails_at_any_step_of_a_change_leaves_the_old_or_the_new_state() {
    let name = "faults::a_store_that_fails_at_any_step_of_a_change_leaves_the_old_or_the_new_state";
    walk(name, &[Fault::StoreFails, Fault::StoreFailsOnce]).await;
}

#[actix::test]
async fn between_any_two_slow_steps_of_a_change_nothing_is_half_visible() {
    let name = "faults::between_any_two_slow_steps_of_a_change_nothing_is_half_visible";
    walk(name, &[Fault::Slow]).await;
}

#[actix::test]
async fn a_clock_that_goes_back_at_any_step_of_a_change_changes_nothing_else() {
    let name = "faults::a_clock_that_goes_back_at_any_step_of_a_change_changes_nothing_else";
    walk(name, &[Fault::ClockBack]).await;
}

/// Runs the test again in a process for each fault; there it goes through all steps of all changes.
async fn walk(name: &'static str, faults: &[Fault]) {
    let Some((file, fault)) = alone_with_each(name, faults).await else { return };
    for &change in Change::VARIANTS {
        let mut bench = Bench::new(change, &file).await;
        let mut met = 0;
        while bench.run((fault, met + 1)).await {
            met += 1;
            assert!(met < STEPS_LIMIT, "{change:?} does not end");
        }
        println!("{change:?} met {fault:?} at {met} steps");
        let fewest = change.fewest_steps(fault);
        assert!(met >= fewest, "{change:?} met {fault:?} at {met} steps only, of {fewest}");
        bench.fixture.empty("at the end").await;
        bench.fixture.places.index.close().await;
    }
}

/// The registry that the faults come to, and the templates that a change is tried on until it is done.
struct Bench<'a> {
    change: Change,
    folder: tempfile::TempDir,
    fixture: TestRegistry,
    case: Case,
    old: Vec<String>,
    new: Vec<String>,
    file: &'a FaultFile,
}

impl<'a> Bench<'a> {
    async fn new(change: Change, file: &'a FaultFile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut fixture = open(change, folder.path()).await;
        fixture.clock.advance_ms(LATER_MS);
        let case = change.prepare(&fixture).await;
        change.act(&mut fixture, case).await.unwrap();
        let new = fixture.seen(change, case).await;
        fixture.empty("without a fault").await;
        let case = change.prepare(&fixture).await;
        let old = fixture.seen(change, case).await;
        Self { change, folder, fixture, case, old, new, file }
    }

    /// The change with one fault; whether it met it.
    async fn run(&mut self, (fault, number): (Fault, u64)) -> bool {
        let Self { change, case, file, .. } = *self;
        let when = format!("{change:?} with {fault:?} at step {number}");
        let (store, index) = (self.fixture.places.store.clone(), self.fixture.places.index.clone());
        let places = Places { index, store };
        file.arm(fault, number);
        let was_slow = Cell::new(false);
        let watch = async {
            while !failpoint::is_met() {
                tokio::time::sleep(Duration::from_millis(1)).await; // poll
            }
            places.assert_named_are_there(&when).await;
            if fault == Fault::Slow {
                was_slow.set(file.disarm());
            }
            std::future::pending::<()>().await;
        };
        let act = async {
            let answer = change.act(&mut self.fixture, case).await;
            // What a change that was broken off has written is deleted beside.
            until(async || places.is_whole().await).await;
            answer
        };
        let answer = tokio::select! {
            biased;
            () = watch => unreachable!("it never ends"),
            answer = act => answer,
        };
        let was_met = file.disarm() || was_slow.get();
        let is_broken = places.index.commit(WriteBatch::new().delete("nothing")).await.is_err();
        if is_broken {
            self.restart().await;
        }
        assert_honest(answer, fault, is_broken, &when);
        self.verify(answer, &when).await;
        was_met
    }

    async fn restart(&mut self) {
        self.fixture.places.index.close().await;
        let (account, passed_ms) = (self.fixture.account, self.fixture.passed_ms());
        self.fixture = open(self.change, self.folder.path()).await;
        self.fixture.account = account;
        self.fixture.clock.advance_ms(passed_ms);
    }

    /// Looks at everything when the fault is gone. Where the change is not done, it is tried on the same templates again.
    async fn verify(&mut self, answer: Result<(), Code>, when: &str) {
        let Self { change, case, fixture, old, new, .. } = self;
        let (change, case) = (*change, *case);
        fixture.places.assert_named_are_there(when).await;
        fixture.sweep().await;
        fixture.places.assert_whole(when).await;
        fixture.places.assert_counted(when).await;
        let seen = fixture.seen(change, case).await;
        let is_done = answer.is_ok() || change == Change::Sweep;
        assert!(
            seen == *new || (!is_done && seen == *old),
            "{when}: {seen:#?}\nis neither {old:#?}\nnor {new:#?}"
        );
        let (counted, stored) = (fixture.quota.used(fixture.account), fixture.bytes_in_store().await);
        assert!(counted >= stored || change == Change::Unzip, "{when}: {counted} of {stored} bytes count");
        if seen != *new {
            return;
        }
        if answer.is_err() && !matches!(change, Change::Init | Change::Clone) {
            // Its caller repeats it.
            let again = change.act(fixture, case).await;
            assert!(
                again.is_ok() || again.is_err_and(|code| change.may_be_done(code)),
                "{when}: again: {again:?}"
            );
            assert_eq!(fixture.seen(change, case).await, *new, "{when}: done again");
        }
        if change == Change::Unzip {
            // An upload that could not be deleted stays until then.
            fixture.save(case.draft, "draft", Permissions::Private).await.unwrap();
        }
        fixture.assert_stored(when).await;
        fixture.empty(when).await;
        self.case = change.prepare(fixture).await;
    }
}

/// A registry on a folder that an earlier one may have used. For renders it keeps nothing, so that each reads the store.
async fn open(change: Change, folder: &Path) -> TestRegistry {
    TestRegistry::open(folder, |config| {
        config.templates.orphan_age_s = 0;
        if change == Change::Render {
            config.templates.cache_bytes = 0;
        }
    })
    .await
}

/// What is refused is refused for the fault, and by its code.
fn assert_honest(answer: Result<(), Code>, fault: Fault, is_broken: bool, when: &str) {
    match (answer, fault) {
        (Ok(()), _) => {}
        // The registry cannot know whether it was written, and says what its operator must do.
        (Err(Code::Internal), _) => assert!(is_broken, "{when}: an internal error"),
        (Err(code), Fault::DiskFull | Fault::DiskFullOnce | Fault::StoreFails | Fault::StoreFailsOnce) => {
            assert_eq!(code, Code::Overloaded, "{when}");
        }
        (Err(code), Fault::Abort | Fault::Slow | Fault::ClockBack) => panic!("{when}: refused as {code:?}"),
    }
}

impl TestRegistry {
    /// What clients see of the case's templates and of those that were made of them, and the bytes of every object.
    async fn seen(&self, change: Change, case: Case) -> Vec<String> {
        let name = |record: &TemplateRecord| match record.id {
            id if id == case.saved => "saved",
            id if id == case.draft => "draft",
            _ => "new",
        };
        let mut lines = Vec::new();
        for record in self.places.records().await {
            let (account, template) = (record.account, record.id);
            let seen = self.get(template).await.map(|view| {
                assert!(
                    view.summary.created_at <= view.summary.updated_at,
                    "changed before it was begun: {record:?}"
                );
                let info = view.summary.info;
                (info.title, info.permissions, view.sample_data, view.files)
            });
            let page = self.load_for(TemplateUse { account, template, preview: true }).await;
            let mut objects = Vec::new();
            for key in record.objects() {
                let bytes = self.places.store.get(&key, 1 << 20).await;
                let bytes = bytes.unwrap_or_else(|error| panic!("{key} is named: {error}"));
                let is_package = matches!(
                    key,
                    StorageKey::Template(.., TemplatePart::Package) | StorageKey::UnfinishedPackage(..)
                );
                objects.push(if matches!(key, StorageKey::Template(.., TemplatePart::Info)) {
                    // It holds ids.
                    "info".to_owned()
                } else if is_package {
                    "package".to_owned()
                } else {
                    String::from_utf8(bytes.to_vec()).unwrap()
                });
            }
            let upload = self.places.store.get(&StorageKey::TemplateUpload(account, template), 1 << 20).await;
            // One that was unzipped may stay.
            let upload = upload.ok().filter(|_| matches!(change, Change::Upload | Change::UploadAgain));
            lines.push(format!("{}: {seen:?}, {page:?}, {objects:?}, {upload:?}", name(&record)));
        }
        lines.sort();
        lines
    }

    /// The text of the entry, also of an unfinished template.
    async fn load_for(&self, wanted: TemplateUse) -> Result<String, Code> {
        let loaded = self.reader.load(wanted).await.map_err(|problem| problem.code)?;
        Ok(String::from_utf8(loaded.site.page().unwrap().to_vec()).unwrap())
    }

    /// Deletes all templates: then nothing is left, and nothing counts.
    async fn empty(&mut self, when: &str) {
        for record in self.places.records().await {
            self.delete(record.id).await.unwrap();
        }
        self.sweep().await;
        assert!(self.places.objects().await.is_empty(), "{when}: {:?}", self.places.objects().await);
        assert_eq!(self.places.entries().await, [], "{when}");
        assert_eq!(self.quota.used(self.account), 0, "{when}");
    }
}
