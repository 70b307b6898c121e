//! Saved Office templates of all formats: what holds of pages holds of them, and what has no text is refused by name.

use std::path::Path;

use platen::domain::ids::TemplateId;
use platen::domain::kinds::TemplateKind;
use platen::problem::Code;
use platen::templates::registry::messages::{ReadIndexHtml, SaveTemplate, TemplateInfo, UpdateTemplate};
use platen::templates::registry::record::Permissions::{Private, Public};

use crate::test_registry::{RegistryResult, TestRegistry, info};

/// Each format, the type that it goes with, and a file of it in `tests/office_files`.
const FILES: [(&str, TemplateKind); 10] = [
    ("invoice.docx", TemplateKind::Docx),
    ("table.xlsx", TemplateKind::Xlsx),
    ("slides.pptx", TemplateKind::Pptx),
    ("letter.odt", TemplateKind::Docx),
    ("letter.doc", TemplateKind::Docx),
    ("letter.rtf", TemplateKind::Docx),
    ("table.ods", TemplateKind::Xlsx),
    ("table.xls", TemplateKind::Xlsx),
    ("slides.odp", TemplateKind::Pptx),
    ("slides.ppt", TemplateKind::Pptx),
];

fn file(name: &str) -> Vec<u8> {
    let folder = if name == "invoice.docx" { "assets/samples/invoice" } else { "tests/office_files" };
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name)).unwrap()
}

fn info_of(kind: TemplateKind) -> TemplateInfo {
    TemplateInfo { kind, ..info("Office", Public) }
}

impl TestRegistry {
    async fn office(&self, name: &str) -> TemplateId {
        let template = self.begun().await;
        self.upload(template, file(name)).await.unwrap();
        self.unzip(template).await.unwrap();
        template
    }

    async fn save_office(&self, template: TemplateId, kind: TemplateKind) -> RegistryResult<()> {
        let previews = self.previews(template, "office").await;
        self.ask(SaveTemplate { of: self.of(template), info: info_of(kind), previews }).await
    }

    async fn update_office(
        &self,
        template: TemplateId,
        content: TemplateId,
        kind: TemplateKind,
    ) -> RegistryResult<()> {
        let previews = self.previews(content, "office").await;
        self.ask(UpdateTemplate { of: self.of(template), content, info: info_of(kind), previews }).await
    }

    /// The bytes that a render of the template gets, whatever they are.
    async fn bytes(&self, template: TemplateId) -> Vec<u8> {
        self.load(template).await.unwrap().site.page().unwrap().to_vec()
    }
}

#[actix::test]
async fn each_format_is_saved_cloned_updated_and_kept_whole() {
    let fixture = TestRegistry::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = fixture.office(name).await;
        fixture.save_office(template, kind).await.unwrap();
        let view = fixture.get(template).await.unwrap();
        let extension = name.rsplit_once('.').unwrap().1;
        assert_eq!(view.summary.content.entry, format!("index.{extension}"));
        assert_eq!((view.summary.content.kind, view.summary.info.kind), (kind, kind), "{name}");
        assert_eq!(view.files[0].bytes, file(name).len() as u64);
        assert!(fixture.bytes(template).await == file(name), "{name}");
        let copy = fixture.copy(template).await.unwrap();
        let (of_copy, of_original) =
            (fixture.load(copy).await.unwrap(), fixture.load(template).await.unwrap());
        assert_eq!(of_copy.version, of_original.version, "a preview of one shows the other");
        fixture.delete(template).await.unwrap();
        // It becomes another file of its type.
        let (other, _) = *FILES.iter().find(|(other, known)| *known == kind && *other != name).unwrap();
        let draft = fixture.office(other).await;
        fixture.update_office(copy, draft, kind).await.unwrap();
        assert!(fixture.bytes(copy).await == file(other), "{other}");
        fixture.places.assert_whole(name).await;
    }
    fixture.places.assert_counted("all formats").await;
}

#[actix::test]
async fn an_office_template_keeps_its_files_type_and_has_no_editable_text() {
    let fixture = TestRegistry::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = fixture.office(name).await;
        for wrong in TemplateKind::ALL.into_iter().filter(|wrong| *wrong != kind) {
            let refused = fixture.save_office(template, wrong).await;
            assert_eq!(refused.unwrap_err(), Code::ValidationFailed, "{name} as {}", wrong.name());
        }
        let read = fixture.ask(ReadIndexHtml(fixture.of(template))).await;
        assert_eq!(read.unwrap_err(), Code::EntryNotText, "{name}");
        assert_eq!(fixture.rewrite(template, "<p>").await.unwrap_err(), Code::EntryNotText, "{name}");
        fixture.save_office(template, kind).await.unwrap();
        assert_eq!(fixture.rewrite(template, "<p>").await.unwrap_err(), Code::EntryNotText, "{name}");
        assert!(fixture.bytes(template).await == file(name), "{name}");
    }
}

#[actix::test]
async fn the_index_is_made_anew_and_sweeps_take_nothing() {
    let mut fixture = TestRegistry::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = fixture.office(name).await;
        fixture.save_office(template, kind).await.unwrap();
        fixture.office(name).await;
    }
    fixture.saved("page", Private).await;
    fixture.places.assert_rebuildable("all formats").await;
    let before = fixture.places.objects().await;
    fixture.sweep().await;
    assert_eq!(fixture.places.objects().await, before);
    fixture.clock.advance_ms(8 * 24 * 3_600_000);
    let tidied = fixture.sweep().await;
    assert_eq!(tidied.unfinished, FILES.len() as u64, "those that nobody saved");
    fixture.places.assert_whole("after the sweeps").await;
    let (hits, misses) = fixture.hits_and_misses();
    for record in fixture.places.records().await {
        fixture.load(record.id).await.unwrap();
        fixture.load(record.id).await.unwrap();
    }
    let (hits_after, misses_after) = fixture.hits_and_misses();
    assert!(hits_after - hits >= 11 && misses_after - misses <= 11, "each is unpacked once");
}
