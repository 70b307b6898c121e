//! Saved Office templates of all formats: what holds of pages holds of them, and what has no text is refused by name.

use std::path::Path;

use platen::domain::ids::TemplateId;
use platen::domain::kinds::TemplateKind;
use platen::problem::Code;
use platen::templates::registry::messages::{ReadIndexHtml, SaveTemplate, TemplateInfo, UpdateTemplate};
use platen::templates::registry::record::Permissions::{Private, Public};

use crate::house::{Answer, House, info};

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

impl House {
    async fn office(&self, name: &str) -> TemplateId {
        let template = self.begun().await;
        self.upload(template, file(name)).await.unwrap();
        self.unzip(template).await.unwrap();
        template
    }

    async fn save_office(&self, template: TemplateId, kind: TemplateKind) -> Answer<()> {
        let previews = self.previews(template, "office").await;
        self.ask(SaveTemplate { of: self.of(template), info: info_of(kind), previews }).await
    }

    async fn update_office(
        &self,
        template: TemplateId,
        content: TemplateId,
        kind: TemplateKind,
    ) -> Answer<()> {
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
    let house = House::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = house.office(name).await;
        house.save_office(template, kind).await.unwrap();
        let view = house.get(template).await.unwrap();
        let extension = name.rsplit_once('.').unwrap().1;
        assert_eq!(view.summary.content.entry, format!("index.{extension}"));
        assert_eq!((view.summary.content.kind, view.summary.info.kind), (kind, kind), "{name}");
        assert_eq!(view.files[0].bytes, file(name).len() as u64);
        assert!(house.bytes(template).await == file(name), "{name}");
        let copy = house.copy(template).await.unwrap();
        let (of_copy, of_original) = (house.load(copy).await.unwrap(), house.load(template).await.unwrap());
        assert_eq!(of_copy.version, of_original.version, "a preview of one shows the other");
        house.delete(template).await.unwrap();
        // It becomes another file of its type.
        let (other, _) = *FILES.iter().find(|(other, known)| *known == kind && *other != name).unwrap();
        let draft = house.office(other).await;
        house.update_office(copy, draft, kind).await.unwrap();
        assert!(house.bytes(copy).await == file(other), "{other}");
        house.places.assert_whole(name).await;
    }
    house.places.assert_counted("all formats").await;
}

#[actix::test]
async fn what_is_said_must_be_the_files_type_and_no_text_is_read_or_written() {
    let house = House::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = house.office(name).await;
        for wrong in TemplateKind::ALL.into_iter().filter(|wrong| *wrong != kind) {
            let refused = house.save_office(template, wrong).await;
            assert_eq!(refused.unwrap_err(), Code::ValidationFailed, "{name} as {}", wrong.name());
        }
        let read = house.ask(ReadIndexHtml(house.of(template))).await;
        assert_eq!(read.unwrap_err(), Code::EntryNotText, "{name}");
        assert_eq!(house.rewrite(template, "<p>").await.unwrap_err(), Code::EntryNotText, "{name}");
        house.save_office(template, kind).await.unwrap();
        assert_eq!(house.rewrite(template, "<p>").await.unwrap_err(), Code::EntryNotText, "{name}");
        assert!(house.bytes(template).await == file(name), "{name}");
    }
}

#[actix::test]
async fn the_index_is_made_anew_and_sweeps_take_nothing() {
    let mut house = House::build(|_| {}).await;
    for (name, kind) in FILES {
        let template = house.office(name).await;
        house.save_office(template, kind).await.unwrap();
        house.office(name).await;
    }
    house.saved("page", Private).await;
    house.places.assert_rebuildable("all formats").await;
    let before = house.places.objects().await;
    house.sweep().await;
    assert_eq!(house.places.objects().await, before);
    house.clock.advance_ms(8 * 24 * 3_600_000);
    let tidied = house.sweep().await;
    assert_eq!(tidied.unfinished, FILES.len() as u64, "those that nobody saved");
    house.places.assert_whole("after the sweeps").await;
    let (hits, misses) = house.hits_and_misses();
    for record in house.places.records().await {
        house.load(record.id).await.unwrap();
        house.load(record.id).await.unwrap();
    }
    let (hits_after, misses_after) = house.hits_and_misses();
    assert!(hits_after - hits >= 11 && misses_after - misses <= 11, "each is unpacked once");
}
