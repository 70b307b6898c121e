//! A rebuild of a store in which objects are lost: each is named, and nothing that is left is deleted.

use bytes::Bytes;
use platen::domain::ids::TemplateId;
use platen::problem::Code;
use platen::storage::{StorageKey, TemplatePart};
use platen::templates::registry::record::Permissions::Private;
use platen::templates::repair::index_check;
use platen::templates::repair::rebuild::{Damaged, Rebuilt};

use crate::test_registry::TestRegistry;

/// Longer than the grace time of unreferenced objects.
const LATER_MS: u64 = 48 * 3_600_000;
const PARTS: [TemplatePart; 4] =
    [TemplatePart::Info, TemplatePart::Package, TemplatePart::PngPreview, TemplatePart::PdfPreview];

/// How an object is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    Gone,
    Torn,
    /// It is there, and the disk does not give it.
    Unreadable,
}

impl TestRegistry {
    async fn part(&self, template: TemplateId, part: TemplatePart) -> StorageKey {
        let records = self.places.records().await;
        let record = records.iter().find(|record| record.id == template).unwrap();
        record.objects()[PARTS.iter().position(|known| *known == part).unwrap()]
    }

    async fn lose(&self, key: &StorageKey, loss: Loss) {
        match loss {
            Loss::Gone => self.places.store.delete(key).await.unwrap(),
            Loss::Torn => {
                let half = Bytes::from_static(b"{\"version\":1");
                drop(self.places.store.put(key, half).await.unwrap());
            }
            Loss::Unreadable => {
                let path = self.file(key);
                std::fs::rename(&path, path.with_extension("whole")).unwrap();
                // A link to itself cannot be opened, not even by root.
                std::os::unix::fs::symlink(&path, &path).unwrap();
            }
        }
    }

    fn give_back(&self, key: &StorageKey) {
        let path = self.file(key);
        std::fs::rename(path.with_extension("whole"), &path).unwrap();
    }

    /// Asserts that a sweep after all grace times deletes nothing of the store.
    async fn assert_nothing_goes(&mut self, when: &str) {
        let before = self.places.objects().await;
        self.clock.advance_ms(LATER_MS);
        self.sweep().await;
        assert_eq!(self.places.objects().await, before, "{when}");
    }
}

/// The one that is damaged, and why.
fn only(rebuilt: &Rebuilt, template: TemplateId) -> &str {
    let [Damaged { template: named, cause, .. }] = &rebuilt.damaged[..] else { panic!("{rebuilt:?}") };
    assert_eq!(*named, template, "{cause}");
    cause
}

#[actix::test]
async fn a_known_template_whose_files_are_there_stays_whatever_else_is_lost() {
    let losses = [
        (TemplatePart::Info, Loss::Gone, ".json is not there"),
        (TemplatePart::Info, Loss::Torn, ".json cannot be read"),
        (TemplatePart::Info, Loss::Unreadable, ".json cannot be read"),
        (TemplatePart::PngPreview, Loss::Gone, ".png, which is not there"),
        (TemplatePart::PdfPreview, Loss::Gone, ".pdf, which is not there"),
    ];
    for (part, loss, why) in losses {
        let mut fixture = TestRegistry::build(|_| {}).await;
        let (whole, robbed) = (fixture.saved("whole", Private).await, fixture.saved("robbed", Private).await);
        let lost = fixture.part(robbed, part).await;
        fixture.lose(&lost, loss).await;
        let records = fixture.places.records().await;
        for _ in 0..2 {
            let rebuilt = fixture.rebuild().await;
            assert_eq!((rebuilt.saved, rebuilt.unfinished), (2, 0));
            let cause = only(&rebuilt, robbed);
            assert!(cause.contains(why) && cause.contains("save it again with new previews"), "{cause}");
            assert!(cause.contains(&lost.to_string()), "{cause}");
            assert_eq!(fixture.places.records().await, records, "{part:?} {loss:?}");
        }
        fixture.assert_nothing_goes(why).await;
        assert!(fixture.page(robbed).await.unwrap().contains("robbed"), "{part:?} {loss:?}");
        assert!(fixture.get(whole).await.is_ok());

        // The remedy that it names.
        fixture.save(robbed, "saved again", Private).await.unwrap();
        assert!(fixture.get(robbed).await.is_ok());
        if loss == Loss::Unreadable {
            fixture.give_back(&lost);
        }
        let rebuilt = fixture.rebuild().await;
        assert_eq!((rebuilt.saved, rebuilt.damaged), (2, Vec::new()));
        fixture.clock.advance_ms(LATER_MS);
        fixture.sweep().await;
        fixture
            .places
            .assert_whole("what was saved again is whole, and what is lost of it stands for nothing")
            .await;
    }
}

#[actix::test]
async fn damaged_templates_are_named_and_kept() {
    for (part, is_index_lost) in
        [(TemplatePart::Info, true), (TemplatePart::Package, false), (TemplatePart::Package, true)]
    {
        let mut fixture = TestRegistry::build(|_| {}).await;
        let (whole, robbed) = (fixture.saved("whole", Private).await, fixture.saved("robbed", Private).await);
        fixture.lose(&fixture.part(robbed, part).await, Loss::Gone).await;
        if is_index_lost {
            fixture.places.wipe().await;
        }
        for _ in 0..2 {
            let rebuilt = fixture.rebuild().await;
            assert_eq!(rebuilt.saved, 1);
            assert!(only(&rebuilt, robbed).contains("from a backup, and rebuild again"), "{rebuilt:?}");
            fixture.assert_nothing_goes(&format!("{part:?}, index lost: {is_index_lost}")).await;
        }
        assert!(fixture.get(whole).await.is_ok());
        assert_eq!(fixture.get(robbed).await.unwrap_err(), Code::TemplateNotFound);
    }
}

#[actix::test]
async fn the_index_keeps_a_template_of_which_the_store_has_nothing() {
    let fixture = TestRegistry::build(|_| {}).await;
    let (_whole, absent) = (fixture.saved("whole", Private).await, fixture.saved("absent", Private).await);
    let records = fixture.places.records().await;
    let folder = fixture.file(&fixture.part(absent, TemplatePart::Info).await).parent().unwrap().to_owned();
    let elsewhere = folder.with_extension("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    for _ in 0..2 {
        let rebuilt = fixture.rebuild().await;
        assert!(only(&rebuilt, absent).contains("nothing of it is in the store"), "{rebuilt:?}");
        assert_eq!(fixture.places.records().await, records);
    }
    std::fs::rename(&elsewhere, &folder).unwrap();
    assert_eq!(fixture.rebuild().await.damaged, Vec::new());
    assert!(fixture.get(absent).await.is_ok());
}

#[actix::test]
async fn an_unreadable_object_blocks_no_other_template() {
    for is_index_lost in [false, true] {
        let mut fixture = TestRegistry::build(|_| {}).await;
        let (whole, robbed) = (fixture.saved("whole", Private).await, fixture.saved("robbed", Private).await);
        let draft = fixture.unzipped("draft").await;
        let info = fixture.part(robbed, TemplatePart::Info).await;
        let records = fixture.places.records().await;
        let package = records.iter().find(|record| record.id == draft).unwrap().objects()[0];
        for key in [&info, &package] {
            fixture.lose(key, Loss::Unreadable).await;
        }
        if is_index_lost {
            fixture.places.wipe().await;
        }
        let rebuilt = fixture.rebuild().await;
        assert_eq!((rebuilt.saved, rebuilt.unfinished), (if is_index_lost { 1 } else { 2 }, 0));
        for (template, key) in [(robbed, info), (draft, package)] {
            let damaged = rebuilt.damaged.iter().find(|damaged| damaged.template == template).unwrap();
            assert!(damaged.cause.contains(&format!("{key} cannot be read: ")), "{damaged:?}");
            assert!(damaged.cause.contains("os error"), "{damaged:?}");
        }
        index_check::check(fixture.places.index.as_ref(), fixture.places.store.as_ref()).await.unwrap();
        assert!(fixture.get(whole).await.is_ok());
        fixture.assert_nothing_goes(&format!("index lost: {is_index_lost}")).await;
        for key in [&info, &package] {
            fixture.give_back(key);
        }
        assert_eq!(fixture.rebuild().await.damaged, Vec::new());
        assert_eq!(fixture.places.records().await, records, "index lost: {is_index_lost}");
    }
}

#[actix::test]
async fn a_folder_that_cannot_be_read_stops_the_rebuild_and_not_the_service() {
    let fixture = TestRegistry::build(|_| {}).await;
    fixture.saved("whole", Private).await;
    let hidden = fixture.saved("hidden", Private).await;
    let before = fixture.places.entries().await;
    let folder = fixture.file(&fixture.part(hidden, TemplatePart::Info).await).parent().unwrap().to_owned();
    let elsewhere = folder.with_extension("elsewhere");
    std::fs::rename(&folder, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    let (index, store) = (fixture.places.index.clone(), fixture.places.store.clone());
    let refused =
        platen::templates::repair::rebuild::rebuild(index.clone(), store.clone()).await.unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains(folder.to_str().unwrap()) && refused.contains("rebuild` again"), "{refused}");
    index_check::check(index.as_ref(), store.as_ref()).await.unwrap();
    assert_eq!(fixture.places.entries().await, before);
    std::fs::rename(&elsewhere, &folder).unwrap_err();
    std::fs::remove_file(&folder).unwrap();
    std::fs::rename(&elsewhere, &folder).unwrap();
    assert_eq!(fixture.rebuild().await.damaged, Vec::new());
}

#[actix::test]
async fn of_two_states_the_newer_one_is_not_swept_because_it_cannot_be_read() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let template = fixture.saved("older", Private).await;
    let older = fixture.part(template, TemplatePart::Info).await;
    let kept = fixture.places.store.get(&older, u64::MAX).await.unwrap();
    fixture.save(template, "newer", Private).await.unwrap();
    // The state after a kill before the replaced objects are deleted; both states have the same previews here.
    let mut message: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    let newer = fixture.places.records().await.remove(0);
    message["record"]["previews"] = serde_json::to_value(newer.previews).unwrap();
    fixture.places.store.put(&older, message.to_string().into()).await.unwrap();
    let newest = fixture.part(template, TemplatePart::Info).await;
    fixture.lose(&newest, Loss::Unreadable).await;
    fixture.places.wipe().await;
    let rebuilt = fixture.rebuild().await;
    assert!(only(&rebuilt, template).contains(&newest.to_string()), "{rebuilt:?}");
    assert_eq!(fixture.get(template).await.unwrap().summary.info.title, "older");
    fixture.assert_nothing_goes("the newer state may be readable again").await;
    fixture.give_back(&newest);
    assert_eq!(fixture.rebuild().await.damaged, Vec::new());
}

#[actix::test]
async fn files_without_info_are_damaged_where_the_index_that_would_know_is_lost() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    let draft = fixture.unzipped("draft").await;
    fixture.saved("whole", Private).await;
    fixture.leave(draft, TemplatePart::Package, b"copied").await;
    let nameless = TemplateId::generate();
    let part = fixture.leave(nameless, TemplatePart::PngPreview, b"a picture").await;
    fixture.places.wipe().await;
    for _ in 0..2 {
        let rebuilt = fixture.rebuild().await;
        assert_eq!((rebuilt.saved, rebuilt.unfinished), (1, 1), "what a draft's save left says nothing");
        assert!(only(&rebuilt, nameless).contains(&part.to_string()), "{rebuilt:?}");
    }
    fixture.clock.advance_ms(2 * 3_600_000);
    assert_eq!(fixture.sweep().await.orphans, 1, "the draft's");
    assert!(fixture.places.store.head(&part).await.is_ok());
}
