//! The template registry: what is repeated, refused, and done by many at once.

use futures_util::future::{join_all, try_join_all};
use platen::domain::ids::{AccountId, JobId, TemplateId};
use platen::problem::{Code, Problem};
use platen::templates::cache::source::{LoadedTemplate, TemplateUse};
use platen::templates::registry::messages::{
    InitTemplate, PreviewJob, PreviewJobs, PreviewSource, SaveTemplate, UpdateTemplate,
};
use platen::templates::registry::record::Permissions::{Private, Public};

use crate::prepared_folder::archive_of;
use crate::service::PATIENCE;
use crate::test_registry::{RegistryResult, TestRegistry, code_of, info};

/// The same jobs again, whose documents are gone meanwhile.
fn gone(jobs: (JobId, JobId)) -> PreviewJobs {
    let gone = |job| PreviewJob { job, source: Err(Problem::new(Code::PreviewNotUsable, "it is gone")) };
    PreviewJobs { png: gone(jobs.0), pdf: gone(jobs.1) }
}

/// Jobs whose documents were deleted after a check found them.
fn lost(shown: TemplateId) -> PreviewJobs {
    let source = PreviewSource { template: shown, version: None };
    let lost = || PreviewJob { job: JobId::generate(), source: Ok(source) };
    PreviewJobs { png: lost(), pdf: lost() }
}

impl TestRegistry {
    async fn save_with(&self, template: TemplateId, previews: PreviewJobs) -> RegistryResult<()> {
        let info = info("Title", Private);
        self.ask(SaveTemplate { of: self.of(template), info, previews }).await
    }

    /// The text in which both files of a template agree.
    fn text_of(loaded: &LoadedTemplate) -> String {
        let file = |path| String::from_utf8(loaded.site.get(path).unwrap().to_vec()).unwrap();
        let (page, beside) = (file("index.html"), file("beside.txt"));
        assert_eq!(page, format!("<p>{beside}"), "files of two versions");
        beside
    }

    /// A template of two files with `text` in both.
    async fn pair(&self, text: &str) -> TemplateId {
        let template = self.begun().await;
        let files = [("index.html", format!("<p>{text}")), ("beside.txt", text.to_owned())];
        self.upload(template, archive_of(&files)).await.unwrap();
        self.unzip(template).await.unwrap();
        template
    }
}

#[actix::test]
async fn a_save_can_be_repeated_when_its_previews_are_gone() {
    let fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.unzipped("one").await;
    let previews = fixture.previews(template, "one").await;
    let jobs = (previews.png.job, previews.pdf.job);
    fixture.save_with(template, previews).await.unwrap();
    let before = fixture.places.records().await.remove(0);
    fixture.save_with(template, gone(jobs)).await.unwrap();
    let after = fixture.places.records().await.remove(0);
    assert_eq!((before.previews, before.content), (after.previews, after.content));
    assert_eq!(fixture.places.objects().await.len(), 4);
    let others = gone((JobId::generate(), jobs.1));
    assert_eq!(fixture.save_with(template, others).await.unwrap_err(), Code::PreviewNotUsable);
    assert_eq!(fixture.places.records().await.remove(0).info, after.info, "a refusal changes nothing");
    // Their documents may go between the look at them and the save.
    let lost = lost(template);
    assert_eq!(fixture.save_with(template, lost).await.unwrap_err(), Code::PreviewNotUsable);
    fixture.places.assert_whole("after the refusals").await;
}

#[actix::test]
async fn a_save_that_fails_takes_nothing_from_the_next_one() {
    let fixture = TestRegistry::build(|_| {}).await;
    for round in 0..20 {
        let template = fixture.unzipped(&format!("round {round}")).await;
        let object = async || {
            let record = fixture.places.records().await.into_iter().find(|record| record.id == template);
            record.unwrap().content.unwrap().object
        };
        let before = object().await;
        let lost = lost(template);
        let (failed, saved) = futures_util::future::join(
            fixture.save_with(template, lost),
            fixture.save(template, "T", Private),
        )
        .await;
        assert_eq!((failed, saved), (Err(Code::PreviewNotUsable), Ok(())));
        assert_ne!(object().await, before, "a save that wrote under this name may yet delete it");
    }
    // What the failed ones wrote is deleted beside: wait for it, then look.
    let objects = async {
        while fixture.places.objects().await.len() != 80 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, objects).await.expect("four objects of each template");
    fixture.places.assert_whole("after all rounds").await;
}

#[actix::test]
async fn an_update_takes_an_unfinished_template_of_its_own_account_or_its_present_content() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.saved("one", Public).await;
    fixture.update(template, template, "renamed").await.unwrap();
    let view = fixture.get(template).await.unwrap().summary;
    assert_eq!((view.info.title.as_str(), view.info.permissions), ("renamed", Public));
    let draft = fixture.unzipped("two").await;
    for _ in 0..2 {
        fixture.update(template, draft, "two").await.unwrap();
    }
    let view = fixture.get(template).await.unwrap().summary;
    assert_eq!((view.id, view.content.id), (template, draft));
    assert!(fixture.page(template).await.unwrap().contains("two"));
    assert_eq!(fixture.update(template, template, "x").await.unwrap_err(), Code::ValidationFailed);
    let other = fixture.saved("other", Private).await;
    assert_eq!(fixture.update(template, other, "x").await.unwrap_err(), Code::ValidationFailed);
    let (empty, unsaved) = (fixture.begun().await, fixture.unzipped("three").await);
    assert_eq!(fixture.update(template, empty, "x").await.unwrap_err(), Code::TemplateArchiveInvalid);
    assert_eq!(fixture.update(unsaved, empty, "x").await.unwrap_err(), Code::TemplateUnfinished);

    let owner = std::mem::replace(&mut fixture.account, AccountId::generate());
    let foreign = fixture.unzipped("foreign").await;
    assert_eq!(fixture.update(template, foreign, "x").await.unwrap_err(), Code::NotOwner);
    fixture.account = owner;
    assert_eq!(fixture.update(template, foreign, "x").await.unwrap_err(), Code::TemplateNotFound);
    assert!(fixture.page(template).await.unwrap().contains("two"));
    fixture.places.assert_whole("after the refusals").await;
}

#[actix::test]
async fn a_text_that_is_no_page_is_refused_before_it_is_kept() {
    let fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.saved("one", Private).await;
    for text in ["%PDF-1.7 and so on", "PK\u{3}\u{4}\u{14}\0\0\0"] {
        assert_eq!(
            fixture.rewrite(template, text).await.unwrap_err(),
            Code::TemplateArchiveInvalid,
            "{text}"
        );
    }
    assert!(fixture.page(template).await.unwrap().contains("one"));
}

#[actix::test]
async fn an_account_at_its_limit_may_change_again_as_soon_as_it_is_answered() {
    let fixture = TestRegistry::build(|config| config.templates.changes_account_limit = 1).await;
    for _ in 0..50 {
        fixture.begun().await;
    }
    let (account, other) = (fixture.account, AccountId::generate());
    let both = join_all([account, account, other].map(|account| fixture.ask(InitTemplate { account }))).await;
    assert!(both[0].is_ok() && both[2].is_ok(), "{both:?}");
    assert_eq!(both[1], Err(Code::RateLimited), "two at once");
}

#[actix::test]
async fn changes_of_one_template_by_many_end_in_one_of_them() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.pair("first").await;
    fixture.save(template, "first", Private).await.unwrap();
    let drafts: Vec<_> =
        join_all((0..6).map(async |number| fixture.pair(&format!("draft {number}")).await)).await;
    let mut changes: Vec<futures_util::future::LocalBoxFuture<'_, RegistryResult<()>>> = Vec::new();
    for (number, draft) in drafts.iter().enumerate() {
        changes.push(Box::pin(fixture.update(template, *draft, "updated")));
        changes.push(Box::pin(fixture.save(template, "saved", Private)));
        changes.push(Box::pin(async { fixture.copy(template).await.map(drop) }));
        // Each of a pair wants the other's lock.
        let next = drafts[(number + 1) % drafts.len()];
        changes.push(Box::pin(fixture.update(*draft, next, "crossed")));
        changes.push(Box::pin(fixture.save(*draft, "draft", Private)));
        changes.push(Box::pin(async { fixture.get(template).await.map(drop) }));
        changes.push(Box::pin(async {
            fixture.load(template).await.map(|loaded| drop(TestRegistry::text_of(&loaded)))
        }));
    }
    changes.push(Box::pin(fixture.delete(template)));
    let answers = tokio::time::timeout(PATIENCE, join_all(changes)).await.expect("nobody waits for ever");
    let expected =
        [Code::TemplateNotFound, Code::TemplateUnfinished, Code::ValidationFailed, Code::PreviewNotUsable];
    for answer in &answers {
        assert!(answer.is_ok() || answer.as_ref().is_err_and(|code| expected.contains(code)), "{answer:?}");
    }
    assert_eq!(answers.last(), Some(&Ok(())));
    assert_eq!(fixture.get(template).await.unwrap_err(), Code::TemplateNotFound);
    for record in fixture.places.records().await {
        if !record.unfinished {
            TestRegistry::text_of(&fixture.load(record.id).await.unwrap());
        }
    }
    fixture.clock.advance_ms(2 * 3_600_000);
    fixture.sweep().await;
    fixture.places.assert_whole("after the race").await;
}

#[actix::test]
async fn loads_beside_an_update_and_a_deletion_get_one_version_whole() {
    // Nothing is kept, so each load reads the store.
    let fixture = TestRegistry::build(|config| config.templates.cache_bytes = 0).await;
    for round in 0..4 {
        let template = fixture.pair("old").await;
        fixture.save(template, "old", Private).await.unwrap();
        let draft = fixture.pair("new").await;
        let loads = join_all((0..50).map(|_| fixture.load(template)));
        let changed = async {
            fixture.update(template, draft, "new").await.unwrap();
            if round % 2 == 0 {
                fixture.delete(template).await.unwrap();
            }
        };
        let (loads, ()) = futures_util::future::join(loads, changed).await;
        for load in loads {
            match load {
                Ok(loaded) => assert!(["old", "new"].contains(&TestRegistry::text_of(&loaded).as_str())),
                Err(code) => assert_eq!(code, Code::TemplateNotFound),
            }
        }
    }
}

#[actix::test]
async fn a_render_finishes_with_the_version_it_began_with() {
    let fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.pair("old").await;
    fixture.save(template, "old", Private).await.unwrap();
    let loaded = fixture.load(template).await.unwrap();
    let draft = fixture.pair("new").await;
    fixture.update(template, draft, "new").await.unwrap();
    fixture.delete(template).await.unwrap();
    assert_eq!(TestRegistry::text_of(&loaded), "old");
}

#[actix::test]
async fn a_package_is_unpacked_once_however_many_want_it() {
    let root = tempfile::tempdir().unwrap();
    let fixture = TestRegistry::open(root.path(), |_| {}).await;
    let template = fixture.saved("one", Public).await;
    let (_, before) = fixture.hits_and_misses();
    fixture.load(template).await.unwrap();
    assert_eq!(fixture.hits_and_misses().1, before, "what a save has read is kept under its new name");
    fixture.places.index.close().await;
    let account = fixture.account;
    drop(fixture);

    let mut fixture = TestRegistry::open(root.path(), |_| {}).await;
    fixture.account = account;
    try_join_all((0..10).map(|_| fixture.load(template))).await.unwrap();
    assert_eq!(fixture.hits_and_misses(), (9, 1));
    fixture.load(template).await.unwrap();
    assert_eq!(fixture.hits_and_misses(), (10, 1));
    fixture.rewrite(template, "<p>two").await.unwrap();
    assert_eq!(fixture.page(template).await.unwrap(), "<p>two");
    fixture.delete(template).await.unwrap();
    assert_eq!(fixture.metrics.templates.cached_bytes.get(), 0, "what is gone is not kept");
}

#[actix::test]
async fn the_cache_keeps_to_its_bound() {
    const BOUND: u64 = 100_000;
    let fixture = TestRegistry::build(|config| config.templates.cache_bytes = BOUND).await;
    // No EJS: what may be generated of it would count as well.
    let page = async |number: usize, length: usize| {
        let template = fixture.begun().await;
        let text = format!("<p>{number} {}", "x".repeat(length));
        fixture.upload(template, archive_of(&[("index.html", text)])).await.unwrap();
        fixture.unzip(template).await.unwrap();
        fixture.save(template, "page", Private).await.unwrap();
        template
    };
    let mut templates = Vec::new();
    for number in 0..12 {
        templates.push(page(number, 20_000).await);
    }
    let half = page(12, 60_000).await;
    let large = page(13, 120_000).await;
    for round in 0..2 {
        for (number, template) in templates.iter().chain([&half, &large]).enumerate() {
            assert!(fixture.page(*template).await.unwrap().contains(&format!("<p>{number} x")), "{round}");
            let kept = u64::try_from(fixture.metrics.templates.cached_bytes.get()).unwrap();
            assert!(kept <= BOUND, "{kept} bytes are kept");
        }
    }
    let misses = fixture.hits_and_misses().1;
    for _ in 0..3 {
        fixture.load(half).await.unwrap();
    }
    assert!(fixture.hits_and_misses().1 <= misses + 1, "one of more than half the bound is kept");
}

#[actix::test]
async fn a_public_template_is_everybodys_to_use_and_its_owners_to_change() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let (public, private) = (fixture.saved("public", Public).await, fixture.saved("private", Private).await);
    let owner = std::mem::replace(&mut fixture.account, AccountId::generate());
    assert!(fixture.page(public).await.unwrap().contains("public") && fixture.get(public).await.is_ok());
    let copy = fixture.copy(public).await.unwrap();
    let view = fixture.get(copy).await.unwrap().summary;
    assert_eq!((view.account, view.info.permissions), (fixture.account, Private));
    assert_eq!((view.previews.png.job, view.previews.pdf.job), (None, None));
    let draft = fixture.unzipped("mine").await;
    for (template, code) in [(public, Code::NotOwner), (private, Code::TemplateNotFound)] {
        assert_eq!(fixture.save(template, "x", Private).await.unwrap_err(), code);
        assert_eq!(fixture.update(template, draft, "x").await.unwrap_err(), code);
        assert_eq!(fixture.rewrite(template, "x").await.unwrap_err(), code);
        assert_eq!(fixture.unzip(template).await.unwrap_err(), code);
        assert_eq!(fixture.delete(template).await.unwrap_err(), code);
    }
    for preview in [false, true] {
        let wanted = TemplateUse { account: fixture.account, template: private, preview };
        assert_eq!(code_of(fixture.reader.load(wanted).await).unwrap_err(), Code::TemplateNotFound);
    }
    assert_eq!(fixture.copy(private).await.unwrap_err(), Code::TemplateNotFound);

    let stranger = std::mem::replace(&mut fixture.account, owner);
    fixture.save(public, "closed", Private).await.unwrap();
    fixture.account = stranger;
    assert_eq!(fixture.get(public).await.unwrap_err(), Code::TemplateNotFound);
    fixture.account = owner;
    fixture.save(public, "open", Public).await.unwrap();
    fixture.delete(public).await.unwrap();
    let previews = fixture.previews(draft, "x").await;
    let of = fixture.of(public);
    let update = UpdateTemplate { of, content: draft, info: info("x", Private), previews };
    assert_eq!(fixture.ask(update).await.unwrap_err(), Code::TemplateNotFound);
    fixture.account = stranger;
    assert_eq!(fixture.get(public).await.unwrap_err(), Code::TemplateNotFound);
    assert!(fixture.page(copy).await.unwrap().contains("public"), "a copy lives on");
    let entries = fixture.places.entries().await;
    assert!(!entries.iter().any(|entry| entry.key.starts_with("public/")), "{entries:?}");
}
